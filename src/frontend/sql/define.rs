//! What the SQL of a pipeline defines: datasets and flows out of its statements.

use super::statements::{Session, Statement, parse_statements};
use super::{Context, Problems};
use crate::frontend::Definitions;
use crate::model::{BatchWrite, DiagnosticLevel, Opaque, Place, Platform, WriteOperation, WriteTarget};

/// Datasets, flows and problems of one text; the session carries `SET` and `USE` on to the next text of the same notebook.
pub fn define(text: &str, context: &Context, session: &mut Session) -> Definitions {
    let script = parse_statements(text, context, session);
    let mut definitions = Definitions::default();
    let mut problems = script.problems;
    for (statement, place) in script.statements {
        match statement {
            Statement::Dataset { dataset, flow } => {
                definitions.datasets.push(*dataset);
                definitions.flows.extend(flow.map(|flow| *flow));
            }
            Statement::Flow(flow) => definitions.flows.push(*flow),
            Statement::Properties { target, properties } => definitions.properties.push((target, properties)),
            Statement::Write(write) => {
                let what = describe(&write);
                if context.platform() == Platform::Spark {
                    let message = format!("{what} is refused in a pipeline of Apache Spark");
                    problems.error("not-on-platform", message, place.span().cloned());
                } else {
                    outside(&what, true, &place, &mut problems);
                }
            }
            Statement::Function(function) => {
                outside(&format!("CREATE FUNCTION {}", function.name), true, &place, &mut problems);
                definitions.functions.push(Opaque { place, ..function });
            }
            Statement::Other { what, matters } => outside(&what, matters, &place, &mut problems),
            Statement::Query(_) => outside("a query", false, &place, &mut problems),
            Statement::Variable { .. } => outside("a session variable", true, &place, &mut problems),
            Statement::Set { .. } | Statement::Reset | Statement::Use { .. } | Statement::Broken => {}
        }
    }
    definitions.diagnostics = problems.diagnostics;
    definitions.unresolved = problems.unresolved;
    definitions
}

/// A statement that defines no dataset: only those that could change what tables hold are worth a word.
fn outside(what: &str, matters: bool, place: &Place, problems: &mut Problems) {
    if !matters {
        return;
    }
    let message = format!("{what} is no statement of a pipeline: what it does is not analysed");
    problems.report(DiagnosticLevel::Note, "other-statement", message, place.span().cloned());
}

fn describe(write: &BatchWrite) -> String {
    let verb = match &write.operation {
        WriteOperation::Append => "INSERT INTO",
        WriteOperation::Overwrite
        | WriteOperation::OverwritePartitions
        | WriteOperation::OverwriteWhere(_)
        | WriteOperation::ReplaceUsing(_)
        | WriteOperation::ReplaceOn(_) => "INSERT OVERWRITE",
        WriteOperation::Create { .. }
        | WriteOperation::ErrorIfExists
        | WriteOperation::Ignore
        | WriteOperation::Replace
        | WriteOperation::Invalid { .. } => "CREATE TABLE",
        WriteOperation::Merge(_) => "MERGE INTO",
        WriteOperation::Delete { .. } => "DELETE FROM",
        WriteOperation::Update { .. } => "UPDATE",
        WriteOperation::Truncate { .. } => "TRUNCATE TABLE",
        WriteOperation::DropPartition { .. } | WriteOperation::Ddl(_) => "ALTER TABLE",
        WriteOperation::DropTable { .. } => "DROP TABLE",
    };
    match &write.target {
        WriteTarget::Table(name) => format!("{verb} {name}"),
        WriteTarget::Path(path) => format!("{verb} '{path}'"),
        WriteTarget::Unknown(text) => format!("{verb} {text}"),
    }
}
