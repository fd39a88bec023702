//! How facts show what the analysis knows in canonical text.

use crate::analyze::Piece;
use crate::graph::text_without_number;
use crate::model::{ColumnSelection, Expr, Value};

/// Expressions are shown to this depth; below it stands an ellipsis.
const MAX_DEPTH: usize = 24;

/// A source's canonical text as a message names it.
pub fn source(text: &str) -> String {
    text_without_number(text).to_owned()
}

pub fn texts(pieces: &[Piece]) -> Vec<String> {
    pieces.iter().map(|piece| piece.text.clone()).collect()
}

pub fn selection(selection: &ColumnSelection) -> String {
    match selection {
        ColumnSelection::All => "all columns".to_owned(),
        ColumnSelection::Only(columns) => columns.join(", "),
        ColumnSelection::Except(columns) => format!("all columns except {}", columns.join(", ")),
    }
}

/// What is in `after` and not in `before`, as a multiset, in the order of `after`.
pub fn surplus(before: &[String], after: &[String]) -> Vec<String> {
    let mut rest = before.to_vec();
    let mut surplus = Vec::new();
    for item in after {
        match rest.iter().position(|other| other == item) {
            Some(index) => {
                rest.remove(index);
            }
            None => surplus.push(item.clone()),
        }
    }
    surplus
}

/// An expression as SQL, for the parts of a definition that are no plan (AUTO CDC clauses).
pub fn expression(expr: &Expr) -> String {
    render(expr, 0)
}

fn render(expr: &Expr, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "…".to_owned();
    }
    let list = |items: &[Expr]| items.iter().map(|item| render(item, depth + 1)).collect::<Vec<_>>().join(", ");
    match expr {
        Expr::Column(column) => column.parts.join(".").to_lowercase(),
        Expr::Attribute(attribute) => attribute.name.to_lowercase(),
        Expr::Literal { value, .. } => literal(value),
        Expr::Alias { expr, .. } => render(expr, depth + 1),
        Expr::Cast { expr, to, .. } => format!("cast({} as {to})", render(expr, depth + 1)),
        Expr::Call(call) => match (call.function.as_ref(), call.args.as_slice()) {
            (operator, [left, right])
                if operator.chars().all(|c| !c.is_alphanumeric()) || operator == "and" || operator == "or" =>
            {
                format!("{} {operator} {}", render(left, depth + 1), render(right, depth + 1))
            }
            (name, args) => format!("{name}({})", list(args)),
        },
        Expr::Case { branches, otherwise } => {
            let mut text = "case".to_owned();
            for (when, then) in branches {
                text.push_str(&format!(" when {} then {}", render(when, depth + 1), render(then, depth + 1)));
            }
            if let Some(otherwise) = otherwise {
                text.push_str(&format!(" else {}", render(otherwise, depth + 1)));
            }
            text + " end"
        }
        Expr::Opaque(opaque) => opaque.name.to_string(),
        _ => "…".to_owned(),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(v) => v.to_string(),
        Value::Byte(v) => v.to_string(),
        Value::Short(v) => v.to_string(),
        Value::Int(v) => v.to_string(),
        Value::Long(v) => v.to_string(),
        Value::Float(v) => v.to_string(),
        Value::Double(v) => v.to_string(),
        Value::String(v) => format!("'{v}'"),
        other => format!("{other:?}"),
    }
}

/// Microseconds in the largest unit that holds them whole.
pub fn duration(micros: i64) -> String {
    const UNITS: [(i64, &str); 6] = [
        (86_400_000_000, "day"),
        (3_600_000_000, "hour"),
        (60_000_000, "minute"),
        (1_000_000, "second"),
        (1_000, "millisecond"),
        (1, "microsecond"),
    ];
    let unit = UNITS.iter().find(|(size, _)| micros != 0 && micros % size == 0);
    let (count, name) = unit.map_or((micros, "second"), |(size, name)| (micros / size, *name));
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

/// `text` with column references of one source (`old.`) written as those of another (`new.`), so that an exchanged source does
/// not make every expression over it look changed.
pub fn rebase(text: &str, old: &str, new: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let (head, tail) = rest.split_at(at);
        result.push_str(head);
        let after = tail.get(old.len()..).unwrap_or_default();
        let free_before =
            result.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '`'));
        let ends = after.starts_with('.');
        result.push_str(if free_before && ends { new } else { old });
        rest = after;
    }
    result.push_str(rest);
    result
}

/// Canonical text as a person would write it: columns without the name of the only source (or with its last part), intervals in
/// words, opaque content without its hash.
pub fn readable(text: &str, sources: &[String]) -> String {
    let mut text = text.to_owned();
    for source in sources {
        let short = match sources {
            [_] => String::new(),
            _ => format!("{}.", source.rsplit(['.', '/']).next().unwrap_or(source)),
        };
        text = replace_prefix(&text, source, &short);
    }
    without_parentheses(&short_windows(&without_hashes(&intervals(&text)))).to_owned()
}

/// `source.` at the start of a name, replaced.
fn replace_prefix(text: &str, source: &str, short: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once(source) {
        result.push_str(head);
        let free = result.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '`'));
        match tail.strip_prefix('.') {
            Some(after) if free => {
                result.push_str(short);
                rest = after;
            }
            _ => {
                result.push_str(source);
                rest = tail;
            }
        }
    }
    result + rest
}

