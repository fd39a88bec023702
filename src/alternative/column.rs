//! A column renamed or made narrower: the old one stays, the new one comes beside it, and a view shows both as one.

use super::draft::{Draft, Parsed};
use super::python::{ColumnSite, Source as PythonSource};
use super::sheet::Spot;
use super::{Answer, Case, Desk, Goal, Stands};
use crate::model::Platform;
use std::ops::Range;

/// Changes of one sheet.
type Changes = Vec<(Range<usize>, String)>;

/// The value goes on under the old name, and under the new one too.
pub fn renamed(desk: &Desk, case: &Case) -> Option<Answer> {
    let (old, new) = (case.change.text("before")?, case.change.text("after")?);
    let here = desk.spot(&case.change.after)?;
    let text = &here.sheet.text;
    let (mut changes, region) = match Parsed::of(&here.sheet, here.at())? {
        Parsed::Sql(statement) => {
            let (item, expression) = statement.select_item(here.at())?;
            let expression = text.get(expression)?;
            let alias = if expression.eq_ignore_ascii_case(old) { String::new() } else { format!(" AS {old}") };
            (vec![(at(item.start), format!("{expression}{alias}, "))], statement.bytes()?)
        }
        Parsed::Python(python) => {
            (kept_in_python(&python, text, here.at(), old, new)?, python.definition(here.at())?.whole)
        }
    };
    changes.push(view(case, &here, &[new, old], &format!("coalesce({new}, {old})"), new)?);
    Some(Answer {
        title: format!("Keep column `{old}` beside `{new}`"),
        text: "Let the query give the column under both names: old rows keep their values, and nothing is refused. Readers use the view.",
        stands: Stands::ForOwnRemedy,
        goal: Goal::BetterEffect,
        draft: draft(here, region, changes),
    })
}

fn kept_in_python(python: &PythonSource, text: &str, byte: usize, old: &str, new: &str) -> Option<Changes> {
    let both = format!("selectExpr(\"*\", \"{old} AS {new}\")");
    Some(match python.column(byte, new)? {
        ColumnSite::Item { item, base } => {
            let base = text.get(base)?;
            (!base.starts_with(['"', '\''])).then_some(())?;
            let as_it_is = base.ends_with(&format!("col(\"{old}\")"));
            let alias = if as_it_is { String::new() } else { format!(".alias(\"{old}\")") };
            vec![(at(item.start), format!("{base}{alias}, "))]
        }
        ColumnSite::Text { item, expression } => {
            let alias = if expression == old { String::new() } else { format!(" AS {old}") };
            vec![(at(item.start), format!("\"{expression}{alias}\", "))]
        }
        ColumnSite::WithColumn { call, value, .. } => {
            vec![(at(call.start), format!("withColumn(\"{old}\", {}).", text.get(value)?))]
        }
        ColumnSite::Renamed { call } => vec![(call, both)],
        ColumnSite::RenamedBesideOthers { pair, end } => vec![(pair, String::new()), (at(end), format!(".{both}"))],
    })
}

/// The value of the new type goes into a column of its own.
pub fn retyped(desk: &Desk, case: &Case) -> Option<Answer> {
    if case.change.text("conversion") == Some("widened") {
        return None;
    }
    let (column, to) = (case.change.text("column")?, case.change.text("type_after")?);
    let kind: String = to.chars().take_while(char::is_ascii_alphanumeric).collect();
    let added = format!("{column}_{kind}");
    let (here, there) = (desk.spot(&case.change.after)?, desk.old_spot(&case.change.before)?);
    let (mut changes, region) = match (Parsed::of(&here.sheet, here.at())?, Parsed::of(&there.sheet, there.at())?) {
        (Parsed::Sql(statement), Parsed::Sql(old)) => {
            let (item, expression) = statement.select_item(here.at())?;
            let (old, _) = old.select_item(there.at())?;
            let text = format!("{}, {} AS {added}", there.sheet.text.get(old)?, here.sheet.text.get(expression)?);
            (vec![(item, text)], statement.bytes()?)
        }
        (Parsed::Python(python), Parsed::Python(old)) => {
            let changes = added_in_python(&python, &here, (&old, &there), column, &added)?;
            (changes, python.definition(here.at())?.whole)
        }
        _ => return None,
    };
    let united = format!("coalesce({added}, try_cast({column} AS {to}))");
    changes.push(view(case, &here, &[column, &added], &united, column)?);
    Some(Answer {
        title: format!("Keep column `{column}` and write the new form as `{added}`"),
        text: "Nothing is refused, and old rows keep their values. Readers use the view.",
        stands: Stands::ForOwnRemedy,
        goal: Goal::BetterEffect,
        draft: draft(here, region, changes),
    })
}

