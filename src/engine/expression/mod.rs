//! Expressions bound to the columns of a relation, and their evaluation on rows.
//!
//! [`bind`] resolves attributes to positions and functions to their entries once; [`Evaluator`] then evaluates row by row. Names
//! and casts are resolved by the analysis before; what is left unresolved is an error, what is opaque is uninterpreted.

mod bind;
mod evaluator;
mod subquery;
mod whole;

pub(super) use bind::{bind, bind_all, coerce};
pub(super) use evaluator::Evaluator;
pub(super) use subquery::BoundSubquery;
pub(super) use whole::{BoundGenerator, BoundWindowFunction};

use crate::functions::{Argument, Function};
use crate::model::{Attribute, DataType, Value};
use std::sync::Arc;

/// An expression over the positions of a row.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub kind: BoundKind,
    pub data_type: DataType,
    pub nullable: bool,
    /// Name of the attribute, alias or field: `struct` names its fields after it.
    pub name: Option<Arc<str>>,
    /// Delay in microseconds, where the value is an event time (a column, or a time window over one).
    pub watermark_delay: Option<i64>,
}

#[derive(Debug, Clone)]
pub(super) enum BoundKind {
    Column(usize),
    Literal(Value),
    /// A lambda's parameter: position among those in scope, outermost first.
    Parameter(usize),
    And(Box<[Bound; 2]>),
    Or(Box<[Bound; 2]>),
    Coalesce(Vec<Bound>),
    Case {
        branches: Vec<(Bound, Bound)>,
        otherwise: Option<Box<Bound>>,
    },
    Cast {
        expr: Box<Bound>,
        try_cast: bool,
    },
    Call {
        function: &'static Function,
        args: Vec<Bound>,
        types: Vec<DataType>,
    },
    /// It may name fewer parameters than its function has values for.
    Lambda {
        body: Box<Bound>,
        parameters: usize,
    },
    /// A deterministic hash of `identity` and the arguments stands for the value.
    Uninterpreted {
        name: Arc<str>,
        identity: String,
        args: Vec<Bound>,
    },
    Subquery(Box<BoundSubquery>),
}

impl Bound {
    fn new(kind: BoundKind, data_type: DataType, nullable: bool) -> Self {
        Bound { kind, data_type, nullable, name: None, watermark_delay: None }
    }

    pub(super) fn column(position: usize, attribute: &Attribute) -> Self {
        Bound {
            kind: BoundKind::Column(position),
            data_type: attribute.data_type.clone(),
            nullable: attribute.nullable,
            name: Some(attribute.name.clone()),
            watermark_delay: attribute.watermark_delay,
        }
    }

    /// As `functions` sees it.
    pub(super) fn argument(&self) -> Argument {
        let literal = match &self.kind {
            BoundKind::Literal(value) => Some(value.clone()),
            _ => None,
        };
        Argument { data_type: self.data_type.clone(), nullable: self.nullable, literal, name: self.name.clone() }
    }
}