/// `(a = b)` as `a = b`.
fn without_parentheses(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    inner.filter(|inner| is_balanced(inner)).unwrap_or(text)
}

/// No parenthesis closes what was opened before the text; those in string literals do not count.
fn is_balanced(text: &str) -> bool {
    let (mut depth, mut quoted) = (0usize, false);
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => match depth.checked_sub(1) {
                Some(rest) => depth = rest,
                None => return false,
            },
            _ => {}
        }
    }
    depth == 0
}

/// `interval '0 00:10:00' day to second` as `INTERVAL 10 MINUTES`.
fn intervals(text: &str) -> String {
    const OPEN: &str = "interval '";
    const CLOSE: &str = "' day to second";
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once(OPEN) {
        result.push_str(head);
        match tail.split_once(CLOSE).and_then(|(value, after)| Some((day_time(value)?, after))) {
            Some((micros, after)) => {
                result.push_str(&format!("{INTERVAL}{}", duration(micros).to_uppercase()));
                rest = after;
            }
            None => {
                result.push_str(OPEN);
                rest = tail;
            }
        }
    }
    result + rest
}

const INTERVAL: &str = "INTERVAL ";

/// Microseconds of `d hh:mm:ss`.
fn day_time(text: &str) -> Option<i64> {
    let (days, time) = text.split_once(' ')?;
    let mut parts = time.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let total = days.parse::<i64>().ok()?.checked_mul(24)?.checked_add(hours)?.checked_mul(60)?.checked_add(minutes)?;
    total.checked_mul(60)?.checked_add(seconds)?.checked_mul(1_000_000)
}

/// `name@0123456789abcdef` as `name`.
fn without_hashes(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('@') {
        result.push_str(head);
        match tail.get(..16) {
            Some(hash) if hash.bytes().all(|b| b.is_ascii_hexdigit()) => rest = tail.get(16..).unwrap_or_default(),
            _ => {
                result.push('@');
                rest = tail;
            }
        }
    }
    result + rest
}

/// `window(ts, INTERVAL 1 HOUR, INTERVAL 1 HOUR, INTERVAL 0 SECONDS)` as `window(ts, '1 hour')`.
fn short_windows(text: &str) -> String {
    let Some(at) = text.find("window(") else { return text.to_owned() };
    let Some((arguments, rest)) = arguments(text.get(at + "window(".len()..).unwrap_or_default()) else {
        return text.to_owned();
    };
    let span = |argument: &String| match argument.strip_prefix(INTERVAL) {
        Some(interval) => format!("'{}'", interval.to_lowercase()),
        None => argument.clone(),
    };
    let arguments: Vec<String> = arguments.iter().map(span).collect();
    let shown = match arguments.as_slice() {
        [time, length, slide, start] if length == slide && start == "'0 seconds'" => format!("{time}, {length}"),
        [time, length, slide, start] if start == "'0 seconds'" => format!("{time}, {length}, {slide}"),
        other => other.join(", "),
    };
    format!("{}window({shown}){}", text.get(..at).unwrap_or_default(), short_windows(rest))
}

/// Arguments up to the closing parenthesis, and what follows it.
pub fn arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let mut depth = 0usize;
    let mut arguments = vec![String::new()];
    for (at, c) in text.char_indices() {
        match c {
            ')' if depth == 0 => {
                let trimmed = arguments.iter().map(|argument| argument.trim().to_owned()).collect();
                return Some((trimmed, text.get(at + 1..).unwrap_or_default()));
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(c);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_reads_as_a_person_would_write_it() {
        let hour = "interval '0 01:00:00' day to second";
        let none = "interval '0 00:00:00' day to second";
        let text = format!("window(main.s.t.ts, {hour}, {hour}, {none})");
        assert_eq!(readable(&text, &["main.s.t".to_owned()]), "window(ts, '1 hour')");
        let text = "(main.s.t.ts >= (main.s.t.seen - interval '0 00:10:00' day to second))";
        assert_eq!(readable(text, &["main.s.t".to_owned()]), "ts >= (seen - INTERVAL 10 MINUTES)");
        assert_eq!(readable("(a = ')') or (b = 1)", &[]), "(a = ')') or (b = 1)");
        let two = ["main.s.t".to_owned(), "main.s.u".to_owned()];
        assert_eq!(readable("main.s.t.id = main.s.u.id", &two), "t.id = u.id");
        assert_eq!(readable("clean@00112233445566aa(t.x)", &[]), "clean(t.x)");
    }

    #[test]
    fn rebasing_touches_whole_names_only() {
        assert_eq!(rebase("sum(b.amt) + ab.amt + x.b.amt", "b", "a"), "sum(a.amt) + ab.amt + x.b.amt");
        assert_eq!(
            rebase("main.s.web.id = main.s.web2.id", "main.s.web", "main.s.app"),
            "main.s.app.id = main.s.web2.id"
        );
    }

    #[test]
    fn surplus_counts_repeated_items() {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        assert_eq!(surplus(&list(&["a", "b"]), &list(&["a", "a", "c"])), list(&["a", "c"]));
    }

    #[test]
    fn durations_read_in_whole_units() {
        assert_eq!(duration(600_000_000), "10 minutes");
        assert_eq!(duration(90_000_000), "90 seconds");
        assert_eq!(duration(86_400_000_000), "1 day");
    }
}
