//! A relation in the course of its resolution: the plan so far, its columns, and what a name may mean in it.

use crate::model::{Attribute, Expr, Node, Plan};
use std::sync::Arc;

/// Index of a relation whose columns are not all known, in the resolver's table of them.
pub(super) type OpenId = usize;

/// Columns beyond the known ones, which become attributes when somebody names them.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub id: OpenId,
    pub qualifier: Vec<Arc<str>>,
    /// Names that are known not to come through (dropped, renamed).
    pub excluded: Vec<String>,
}

/// A DataFrame of Python code below this relation, by the id that `df["x"]` names it with.
#[derive(Debug, Clone)]
pub(super) struct FrameColumns {
    pub frame: u32,
    pub columns: Arc<[Attribute]>,
    pub open: Arc<[Open]>,
}

#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub plan: Plan,
    /// Known columns, in order.
    pub output: Vec<Attribute>,
    /// Columns that only a qualified name or a frame reaches: the other side's keys of a join with USING.
    pub hidden: Vec<Attribute>,
    pub open: Vec<Open>,
    /// Leaves that give hidden metadata columns (`_metadata`) when named.
    pub metadata: Vec<Open>,
    pub frames: Vec<FrameColumns>,
    /// The plan gives the columns of `output`, but in another order or among others.
    pub loose: bool,
}

impl Relation {
    pub fn new(plan: Plan, output: Vec<Attribute>) -> Self {
        Relation {
            plan,
            output,
            hidden: Vec::new(),
            open: Vec::new(),
            metadata: Vec::new(),
            frames: Vec::new(),
            loose: false,
        }
    }

    pub fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// The plan changes, columns and names stay.
    pub fn map_plan(self, node: impl FnOnce(Box<Plan>) -> Node) -> Self {
        let place = self.plan.place.clone();
        Relation { plan: Plan::at(node(Box::new(self.plan)), place), ..self }
    }

    /// All columns in order, as expressions, with a marker for those that are not known.
    pub fn all_columns(&self) -> Vec<Expr> {
        self.output.iter().cloned().map(Expr::Attribute).chain(self.open.iter().map(rest_of)).collect()
    }

    /// Makes the plan give exactly the columns of `output`, in order.
    pub fn tight(self) -> Self {
        if !self.loose {
            return self;
        }
        let list = self.all_columns();
        Relation { loose: false, hidden: Vec::new(), ..self.map_plan(|input| Node::Project { list, input }) }
    }
}

/// Stands in a projection for all further columns of an open relation, until [`super::finish`] knows which were named.
pub(super) fn rest_of(open: &Open) -> Expr {
    Expr::Star {
        qualifier: vec![REST.to_owned(), open.id.to_string()],
        except: open.excluded.clone(),
        replace: Vec::new(),
        place: crate::model::Place::unknown(),
    }
}

/// First qualifier of a marker; no user's text lowers to it, since a qualifier from a parser is never empty.
const REST: &str = "";

/// The open relation that a marker stands for, and the names it leaves out.
pub(super) fn as_rest(expr: &Expr) -> Option<(OpenId, &[String])> {
    match expr {
        Expr::Star { qualifier, except, .. } => match qualifier.as_slice() {
            [rest, id] if rest == REST => id.parse().ok().map(|id| (id, except.as_slice())),
            _ => None,
        },
        _ => None,
    }
}

/// What a dotted name is among some columns.
#[derive(Debug)]
pub(super) enum Found {
    /// The column, and the parts that select fields of it.
    Column(Attribute, Vec<String>),
    Ambiguous(Vec<Attribute>),
    Nothing,
}

/// `AttributeSeq.resolve`: the longest qualifier wins; the same attribute twice is no ambiguity.
pub(super) fn find<'a>(columns: impl Iterator<Item = &'a Attribute> + Clone, parts: &[String]) -> Found {
    let longest = parts.len().saturating_sub(1).min(3);
    for qualifiers in (0..=longest).rev() {
        let (qualifier, rest) = parts.split_at(qualifiers);
        let Some((name, fields)) = rest.split_first() else { continue };
        let mut matching: Vec<&Attribute> = Vec::new();
        for column in columns.clone() {
            if same_name(&column.name, name)
                && is_suffix(&column.qualifier, qualifier)
                && !matching.iter().any(|m| m.id == column.id)
            {
                matching.push(column);
            }
        }
        match matching.as_slice() {
            [] => {}
            [column] => return Found::Column((*column).clone(), fields.to_vec()),
            several => return Found::Ambiguous(several.iter().map(|a| (*a).clone()).collect()),
        }
    }
    Found::Nothing
}

pub(super) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}

/// Names that end a qualifier, as `db.t` ends `catalog.db.t`.
pub(super) fn is_suffix(full: &[Arc<str>], suffix: &[String]) -> bool {
    suffix.len() <= full.len() && full.iter().skip(full.len() - suffix.len()).zip(suffix).all(|(a, b)| same_name(a, b))
}
