//! Values that only the caller of a script knows (`sys.argv[1]`, `args.day`, a widget), bound to ones that its rows have.
//!
//! A symbol that a column is compared with, that names a partition or a partition's folder, stands for a value of that column: runs
//! with any other would select nothing. Takes a job and example values by column; gives the job with the symbols in their place.

use super::experiment::all_steps;
use crate::frontend::rewrite::{replace_in_plan, replace_in_write};
use crate::model::{Expr, Job, Plan, Step, StreamSink, Value, Way, WriteTarget};
use std::collections::BTreeMap;

/// Symbols by name, without braces.
type Bound = BTreeMap<String, String>;

pub fn bound(job: &Job, example: &dyn Fn(&str) -> Option<String>) -> Job {
    let mut found = Bound::new();
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    for step in steps {
        collect(step, example, &mut found);
    }
    if found.is_empty() {
        return job.clone();
    }
    Job { path: job.path.clone(), steps: job.steps.iter().map(|step| in_step(step, &found)).collect() }
}

fn collect(step: &Step, example: &dyn Fn(&str) -> Option<String>, found: &mut Bound) {
    let mut plans: Vec<&Plan> = Vec::new();
    match step {
        Step::Write(write) => {
            plans.extend(write.queries());
            for item in &write.partition {
                if let Some(value) = &item.value {
                    bind(value, &item.column, example, found);
                }
            }
            write.conditions().for_each(|condition| compared(condition, example, found));
            if let WriteTarget::Path(path) = &write.target {
                for (column, value) in path.split('/').filter_map(|segment| segment.split_once('=')) {
                    bind(&Expr::string(value), column, example, found);
                }
            }
        }
        Step::Collect { query, .. } => plans.push(query),
        Step::Stream(stream) => plans.push(&stream.query),
        _ => {}
    }
    for plan in plans {
        plan.walk(&mut |node| node.expressions().into_iter().for_each(|expr| compared(expr, example, found)));
    }
}

/// Comparisons of a column with a symbol.
fn compared(expr: &Expr, example: &dyn Fn(&str) -> Option<String>, found: &mut Bound) {
    expr.walk(&mut |inner| {
        let Expr::Call(call) = inner else { return };
        if !matches!(call.function.as_ref(), "=" | "<=>" | "<" | "<=" | ">" | ">=" | "in" | "between") {
            return;
        }
        let mut column = None;
        for arg in &call.args {
            arg.walk(&mut |part| {
                if let Expr::Column(name) = part {
                    column = column.take().or_else(|| name.parts.last().cloned());
                }
            });
        }
        let Some(column) = column else { return };
        call.args.iter().for_each(|arg| bind(arg, &column, example, found));
    });
}

fn bind(value: &Expr, column: &str, example: &dyn Fn(&str) -> Option<String>, found: &mut Bound) {
    value.walk(&mut |part| {
        let name = match part {
            Expr::Opaque(opaque) if opaque.args.is_empty() => opaque.name.trim_matches(['{', '}']).to_owned(),
            Expr::Literal { value: Value::String(text), .. } => match placeholder(text) {
                Some(name) => name.to_owned(),
                None => return,
            },
            _ => return,
        };
        if let (false, Some(value)) = (found.contains_key(&name), example(column)) {
            found.insert(name, value);
        }
    });
}

/// A text that is one placeholder.
fn placeholder(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}').filter(|name| !name.is_empty())
}

fn in_text(text: &str, bound: &Bound) -> Option<String> {
    if !text.contains('{') {
        return None;
    }
    let changed = bound.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value));
    (changed != text).then_some(changed)
}

fn value(expr: &Expr, bound: &Bound) -> Option<Expr> {
    match expr {
        Expr::Opaque(opaque) if opaque.args.is_empty() => {
            bound.get(opaque.name.trim_matches(['{', '}'])).map(|value| Expr::string(value))
        }
        Expr::Literal { value: Value::String(text), .. } => in_text(text, bound).map(|text| Expr::string(&text)),
        _ => None,
    }
}

fn in_step(step: &Step, bound: &Bound) -> Step {
    let put = |expr: &Expr| value(expr, bound);
    let all = |steps: &[Step]| steps.iter().map(|step| in_step(step, bound)).collect::<Vec<_>>();
    match step {
        Step::Write(write) => {
            let mut write = write.clone();
            replace_in_write(&mut write, &put);
            if let WriteTarget::Path(path) = &mut write.target
                && let Some(changed) = in_text(path, bound)
            {
                *path = changed;
            }
            Step::Write(write)
        }
        Step::Collect { name, query, place } => {
            let mut query = query.clone();
            replace_in_plan(&mut query, &put);
            Step::Collect { name: name.clone(), query, place: place.clone() }
        }
        Step::RemoveFiles { path, place } => {
            Step::RemoveFiles { path: in_text(path, bound).unwrap_or_else(|| path.clone()), place: place.clone() }
        }
        Step::Parallel { branches, place } => {
            Step::Parallel { branches: branches.iter().map(|branch| all(branch)).collect(), place: place.clone() }
        }
        Step::Branches { ways, place } => {
            let ways = ways.iter().map(|way| Way { steps: all(&way.steps), ..way.clone() }).collect();
            Step::Branches { ways, place: place.clone() }
        }
        Step::Call { steps } => Step::Call { steps: all(steps) },
        Step::Stream(stream) => {
            let mut stream = stream.clone();
            replace_in_plan(&mut stream.query, &put);
            if let StreamSink::ForeachBatch { steps, .. } = &mut stream.sink {
                *steps = all(steps);
            }
            Step::Stream(stream)
        }
        Step::Conf { .. } | Step::Reset { .. } | Step::Materialize { .. } | Step::Unknown { .. } => step.clone(),
    }
}
