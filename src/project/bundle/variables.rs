//! `${…}` references of a bundle.

use super::super::yaml::{Content, Node};
use crate::model::{Diagnostic, DiagnosticLevel, Span, Unresolved};
use std::collections::BTreeMap;
use std::sync::Arc;

/// References inside the value of a reference are followed this far.
const MAX_DEPTH: usize = 16;
/// At most this many references are put in per bundle, and no text grows beyond this many bytes: references can multiply.
const MAX_REFERENCES: usize = 50_000;
const MAX_TEXT: usize = 64 * 1024;

/// Resolves references against a bundle with its target merged over it.
pub(super) struct Variables<'a> {
    root: &'a Node,
    target: Option<&'a str>,
    target_variables: Option<&'a Node>,
    /// Variables without a value that some text asked for, with the first place that did.
    unknown: BTreeMap<String, Arc<Span>>,
    references: usize,
}

impl<'a> Variables<'a> {
    pub(super) fn new(root: &'a Node, target: Option<&'a str>) -> Self {
        let targets = root.get("targets").or_else(|| root.get("environments"));
        let target_variables = target.and_then(|name| targets?.at(&[name, "variables"]));
        Variables { root, target, target_variables, unknown: BTreeMap::new(), references: 0 }
    }

    /// A value with all its references put in.
    pub(super) fn resolve(&mut self, node: &Node) -> Node {
        self.resolve_at(node, 0)
    }

    fn resolve_at(&mut self, node: &Node, depth: usize) -> Node {
        let content = match &node.content {
            Content::Text(text) => {
                if let Some(reference) = whole_reference(text)
                    && let Some(value) = self.complex_value(reference, &node.span, depth)
                {
                    return value;
                }
                Content::Text(self.text(text, &node.span, depth))
            }
            Content::List(items) => Content::List(items.iter().map(|item| self.resolve_at(item, depth)).collect()),
            Content::Map(entries) => {
                Content::Map(entries.iter().map(|(key, value)| (key.clone(), self.resolve_at(value, depth))).collect())
            }
            other => other.clone(),
        };
        Node { content, span: Arc::clone(&node.span) }
    }

    /// The value of a reference that stands alone and gives something else than a text.
    fn complex_value(&mut self, reference: &str, span: &Arc<Span>, depth: usize) -> Option<Node> {
        if depth >= MAX_DEPTH || !self.count_reference() {
            return None;
        }
        let value = self.lookup(reference)?.clone();
        if matches!(value.content, Content::Text(_) | Content::Null) {
            return None;
        }
        let mut resolved = self.resolve_at(&value, depth + 1);
        resolved.span = Arc::clone(span);
        Some(resolved)
    }

    fn text(&mut self, text: &str, span: &Arc<Span>, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, reference, after)) = next_reference(rest) {
            out.push_str(before);
            out.push_str(&self.reference(reference, span, depth));
            rest = after;
            if out.len() > MAX_TEXT {
                break;
            }
        }
        out.push_str(rest);
        out
    }

    /// The text of one reference, or its placeholder.
    fn reference(&mut self, reference: &str, span: &Arc<Span>, depth: usize) -> String {
        let placeholder = format!("{{{reference}}}");
        if depth >= MAX_DEPTH || !self.count_reference() {
            return placeholder;
        }
        if matches!(reference, "bundle.target" | "bundle.environment") {
            return self.target.map_or(placeholder, str::to_owned);
        }
        match self.lookup(reference).map(|value| (&value.content, value.scalar())) {
            Some((Content::Text(_), Some(text))) => self.text(&text, span, depth + 1),
            Some((_, Some(text))) => text,
            _ => {
                if let Some(name) = reference.strip_prefix("var.").or_else(|| reference.strip_prefix("variables.")) {
                    let name = name.split(['.', '[']).next().unwrap_or(name);
                    self.unknown.entry(name.to_owned()).or_insert_with(|| Arc::clone(span));
                }
                placeholder
            }
        }
    }

    fn count_reference(&mut self) -> bool {
        self.references += 1;
        self.references <= MAX_REFERENCES
    }

    fn lookup(&self, reference: &str) -> Option<&'a Node> {
        let steps: Vec<&str> = reference.split(['.', '[']).map(|step| step.trim_end_matches(']')).collect();
        let (start, rest) = match steps.as_slice() {
            ["var", name, rest @ ..] | ["variables", name, "value" | "default", rest @ ..] => {
                (self.variable(name)?, rest)
            }
            // Only the deploying machine knows these, whatever the file says of the rest of `workspace`.
            ["workspace", "current_user", ..] | ["bundle", "git", ..] => return None,
            steps => (self.root, steps),
        };
        rest.iter().try_fold(start, |node, step| match &node.content {
            Content::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => node.get(step),
        })
    }

    /// A variable's value for the target, else its default.
    fn variable(&self, name: &str) -> Option<&'a Node> {
        if let Some(value) = self.target_variables.and_then(|variables| variables.get(name)) {
            let keys = ["default", "lookup", "description", "type"];
            let declared = value.map().is_some_and(|map| map.keys().any(|key| keys.contains(&key.as_str())));
            return if declared { value.get("default") } else { Some(value) };
        }
        self.root.at(&["variables", name, "default"])
    }

    /// Variables without a value that were asked for.
    pub(super) fn unknown(&self) -> Vec<Unresolved> {
        let describe = |(name, span): (&String, &Arc<Span>)| Unresolved {
            code: "unknown-variable".to_owned(),
            what: format!("${{var.{name}}}"),
            why: "the bundle gives the variable no value for this target".to_owned(),
            hint: Some(
                "give it a `default`, a value under the target's `variables`, or choose another `--target`".to_owned(),
            ),
            pipeline: None,
            dataset: None,
            span: Some(span.as_ref().clone()),
        };
        self.unknown.iter().map(describe).collect()
    }

    pub(super) fn diagnostics(&self) -> Option<Diagnostic> {
        (self.references > MAX_REFERENCES).then(|| {
            let message = format!("the bundle has more than {MAX_REFERENCES} references; the rest is not put in");
            Diagnostic::new(DiagnosticLevel::Warning, "too-many-references", message).at(&self.root.span)
        })
    }
}

