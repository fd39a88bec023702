//! Where a name, a path or a topic leads: the location that a table is known by.
//!
//! A location is a folder path for what has one, `warehouse/<name>` for tables of a catalog, `topic/<name>` for topics.
//! A table of a catalog over a known folder and the folder itself are one location, as they are for Spark's file sources.

use super::table::TableFormat;
use crate::model::{
    Dataset, DatasetKind, FlowKind, Index, Pipeline, QualifiedName, Read, SinkTarget, Source, SourceFacts,
};
use globset::{GlobBuilder, GlobMatcher};
use std::collections::HashMap;

/// What a leaf of a plan reads.
#[derive(Debug, Clone)]
pub enum Target {
    /// A table by its location.
    Table(String),
    /// Files under a path, in whatever table's folder they lie.
    Path(PathPattern),
    /// Topics by their locations.
    Topics(Vec<String>),
    /// Rows made from a counter; `true` for `rate-micro-batch`.
    Rate { micro_batch: bool },
    /// A connector that the engine does not know, by its format.
    Unknown(String),
}

/// A path as a reader is given it.
#[derive(Debug, Clone)]
pub struct PathPattern {
    /// Without scheme `file:` and trailing slash.
    pub path: String,
    pub matcher: Option<GlobMatcher>,
}

impl PathPattern {
    pub fn new(text: &str) -> Self {
        let path = normalized(text);
        let matcher = if is_glob(&path) {
            let pattern = with_literal_placeholders(&path);
            GlobBuilder::new(&pattern).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
        } else {
            None
        };
        PathPattern { path, matcher }
    }

    /// Where a file of this name lies that the path matches, relative to the folder that it is rooted in.
    pub fn file(&self, name: &str) -> String {
        let folder = folder_of(&self.path);
        if self.contains(&format!("{folder}/{name}")) {
            return name.to_owned();
        }
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let below = self.path.strip_prefix(&folder).unwrap_or_default().trim_start_matches('/');
        format!("{}/{name}", instance(below, stem))
    }

    /// Whether a file lies under this path. A pattern may match the file or one of its folders.
    pub fn contains(&self, file: &str) -> bool {
        match &self.matcher {
            None => file == self.path || is_under(file, &self.path),
            Some(matcher) => {
                let mut at = Some(file);
                while let Some(path) = at {
                    if matcher.is_match(path) {
                        return true;
                    }
                    at = path.rsplit_once('/').map(|(folder, _)| folder);
                }
                false
            }
        }
    }
}

fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[']) || braces(path).any(|(_, inner)| inner.contains(','))
}

/// What stands in braces, with where it starts: `{a,b}` is a choice of a pattern, `{name}` a value that only a deployment knows.
fn braces(path: &str) -> impl Iterator<Item = (usize, &str)> {
    path.match_indices('{').filter_map(|(at, _)| {
        let inner = path.get(at + 1..)?.split_once('}')?.0;
        (!inner.contains('{')).then_some((at, inner))
    })
}

fn with_literal_placeholders(path: &str) -> String {
    let mut pattern = String::new();
    let mut at = 0;
    for (start, inner) in braces(path).filter(|(_, inner)| !inner.contains(',')) {
        pattern.push_str(path.get(at..start).unwrap_or_default());
        pattern.push_str(&format!("[{{]{inner}[}}]"));
        at = start + inner.len() + 2;
    }
    pattern + path.get(at..).unwrap_or_default()
}

/// A text that a pattern matches, with `name` where it takes any.
fn instance(pattern: &str, name: &str) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let closed = |end: char| after.split_once(end);
        rest = match (first, closed(']'), closed('}')) {
            ('*', ..) => {
                text.push_str(name);
                after.trim_start_matches('*')
            }
            ('?', ..) => {
                text.push('x');
                after
            }
            ('[', Some((choice, rest)), _) => {
                text.extend(choice.chars().next());
                rest
            }
            ('{', _, Some((choice, rest))) if choice.contains(',') => {
                text.push_str(choice.split(',').next().unwrap_or_default());
                rest
            }
            _ => {
                text.push(first);
                after
            }
        };
    }
    text
}

/// True where `file` lies in the folder `base` or below it.
fn is_under(file: &str, base: &str) -> bool {
    file.strip_prefix(base).is_some_and(|rest| rest.starts_with('/'))
}

/// A path in one spelling: no `file:` scheme, no trailing slash.
pub fn normalized(path: &str) -> String {
    let path = path.trim();
    let path = path.strip_prefix("file:").map_or(path, |rest| {
        let rest = rest.trim_start_matches('/');
        path.get(path.len() - rest.len() - 1..).unwrap_or(rest)
    });
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/".to_owned() } else { trimmed.to_owned() }
}

