//! `pipelint.yaml`: what the repository tells pipelint about itself. A wrong key or type is an error with its place.

use super::SchemaParser;
use super::libraries::{Library, LibraryKind};
use super::yaml::{Content, Node};
use crate::model::{Diagnostic, DiagnosticLevel, Platform, Severity, SourceFacts, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A configuration file's text, named by its path in the tree or on the command line.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    pub path: String,
    pub text: String,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    pub value: T,
    pub span: Span,
}

/// An accepted finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    pub rule: String,
    /// `None` allows the rule everywhere.
    pub dataset: Option<String>,
    pub pipeline: Option<String>,
    pub reason: String,
    pub span: Span,
}

/// A pipeline that the file spells out.
#[derive(Debug, Clone)]
pub(super) struct ExplicitPipeline {
    pub name: String,
    /// Relative to the folder of the file.
    pub root: String,
    /// Relative to `root`; everything below it where empty.
    pub libraries: Vec<Library>,
    pub catalog: Option<String>,
    pub schema: Option<String>,
    pub storage: Option<String>,
    pub configuration: BTreeMap<String, String>,
    pub places: BTreeMap<String, Span>,
    pub span: Span,
}

/// One `pipelint.yaml`.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Folder that it speaks for, relative to the root; empty for the root.
    pub folder: String,
    pub platform: Option<Platform>,
    pub spark_version: Option<(u32, u32)>,
    pub table_format: Option<String>,
    /// Bundle target.
    pub target: Option<Located<String>>,
    /// `off` stands for `never`.
    pub fail_on: Option<Severity>,
    pub sources: Vec<SourceFacts>,
    /// Severities by rule.
    pub severities: BTreeMap<String, Located<Severity>>,
    /// Folders with further rules, relative to the root.
    pub rule_folders: Vec<Located<String>>,
    pub allow: Vec<Allow>,
    pub(super) pipelines: Vec<ExplicitPipeline>,
}

const KEYS: [&str; 9] =
    ["platform", "spark_version", "table_format", "target", "fail_on", "pipelines", "sources", "rules", "allow"];
const PIPELINE_KEYS: [&str; 7] = ["name", "root", "libraries", "catalog", "schema", "storage", "configuration"];
const SOURCE_KEYS: [&str; 7] = ["name", "format", "schema", "partitioned_by", "retention", "path", "properties"];
const ALLOW_KEYS: [&str; 4] = ["rule", "dataset", "pipeline", "reason"];

impl Config {
    /// Reads a file that speaks for `folder`. What is wrong is left out and told in the diagnostics.
    pub(super) fn read(file: &ConfigFile, folder: &str, parse_schema: &SchemaParser) -> (Config, Vec<Diagnostic>) {
        let path: Arc<str> = file.path.as_str().into();
        let mut config = Config { folder: folder.to_owned(), ..Config::default() };
        let node = match Node::parse_yaml(&file.text, &path) {
            Ok(node) => node,
            Err(error) => return (config, vec![*error]),
        };
        let mut reader = Reader { parse_schema, diagnostics: Vec::new() };
        if node.content != Content::Null && reader.mapping(&node, "the file", &KEYS) {
            reader.config(&node, &mut config);
        }
        (config, reader.diagnostics)
    }
}

