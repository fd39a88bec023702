//! Flows that replace rows: `@dp.table(replace_where=…)`, `@dp.table(replace_using=…, sequence_by=…)` and `@dp.replace_flow`
//! (docs.databricks.com: "REPLACE WHERE flows", "replace_flow").

use super::cdc::condition;
use crate::frontend::pyspark::column_names;
use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::value::Arguments;
use crate::model::FlowKind;

/// Arguments that say what is replaced.
pub const ARGUMENTS: [&str; 3] = ["replace_where", "replace_using", "sequence_by"];

/// The kind of a flow whose arguments say what it replaces.
pub fn kind(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Option<FlowKind> {
    const BY_NAME_ONLY: usize = usize::MAX;
    if let Some(predicate) = condition(interpreter, arguments, BY_NAME_ONLY, "replace_where", false) {
        return Some(FlowKind::ReplaceWhere(predicate));
    }
    let keys = arguments.keyword("replace_using").filter(|value| !value.is_none())?.clone();
    let keys = column_names(interpreter, &[keys]);
    let sequence_by = condition(interpreter, arguments, BY_NAME_ONLY, "sequence_by", true);
    Some(FlowKind::ReplaceUsing { keys, sequence_by })
}
