//! Threads and pools: what they run at the same time.

use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Partial, Value};
use crate::model::Step;
use std::rc::Rc;

const THREAD: &str = "threading.Thread";
const POOL: &str = "concurrent.futures.pool";

/// Library functions that run code beside the caller.
pub fn library_call(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    super::session_call(interpreter, path, arguments);
    if !interpreter.job.is_on() {
        return Ok(None);
    }
    if let Some(table) = super::table(path, arguments) {
        return Ok(Some(table));
    }
    Ok(Some(match path {
        THREAD => {
            let mut given = Arguments::of(Vec::new(), arguments.place.clone());
            if let Some(list) = arguments.keyword("args").and_then(|args| interpreter.items_of(args)) {
                given.positional = list.items;
            }
            given.keywords.extend(arguments.keyword("target").map(|target| ("target".into(), target.clone())));
            Value::Partial(Rc::new(Partial { function: Value::external(THREAD), arguments: given }))
        }
        "concurrent.futures.ThreadPoolExecutor"
        | "multiprocessing.pool.ThreadPool"
        | "multiprocessing.dummy.Pool"
        | "multiprocessing.Pool" => Value::external(POOL),
        "concurrent.futures.pool.submit" | "concurrent.futures.pool.apply_async" => {
            let mut given = arguments.clone();
            if given.positional.is_empty() {
                return Ok(None);
            }
            let function = given.positional.remove(0);
            run_beside(interpreter, vec![(function, given)])?;
            interpreter.unknown_call("future", "runtime-data", "what a thread gives is known at run time", arguments)
        }
        "concurrent.futures.pool.map" | "concurrent.futures.pool.starmap" | "concurrent.futures.pool.imap" => {
            let Some(function) = arguments.get(0, "fn").cloned() else { return Ok(None) };
            let items = arguments.get(1, "iterables").cloned().and_then(|items| interpreter.items_of(&items));
            let items = items.map(|list| list.items).unwrap_or_default();
            let place = &arguments.place;
            let calls = items.into_iter().map(|item| (function.clone(), Arguments::of(vec![item], place.clone())));
            let calls = calls.collect();
            run_beside(interpreter, calls)?;
            Value::list(Vec::new())
        }
        _ if path.starts_with(POOL) => Value::None,
        _ => return Ok(None),
    }))
}

/// `thread.start()`, `thread.join()`.
pub fn partial_method(
    interpreter: &mut Interpreter<'_>,
    partial: &Rc<Partial>,
    name: &str,
    _arguments: &Arguments,
) -> Eval<Option<Value>> {
    if !matches!(&partial.function, Value::External(path) if path.as_ref() == THREAD) {
        return Ok(None);
    }
    if name == "start" {
        let mut given = partial.arguments.clone();
        let target = given.keyword("target").cloned();
        given.keywords.clear();
        if let Some(target) = target {
            run_beside(interpreter, vec![(target, given)])?;
        }
    }
    Ok(Some(Value::None))
}

/// Runs each call and keeps its steps as a branch. Threads that start one after the other make one group.
fn run_beside(interpreter: &mut Interpreter<'_>, calls: Vec<(Value, Arguments)>) -> Eval<()> {
    for (function, arguments) in calls {
        let place = arguments.place.clone();
        let steps = interpreter.recorded(|this| this.call(&function, arguments).map(drop))?;
        match interpreter.job.open.last_mut().and_then(|open| open.last_mut()) {
            Some(Step::Parallel { branches, .. }) => branches.push(steps),
            _ => interpreter.job.push(Step::Parallel { branches: vec![steps], place }),
        }
    }
    Ok(())
}
