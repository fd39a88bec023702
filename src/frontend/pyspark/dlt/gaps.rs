//! What definitions leave open, told once a reason: gaps of plans, unknown parts of names, factories that nothing calls.

use crate::frontend::python::interpret::{Interpreter, header_place};
use crate::frontend::python::syntax::Token;
use crate::frontend::python::value::{Function, Value};
use crate::model::{Dataset, Expr, Node, Place, Plan, QualifiedName, Read, Source, Unresolved};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Reports every gap of a plan, once a reason.
pub fn report_gaps(interpreter: &mut Interpreter<'_>, plan: &Plan, dataset: &QualifiedName) {
    let mut found: Vec<(String, String, Place)> = Vec::new();
    let mut names: Vec<(String, Place)> = Vec::new();
    let mut keep = |opaque: &crate::model::Opaque| {
        if !opaque.reason.is_empty() {
            found.push((
                opaque.name.trim_matches(['{', '}']).to_owned(),
                opaque.reason.to_string(),
                opaque.place.clone(),
            ));
        }
    };
    plan.walk(&mut |node| {
        match &node.node {
            Node::Opaque { function, .. } => keep(function),
            Node::Read(read) => names.push((source_text(read), read.place.clone())),
            _ => {}
        }
        for expr in node.expressions() {
            expr.walk(&mut |expr| {
                if let Expr::Opaque(opaque) = expr {
                    keep(opaque);
                }
            });
        }
    });
    let mut seen = BTreeSet::new();
    for (what, why, place) in found {
        if !seen.insert(why.clone()) {
            continue;
        }
        let gap = interpreter.gaps.get(why.as_str()).cloned();
        let code = gap.as_ref().map_or("unknown-value", |gap| gap.code);
        let hint = gap.as_ref().and_then(|gap| gap.hint.as_ref()).map(ToString::to_string);
        interpreter.registry.unresolved.push(Unresolved {
            code: code.to_owned(),
            what,
            why,
            hint: hint.or_else(|| usual_hint(code)),
            pipeline: Some(interpreter.pipeline.key.clone()),
            dataset: Some(dataset.clone()),
            span: place.span().cloned(),
        });
    }
    for (text, place) in names {
        report_symbols(interpreter, &text, &place, dataset);
    }
}

/// Functions that would define datasets and that nothing calls, one report a file: what they make is not known to exist, or not.
pub fn report_uncalled(interpreter: &mut Interpreter<'_>) {
    let mut seen = BTreeSet::new();
    let mut by_file: BTreeMap<Arc<str>, Vec<Rc<Function>>> = BTreeMap::new();
    for function in std::mem::take(&mut interpreter.defined) {
        let key = Arc::as_ptr(&function.definition) as usize;
        let ours = interpreter.files.unit.files.iter().any(|file| file.path == function.source.path);
        if ours && !interpreter.executed.contains(&key) && defines_datasets(&function) && seen.insert(key) {
            by_file.entry(function.source.path.clone()).or_default().push(function);
        }
    }
    for functions in by_file.into_values() {
        let names: Vec<String> = functions.iter().take(3).map(|f| f.name.borrow().to_string()).collect();
        let more = functions.len().saturating_sub(names.len());
        let mut what = names.join(", ");
        if more > 0 {
            what.push_str(&format!(" and {more} more"));
        }
        let span = functions.first().and_then(|function| header_place(interpreter, function).span().cloned());
        interpreter.registry.unresolved.push(Unresolved {
            code: "uncalled-factory".to_owned(),
            what,
            why: "these functions define datasets, and nothing that is analysed calls them".to_owned(),
            hint: Some("analyse the code that calls them, or leave the file out of the pipeline".to_owned()),
            pipeline: Some(interpreter.pipeline.key.clone()),
            dataset: None,
            span,
        });
    }
}

/// The function's text uses a member of the library that registers.
fn defines_datasets(function: &Rc<Function>) -> bool {
    const REGISTERING: &[&str] = &[
        "table",
        "view",
        "materialized_view",
        "temporary_view",
        "create_table",
        "create_view",
        "append_flow",
        "replace_flow",
        "create_streaming_table",
        "create_target_table",
        "create_streaming_live_table",
        "create_sink",
        "apply_changes",
        "create_auto_cdc_flow",
        "apply_changes_from_snapshot",
        "create_auto_cdc_from_snapshot_flow",
    ];
    let tokens = &function.definition.fingerprint.tokens;
    tokens.windows(3).any(|window| match window {
        [Token::Name(name), Token::Text(dot), Token::Text(member)] => {
            dot.as_ref() == "."
                && REGISTERING.contains(&member.as_ref())
                && matches!(function.closure.lookup(name), Some(Value::External(path)) if super::is_library(&path))
        }
        _ => false,
    })
}

/// What helps against a gap where nothing better is known.
pub fn usual_hint(code: &str) -> Option<String> {
    let hint = match code {
        "unread-code" | "unread-module" => "write the definitions out, or generate a file that the repository keeps",
        "unknown-configuration" => "set it in the pipeline's configuration, or under `configuration` in pipelint.yaml",
        "unknown-call" | "unknown-name" => "keep the definition in the repository, where imports find it",
        "unknown-set" => "list the elements in the code, or in a file of the repository",
        "unknown-columns" | "unknown-schema" => "give the source's schema under `sources:` in pipelint.yaml",
        "unknown-condition" => "give the condition's value in the pipeline's configuration",
        "unknown-item" | "unknown-argument" | "unknown-value" | "runtime-data" => {
            "use a literal where the definition hangs on it"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn source_text(read: &Read) -> String {
    match &read.source {
        Source::Table(name) | Source::ChangeFeed(name) => name.to_string(),
        Source::Files { path, .. } => path.clone(),
        Source::Connector { .. } => String::new(),
    }
}

pub fn report_names(interpreter: &mut Interpreter<'_>, datasets: &[Dataset]) {
    for dataset in datasets {
        report_symbols(interpreter, &dataset.name.to_string(), &dataset.place, &dataset.name);
    }
}

/// Reports the unknown parts of a name or path.
fn report_symbols(interpreter: &mut Interpreter<'_>, text: &str, place: &Place, dataset: &QualifiedName) {
    for part in text.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else { continue };
        let Some(unknown) = interpreter.symbols.get(name).cloned() else { continue };
        let known = interpreter.registry.unresolved.iter().any(|seen| {
            seen.what == name && seen.dataset.as_ref() == Some(dataset) && seen.why == unknown.reason.as_ref()
        });
        if known {
            continue;
        }
        interpreter.registry.unresolved.push(Unresolved {
            code: unknown.code.to_owned(),
            what: name.to_owned(),
            why: unknown.reason.to_string(),
            hint: unknown.hint.as_ref().map(ToString::to_string).or_else(|| usual_hint(unknown.code)),
            pipeline: Some(interpreter.pipeline.key.clone()),
            dataset: Some(dataset.clone()),
            span: unknown.place.or(place).span().cloned(),
        });
    }
}