/// The folder that a path with a pattern at its end is rooted in.
fn folder_of(path: &str) -> String {
    let mut folder = normalized(path);
    while is_glob(&folder) {
        match folder.rsplit_once('/') {
            Some((parent, _)) => folder = parent.to_owned(),
            None => break,
        }
    }
    folder
}

fn is_path(name: &str) -> bool {
    name.contains('/')
}

pub fn warehouse(name: &QualifiedName) -> String {
    format!("warehouse/{}", name.key())
}

fn topic(name: &str) -> String {
    format!("topic/{}", name.trim())
}

/// Location of a source outside of the pipeline.
pub fn source_location(facts: &SourceFacts) -> String {
    if let Some(path) = &facts.path {
        return folder_of(path);
    }
    if is_path(&facts.name) {
        return folder_of(&facts.name);
    }
    if facts.format.as_deref().map(TableFormat::named) == Some(TableFormat::Topic) {
        return topic(&facts.name);
    }
    warehouse(&QualifiedName::parse(&facts.name))
}

/// Location of a dataset that the pipeline writes, none for views.
pub fn dataset_location(dataset: &Dataset) -> Option<String> {
    match dataset.kind {
        DatasetKind::View => None,
        DatasetKind::Sink => Some(match dataset.property("path") {
            Some(path) => normalized(path),
            None => match dataset.property("tableName").or_else(|| dataset.property("topic")) {
                Some(name) => warehouse(&QualifiedName::parse(name)),
                None => format!("sink/{}", dataset.name.key()),
            },
        }),
        _ => Some(match &dataset.location {
            Some(path) => normalized(path),
            None => warehouse(&dataset.name),
        }),
    }
}

/// Location that a plain streaming query writes to, where it is a table or a folder.
pub fn job_location(kind: &FlowKind) -> Option<String> {
    let FlowKind::StreamJob(write) = kind else { return None };
    match &write.target {
        SinkTarget::Table(name) => Some(warehouse(name)),
        SinkTarget::Path { path, .. } => Some(normalized(path)),
        SinkTarget::Connector { format } => Some(format!("sink/{format}")),
        SinkTarget::ForeachBatch(unit) => Some(format!("sink/{}", unit.name)),
        SinkTarget::Unknown(_) => None,
    }
}

/// The facts given for what a read names: by the same name, or by one that ends in it.
pub fn facts_for<'a>(pipeline: &'a Pipeline, read: &Read) -> Option<&'a SourceFacts> {
    match &read.source {
        Source::Table(name) | Source::ChangeFeed(name) => facts_for_name(pipeline, name),
        Source::Files { path, .. } => {
            let at = *pipeline.sources.index::<KnownSources>().by_location.get(&folder_of(path))?;
            pipeline.sources.get(at)
        }
        Source::Connector { .. } => {
            let topics = topics(read);
            pipeline.sources.iter().find(|facts| topics.iter().any(|name| *name == topic(&facts.name)))
        }
    }
}

fn facts_for_name<'a>(pipeline: &'a Pipeline, name: &QualifiedName) -> Option<&'a SourceFacts> {
    let known = pipeline.sources.index::<KnownSources>();
    let first = |found: Option<&usize>| found.copied();
    // The name itself, else the first that ends in it or in which it ends.
    let exact = first(known.by_name.get(name.folded()));
    let longer = first(known.by_end.get(name.folded()));
    let ends = name.folded().match_indices('.').filter_map(|(dot, _)| name.folded().get(dot + 1..));
    let shorter = ends.filter_map(|end| first(known.tables.get(end))).min();
    pipeline.sources.get(exact.or_else(|| [longer, shorter].into_iter().flatten().min())?)
}

/// What `sources:` says, by the ways in which a read may name it: the first entry of each.
struct KnownSources {
    by_name: HashMap<String, usize>,
    /// Names of tables.
    tables: HashMap<String, usize>,
    /// Ends of names of tables, from a dot on.
    by_end: HashMap<String, usize>,
    by_location: HashMap<String, usize>,
}

impl Index<SourceFacts> for KnownSources {
    fn of(sources: &[SourceFacts]) -> Self {
        let mut known = KnownSources {
            by_name: HashMap::new(),
            tables: HashMap::new(),
            by_end: HashMap::new(),
            by_location: HashMap::new(),
        };
        for (at, facts) in sources.iter().enumerate() {
            let key = QualifiedName::parse(&facts.name).key();
            known.by_location.entry(source_location(facts)).or_insert(at);
            if !is_path(&facts.name) {
                for (dot, _) in key.match_indices('.') {
                    known.by_end.entry(key.get(dot + 1..).unwrap_or_default().to_owned()).or_insert(at);
                }
                known.tables.entry(key.clone()).or_insert(at);
            }
            known.by_name.entry(key).or_insert(at);
        }
        known
    }
}

