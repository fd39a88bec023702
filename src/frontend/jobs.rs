//! Scripts beside the pipelines: which tables they write, statement by statement.

use super::origin::Origin;
use super::python::frames;
use super::sql::{self, Session, Statement};
use super::{ParseCache, python};
use crate::model::{Diagnostic, Expr, Job, Node, Pipeline, Place, Plan, Source, Step, Unresolved, WriteOperation};
use crate::project::{Language, Unit, notebook};
use crate::revision::{Tree, text};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A script with what could not be told of it.
#[derive(Debug, Clone)]
pub struct Script {
    pub job: Job,
    pub unresolved: Vec<Unresolved>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads each unit's first file as a script; units keep their order.
pub fn jobs(tree: &dyn Tree, units: &[Unit], cache: &ParseCache) -> Vec<Script> {
    let modules = python::Modules::default();
    units.par_iter().filter_map(|unit| script(tree, unit, cache, &modules)).collect()
}

fn script(tree: &dyn Tree, unit: &Unit, cache: &ParseCache, modules: &python::Modules) -> Option<Script> {
    let file = unit.files.first()?;
    if matches!(file.language, Language::Python | Language::PythonNotebook | Language::Ipynb) {
        return Some(python::script(unit, tree, cache.python(), modules));
    }
    let mut script = SqlScript::default();
    match text::text(tree, &file.path) {
        Ok(text) if file.language == Language::SqlNotebook => match notebook::cells(&text, file.language) {
            Ok(cells) => {
                for cell in cells.iter().filter(|cell| cell.language == notebook::CellLanguage::Sql) {
                    let origin = Origin::File {
                        path: Arc::clone(&file.path),
                        cell: Some(cell.number),
                        line: cell.line,
                        column: cell.column_offset + 1,
                        indent: cell.column_offset,
                    };
                    script.read(&cell.text, &sql::Context::in_pipeline(origin, &unit.pipeline));
                }
            }
            Err(message) => {
                let diagnostic = Diagnostic::new(crate::model::DiagnosticLevel::Error, "notebook-syntax", message);
                script.diagnostics.push(diagnostic.in_file(&file.path));
            }
        },
        Ok(text) => {
            let origin = Origin::file(Arc::clone(&file.path));
            let pipeline = with_own_settings(&text, &unit.pipeline);
            script.read(&text, &sql::Context::in_pipeline(origin, &pipeline));
        }
        Err(diagnostic) => script.diagnostics.push(*diagnostic),
    }
    let job = Job { path: file.path.to_string(), steps: script.steps };
    Some(Script { job, unresolved: script.unresolved, diagnostics: script.diagnostics })
}

/// A pipeline's configuration with what a script sets itself, for `${key}` in it. What it sets to several values stays unknown.
fn with_own_settings(text: &str, pipeline: &Pipeline) -> Pipeline {
    let mut pipeline = pipeline.clone();
    if !text.contains("${") {
        return pipeline;
    }
    let parsed = sql::parse_statements(text, &sql::Context::default(), &mut Session::default());
    let mut own: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (statement, _) in parsed.statements {
        if let Statement::Set { key, value: Some(value) } = statement {
            own.entry(key).or_default().push(value);
        }
    }
    for (key, values) in own {
        match values.as_slice() {
            [value] => drop(pipeline.configuration.insert(key, value.clone())),
            _ => drop(pipeline.configuration.remove(&key)),
        }
    }
    pipeline
}

/// What the statements of one SQL script do.
#[derive(Default)]
struct SqlScript {
    session: Session,
    /// Temporary views so far, by lower-case name.
    views: BTreeMap<String, Plan>,
    /// Session variables so far, by lower-case name.
    variables: BTreeMap<String, Expr>,
    steps: Vec<Step>,
    unresolved: Vec<Unresolved>,
    diagnostics: Vec<Diagnostic>,
}

impl SqlScript {
    fn read(&mut self, text: &str, context: &sql::Context) {
        let parsed = sql::parse_statements(text, context, &mut self.session);
        self.unresolved.extend(parsed.problems.unresolved);
        self.diagnostics.extend(parsed.problems.diagnostics);
        for (statement, place) in parsed.statements {
            self.statement(statement, place);
        }
    }

    fn statement(&mut self, statement: Statement, place: Place) {
        match statement {
            Statement::Dataset { dataset, flow: Some(flow) } => {
                let mut plan = flow.plan;
                frames::replace_in_plan(&mut plan, &|expr| frames::variable(expr, &self.variables));
                let plan = self.with_views(plan);
                self.views.insert(dataset.name.key(), plan);
            }
            Statement::Set { key, value } => self.steps.push(Step::Conf { key, value, place }),
            Statement::Reset => self.steps.push(Step::Reset { place }),
            Statement::Variable { name, value } => {
                let value = frames::replace(value, &|expr| frames::variable(expr, &self.variables));
                self.variables.insert(name, value);
            }
            Statement::Write(mut write) => {
                frames::replace_in_write(&mut write, &|expr| frames::variable(expr, &self.variables));
                write.query = write.query.take().map(|query| self.with_views(query));
                if let WriteOperation::Merge(merge) = &mut write.operation {
                    merge.source = self.with_views(merge.source.clone());
                }
                self.steps.push(Step::Write(write));
            }
            Statement::Broken => {
                self.steps.push(Step::Unknown { what: "a statement that is not understood".to_owned(), place });
            }
            Statement::Other { what, matters: true } => self.steps.push(Step::Unknown { what, place }),
            _ => {}
        }
    }

    /// Temporary views that a query reads, as common table expressions around it.
    fn with_views(&self, plan: Plan) -> Plan {
        let mut ctes: BTreeMap<Arc<str>, Plan> = BTreeMap::new();
        for read in plan.reads() {
            let Source::Table(name) = &read.source else { continue };
            if let Some(view) = self.views.get(&name.key()) {
                ctes.insert(name.key().into(), view.clone());
            }
        }
        if ctes.is_empty() {
            return plan;
        }
        let place = plan.place.clone();
        Plan::at(Node::With { ctes: ctes.into_iter().collect(), recursive: false, body: Box::new(plan) }, place)
    }
}
