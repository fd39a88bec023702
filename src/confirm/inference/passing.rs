//! Columns that a query passes on without naming them (`SELECT *`): which of the tables it reads a wanted column comes from.

use crate::model::{JoinKind, Node, Plan, Read};

/// The reads that may give a column of this name, one a branch of a union. Empty where none has columns that are not known.
pub(super) fn origins<'p>(plan: &'p Plan, column: &str) -> Vec<&'p Read> {
    match &plan.node {
        Node::Read(read) if read.complete || read.output.iter().any(|c| c.name.eq_ignore_ascii_case(column)) => {
            Vec::new()
        }
        Node::Read(read) => vec![read],
        Node::Join { left, kind: JoinKind::LeftSemi | JoinKind::LeftAnti, .. } => origins(left, column),
        Node::Join { left, right, .. } => {
            let found = origins(left, column);
            if found.is_empty() { origins(right, column) } else { found }
        }
        Node::Union { inputs, .. } => inputs.iter().flat_map(|input| origins(input, column)).collect(),
        Node::SetOperation { left, right, .. } => {
            [left, right].into_iter().flat_map(|side| origins(side, column)).collect()
        }
        Node::Aggregate { .. }
        | Node::Opaque { .. }
        | Node::StatefulMap { .. }
        | Node::Pivot { .. }
        | Node::Unpivot { .. }
        | Node::Values { .. }
        | Node::Range { .. } => Vec::new(),
        _ => plan.inputs().into_iter().flat_map(|input| origins(input, column)).collect(),
    }
}