/// The facts of a table: by the same name, or by one of which the other is the end.
pub fn facts_named<'a>(sources: &'a [SourceFacts], name: &QualifiedName) -> Option<&'a SourceFacts> {
    let key = name.key();
    let suffix_of = |longer: &str, shorter: &str| longer.strip_suffix(shorter).is_some_and(|rest| rest.ends_with('.'));
    let named = |facts: &&SourceFacts| QualifiedName::parse(&facts.name).key() == key;
    sources.iter().find(named).or_else(|| {
        sources.iter().find(|facts| {
            let known = QualifiedName::parse(&facts.name).key();
            !is_path(&facts.name) && (suffix_of(&key, &known) || suffix_of(&known, &key))
        })
    })
}

/// Locations of the topics that a connector's options name.
fn topics(read: &Read) -> Vec<String> {
    let named = ["subscribe", "topic", "topics", "streamname", "stream", "subscriptionid", "eventhubs.name"]
        .iter()
        .find_map(|option| read.option(option))
        .or_else(|| read.option("subscribepattern"))
        .or_else(|| read.option("assign"));
    named.map(|text| text.split(',').map(topic).collect()).unwrap_or_default()
}

/// Follows a leaf to what it reads.
pub fn target(pipeline: &Pipeline, read: &Read) -> Target {
    match &read.source {
        Source::Table(name) | Source::ChangeFeed(name) => {
            let own = pipeline.dataset(name).and_then(dataset_location);
            let facts = || facts_for_name(pipeline, name).map(source_location);
            Target::Table(own.or_else(facts).unwrap_or_else(|| warehouse(name)))
        }
        Source::Files { path, format, .. } => match TableFormat::named(format) {
            TableFormat::Files(_) => Target::Path(PathPattern::new(path)),
            _ => Target::Table(normalized(path)),
        },
        Source::Connector { format } => match format.as_str() {
            "rate" => Target::Rate { micro_batch: false },
            "rate-micro-batch" => Target::Rate { micro_batch: true },
            other if TableFormat::named(other) == TableFormat::Topic => {
                let mut topics = topics(read);
                if topics.is_empty() {
                    topics.push(topic(other));
                }
                Target::Topics(topics)
            }
            other => Target::Unknown(other.to_owned()),
        },
    }
}

/// The location that a leaf reads, where it is one table, folder or topic.
pub fn read_location(pipeline: &Pipeline, read: &Read) -> Option<String> {
    match target(pipeline, read) {
        Target::Table(location) => Some(location),
        Target::Path(pattern) => Some(folder_of(&pattern.path)),
        Target::Topics(topics) => topics.into_iter().next(),
        Target::Rate { .. } | Target::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_folder_are_one_location() {
        assert_eq!(normalized("file:///data/events/"), "/data/events");
        assert_eq!(normalized("file:/data/events"), "/data/events");
        assert_eq!(normalized("s3://b/events"), "s3://b/events");
        assert_eq!(folder_of("/data/events/*.json"), "/data/events");
    }

    #[test]
    fn patterns_match_files_and_their_folders() {
        let files = PathPattern::new("/data/events/*.json");
        assert!(files.contains("/data/events/batch1.json"));
        assert!(!files.contains("/data/events/batch1.csv"));
        assert!(PathPattern::new("/data/*").contains("/data/events/batch1.json"));
        assert!(PathPattern::new("/data/events").contains("/data/events/batch1.json"));
        assert!(!PathPattern::new("/data/events").contains("/data/events2/batch1.json"));
    }

    #[test]
    fn values_that_only_a_deployment_knows_are_no_patterns() {
        assert_eq!(folder_of("{landing}/events"), "{landing}/events");
        assert!(PathPattern::new("{landing}/events").contains("{landing}/events/batch1.json"));
        assert!(PathPattern::new("{landing}/*.csv").contains("{landing}/a.csv"));
        assert_eq!(folder_of("/data/{orders,events}/new"), "/data");
    }

    #[test]
    fn every_pattern_has_files_that_it_matches() {
        assert_eq!(PathPattern::new("/data/*.json").file("batch1.json"), "batch1.json");
        for pattern in
            ["/data/*.pdf", "/data/*/events", "/data/{a,b}/part-[0-9]?.csv", "/data/**/x/*", "{root}/[ab]*.json.gz"]
        {
            let pattern = PathPattern::new(pattern);
            let file = format!("{}/{}", folder_of(&pattern.path), pattern.file("batch2.json"));
            assert!(pattern.contains(&file), "{file}");
        }
    }
}
