//! From text to datasets and flows: SQL, Python and notebooks.
//!
//! [`load`] reads the files of every pipeline of a tree, in parallel, and fills the pipelines with what the files define. A
//! [`ParseCache`] shared by two trees makes sure that what did not change is read and parsed once.

mod cache;
mod collisions;
pub mod comments;
mod functions;
mod jobs;
pub mod origin;
mod pyspark;
pub mod python;
pub mod sql;
mod targets;

/// Expressions of plans and writes, replaced.
pub(crate) mod rewrite {
    pub(crate) use super::python::frames::{replace, replace_in_plan, replace_in_write};
}

pub use cache::ParseCache;
pub use jobs::{Script, jobs};

use crate::model::{Dataset, Diagnostic, DiagnosticLevel, Flow, Opaque, QualifiedName, Unresolved, Workspace};
use crate::project::{Language, Project, SourceFile, Unit};
use crate::revision::{Tree, text};
use origin::Origin;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What one file defines.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    pub datasets: Vec<Dataset>,
    pub flows: Vec<Flow>,
    /// Functions that queries of the pipeline may call, by name.
    pub functions: Vec<Opaque>,
    /// Table properties set outside the definition (`ALTER … SET TBLPROPERTIES`).
    pub properties: Vec<(QualifiedName, BTreeMap<String, String>)>,
    pub unresolved: Vec<Unresolved>,
    pub diagnostics: Vec<Diagnostic>,
}

/// A file to read, with all that may matter for its meaning.
#[derive(Clone, Copy)]
pub struct SourceContext<'a> {
    pub tree: &'a dyn Tree,
    pub unit: &'a Unit,
    pub file: &'a SourceFile,
    pub cache: &'a ParseCache,
}

/// What is read on its own: SQL files one by one; a pipeline's Python and notebooks together, since they import each other.
enum Task<'a> {
    Sql(SourceContext<'a>),
    Python(&'a Unit),
}

/// Reads every file of every pipeline. Pipelines keep their order, datasets and flows that of the files.
pub fn load(tree: &dyn Tree, project: Project, cache: &ParseCache) -> Workspace {
    let tasks = project.units.iter().enumerate().flat_map(|(index, unit)| {
        let sql = unit.files.iter().filter(|file| file.language == Language::Sql);
        let sql = sql.map(move |file| (index, Task::Sql(SourceContext { tree, unit, file, cache })));
        sql.chain(python::concerns(unit).then_some((index, Task::Python(unit))))
    });
    let tasks: Vec<(usize, Task)> = tasks.collect();
    let modules = python::Modules::default();
    let loaded: Vec<(usize, Arc<Definitions>)> = tasks
        .par_iter()
        .map(|(index, task)| match task {
            Task::Sql(context) => (*index, cache.definitions(context, || with_text(context, define_sql))),
            Task::Python(unit) => (*index, Arc::new(python::load(unit, tree, cache.python(), &modules))),
        })
        .collect();
    let mut workspace =
        Workspace { pipelines: Vec::new(), unresolved: project.unresolved, diagnostics: project.diagnostics };
    let mut by_unit: Vec<Vec<Arc<Definitions>>> = vec![Vec::new(); project.units.len()];
    for (index, definitions) in loaded {
        if let Some(of_unit) = by_unit.get_mut(index) {
            of_unit.push(definitions);
        }
    }
    for (unit, definitions) in project.units.into_iter().zip(by_unit) {
        add_pipeline(&mut workspace, unit, definitions);
    }
    workspace
}

fn define_sql(context: &SourceContext, text: &str) -> Definitions {
    let origin = Origin::file(Arc::clone(&context.file.path));
    sql::define(text, &sql::Context::in_pipeline(origin, &context.unit.pipeline), &mut sql::Session::default())
}

/// The file's text, or a diagnostic that says why there is none.
fn with_text(context: &SourceContext, define: impl FnOnce(&SourceContext, &str) -> Definitions) -> Definitions {
    match text::text(context.tree, &context.file.path) {
        Ok(text) => define(context, &text),
        Err(diagnostic) => Definitions { diagnostics: vec![*diagnostic], ..Definitions::default() },
    }
}

fn add_pipeline(workspace: &mut Workspace, unit: Unit, files: Vec<Arc<Definitions>>) {
    let mut pipeline = unit.pipeline;
    let (mut properties, mut functions) = (Vec::new(), Vec::new());
    for definitions in files {
        let definitions = Arc::unwrap_or_clone(definitions);
        pipeline.datasets.extend(definitions.datasets);
        pipeline.flows.extend(definitions.flows);
        properties.extend(definitions.properties);
        functions.extend(definitions.functions);
        workspace.diagnostics.extend(definitions.diagnostics);
        workspace.unresolved.extend(definitions.unresolved.into_iter().map(|unresolved| Unresolved {
            pipeline: unresolved.pipeline.or_else(|| Some(pipeline.key.clone())),
            ..unresolved
        }));
    }
    for (name, values) in properties {
        let known = pipeline.dataset_index(&name);
        match known.and_then(|at| pipeline.datasets.get_mut(at)) {
            Some(dataset) => dataset.properties.extend(values),
            None => {
                let message =
                    format!("pipeline `{}` sets properties of {name}, which it does not define", pipeline.name);
                workspace.diagnostics.push(Diagnostic::new(DiagnosticLevel::Note, "other-statement", message));
            }
        }
    }
    functions::bind(&mut pipeline, functions);
    workspace.diagnostics.extend(collisions::separate(&mut pipeline));
    targets::complete(&mut pipeline);
    workspace.pipelines.push(pipeline);
}

/// Stable hash of a text that is compared but not understood (FNV-1a over its words, so that layout does not count).
pub fn content_hash(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for word in text.split_whitespace() {
        for byte in word.bytes().chain([b' ']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
