//! SQL text inside Python, handed to the SQL frontend.

use super::frames;
use super::interpret::Interpreter;
use crate::frontend::origin::Origin;
use crate::frontend::pyspark::batch;
use crate::frontend::sql::{self, Context, Problems, Session, Statement};
use crate::model::{DataType, Expr, GeneratedColumn, Place, Plan, Schema, Step, WriteOperation};
use std::rc::Rc;

impl<'a> Interpreter<'a> {
    fn sql_context(&self, place: &Place) -> Context<'a> {
        let origin = place.span().map_or(Origin::Unknown, |span| Origin::whole(span.clone()));
        Context::in_pipeline(origin, self.pipeline)
    }

    /// Keeps what the SQL frontend found wrong. Unknown names are reported where the plan holds them.
    fn keep_problems(&mut self, problems: Problems) {
        for diagnostic in problems.diagnostics {
            if !self.diagnostics.contains(&diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
    }
}

/// A query: `spark.sql(text, args)`. `:name` stands for the argument of that name; temporary views that the code registered are
/// put in as common table expressions.
pub fn query(interpreter: &mut Interpreter<'_>, text: &str, arguments: &[(String, Expr)], place: &Place) -> Plan {
    let parsed = sql::parse_query(text, &interpreter.sql_context(place));
    interpreter.keep_problems(parsed.problems);
    let mut plan = parsed.value;
    frames::replace_in_plan(&mut plan, &|expr| known(interpreter, expr, arguments));
    with_views(interpreter, plan)
}

/// What an expression of a SQL text stands for: an argument behind its marker, a session variable, a value that the script has
/// computed and put into the text.
fn known(interpreter: &Interpreter<'_>, expr: &Expr, arguments: &[(String, Expr)]) -> Option<Expr> {
    if let Expr::Opaque(opaque) = expr
        && let Some(name) = opaque.name.strip_prefix(':').filter(|_| opaque.args.is_empty())
    {
        return arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    }
    let computed = batch::collected::value(interpreter, expr);
    computed.or_else(|| frames::variable(expr, &interpreter.job.variables))
}

/// Temporary views that a query reads, as common table expressions around it.
fn with_views(interpreter: &Interpreter<'_>, plan: Plan) -> Plan {
    let mut ctes = Vec::new();
    for read in plan.reads() {
        let crate::model::Source::Table(name) = &read.source else { continue };
        let key = name.key();
        if let Some(view) = interpreter.views.get(&key)
            && !ctes.iter().any(|(seen, _): &(std::sync::Arc<str>, Plan)| seen.as_ref() == key)
        {
            ctes.push((key.into(), view.as_ref().clone()));
        }
    }
    if ctes.is_empty() {
        return plan;
    }
    let place = plan.place.clone();
    Plan::at(crate::model::Node::With { ctes, recursive: false, body: Box::new(plan) }, place)
}

/// An expression: `F.expr`, `filter("…")`, `selectExpr`.
pub fn expression(interpreter: &mut Interpreter<'_>, text: &str, place: &Place) -> Expr {
    let parsed = sql::parse_expression(text, &interpreter.sql_context(place));
    interpreter.keep_problems(parsed.problems);
    frames::replace(parsed.value, &|expr| known(interpreter, expr, &[]))
}

pub fn data_type(text: &str) -> Option<DataType> {
    sql::parse_data_type(text).ok()
}

/// `a INT, b STRING`.
pub fn schema(text: &str) -> Option<Schema> {
    sql::parse_schema_ddl(text).ok()
}

/// Columns of a table's definition as DDL: those declared and those generated.
pub fn table_schema(text: &str) -> Option<(Schema, Vec<GeneratedColumn>)> {
    let statement = format!("CREATE STREAMING TABLE t ({text})");
    let script = sql::parse_statements(&statement, &Context::default(), &mut Session::default());
    match script.statements.into_iter().next()? {
        (Statement::Dataset { dataset, .. }, _) => Some((dataset.declared?, dataset.generated)),
        _ => None,
    }
}

impl Interpreter<'_> {
    /// A SQL cell of a notebook whose other cells are Python.
    pub fn run_sql_cell(&mut self, text: &str, origin: Origin) {
        let context = Context::in_pipeline(origin, self.pipeline);
        let mut session = std::mem::take(&mut self.sql_session);
        if self.job.is_on() {
            self.sql_session = session;
            run(self, text, &context, (None, &[]));
            return;
        }
        let definitions = sql::define(text, &context, &mut session);
        self.sql_session = session;
        self.sql_cells.push(definitions);
    }
}

/// A command: a temporary view is kept, anything else has no rows to follow.
pub fn statement(interpreter: &mut Interpreter<'_>, text: &str, arguments: &[(String, Expr)], place: &Place) {
    let context = interpreter.sql_context(place);
    run(interpreter, text, &context, (Some(place), arguments));
}

/// Each statement of a text, at its own place where none is given: text inside a call has no lines of its own.
fn run(
    interpreter: &mut Interpreter<'_>,
    text: &str,
    context: &Context<'_>,
    (call, arguments): (Option<&Place>, &[(String, Expr)]),
) {
    let mut session = Session::default();
    let script = sql::parse_statements(text, context, &mut session);
    for (statement, own) in script.statements {
        let place = call.unwrap_or(&own);
        match statement {
            Statement::Dataset { dataset, flow: Some(flow) } if dataset.kind == crate::model::DatasetKind::View => {
                let mut plan = flow.plan;
                frames::replace_in_plan(&mut plan, &|expr| known(interpreter, expr, arguments));
                let plan = with_views(interpreter, plan);
                interpreter.views.insert(dataset.name.key(), Rc::new(plan));
            }
            Statement::Set { key, value } => {
                batch::sql_conf(interpreter, &key, value.as_deref(), place);
                match value {
                    Some(value) => drop(interpreter.conf.insert(key, value)),
                    None => drop(interpreter.conf.remove(&key)),
                }
            }
            Statement::Reset => interpreter.job.push(Step::Reset { place: place.clone() }),
            Statement::Variable { name, value } => {
                let value = frames::replace(value, &|expr| known(interpreter, expr, arguments));
                interpreter.job.variables.insert(name, value);
            }
            Statement::Write(mut write) => {
                frames::replace_in_write(&mut write, &|expr| known(interpreter, expr, arguments));
                write.query = write.query.take().map(|query| with_views(interpreter, query));
                if let WriteOperation::Merge(merge) = &mut write.operation {
                    merge.source = with_views(interpreter, merge.source.clone());
                }
                batch::sql_write(interpreter, *write, place);
            }
            Statement::Broken => batch::unknown_statement(interpreter, text.to_owned(), place),
            Statement::Other { .. } if batch::publish(interpreter, text, place) => {}
            Statement::Other { what, matters: true } => batch::unknown_statement(interpreter, what, place),
            _ => {}
        }
    }
}
