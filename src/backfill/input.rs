//! Where the rows of a chunk come from: the query that fills the table anyway, as far as it can be written down for any day.

use super::day::DayColumn;
use super::quoted;
use super::table::Repository;
use crate::alternative::Sheets;
use crate::functions::{self, Volatility};
use crate::model::{Expr, Node, Place, Plan, QualifiedName, Read, Source};
use crate::rules::CodeLanguage;

/// Rows of all days; the chunk's predicate is put on top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Columns of one table as they are; none stands for all.
    Table { name: String, columns: Option<Vec<String>> },
    /// The text of a query.
    Query { sql: String },
    /// A view that whoever runs the backfill defines first.
    ByHand {
        view: String,
        /// `path:line` of the statement whose query it is.
        writer: Option<String>,
        reason: String,
    },
}

impl Input {
    /// Of a query that stands at a place, for the days of a column. `view` is the name for what has to be written by hand;
    /// `streaming` leaves the query a stream.
    pub fn of(
        repository: &Repository<'_>,
        (plan, place): (&Plan, &Place),
        day: &DayColumn,
        view: String,
        streaming: bool,
    ) -> Self {
        if let Some((read, columns)) = plain(plan, &day.name)
            && let Source::Table(name) = &read.source
            && !name.is_template()
            && columns.as_ref().is_none_or(|all| all.iter().any(|column| column.eq_ignore_ascii_case(&day.name)))
        {
            return Input::Table { name: table_name(name), columns };
        }
        let by_hand = |view: String, reason: &str| Input::ByHand {
            view,
            writer: place.span().map(|span| format!("{}:{}", span.path, span.line)),
            reason: reason.to_owned(),
        };
        if chooses_days(plan, &day.name) {
            return by_hand(view, "the query chooses its own days");
        }
        if plan.reads().iter().any(|read| matches!(read.source, Source::Connector { .. })) {
            return by_hand(view, "the query reads messages, whose days only their content tells");
        }
        match query_text(repository, place, streaming) {
            Some(sql) => Input::Query { sql },
            None => by_hand(view, "the query is more than columns of one table"),
        }
    }

    /// No statement of the repository says where the rows come from.
    pub fn unknown(view: String) -> Self {
        Input::ByHand { view, writer: None, reason: "no statement of the repository fills the table".to_owned() }
    }

    /// What stands behind FROM, and the select list; `all` are the table's columns in the order that a write by position needs.
    pub fn select(&self, all: &[String]) -> (String, String) {
        let list = |columns: &[String]| columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let every = if all.is_empty() { "*".to_owned() } else { list(all) };
        match self {
            Input::Table { name, columns: None } => (every, name.clone()),
            Input::Table { name, columns: Some(columns) } => {
                let same =
                    columns.len() == all.len() && all.iter().all(|c| columns.iter().any(|o| o.eq_ignore_ascii_case(c)));
                (if same { every } else { list(columns) }, name.clone())
            }
            Input::Query { sql } => ("*".to_owned(), format!("(\n{}\n)", indented(sql))),
            Input::ByHand { view, .. } => (every, view.clone()),
        }
    }
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { String::new() } else { format!("  {line}") })
        .collect::<Vec<_>>()
        .join("\n")
}

/// A table's name as SQL takes it.
pub fn table_name(name: &QualifiedName) -> String {
    name.parts().map(quoted).collect::<Vec<_>>().join(".")
}

/// Columns of one read, taken as they are; filters on the day itself count for nothing, since the chunk brings its own.
fn plain<'p>(plan: &'p Plan, day: &str) -> Option<(&'p Read, Option<Vec<String>>)> {
    match &plan.node {
        Node::Read(read) => Some((read, None)),
        Node::SubqueryAlias { columns, input, .. } if columns.is_empty() => plain(input, day),
        Node::Watermark { input, .. } => plain(input, day),
        Node::Filter { condition, input } if is_about(condition, day) => plain(input, day),
        Node::Project { list, input } => {
            let (read, None) = plain(input, day)? else { return None };
            let star = |expr: &Expr| matches!(expr, Expr::Star { except, replace, .. } if except.is_empty() && replace.is_empty());
            if let [only] = list.as_slice()
                && star(only)
            {
                return Some((read, None));
            }
            let columns: Option<Vec<String>> = list
                .iter()
                .map(|expr| match expr {
                    Expr::Column(column) => column.parts.last().cloned(),
                    _ => None,
                })
                .collect();
            Some((read, Some(columns?)))
        }
        _ => None,
    }
}

fn is_column(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Column(column) if column.parts.last().is_some_and(|part| part.eq_ignore_ascii_case(name)))
}

/// A condition on the day alone: no other column has a part in it.
fn is_about(condition: &Expr, day: &str) -> bool {
    let (mut about, mut other) = (false, false);
    condition.walk(&mut |inner| match inner {
        Expr::Column(_) if is_column(inner, day) => about = true,
        Expr::Column(_) | Expr::Subquery { .. } | Expr::Opaque(_) => other = true,
        _ => {}
    });
    about && !other
}

/// Some filter of the query compares the day, or the time of the run.
fn chooses_days(plan: &Plan, day: &str) -> bool {
    let mut found = false;
    plan.walk(&mut |node| {
        if let Node::Filter { condition, .. } = &node.node {
            condition.walk(&mut |inner| {
                let now = matches!(inner, Expr::Call(call) if functions::call_volatility(call) == Volatility::Clock);
                found |= now || is_column(inner, day);
            });
        }
    });
    found
}

/// The query of the SQL statement at a place.
fn query_text(repository: &Repository<'_>, place: &Place, streaming: bool) -> Option<String> {
    let spot = Sheets::of(repository.tree).spot(place.span()?)?;
    let statement = Some(&spot.sheet).filter(|sheet| sheet.language == CodeLanguage::Sql)?.statement(spot.at())?;
    let query = if streaming { statement.written_query()?.to_owned() } else { statement.batch_query()? };
    Some(query.trim().to_owned())
}