/// The reference that makes up all of a text.
fn whole_reference(text: &str) -> Option<&str> {
    match next_reference(text)? {
        ("", reference, "") => Some(reference),
        _ => None,
    }
}

/// The text before the next reference, the reference without its braces, and the text after it.
fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("${")?;
    let inner = text.get(start + 2..)?;
    let end = inner.find('}')?;
    Some((text.get(..start)?, inner.get(..end)?.trim(), inner.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(yaml: &str, target: Option<&str>, text: &str) -> (String, Vec<String>) {
        let root = Node::parse_yaml(yaml, &"databricks.yml".into()).unwrap();
        let mut variables = Variables::new(&root, target);
        let node = variables.resolve(&Node::text_at(text, &root.span));
        let out = node.scalar().unwrap_or_else(|| format!("{} with {} items", node.kind(), node.items().count()));
        (out, variables.unknown().into_iter().map(|u| u.what).collect())
    }

    const YAML: &str = "bundle: {name: shop}\n\
        variables:\n  cat: {default: dev}\n  full: {default: \"${var.cat}.${var.deep}\"}\n  deep: {default: x}\n  none: {description: d}\n\
        \x20 found: {lookup: {cluster: c}}\n  loop: {default: \"${var.loop}\"}\n  list: {type: complex, default: [1, 2]}\n  n: {default: 3}\n\
        targets:\n  prod:\n    variables: {cat: live, deep: {default: y}, list: [1]}\n\
        resources: {schemas: {s: {name: \"${var.cat}_s\"}}}\n";

    #[test]
    fn references_are_put_in_target_first() {
        let text = |target, text| resolve(YAML, target, text).0;
        assert_eq!(text(None, "a ${var.full} b"), "a dev.x b");
        assert_eq!(text(Some("prod"), "${var.full}/${bundle.target}/${bundle.name}"), "live.y/prod/shop");
        assert_eq!(text(None, "${resources.schemas.s.name}"), "dev_s");
        assert_eq!(text(None, "${var.n}"), "3");
        assert_eq!(text(None, "${var.list}"), "a list with 2 items");
        assert_eq!(text(Some("prod"), "${var.list}"), "a list with 1 items");
        assert_eq!(text(None, "${var.list[1]}"), "2");
    }

    #[test]
    fn what_only_deployment_knows_stays_as_a_placeholder() {
        let text = |text| resolve(YAML, None, text);
        assert_eq!(
            text("u_${workspace.current_user.short_name}"),
            ("u_{workspace.current_user.short_name}".into(), vec![])
        );
        assert_eq!(text("${resources.pipelines.p.id}").0, "{resources.pipelines.p.id}");
        assert_eq!(text("${var.none}"), ("{var.none}".into(), vec!["${var.none}".into()]));
        assert_eq!(text("${var.found}").0, "{var.found}");
        assert_eq!(text("${var.loop}").0, "{var.loop}");
        assert_eq!(text("${unclosed").0, "${unclosed");
    }

    #[test]
    fn multiplying_references_end() {
        let mut yaml = "variables:\n  v0: {default: xxxxxxxxxx}\n".to_owned();
        for level in 1..14 {
            let twice = format!("${{var.v{}}}", level - 1).repeat(20);
            yaml += &format!("  v{level}: {{default: \"{twice}\"}}\n");
        }
        assert!(resolve(&yaml, None, "${var.v13}").0.len() < 200 * MAX_TEXT);
    }
}