fn added_in_python(
    python: &PythonSource,
    here: &Spot,
    (old, there): (&PythonSource, &Spot),
    column: &str,
    added: &str,
) -> Option<Changes> {
    let (text, old_text) = (&here.sheet.text, &there.sheet.text);
    let written = old.column(there.at(), column);
    Some(match python.column(here.at(), column)? {
        ColumnSite::Item { item, base } => {
            let kept = match written {
                Some(ColumnSite::Item { item, .. }) => old_text.get(item)?.to_owned(),
                _ => format!("\"{column}\""),
            };
            vec![(item, format!("{kept}, {}.alias(\"{added}\")", text.get(base)?))]
        }
        ColumnSite::Text { item, expression } => {
            let kept = match written {
                Some(ColumnSite::Text { item, .. }) => old_text.get(item)?.to_owned(),
                _ => format!("\"{column}\""),
            };
            vec![(item, format!("{kept}, \"{expression} AS {added}\""))]
        }
        ColumnSite::WithColumn { call, name, .. } => {
            let mut changes = vec![(name, format!("\"{added}\""))];
            if let Some(ColumnSite::WithColumn { call: before, .. }) = written {
                changes.push((at(call.end), format!(".{}", old_text.get(before)?)));
            }
            changes
        }
        ColumnSite::Renamed { .. } | ColumnSite::RenamedBesideOthers { .. } => return None,
    })
}

fn at(byte: usize) -> Range<usize> {
    byte..byte
}

fn draft(here: Spot, region: Range<usize>, changes: Changes) -> Draft {
    changes.into_iter().fold(Draft::new(here.sheet, region), |draft, (range, text)| draft.replace(range, text))
}

/// A view that readers use in place of the table: `columns` go, and `united` comes under `name`.
fn view(case: &Case, here: &Spot, columns: &[&str], united: &str, name: &str) -> Option<(Range<usize>, String)> {
    let (table, short) = (case.table(), &case.dataset.name);
    let parsed = Parsed::of(&here.sheet, here.at())?;
    let (_, end, close) = parsed.definition(&here.sheet.text, here.at())?;
    let view = match &parsed {
        Parsed::Sql(_) => sql_view(case.pipeline.platform, &table, short, columns, &format!("{united} AS {name}")),
        Parsed::Python(python) => {
            let module = python.definition(here.at())?.module;
            let decorator = if module == "dlt" { "view" } else { "temporary_view" };
            let drop: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
            format!(
                "\n\n\n@{module}.{decorator}(name=\"{short}_current\")\ndef {short}_current():\n    \
                 table = spark.read.table(\"{table}\")\n    \
                 return table.selectExpr(\"*\", \"{united} AS united\").drop({}).withColumnRenamed(\"united\", \"{name}\")",
                drop.join(", "),
            )
        }
    };
    Some((at(end), format!("{close}{view}")))
}

fn sql_view(platform: Platform, table: &str, short: &str, columns: &[&str], united: &str) -> String {
    let temporary = match platform {
        Platform::Lakeflow => "",
        Platform::Spark => "TEMPORARY ",
    };
    let columns = columns.join(", ");
    format!("\n\nCREATE {temporary}VIEW {short}_current AS\nSELECT * EXCEPT ({columns}), {united}\nFROM {table};")
}
