//! Methods of `str`. On text with unknown parts only what leaves those parts whole is done.

use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Text, Value};

pub fn method(
    interpreter: &mut Interpreter<'_>,
    text: &Text,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let same = |changed: String| Value::Str(Text { text: changed.into(), symbolic: text.symbolic });
    let subject = text.text.as_ref();
    let argument = |index: usize| arguments.positional.get(index).and_then(Value::render_string);
    interpreter.spend(subject.len() as u64 / 64)?;
    Ok(Some(match name {
        "format" => Value::Str(format(interpreter, text, arguments)?),
        "format_map" => {
            let mut call = arguments.clone();
            if let Some(Value::Dict(dict)) = arguments.positional.first() {
                let dict = dict.borrow();
                for (key, value) in &dict.items {
                    call.keywords.extend(key.render_string().map(|key| (key, value.clone())));
                }
            }
            Value::Str(format(interpreter, text, &call)?)
        }
        "join" => return join(interpreter, text, arguments).map(Some),
        "lower" | "casefold" => same(outside_braces(text, str::to_lowercase)),
        "upper" => same(outside_braces(text, str::to_uppercase)),
        "title" => same(outside_braces(text, title)),
        "capitalize" => same(outside_braces(text, |part| {
            let mut chars = part.chars();
            chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars.flat_map(char::to_lowercase)).collect())
        })),
        "strip" | "lstrip" | "rstrip" => {
            let set: Vec<char> = argument(0).map_or_else(|| vec![' ', '\n', '\t', '\r'], |set| set.chars().collect());
            let set = set.as_slice();
            same(match name {
                "strip" => subject.trim_matches(set).to_owned(),
                "lstrip" => subject.trim_start_matches(set).to_owned(),
                _ => subject.trim_end_matches(set).to_owned(),
            })
        }
        "replace" => {
            let (Some(from), Some(to)) = (argument(0), argument(1)) else { return Ok(None) };
            let symbolic = text.symbolic || arguments.positional.get(1).and_then(Value::as_str).is_none();
            let changed = if text.symbolic && !from.contains('{') {
                outside_braces(text, |part| part.replace(from.as_ref(), &to))
            } else {
                subject.replace(from.as_ref(), &to)
            };
            if changed.len() > 1 << 20 {
                return Err(crate::frontend::python::interpret::Stop::OutOfFuel);
            }
            Value::Str(Text { text: changed.into(), symbolic })
        }
        "removeprefix" => {
            same(argument(0).and_then(|p| subject.strip_prefix(p.as_ref())).unwrap_or(subject).to_owned())
        }
        "removesuffix" => {
            same(argument(0).and_then(|p| subject.strip_suffix(p.as_ref())).unwrap_or(subject).to_owned())
        }
        "startswith" | "endswith" => {
            let options: Vec<String> = match arguments.positional.first() {
                Some(Value::Tuple(items)) => {
                    items.iter().filter_map(Value::render_string).map(|item| item.to_string()).collect()
                }
                _ => argument(0).into_iter().map(|item| item.to_string()).collect(),
            };
            let found = options.iter().any(|option| match name {
                "startswith" => subject.starts_with(option),
                _ => subject.ends_with(option),
            });
            // The known beginning decides; an unknown one does not.
            if !found && text.symbolic && (subject.starts_with('{') || subject.ends_with('}')) {
                return Ok(None);
            }
            Value::Bool(found)
        }
        "encode" | "decode" | "expandtabs" => Value::Str(text.clone()),
        "resolve" | "absolute" | "as_posix" | "expanduser" | "__str__" => Value::Str(text.clone()),
        "joinpath" => {
            let mut parts = vec![Value::Str(text.clone())];
            parts.extend(arguments.positional.iter().cloned());
            super::join_paths(&parts)
        }
        "read_text" | "open" | "exists" | "is_file" | "is_dir" => {
            let path = Arguments::of(vec![Value::Str(text.clone())], arguments.place.clone());
            match name {
                "read_text" => match interpreter.data_file(subject) {
                    Some(content) => Value::str(content),
                    None => return Ok(None),
                },
                "open" => return super::functions::call(interpreter, "open", &path),
                _ if interpreter.data_file(subject).is_some() => Value::Bool(true),
                _ => return Ok(None),
            }
        }
        _ if text.symbolic => return Ok(None),
        "split" | "rsplit" => Value::list(split(subject, argument(0).as_deref(), limit(arguments), name == "rsplit")),
        "splitlines" => Value::list(subject.lines().map(Value::str).collect()),
        "partition" | "rpartition" => {
            let Some(mark) = argument(0) else { return Ok(None) };
            let cut = if name == "partition" {
                subject.split_once(mark.as_ref())
            } else {
                subject.rsplit_once(mark.as_ref())
            };
            let parts = match cut {
                Some((before, after)) => [before, mark.as_ref(), after],
                None if name == "partition" => [subject, "", ""],
                None => ["", "", subject],
            };
            Value::Tuple(parts.into_iter().map(Value::str).collect())
        }
        "find" | "index" | "rfind" => {
            let Some(needle) = argument(0) else { return Ok(None) };
            let at = if name == "rfind" { subject.rfind(needle.as_ref()) } else { subject.find(needle.as_ref()) };
            Value::Int(at.map_or(-1, |at| subject.get(..at).map_or(0, |before| before.chars().count() as i64)))
        }
        "count" => {
            let Some(needle) = argument(0).filter(|needle| !needle.is_empty()) else { return Ok(None) };
            Value::Int(subject.matches(needle.as_ref()).count() as i64)
        }
        "isdigit" | "isnumeric" | "isdecimal" => {
            Value::Bool(!subject.is_empty() && subject.chars().all(|c| c.is_ascii_digit()))
        }
        "isalpha" => Value::Bool(!subject.is_empty() && subject.chars().all(char::is_alphabetic)),
        "isalnum" => Value::Bool(!subject.is_empty() && subject.chars().all(char::is_alphanumeric)),
        "isupper" => Value::Bool(subject == subject.to_uppercase() && subject != subject.to_lowercase()),
        "islower" => Value::Bool(subject == subject.to_lowercase() && subject != subject.to_uppercase()),
        "isidentifier" => Value::Bool(subject.chars().all(|c| c.is_alphanumeric() || c == '_')),
        "swapcase" => same(
            subject
                .chars()
                .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
                .collect(),
        ),
        "zfill" | "ljust" | "rjust" | "center" => {
            let Some(Value::Int(width)) = arguments.positional.first() else { return Ok(None) };
            let missing = usize::try_from(*width).unwrap_or(0).min(10_000).saturating_sub(subject.chars().count());
            let fill = if name == "zfill" { "0".into() } else { argument(1).unwrap_or_else(|| " ".into()) };
            let padding = fill.repeat(missing);
            same(match name {
                "ljust" => format!("{subject}{padding}"),
                _ => format!("{padding}{subject}"),
            })
        }
        _ => return Ok(None),
    }))
}

