//! A source added to a query or put in another's place: read by a flow of its own, so that the old checkpoint goes on.

use super::draft::{Draft, Parsed};
use super::edit;
use super::python::{self, Definition};
use super::{Answer, Case, Desk, Goal, Stands};
use std::ops::Range;

const BESIDE: &str = "Leave the old flow as it is and let the new source write into the same table by a flow of its own: it has a \
                      checkpoint of its own, so that nothing else is touched.";

/// Branches of unions become append flows. All cases are of one flow.
pub fn added(desk: &Desk, cases: &[Case]) -> Option<Answer> {
    let first = cases.first()?;
    let here = desk.spot(&first.change.after)?;
    let text = &here.sheet.text;
    let parsed = Parsed::of(&here.sheet, here.at())?;
    let mut removed: Vec<Range<usize>> = Vec::new();
    let mut flows = String::new();
    for case in cases {
        // Every source stands in the definition of the first, and in its sheet.
        let spot = desk.spot(&case.change.after)?;
        (spot.sheet.text == *text).then_some(())?;
        let name = case.flow_from(case.change.text("source")?);
        match &parsed {
            Parsed::Sql(statement) => {
                let union = statement.union_around(spot.at())?;
                let operand = text.get(union.operands.get(union.at)?.clone())?;
                let query = within(text, statement.query()?, union.whole()?, operand)?;
                flows.push_str(&sql_flow(case, &name, &query));
                removed.push(union.without()?);
            }
            Parsed::Python(python) => {
                let (union, definition) = (python.union_around(spot.at())?, python.definition(spot.at())?);
                let side = text.get(union.side)?;
                let body = within(text, definition.body.clone(), union.outermost, side)?;
                flows.push_str(&python_flow(case, &definition, &name, &body));
                removed.extend(union.without.into_iter().chain(union.assignment));
            }
        }
    }
    let (region, end, close) = parsed.definition(text, here.at())?;
    let mut draft = Draft::new(here.sheet, region).insert(end, format!("{close}{flows}"));
    for range in removed {
        draft = draft.replace(range, "");
    }
    let sources: Vec<String> =
        cases.iter().filter_map(|case| Some(format!("`{}`", case.change.text("source")?))).collect();
    let flows = if sources.len() == 1 { "a flow of its own" } else { "flows of their own" };
    Some(Answer {
        title: format!("Read {} by {flows}", sources.join(" and ")),
        text: BESIDE,
        stands: Stands::ForRemedy("append-flow"),
        goal: Goal::BetterEffect,
        draft,
    })
}

/// The old source comes back, and the new one is read beside it.
pub fn replaced(desk: &Desk, case: &Case) -> Option<Answer> {
    let source = case.change.text("source")?;
    let (here, there) = (desk.spot(&case.change.after)?, desk.old_spot(&case.change.before)?);
    let name = case.flow_from(source);
    let old = there.text()?.to_owned();
    let text = &here.sheet.text;
    let parsed = Parsed::of(&here.sheet, here.at())?;
    let flow = match &parsed {
        Parsed::Sql(statement) => sql_flow(case, &name, text.get(statement.query()?)?),
        Parsed::Python(python) => {
            let definition = python.definition(here.at())?;
            python_flow(case, &definition, &name, text.get(definition.body.clone())?)
        }
    };
    let (region, end, close) = parsed.definition(text, here.at())?;
    let draft = Draft::new(here.sheet, region).replace(here.range, old).insert(end, format!("{close}{flow}"));
    let title = format!("Read `{source}` by a new flow beside the old one");
    Some(Answer { title, text: BESIDE, stands: Stands::ForRemedy("append-flow"), goal: Goal::BetterEffect, draft })
}

/// The text at `outer` with `inner`, which lies in it, replaced.
fn within(text: &str, outer: Range<usize>, inner: Range<usize>, by: &str) -> Option<String> {
    let local = inner.start.checked_sub(outer.start)?..inner.end.checked_sub(outer.start)?;
    edit::replaced(text.get(outer)?, vec![(local, by)])
}

fn sql_flow(case: &Case, name: &str, query: &str) -> String {
    format!("\n\nCREATE FLOW {name} AS\nINSERT INTO {} BY NAME\n{query};", case.table())
}

fn python_flow(case: &Case, definition: &Definition, name: &str, body: &str) -> String {
    let (module, table) = (definition.module, case.table());
    let body = python::without_unused_reads(body.trim_end());
    format!("\n\n\n@{module}.append_flow(target=\"{table}\", name=\"{name}\")\ndef {name}():\n    {body}")
}
