//! Pattern matching: LIKE, RLIKE, `regexp_*`, `split`.
//!
//! Java's regular expressions run on the `regex` crate. What that lacks (look-around, back references) makes the call
//! uninterpreted rather than wrong.

use super::access::text;
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::string::{INT, MAX_LENGTH, STRING, STRINGS, too_long};
use super::uninterpreted;
use crate::model::{DataType, Value};
use regex::{Regex, RegexBuilder};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

const BOOLEAN: ResultType = ResultType::Is(Simple::Boolean);
const THEN_INT: Params = Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::String), Param::Is(Simple::Int)]);
const REPLACE: Params = Params::Each(&[
    Param::Is(Simple::String),
    Param::Is(Simple::String),
    Param::Is(Simple::String),
    Param::Is(Simple::Int),
]);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["like"], STRINGS, BOOLEAN, Nulls::Propagate, |c| like(c, false)),
    Function::scalar(&["ilike"], STRINGS, BOOLEAN, Nulls::Propagate, |c| like(c, true)),
    Function::scalar(&["rlike", "regexp_like", "regexp"], STRINGS, BOOLEAN, Nulls::Propagate, |c| {
        matching(c, |regex, source| Ok(Value::Boolean(regex.is_match(source))))
    }),
    Function::scalar(&["regexp_count"], STRINGS, INT, Nulls::Propagate, |c| {
        matching(c, |regex, source| Ok(super::access::int_length(regex.find_iter(source).count())))
    }),
    Function::scalar(&["regexp_substr"], STRINGS, STRING, Nulls::PropagateOrNull, |c| {
        matching(c, |regex, source| Ok(regex.find(source).map_or(Value::Null, |m| Value::string(m.as_str()))))
    }),
    Function::scalar(&["regexp_instr"], THEN_INT, INT, Nulls::Propagate, |c| {
        matching(c, |regex, source| {
            let at = regex.find(source).and_then(|m| source.get(..m.start())).map(|head| head.chars().count() + 1);
            Ok(super::access::int_length(at.unwrap_or(0)))
        })
    }),
    Function::scalar(&["regexp_extract"], THEN_INT, STRING, Nulls::Propagate, regexp_extract),
    Function::scalar(
        &["regexp_extract_all"],
        THEN_INT,
        ResultType::Rule(strings),
        Nulls::Propagate,
        regexp_extract_all,
    ),
    Function::scalar(&["regexp_replace"], REPLACE, STRING, Nulls::Propagate, regexp_replace),
    Function::scalar(&["split"], THEN_INT, ResultType::ArrayOf(Simple::String), Nulls::Propagate, split),
];

fn strings(_: &[Argument]) -> DataType {
    DataType::array(DataType::String)
}

thread_local! {
    /// Patterns are literals as a rule, so a thread sees few of them.
    static PATTERNS: RefCell<HashMap<String, Option<Rc<Regex>>>> = RefCell::new(HashMap::new());
}

const MAX_CACHED: usize = 256;
/// Compiled size, in bytes, beyond which a pattern is not run.
const MAX_SIZE: usize = 1 << 20;

/// The compiled pattern; none where the `regex` crate cannot run it.
fn compile(pattern: &str) -> Option<Rc<Regex>> {
    PATTERNS.with_borrow_mut(|cache| {
        if let Some(known) = cache.get(pattern) {
            return known.clone();
        }
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        let compiled = RegexBuilder::new(pattern).size_limit(MAX_SIZE).build().ok().map(Rc::new);
        cache.insert(pattern.to_owned(), compiled.clone());
        compiled
    })
}

fn matching(call: &Invocation, then: impl FnOnce(&Regex, &str) -> EvalResult) -> EvalResult {
    match compile(call.text(1)?) {
        Some(regex) => then(&regex, call.text(0)?),
        None => Ok(uninterpreted("regexp", call.args, call.result)),
    }
}

/// One step of a LIKE pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Literal(char),
    One,
    Many,
}

fn like(call: &Invocation, fold: bool) -> EvalResult {
    let escape = if call.args.len() > 2 { call.text(2)?.chars().next().unwrap_or('\\') } else { '\\' };
    let folded = |t: &str| if fold { t.to_lowercase() } else { t.to_owned() };
    let steps = like_steps(&folded(call.text(1)?), escape)?;
    let source: Vec<char> = folded(call.text(0)?).chars().collect();
    Ok(Value::Boolean(like_matches(&source, &steps)))
}

fn like_steps(pattern: &str, escape: char) -> Result<Vec<Step>, EvalError> {
    let mut steps = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        steps.push(match c {
            _ if c == escape => match chars.next() {
                Some(next) if matches!(next, '%' | '_') || next == escape => Step::Literal(next),
                Some(_) => {
                    return Err(invalid_like(pattern, "only the escape character, % and _ may follow an escape"));
                }
                None => return Err(invalid_like(pattern, "the escape character must not stand at the end")),
            },
            '%' => Step::Many,
            '_' => Step::One,
            other => Step::Literal(other),
        });
    }
    Ok(steps)
}

fn invalid_like(pattern: &str, why: &str) -> EvalError {
    EvalError::new("INVALID_FORMAT.ESC_IN_THE_MIDDLE", format!("the pattern `{pattern}` is invalid: {why}"))
}