struct Reader<'a> {
    parse_schema: &'a SchemaParser,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn config(&mut self, node: &Node, config: &mut Config) {
        config.platform = self.word(node, "platform");
        config.spark_version = self.version(node);
        config.table_format = node.get("table_format").and_then(|value| {
            // A number is a scalar, and no format.
            let format = value.as_str().map(str::to_lowercase);
            if format.is_none() {
                self.wrong_type(value, "`table_format`", "the name of a format");
            }
            format
        });
        config.target = node
            .get("target")
            .and_then(|target| Some(Located { value: self.text(node, "target")?, span: target.span.as_ref().clone() }));
        config.fail_on = self.fail_on(node);
        config.pipelines = self.list(node, "pipelines").into_iter().filter_map(|item| self.pipeline(item)).collect();
        config.sources = self.list(node, "sources").into_iter().filter_map(|item| self.source(item)).collect();
        config.allow = self.list(node, "allow").into_iter().filter_map(|item| self.allow(item)).collect();
        if let Some(rules) = node.get("rules") {
            self.rules(rules, config);
        }
    }

    fn wrong(&mut self, node: &Node, code: &'static str, message: String) {
        self.diagnostics.push(Diagnostic::new(DiagnosticLevel::Error, code, message).at(&node.span));
    }

    /// Checks that a value is a mapping, and tells of keys that nothing reads.
    fn mapping(&mut self, node: &Node, what: &str, keys: &[&str]) -> bool {
        let Some(entries) = node.map() else {
            self.wrong_type(node, what, "a mapping");
            return false;
        };
        for (key, value) in entries {
            if !keys.contains(&key.as_str()) {
                let help = match nearest(key, keys) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the keys are `{}`", keys.join("`, `")),
                };
                let message = format!("{what} has no key `{key}`");
                let problem = Diagnostic::new(DiagnosticLevel::Error, "unknown-key", message);
                self.diagnostics.push(problem.at(&value.span).with_help(help));
            }
        }
        true
    }

    fn wrong_type(&mut self, node: &Node, what: &str, expected: &str) {
        let kind = node.kind();
        self.wrong(node, "wrong-type", format!("{what} must be {expected}, and is {kind}"));
    }

    fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        let value = node.get(key)?;
        let text = value.scalar();
        if text.is_none() {
            self.wrong_type(value, &format!("`{key}`"), "a text");
        }
        text
    }

    fn required(&mut self, node: &Node, key: &str, what: &str) -> Option<String> {
        if node.get(key).is_none() {
            self.wrong(node, "missing-key", format!("{what} needs the key `{key}`"));
        }
        self.text(node, key)
    }

    fn word<T: std::str::FromStr<Err = String>>(&mut self, node: &Node, key: &str) -> Option<T> {
        let text = self.text(node, key)?;
        match text.parse() {
            Ok(word) => Some(word),
            Err(error) => {
                self.wrong(node.get(key)?, "wrong-value", format!("`{key}`: {error}"));
                None
            }
        }
    }

    fn list<'n>(&mut self, node: &'n Node, key: &str) -> Vec<&'n Node> {
        let Some(value) = node.get(key) else { return Vec::new() };
        if value.list().is_none() && value.content != Content::Null {
            self.wrong_type(value, &format!("`{key}`"), "a list");
        }
        value.items().collect()
    }

    fn texts(&mut self, node: &Node, key: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for item in self.list(node, key) {
            match item.scalar() {
                Some(text) => texts.push(text),
                None => self.wrong_type(item, &format!("an item of `{key}`"), "a text"),
            }
        }
        texts
    }

    fn text_map(&mut self, node: &Node, key: &str) -> BTreeMap<String, String> {
        let Some(value) = node.get(key) else { return BTreeMap::new() };
        if value.map().is_none() {
            self.wrong_type(value, &format!("`{key}`"), "a mapping");
        }
        let mut map = BTreeMap::new();
        for (name, value) in value.entries() {
            match value.scalar() {
                Some(text) => {
                    map.insert(name.clone(), text);
                }
                None => self.wrong_type(value, &format!("`{key}.{name}`"), "a text"),
            }
        }
        map
    }

    fn version(&mut self, node: &Node) -> Option<(u32, u32)> {
        let text = self.text(node, "spark_version")?;
        let mut parts = text.split('.').map(str::parse);
        match (parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
            _ => {
                let message = format!("`spark_version` must be like \"4.3\", and is `{text}`");
                self.wrong(node.get("spark_version")?, "wrong-value", message);
                None
            }
        }
    }

    fn fail_on(&mut self, node: &Node) -> Option<Severity> {
        match self.text(node, "fail_on")?.as_str() {
            "error" => Some(Severity::Error),
            "warning" => Some(Severity::Warning),
            "never" => Some(Severity::Off),
            other => {
                let message = format!("`fail_on` must be error, warning or never, and is `{other}`");
                self.wrong(node.get("fail_on")?, "wrong-value", message);
                None
            }
        }
    }

    fn pipeline(&mut self, node: &Node) -> Option<ExplicitPipeline> {
        if !self.mapping(node, "a pipeline", &PIPELINE_KEYS) {
            return None;
        }
        let name = self.required(node, "name", "a pipeline")?;
        let mut libraries = Vec::new();
        for item in self.list(node, "libraries") {
            let plain = item.as_str().map(|text| Library {
                kind: if text.contains('*') { LibraryKind::Glob } else { LibraryKind::Notebook },
                path: text.to_owned(),
                span: Arc::clone(&item.span),
            });
            match plain.or_else(|| Library::read(item)) {
                Some(library) => libraries.push(library),
                None => self.wrong_type(item, "an item of `libraries`", "a path, a pattern, or `glob: {include: …}`"),
            }
        }
        let mut places = BTreeMap::new();
        for (key, value) in node.entries() {
            places.insert(key.clone(), value.span.as_ref().clone());
            for (name, value) in value.entries() {
                places.insert(format!("{key}.{name}"), value.span.as_ref().clone());
            }
        }
        Some(ExplicitPipeline {
            name,
            root: self.text(node, "root").unwrap_or_default(),
            libraries,
            catalog: self.text(node, "catalog"),
            schema: self.text(node, "schema"),
            storage: self.text(node, "storage"),
            configuration: self.text_map(node, "configuration"),
            places,
            span: node.span.as_ref().clone(),
        })
    }

    fn source(&mut self, node: &Node) -> Option<SourceFacts> {
        if !self.mapping(node, "a source", &SOURCE_KEYS) {
            return None;
        }
        let name = self.required(node, "name", "a source")?;
        let ddl = self.text(node, "schema");
        let schema = ddl.and_then(|ddl| match (self.parse_schema)(&ddl) {
            Ok(schema) => Some(schema),
            Err(error) => {
                let message = format!("the schema of `{name}` cannot be read: {error}");
                let problem = Diagnostic::new(DiagnosticLevel::Error, "wrong-value", message)
                    .at(&node.get("schema").unwrap_or(node).span)
                    .with_help("write columns as DDL: `id BIGINT, ts TIMESTAMP`");
                self.diagnostics.push(problem);
                None
            }
        });
        Some(SourceFacts {
            name,
            format: self.text(node, "format").map(|format| format.to_lowercase()),
            schema,
            partitioned_by: self.texts(node, "partitioned_by"),
            retention: self.text(node, "retention"),
            path: self.text(node, "path"),
            other: self.text_map(node, "properties"),
            span: Some(node.span.as_ref().clone()),
        })
    }

    fn allow(&mut self, node: &Node) -> Option<Allow> {
        if !self.mapping(node, "an `allow` entry", &ALLOW_KEYS) {
            return None;
        }
        let rule = self.required(node, "rule", "an `allow` entry");
        let reason = self.required(node, "reason", "an `allow` entry");
        if reason.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            self.wrong(node, "wrong-value", "an `allow` entry needs a reason in words".to_owned());
            return None;
        }
        Some(Allow {
            rule: rule?,
            dataset: self.text(node, "dataset"),
            pipeline: self.text(node, "pipeline"),
            reason: reason?,
            span: node.span.as_ref().clone(),
        })
    }

    /// `rules:` severities by rule, and `extra:` with folders.
    fn rules(&mut self, node: &Node, config: &mut Config) {
        if node.map().is_none() && node.content != Content::Null {
            self.wrong_type(node, "`rules`", "a mapping");
        }
        for (rule, value) in node.entries() {
            if rule == "extra" {
                for item in self.list(node, "extra") {
                    match item.as_str().and_then(|text| super::libraries::join(&config.folder, text)) {
                        Some(value) => config.rule_folders.push(Located { value, span: item.span.as_ref().clone() }),
                        None => self.wrong_type(item, "an item of `extra`", "a folder of the repository"),
                    }
                }
            } else if let Some(severity) = self.word(node, rule) {
                config.severities.insert(rule.clone(), Located { value: severity, span: value.span.as_ref().clone() });
            }
        }
    }
}

