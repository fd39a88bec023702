//! Python: a small abstract interpreter of pipeline code.
//!
//! Takes the Python files and notebooks of a pipeline, gives the datasets and flows they define. No user code runs: `syntax`
//! reads the text, `interpret` follows it on abstract values (`value`, `scope`), `builtins` and `pyspark` know what the
//! library functions mean, `dlt` keeps what is registered, `batch` what a script writes, `content` identifies code that cannot
//! be shown as a plan.
//!
//! What stays unknown is reported under these codes: `unknown-configuration` (a key or variable set nowhere), `unknown-condition`
//! (both branches are kept), `unknown-set` (a loop's elements: one template stands for all), `unknown-columns` and
//! `unknown-schema` (only the data tells), `runtime-data` (rows, the catalog, the clock, files of the workspace), `secret`,
//! `unknown-name`, `unknown-call`, `unknown-item`, `unknown-argument`, `unknown-operation`, `unknown-syntax`, `unknown-type`,
//! `unknown-sql`, `unknown-expectations`, `not-a-dataframe`, `unread-code` and `unread-module` (code that is
//! made or chosen at run time), `python-raises`, `too-deep`, `too-long`, `uncalled-factory`.

pub(in crate::frontend) mod builtins;
pub(in crate::frontend) mod content;
pub(crate) mod frames;
pub(in crate::frontend) mod interpret;
mod modules;
pub(in crate::frontend) mod scope;
pub(in crate::frontend) mod sql_text;
pub(in crate::frontend) mod syntax;
pub(in crate::frontend) mod value;

pub use modules::Modules;
pub use syntax::comments;

#[cfg(test)]
mod tests;

use super::Definitions;
use super::pyspark::{batch, dlt};
use crate::project::{Language, Unit};
use crate::revision::Tree;
use interpret::{Interpreter, ProjectFiles};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use syntax::Module;

/// Stack for the interpreter, whose depth follows that of the code.
const STACK_BYTES: usize = 512 << 20;

/// Parsed texts, shared between revisions.
#[derive(Debug, Default)]
pub struct ParseCache {
    modules: Mutex<BTreeMap<Arc<str>, Arc<Module>>>,
}

impl ParseCache {
    fn module(&self, text: &str) -> Arc<Module> {
        let kept = self.modules.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(module) = kept {
            return module;
        }
        let module = Arc::new(syntax::parse(text));
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).insert(text.into(), module.clone());
        module
    }
}

/// Whether a file is read here: Python, and every notebook whatever its language.
fn is_ours(language: Language) -> bool {
    language != Language::Sql
}

/// Whether a pipeline holds Python or notebooks.
pub fn concerns(unit: &Unit) -> bool {
    unit.files.iter().any(|file| is_ours(file.language))
}

/// Reads every Python file and notebook of a pipeline, in order, in one interpreter.
pub fn load(unit: &Unit, tree: &dyn Tree, cache: &ParseCache, modules: &Modules) -> Definitions {
    let run = || {
        let files = ProjectFiles::new(unit, tree, cache, modules);
        let mut interpreter = Interpreter::new(&files, &unit.pipeline);
        for file in unit.files.iter().filter(|file| is_ours(file.language)) {
            let scope = interpreter.new_module_scope("__main__", &file.path);
            interpreter.run_file(&file.path, file.language, &scope);
        }
        let (datasets, flows) = dlt::finish(&mut interpreter);
        interpreter.close();
        let mut all = Definitions {
            datasets,
            flows,
            functions: std::mem::take(&mut interpreter.registry.functions),
            properties: Vec::new(),
            unresolved: std::mem::take(&mut interpreter.registry.unresolved),
            diagnostics: std::mem::take(&mut interpreter.diagnostics),
        };
        for cell in std::mem::take(&mut interpreter.sql_cells) {
            all.datasets.extend(cell.datasets);
            all.flows.extend(cell.flows);
            all.functions.extend(cell.functions);
            all.properties.extend(cell.properties);
            all.unresolved.extend(cell.unresolved);
            all.diagnostics.extend(cell.diagnostics);
        }
        all
    };
    on_a_deep_stack(run)
}

/// Runs on a thread whose stack is deep enough. A panic goes on in the caller: what was not read must not pass as empty.
fn on_a_deep_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|threads| {
        // Spawning fails only where the system gives out no thread or no memory: nothing of this run could be trusted then.
        let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(threads, run);
        let joined = spawned.map_err(|error| Box::new(error.to_string()) as Box<dyn std::any::Any + Send>);
        match joined.and_then(|thread| thread.join()) {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Reads one script for what it writes in batch.
pub fn script(unit: &Unit, tree: &dyn Tree, cache: &ParseCache, modules: &Modules) -> super::Script {
    let path = unit.files.first().map(|file| file.path.to_string()).unwrap_or_default();
    let run = || {
        let files = ProjectFiles::new(unit, tree, cache, modules);
        let mut interpreter = Interpreter::new(&files, &unit.pipeline);
        interpreter.job = batch::Recorder::start();
        for file in &unit.files {
            let scope = interpreter.new_module_scope("__main__", &file.path);
            interpreter.run_file(&file.path, file.language, &scope);
        }
        let steps = interpreter.job.finish();
        interpreter.close();
        (steps, std::mem::take(&mut interpreter.diagnostics))
    };
    let (steps, diagnostics) = on_a_deep_stack(run);
    super::Script { job: crate::model::Job { path, steps }, unresolved: Vec::new(), diagnostics }
}