/// Backtracks to the last `%` only, which is enough and keeps the cost at the product of both lengths.
fn like_matches(source: &[char], steps: &[Step]) -> bool {
    let (mut at, mut step) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(c) = source.get(at) {
        match steps.get(step) {
            Some(Step::Many) => {
                retry = Some((step + 1, at));
                step += 1;
            }
            Some(Step::One) => {
                at += 1;
                step += 1;
            }
            Some(Step::Literal(expected)) if expected == c => {
                at += 1;
                step += 1;
            }
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (step, at) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    steps.get(step..).unwrap_or_default().iter().all(|s| *s == Step::Many)
}

fn group_index(call: &Invocation, regex: &Regex) -> Result<usize, EvalError> {
    let index = if call.args.len() > 2 { call.int(2)? } else { 1 };
    usize::try_from(index).ok().filter(|at| *at < regex.captures_len()).ok_or_else(|| {
        EvalError::new(
            "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX",
            format!("the group index {index} is not between 0 and {}", regex.captures_len() - 1),
        )
    })
}

/// A group that takes no part, or no match at all, is an empty string.
fn regexp_extract(call: &Invocation) -> EvalResult {
    matching(call, |regex, source| {
        let Some(captures) = regex.captures(source) else { return Ok(Value::string("")) };
        let index = group_index(call, regex)?;
        Ok(Value::string(captures.get(index).map_or("", |m| m.as_str())))
    })
}

fn regexp_extract_all(call: &Invocation) -> EvalResult {
    matching(call, |regex, source| {
        let index = group_index(call, regex)?;
        let found: Vec<Value> = regex
            .captures_iter(source)
            .map(|captures| Value::string(captures.get(index).map_or("", |m| m.as_str())))
            .collect();
        Ok(Value::Array(found.into()))
    })
}

/// Java's `$1` and `\$` become the crate's `${1}` and `$$`.
fn replacement(java: &str) -> String {
    let mut out = String::new();
    let mut chars = java.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => {}
            },
            '$' => {
                if let Some(digit) = chars.peek().filter(|next| next.is_ascii_digit()).copied() {
                    chars.next();
                    out.push_str(&format!("${{{digit}}}"));
                } else {
                    out.push_str("$$");
                }
            }
            other => out.push(other),
        }
    }
    out
}

fn regexp_replace(call: &Invocation) -> EvalResult {
    let position = if call.args.len() > 3 { call.int(3)? } else { 1 };
    let with = replacement(text(call.arg(2))?);
    matching(call, |regex, source| {
        let skip = usize::try_from(position - 1).unwrap_or(0);
        let offset = source.char_indices().nth(skip).map_or(source.len(), |(at, _)| at);
        let (head, tail) = source.split_at(offset);
        // Counted before it is built: each match gives the replacement, and each reference in it no more than the source.
        let references = with.matches('$').count() + 1;
        let given = regex.find_iter(tail).count().saturating_mul(with.len());
        if given.saturating_add(references.saturating_mul(source.len())) > MAX_LENGTH {
            return Err(too_long());
        }
        Ok(Value::string(format!("{head}{}", regex.replace_all(tail, with.as_str()))))
    })
}

/// `UTF8String.split`: a limit of at most 0 keeps trailing empty parts, and an empty match at the start gives no part.
fn split(call: &Invocation) -> EvalResult {
    let limit = if call.args.len() > 2 { call.int(2)? } else { -1 };
    let limit = usize::try_from(limit).ok().filter(|n| *n > 0).unwrap_or(usize::MAX);
    let source = call.text(0)?;
    if call.text(1)?.is_empty() && !source.is_empty() {
        return Ok(characters(source, limit));
    }
    matching(call, |regex, source| {
        let mut parts = Vec::new();
        let mut start = 0;
        for found in regex.find_iter(source) {
            if parts.len() + 1 >= limit {
                break;
            }
            if found.end() == 0 || (found.is_empty() && found.start() >= source.len()) {
                continue;
            }
            parts.push(Value::string(source.get(start..found.start()).unwrap_or_default()));
            start = found.end();
        }
        parts.push(Value::string(source.get(start..).unwrap_or_default()));
        Ok(Value::Array(parts.into()))
    })
}

/// An empty pattern splits into characters, the last part holding what the limit leaves.
fn characters(source: &str, limit: usize) -> Value {
    let all: Vec<char> = source.chars().collect();
    let single = all.len().min(limit.saturating_sub(1));
    let mut parts: Vec<Value> = all.iter().take(single).map(|c| Value::string(c.to_string())).collect();
    let rest: String = all.iter().skip(single).collect();
    if !rest.is_empty() {
        parts.push(Value::string(rest));
    }
    Value::Array(parts.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(source: &str, pattern: &str) -> bool {
        like_matches(&source.chars().collect::<Vec<_>>(), &like_steps(pattern, '\\').unwrap())
    }

    #[test]
    fn like_patterns_match_whole_texts() {
        assert!(matches("abc", "a%c") && matches("ac", "a%c") && !matches("acd", "a%c"));
        assert!(matches("aXbXc", "%X_") && matches("", "%") && !matches("", "_"));
        assert!(matches("100%", "100\\%") && !matches("1000", "100\\%"));
        assert!(like_steps("a\\b", '\\').is_err());
    }

    #[test]
    fn hostile_like_patterns_end_soon() {
        let source = "a".repeat(2000);
        assert!(!matches(&source, &("%a".repeat(1000) + "b")));
    }

    #[test]
    fn java_replacements_are_translated() {
        assert_eq!(replacement("$2-$1x"), "${2}-${1}x");
        assert_eq!(replacement("\\$5"), "$$5");
    }
}
