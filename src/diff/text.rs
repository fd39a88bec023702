//! How facts show what is no term: names of sources, selections of columns, clauses of definitions.

use crate::analyze::expression_term;
use crate::graph::text_without_number;
use crate::model::{ColumnSelection, Expr};

/// A source's canonical text as a message names it.
pub fn source(text: &str) -> String {
    text_without_number(text).to_owned()
}

pub fn selection(selection: &ColumnSelection) -> String {
    match selection {
        ColumnSelection::All => "all columns".to_owned(),
        ColumnSelection::Only(columns) => columns.join(", "),
        ColumnSelection::Except(columns) => format!("all columns except {}", columns.join(", ")),
    }
}

/// An expression as people read it, for the parts of a definition that are no plan (AUTO CDC clauses).
pub fn expression(expr: &Expr) -> String {
    expression_term(expr).readable(&[])
}
