//! The driver's answers as reports and tables.

use crate::confirm::{TableRows, WrittenRows};
use crate::engine::{ExecutionError, value};
use crate::frontend::sql::parse_data_type;
use crate::model::{DataType, Value};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// What became of one update of one pipeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateAnswer {
    /// By the flow's name in lower case: its status, and its error.
    pub flows: BTreeMap<String, (String, Option<ExecutionError>)>,
    /// Of the whole run.
    pub error: Option<ExecutionError>,
    pub unregistered: Vec<(Unregistered, ExecutionError)>,
    pub notes: Vec<(String, String)>,
}

/// What could not be given to Spark: a flow, or all that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unregistered {
    Table(String),
    File(String),
}

impl UpdateAnswer {
    pub fn read(answer: &Json) -> UpdateAnswer {
        let text = |json: &Json, key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        let flows = answer.get("flows").and_then(Json::as_object).into_iter().flatten();
        let unregistered = answer.get("unregistered").and_then(Json::as_array).into_iter().flatten();
        let notes = answer.get("notes").and_then(Json::as_array).into_iter().flatten();
        UpdateAnswer {
            flows: flows
                .map(|(name, flow)| {
                    let status = text(flow, "status").unwrap_or_default();
                    (name.to_lowercase(), (status, flow.get("error").and_then(error)))
                })
                .collect(),
            error: answer.get("error").and_then(error),
            unregistered: unregistered
                .filter_map(|entry| {
                    let what = text(entry, "dataset").map(Unregistered::Table);
                    let what = what.or_else(|| text(entry, "file").map(Unregistered::File))?;
                    Some((what, error(entry.get("error")?)?))
                })
                .collect(),
            notes: notes
                .filter_map(|note| Some((note.get(0)?.as_str()?.to_owned(), note.get(1)?.as_str()?.to_owned())))
                .collect(),
        }
    }
}

impl UpdateAnswer {
    /// The same with messages that name tables as the user does: without the schema of the run.
    #[must_use]
    pub fn without(mut self, schema: &str) -> UpdateAnswer {
        let prefixes = [
            format!("`spark_catalog`.`{schema}`."),
            format!("spark_catalog.{schema}."),
            format!("`{schema}`."),
            format!("{schema}."),
        ];
        prefixes.iter().for_each(|prefix| self.forget(prefix));
        self
    }

    /// The same with messages that name the user's files as the repository does.
    #[must_use]
    pub fn without_folder(mut self, folder: &str) -> UpdateAnswer {
        self.forget(&format!("{folder}/"));
        self
    }

    /// Whether every flow was told to have run, or to be running still.
    pub fn names_no_failure(&self) -> bool {
        let ran = |status: &str| matches!(status, "COMPLETED" | "RUNNING" | "STARTING" | "IDLE" | "STOPPED");
        self.unregistered.is_empty() && !self.flows.is_empty() && self.flows.values().all(|(status, _)| ran(status))
    }

    fn forget(&mut self, text: &str) {
        let errors = self.flows.values_mut().filter_map(|(_, error)| error.as_mut());
        let unregistered = self.unregistered.iter_mut().map(|(_, error)| error);
        for error in errors.chain(self.error.as_mut()).chain(unregistered) {
            error.message = error.message.replace(text, "");
        }
    }
}

fn error(json: &Json) -> Option<ExecutionError> {
    let text = |key: &str| json.get(key).and_then(Json::as_str);
    Some(ExecutionError::new(text("class")?, text("message").unwrap_or_default()))
}

/// Stands for a value that no two runs have in common.
pub const VARIES: &str = "(varies)";

/// A table's columns and rows; of columns in `varying` only whether a value is there.
pub fn table_rows(contents: &Json, varying: &BTreeSet<String>) -> TableRows {
    let listed = contents.get("columns").and_then(Json::as_array).into_iter().flatten();
    let columns: Vec<(String, DataType)> = listed
        .filter_map(|column| {
            let name = column.get(0)?.as_str()?.to_owned();
            let data_type = match varying.contains(&name.to_lowercase()) {
                true => DataType::String,
                false => parse_data_type(column.get(1)?.as_str()?).unwrap_or(DataType::String),
            };
            Some((name, data_type))
        })
        .collect();
    let mut rows = BTreeMap::new();
    for row in contents.get("rows").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_array) {
        let cells = columns.iter().zip(row).filter(|(_, cell)| !cell.is_null());
        let mut named: Vec<(String, Value)> = cells
            .map(|((name, data_type), cell)| {
                let name = name.to_lowercase();
                let told = if varying.contains(&name) {
                    Value::String(VARIES.into())
                } else {
                    rounded(value(cell, data_type))
                };
                (name, told)
            })
            .filter(|(_, value)| !value.is_null())
            .collect();
        named.sort();
        *rows.entry(named).or_insert(0) += 1;
    }
    TableRows { columns, rows: WrittenRows::ByAnyone(rows) }
}

/// Sums of doubles hang on the order of rows in their last digits.
fn rounded(value: Value) -> Value {
    match value {
        Value::Double(number) if number.is_finite() => {
            Value::Double(format!("{number:.11e}").parse().unwrap_or(number))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_are_typed_by_their_columns_and_counted() {
        let contents = json!({
            "columns": [["Id", "int"], ["at", "timestamp"], ["s", "struct<a:double>"], ["n", "decimal(10,2)"]],
            "rows": [[1, "2026-01-01 10:00:00", {"a": 0.1}, "1.50"], [1, "2026-01-01 11:00:00", {"a": 0.1}, "1.5"], [null, null, null, null]],
        });
        let table = table_rows(&contents, &BTreeSet::from(["at".to_owned()]));
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Id", "at", "s", "n"]);
        let WrittenRows::ByAnyone(rows) = table.rows else { panic!("flows are not told apart") };
        assert_eq!(rows.len(), 2);
        assert_eq!(rows.get(&Vec::new()), Some(&1));
        assert!(rows.iter().any(|(row, count)| *count == 2 && row[1] == ("id".to_owned(), Value::Int(1))));
        assert!(rows.keys().any(|row| row.first() == Some(&("at".to_owned(), Value::String(VARIES.into())))));
    }

    #[test]
    fn an_answer_tells_flows_errors_and_what_could_not_be_registered() {
        let answer = UpdateAnswer::read(&json!({
            "flows": {"T": {"status": "FAILED", "error": {"class": "A", "message": "m"}}, "u": {"status": "COMPLETED", "error": null}},
            "error": null,
            "unregistered": [{"dataset": "v", "error": {"class": "B", "message": ""}}, {"file": "/x.py", "error": {"class": "C", "message": ""}}],
            "notes": [["a", "b"]],
        }));
        assert_eq!(answer.flows["t"], ("FAILED".to_owned(), Some(ExecutionError::new("A", "m"))));
        assert_eq!(answer.flows["u"].1, None);
        assert_eq!(answer.unregistered[1].0, Unregistered::File("/x.py".to_owned()));
        let told =
            UpdateAnswer { error: Some(ExecutionError::new("A", "no `spark_catalog`.`run_1`.`t`")), ..answer.clone() };
        assert_eq!(told.without("run_1").error.map(|error| error.message).as_deref(), Some("no `t`"));
        assert_eq!(answer.notes, [("a".to_owned(), "b".to_owned())]);
    }
}