/// The key that a misspelt one most likely means: at most two letters differ.
fn nearest<'a>(word: &str, keys: &[&'a str]) -> Option<&'a str> {
    keys.iter().map(|key| (distance(word, key), *key)).filter(|(d, _)| *d <= 2).min().map(|(_, key)| key)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, y) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or_default();
            let left = row.get(j).copied().unwrap_or_default();
            let cost = (diagonal + usize::from(x != *y)).min(above + 1).min(left + 1);
            diagonal = above;
            if let Some(cell) = row.get_mut(j + 1) {
                *cell = cost;
            }
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DataType, Field, Schema};

    fn read(text: &str) -> (Config, Vec<String>) {
        let parse = |ddl: &str| match ddl {
            "id BIGINT" => Ok(Schema::new(vec![Field::new("id", DataType::Long)])),
            _ => Err("no columns".to_owned()),
        };
        let file = ConfigFile { path: "pipelint.yaml".into(), text: text.into() };
        let (config, diagnostics) = Config::read(&file, "", &parse);
        let told = diagnostics
            .iter()
            .map(|d| format!("{}:{} {}", d.span.as_ref().map_or(0, |s| s.line), d.code, d.message))
            .collect();
        (config, told)
    }

    #[test]
    fn every_key_is_read() {
        let (config, told) = read(
            "platform: spark\nspark_version: \"3.5\"\ntable_format: Parquet\ntarget: prod\nfail_on: never\n\
             pipelines:\n  - {name: p, root: etl, libraries: [\"**\"], catalog: c, configuration: {k: 1}}\n\
             sources:\n  - name: main.raw.events\n    format: JSON\n    schema: id BIGINT\n    partitioned_by: [day]\n    retention: 7 days\n\
             rules: {dedup-keys-changed: error, select-changed: off, extra: [my/rules]}\n\
             allow:\n  - {rule: x, dataset: d, reason: known}\n",
        );
        assert_eq!(told, Vec::<String>::new());
        assert_eq!((config.platform, config.spark_version), (Some(Platform::Spark), Some((3, 5))));
        assert_eq!(config.table_format.as_deref(), Some("parquet"));
        assert_eq!(config.fail_on, Some(Severity::Off));
        assert_eq!(config.sources[0].schema.as_ref().unwrap().fields[0].data_type, DataType::Long);
        assert_eq!(config.sources[0].span.as_ref().unwrap().line, 9);
        assert_eq!(config.severities["select-changed"].value, Severity::Off);
        assert_eq!(config.rule_folders[0].value, "my/rules");
        assert_eq!(config.allow[0].reason, "known");
        assert_eq!(config.pipelines[0].configuration["k"], "1");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let (config, told) = read(
            "platform: flink\nsuorces: []\nspark_version: new\ntarget: [a]\n\
             sources:\n  - name: t\n    schema: nonsense\n  - format: json\n\
             rules: {a: fatal}\nallow:\n  - rule: x\n  - {rule: y, reason: \" \"}\nfail_on: 3\n",
        );
        assert_eq!(
            told,
            [
                "2:unknown-key the file has no key `suorces`",
                "1:wrong-value `platform`: `flink` is none of lakeflow, spark",
                "3:wrong-value `spark_version` must be like \"4.3\", and is `new`",
                "4:wrong-type `target` must be a text, and is a list",
                "13:wrong-value `fail_on` must be error, warning or never, and is `3`",
                "7:wrong-value the schema of `t` cannot be read: no columns",
                "8:missing-key a source needs the key `name`",
                "11:missing-key an `allow` entry needs the key `reason`",
                "12:wrong-value an `allow` entry needs a reason in words",
                "9:wrong-value `a`: `fatal` is none of off, note, warning, error",
            ]
        );
        assert_eq!(config.sources.len(), 1);
        assert!(read("- a\n").1[0].contains("wrong-type the file must be a mapping"));
        assert_eq!(read("").1, Vec::<String>::new());
        assert!(read("a: [").1[0].contains("yaml-syntax"));
    }
}
