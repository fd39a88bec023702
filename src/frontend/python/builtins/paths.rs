//! Paths, which are text here: `os.path` and `pathlib` alike.

use crate::frontend::python::value::{Text, Value};

/// Attributes of a path, which is text here.
pub fn path_part(text: &Text, name: &str) -> Option<Value> {
    let last = text.text.rsplit('/').next().unwrap_or(&text.text).to_owned();
    let dot = last.rfind('.').filter(|at| *at > 0).unwrap_or(last.len());
    let part = |part: &str| Value::Str(Text { text: part.into(), symbolic: text.symbolic && part.contains('{') });
    Some(match name {
        "parent" => dirname(&Value::Str(text.clone()))?,
        "name" => part(&last),
        "stem" => part(last.get(..dot)?),
        "suffix" => part(last.get(dot..)?),
        "parents" => {
            let mut parents = Vec::new();
            let mut current = Value::Str(text.clone());
            for _ in 0..text.text.matches('/').count().min(64) {
                current = dirname(&current)?;
                parents.push(current.clone());
            }
            Value::list(parents)
        }
        _ => return None,
    })
}

pub fn join_paths(parts: &[Value]) -> Value {
    let mut out = String::new();
    let mut symbolic = false;
    for value in parts {
        let Some(text) = value.render_string() else { continue };
        symbolic |= value.as_str().is_none();
        if text.starts_with('/') {
            out.clear();
        } else if !out.is_empty() && !out.ends_with('/') {
            out.push('/');
        }
        out.push_str(&text);
    }
    Value::Str(Text { text: out.into(), symbolic })
}

pub fn dirname(value: &Value) -> Option<Value> {
    let text = value.render_string()?;
    let symbolic = value.as_str().is_none();
    let parent = text.rsplit_once('/').map_or("", |(parent, _)| parent);
    Some(Value::Str(Text { text: if parent.is_empty() { "." } else { parent }.into(), symbolic }))
}
