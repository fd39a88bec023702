//! JSON documents: reading, writing as Jackson does, and paths (`$.a[0]['b c'][*]`).

use super::cast::double_text;
use serde_json::Value as Json;

/// Reads a document; none if it is malformed or nested beyond serde_json's limit of 128.
pub(super) fn parse(text: &str) -> Option<Json> {
    serde_json::from_str(text).ok()
}

/// A value as Spark shows it in a string column: strings bare, the rest as JSON; none for null.
pub(super) fn scalar_text(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(write(other)),
    }
}

/// Compact JSON with numbers in Java's form.
pub(super) fn write(value: &Json) -> String {
    let mut out = String::new();
    write_to(&mut out, value, false);
    out
}

/// Compact JSON with sorted keys: the canonical text of a variant.
pub(super) fn write_sorted(value: &Json) -> String {
    let mut out = String::new();
    write_to(&mut out, value, true);
    out
}

fn write_to(out: &mut String, value: &Json, sorted: bool) {
    match value {
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(double) => out.push_str(&double_text(double)),
            None => out.push_str(&number.to_string()),
        },
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_to(out, item, sorted);
            }
            out.push(']');
        }
        Json::Object(object) => {
            out.push('{');
            let mut entries: Vec<(&String, &Json)> = object.iter().collect();
            if sorted {
                entries.sort_by_key(|(key, _)| *key);
            }
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&quoted(key));
                out.push(':');
                write_to(out, item, sorted);
            }
            out.push('}');
        }
        Json::String(text) => out.push_str(&quoted(text)),
        Json::Bool(_) | Json::Null => out.push_str(&value.to_string()),
    }
}

pub(super) fn quoted(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
    AnyIndex,
    AnyKey,
}

/// Reads a path; none if it is malformed.
pub(super) fn parse_path(text: &str) -> Option<Vec<Step>> {
    let mut rest = text.trim().strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("['").or_else(|| rest.strip_prefix("[\"")) {
            let quote = if rest.starts_with("['") { "']" } else { "\"]" };
            let (key, tail) = after.split_once(quote)?;
            steps.push(if key == "*" { Step::AnyKey } else { Step::Key(key.to_owned()) });
            rest = tail;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (index, tail) = after.split_once(']')?;
            steps.push(if index.trim() == "*" { Step::AnyIndex } else { Step::Index(index.trim().parse().ok()?) });
            rest = tail;
        } else {
            let after = rest.strip_prefix('.')?;
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (key, tail) = after.split_at_checked(end)?;
            if key.is_empty() {
                return None;
            }
            steps.push(if key == "*" { Step::AnyKey } else { Step::Key(key.to_owned()) });
            rest = tail;
        }
    }
    Some(steps)
}

/// What a path without wildcards leads to.
pub(super) fn follow<'a>(document: &'a Json, steps: &[Step]) -> Option<&'a Json> {
    steps.iter().try_fold(document, |at, step| match step {
        Step::Key(key) => at.get(key.as_str()),
        Step::Index(index) => at.get(*index),
        Step::AnyIndex | Step::AnyKey => None,
    })
}

/// Everything a path leads to, in document order.
fn matches<'a>(document: &'a Json, steps: &[Step]) -> Vec<&'a Json> {
    let mut found = vec![document];
    for step in steps {
        found = found
            .into_iter()
            .flat_map(|at| match (step, at) {
                (Step::AnyIndex, Json::Array(items)) => items.iter().collect::<Vec<_>>(),
                (Step::AnyKey, Json::Object(object)) => object.values().collect(),
                (Step::Key(key), Json::Array(items)) => {
                    items.iter().filter_map(|item| item.get(key.as_str())).collect()
                }
                _ => follow(at, std::slice::from_ref(step)).into_iter().collect(),
            })
            .collect();
    }
    found
}

/// `get_json_object`: one match as its text, several as an array.
pub(super) fn get_object(document: &Json, steps: &[Step]) -> Option<String> {
    let wild = steps.iter().any(|step| matches!(step, Step::AnyIndex | Step::AnyKey));
    if !wild {
        return follow(document, steps).and_then(scalar_text);
    }
    match matches(document, steps).as_slice() {
        [] => None,
        [Json::String(only)] => Some(quoted(only)),
        [only] => scalar_text(only),
        several => Some(format!("[{}]", several.iter().map(|v| write(v)).collect::<Vec<_>>().join(","))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(document: &str, path: &str) -> Option<String> {
        get_object(&parse(document).unwrap(), &parse_path(path)?)
    }

    #[test]
    fn paths_lead_where_spark_says() {
        let document = r#"{"a":{"b":[1,{"c":"x"}]},"d e":null,"f":[{"g":1},{"g":"y"}],"n":1.50}"#;
        assert_eq!(get(document, "$.a.b[1].c").as_deref(), Some("x"));
        assert_eq!(get(document, "$.a.b").as_deref(), Some(r#"[1,{"c":"x"}]"#));
        assert_eq!(get(document, "$['d e']"), None);
        assert_eq!(get(document, "$.f[*].g").as_deref(), Some(r#"[1,"y"]"#));
        assert_eq!(get(document, "$.n").as_deref(), Some("1.5"));
        assert_eq!(get(document, "a"), None);
        assert_eq!(get(document, "$..a"), None);
    }

    #[test]
    fn deep_documents_are_refused() {
        assert_eq!(parse(&"[".repeat(100_000)), None);
    }
}