fn limit(arguments: &Arguments) -> Option<usize> {
    match arguments.get(1, "maxsplit") {
        Some(Value::Int(limit)) => usize::try_from(*limit).ok(),
        _ => None,
    }
}

fn split(subject: &str, mark: Option<&str>, limit: Option<usize>, from_right: bool) -> Vec<Value> {
    let parts: Vec<&str> = match (mark.filter(|mark| !mark.is_empty()), limit) {
        (None, _) => subject.split_whitespace().collect(),
        (Some(mark), None) => subject.split(mark).collect(),
        (Some(mark), Some(limit)) if from_right => {
            let mut parts: Vec<&str> = subject.rsplitn(limit + 1, mark).collect();
            parts.reverse();
            parts
        }
        (Some(mark), Some(limit)) => subject.splitn(limit + 1, mark).collect(),
    };
    parts.into_iter().map(Value::str).collect()
}

fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        inside = c.is_alphabetic();
    }
    out
}

/// Applies a change to the known parts of a text.
fn outside_braces(text: &Text, change: impl Fn(&str) -> String) -> String {
    if !text.symbolic {
        return change(&text.text);
    }
    let mut out = String::new();
    let mut rest = text.text.as_ref();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(&change(before));
        match after.split_once('}') {
            Some((hole, tail)) => {
                out.push('{');
                out.push_str(hole);
                out.push('}');
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(&change(rest));
    out
}

fn join(interpreter: &mut Interpreter<'_>, separator: &Text, arguments: &Arguments) -> Eval<Value> {
    let Some(values) = arguments.positional.first().cloned() else { return Ok(Value::str("")) };
    let Some(list) = interpreter.items_of(&values) else {
        let reason = "the joined texts are only known at run time";
        return Ok(interpreter.unknown_call("join", "unknown-item", reason, arguments));
    };
    let mut out = String::new();
    let mut symbolic = separator.symbolic || list.open;
    for (index, item) in list.items.iter().enumerate() {
        if index > 0 {
            out.push_str(&separator.text);
        }
        let text = interpreter.format_value(item, "")?;
        symbolic |= text.symbolic;
        out.push_str(&text.text);
        interpreter.spend(1)?;
        if out.len() > 1 << 20 {
            return Err(crate::frontend::python::interpret::Stop::OutOfFuel);
        }
    }
    if list.open {
        out.push_str("{…}");
    }
    Ok(Value::Str(Text { text: out.into(), symbolic }))
}

/// `str.format`: positions, names, attributes and items.
pub fn format(interpreter: &mut Interpreter<'_>, text: &Text, arguments: &Arguments) -> Eval<Text> {
    let mut out = String::new();
    let mut symbolic = text.symbolic;
    let mut next = 0;
    let mut rest = text.text.as_ref();
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        if after.starts_with("{{") || after.starts_with("}}") {
            out.push_str(after.get(..1).unwrap_or_default());
            rest = after.get(2..).unwrap_or_default();
            continue;
        }
        let inside = after.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let Some((field, tail)) = inside else {
            out.push_str(after.get(..1).unwrap_or_default());
            rest = after.get(1..).unwrap_or_default();
            continue;
        };
        rest = tail;
        let (path, spec) = field.split_once(':').unwrap_or((field, ""));
        let path = path.split('!').next().unwrap_or(path);
        let (head, steps) = match path.find(['.', '[']) {
            Some(at) => path.split_at(at),
            None => (path, ""),
        };
        let value = if head.is_empty() {
            next += 1;
            arguments.positional.get(next - 1).cloned()
        } else if let Ok(index) = head.parse::<usize>() {
            arguments.positional.get(index).cloned()
        } else {
            arguments.keyword(head).cloned()
        };
        let Some(mut value) = value else {
            // A text that is formatted later, or a placeholder of another kind.
            out.push('{');
            out.push_str(field);
            out.push('}');
            continue;
        };
        for step in steps.split(['.', '[']).filter(|step| !step.is_empty()) {
            value = match step.strip_suffix(']') {
                Some(key) => {
                    let index = key.parse().map_or_else(|_| Value::str(key), Value::Int);
                    interpreter.subscript(&value, &index, &arguments.place)?
                }
                None => interpreter.attribute(&value, step, &arguments.place)?,
            };
        }
        let shown = interpreter.format_value(&value, spec)?;
        symbolic |= shown.symbolic;
        out.push_str(&shown.text);
        if out.len() > 1 << 20 {
            return Err(crate::frontend::python::interpret::Stop::OutOfFuel);
        }
    }
    out.push_str(rest);
    Ok(Text { text: out.into(), symbolic })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_leave_unknown_parts_whole() {
        let text = Text { text: "{Catalog}.Bronze_{x}".into(), symbolic: true };
        assert_eq!(outside_braces(&text, str::to_lowercase), "{Catalog}.bronze_{x}");
    }

    #[test]
    fn splitting_follows_python() {
        let shown: Vec<_> =
            split("a.b.c", Some("."), Some(1), true).iter().map(|v| v.as_str().unwrap().to_owned()).collect();
        assert_eq!(shown, ["a.b", "c"]);
    }
}
