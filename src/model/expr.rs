//! Expressions, before and after analysis.
//!
//! Operators, functions and predicates are all [`Call`]s under one lower-case name (`+`, `and`, `isnull`, `like`, `count`,
//! `window`), so that typing, canonical form and evaluation are tables keyed by that name (see `functions`).

use super::place::{Place, Span};
use super::plan::Plan;
use super::types::DataType;
use super::value::Value;
use std::sync::Arc;

/// Identity of a column inside one analysed flow (Catalyst's `ExprId`). Zero before analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct AttrId(pub u32);

/// A resolved column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attribute {
    pub id: AttrId,
    pub name: Arc<str>,
    pub data_type: DataType,
    pub nullable: bool,
    /// Names a reference may be qualified with: alias, or the parts of the table's name.
    pub qualifier: Vec<Arc<str>>,
    /// Delay in microseconds, where a watermark is defined on this column (Spark keeps it in the column's metadata).
    pub watermark_delay: Option<i64>,
}

/// A column as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// Unquoted parts; which of them qualify and which select a field is for the analysis to say.
    pub parts: Vec<String>,
    /// For `df["x"]`: the [`Plan::frame`] it must be resolved in (Spark Connect's plan id).
    pub frame: Option<u32>,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expr {
    /// Not yet resolved.
    Column(ColumnName),
    /// `*`, `t.*`, `* EXCEPT (a, b)`, `struct.*`; not yet expanded.
    Star {
        qualifier: Vec<String>,
        except: Vec<String>,
        replace: Vec<Expr>,
        place: Place,
    },
    /// Columns whose name matches a regular expression (`colRegex`), or unknown columns: expanded by analysis where it can be.
    ColumnRegex(String),
    Attribute(Attribute),
    Literal {
        value: Value,
        data_type: DataType,
    },
    /// `expr AS name`. `id` is set by analysis.
    Alias {
        expr: Box<Expr>,
        name: Arc<str>,
        id: AttrId,
        place: Place,
    },
    /// `expr AS (a, b)` over a generator or struct expansion.
    MultiAlias {
        expr: Box<Expr>,
        names: Vec<Arc<str>>,
    },
    Call(Call),
    Cast {
        expr: Box<Expr>,
        to: DataType,
        try_cast: bool,
    },
    /// `CASE WHEN`; a simple CASE is written as comparisons by the frontends.
    Case {
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Lambda {
        params: Vec<Arc<str>>,
        body: Box<Expr>,
    },
    /// A lambda's parameter inside its body.
    LambdaVariable {
        name: Arc<str>,
        data_type: DataType,
        nullable: bool,
    },
    Window {
        call: Box<Expr>,
        spec: WindowSpec,
    },
    Subquery {
        kind: SubqueryKind,
        plan: Box<Plan>,
    },
    /// Content that no plan can show: a UDF, an unresolved Python value.
    Opaque(Opaque),
}

/// A function or operator applied to arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Lower case, as Spark's `FunctionRegistry` names it; operators by their SQL symbol or word. Field access is `getfield`
    /// (second argument a string literal), `a[i]` is `getitem`, negation is `negative`, `a IN (..)` is `in`,
    /// BETWEEN is two comparisons under `and`.
    pub function: Arc<str>,
    pub args: Vec<Expr>,
    pub distinct: bool,
    pub filter: Option<Box<Expr>>,
    /// `WITHIN GROUP (ORDER BY …)`.
    pub order_by: Vec<SortKey>,
    pub ignore_nulls: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SubqueryKind {
    Scalar,
    Exists { negated: bool },
    In { operands: Vec<Expr>, negated: bool },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SortKey {
    pub expr: Expr,
    pub descending: bool,
    pub nulls_first: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WindowSpec {
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<SortKey>,
    pub frame: Option<Frame>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    pub rows: bool,
    pub start: FrameBound,
    pub end: FrameBound,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Box<Expr>),
    CurrentRow,
    Following(Box<Expr>),
    UnboundedFollowing,
}

/// Something whose meaning is its text: equal content is equal, changed content is a change, and nothing more is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// What it is, in the user's words: a UDF's name, a called function.
    pub name: Arc<str>,
    /// Why nothing more is known, where that is a gap (empty for a UDF, which is opaque by nature).
    pub reason: Arc<str>,
    /// Hash of its own text and of all repository functions it reaches; free of layout, comments and places.
    pub content: u64,
    /// Known inputs (columns of a UDF call).
    pub args: Vec<Expr>,
    /// Declared result, or `Unknown`.
    pub data_type: DataType,
    pub deterministic: bool,
    /// The repository's functions behind `content`, nearest first.
    pub code: Vec<CodeUnit>,
    pub place: Place,
}

impl Opaque {
    /// What it is known by: its content where its code is, which makes renaming it nothing; else its name, too.
    pub fn identity(&self) -> String {
        let name = if self.code.is_empty() { self.name.as_ref() } else { "" };
        format!("{name}@{:016x}", self.content)
    }
}

/// A function or class of the repository whose text counts in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CodeUnit {
    pub name: Arc<str>,
    pub content: u64,
    pub place: Place,
}

impl Expr {
    pub fn column(name: &str) -> Self {
        Expr::Column(ColumnName { parts: vec![name.to_owned()], frame: None, place: Place::unknown() })
    }

    pub fn call(function: &str, args: Vec<Expr>) -> Self {
        Expr::Call(Call {
            function: function.into(),
            args,
            distinct: false,
            filter: None,
            order_by: Vec::new(),
            ignore_nulls: false,
        })
    }

    pub fn literal(value: Value, data_type: DataType) -> Self {
        Expr::Literal { value, data_type }
    }

    pub fn string(text: &str) -> Self {
        Expr::Literal { value: Value::string(text), data_type: DataType::String }
    }

    pub fn null() -> Self {
        Expr::Literal { value: Value::Null, data_type: DataType::Null }
    }

    /// An integer literal as Spark types it: `int` where it fits, else `bigint`.
    pub fn integer(value: i64) -> Self {
        match i32::try_from(value) {
            Ok(small) => Expr::Literal { value: Value::Int(small), data_type: DataType::Int },
            Err(_) => Expr::Literal { value: Value::Long(value), data_type: DataType::Long },
        }
    }

    pub fn alias(self, name: impl Into<Arc<str>>) -> Self {
        Expr::Alias { expr: Box::new(self), name: name.into(), id: AttrId(0), place: Place::unknown() }
    }

    /// `expr AS name`, standing at `place`.
    pub fn alias_at(self, name: impl Into<Arc<str>>, place: Place) -> Self {
        Expr::Alias { expr: Box::new(self), name: name.into(), id: AttrId(0), place }
    }

    /// Where it stands, as far as this node or a child says.
    pub fn span(&self) -> Option<&Span> {
        match self {
            Expr::Column(column) => column.place.span(),
            Expr::Star { place, .. } => place.span(),
            Expr::Alias { place, expr, .. } => place.span().or_else(|| expr.span()),
            Expr::Opaque(opaque) => opaque.place.span(),
            _ => self.children().into_iter().find_map(Expr::span),
        }
    }

    /// Direct sub-expressions, in order (plans of subqueries are not entered; their operands are).
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Column(_)
            | Expr::ColumnRegex(_)
            | Expr::Attribute(_)
            | Expr::Literal { .. }
            | Expr::LambdaVariable { .. } => Vec::new(),
            Expr::Star { replace, .. } => replace.iter().collect(),
            Expr::Alias { expr, .. } | Expr::MultiAlias { expr, .. } | Expr::Cast { expr, .. } => vec![expr],
            Expr::Call(call) => {
                call.args.iter().chain(call.filter.as_deref()).chain(call.order_by.iter().map(|k| &k.expr)).collect()
            }
            Expr::Case { branches, otherwise } => {
                branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect()
            }
            Expr::Lambda { body, .. } => vec![body],
            Expr::Window { call, spec } => std::iter::once(call.as_ref()).chain(spec.children()).collect(),
            Expr::Subquery { kind: SubqueryKind::In { operands, .. }, .. } => operands.iter().collect(),
            Expr::Subquery { .. } => Vec::new(),
            Expr::Opaque(opaque) => opaque.args.iter().collect(),
        }
    }

    /// Rebuilds this node with every direct sub-expression passed through `f`.
    pub fn map_children(self, f: &mut impl FnMut(Expr) -> Expr) -> Expr {
        let boxed = |expr: Box<Expr>, f: &mut dyn FnMut(Expr) -> Expr| Box::new(f(*expr));
        match self {
            Expr::Star { qualifier, except, replace, place } => {
                Expr::Star { qualifier, except, replace: replace.into_iter().map(f).collect(), place }
            }
            Expr::Alias { expr, name, id, place } => Expr::Alias { expr: boxed(expr, f), name, id, place },
            Expr::MultiAlias { expr, names } => Expr::MultiAlias { expr: boxed(expr, f), names },
            Expr::Cast { expr, to, try_cast } => Expr::Cast { expr: boxed(expr, f), to, try_cast },
            Expr::Call(call) => Expr::Call(Call {
                args: call.args.into_iter().map(&mut *f).collect(),
                filter: call.filter.map(|e| boxed(e, f)),
                order_by: call.order_by.into_iter().map(|key| key.map(f)).collect(),
                ..Call { args: Vec::new(), filter: None, order_by: Vec::new(), ..call }
            }),
            Expr::Case { branches, otherwise } => Expr::Case {
                branches: branches.into_iter().map(|(when, then)| (f(when), f(then))).collect(),
                otherwise: otherwise.map(|e| boxed(e, f)),
            },
            Expr::Lambda { params, body } => Expr::Lambda { params, body: boxed(body, f) },
            Expr::Window { call, spec } => Expr::Window { call: boxed(call, f), spec: spec.map(f) },
            Expr::Subquery { kind: SubqueryKind::In { operands, negated }, plan } => Expr::Subquery {
                kind: SubqueryKind::In { operands: operands.into_iter().map(f).collect(), negated },
                plan,
            },
            Expr::Opaque(mut opaque) => {
                opaque.args = std::mem::take(&mut opaque.args).into_iter().map(f).collect();
                Expr::Opaque(opaque)
            }
            leaf @ (Expr::Column(_)
            | Expr::ColumnRegex(_)
            | Expr::Attribute(_)
            | Expr::Literal { .. }
            | Expr::LambdaVariable { .. }
            | Expr::Subquery { .. }) => leaf,
        }
    }

    /// This expression and all below it, parents first.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        let mut pending = vec![self];
        while let Some(expr) = pending.pop() {
            visit(expr);
            pending.extend(expr.children().into_iter().rev());
        }
    }
}

impl SortKey {
    fn map(self, f: &mut impl FnMut(Expr) -> Expr) -> SortKey {
        SortKey { expr: f(self.expr), ..SortKey { expr: Expr::null(), ..self } }
    }

    /// Spark's default: nulls first ascending, last descending.
    pub fn new(expr: Expr, descending: bool) -> Self {
        SortKey { expr, descending, nulls_first: !descending }
    }
}

impl WindowSpec {
    fn children(&self) -> impl Iterator<Item = &Expr> {
        let bounds = self.frame.iter().flat_map(|frame| [&frame.start, &frame.end]).filter_map(|bound| match bound {
            FrameBound::Preceding(e) | FrameBound::Following(e) => Some(e.as_ref()),
            _ => None,
        });
        self.partition_by.iter().chain(self.order_by.iter().map(|key| &key.expr)).chain(bounds)
    }

    fn map(self, f: &mut impl FnMut(Expr) -> Expr) -> WindowSpec {
        let partition_by = self.partition_by.into_iter().map(&mut *f).collect();
        let order_by = self.order_by.into_iter().map(|key| key.map(f)).collect();
        let frame =
            self.frame.map(|frame| Frame { rows: frame.rows, start: frame.start.map(f), end: frame.end.map(f) });
        WindowSpec { partition_by, order_by, frame }
    }
}

impl FrameBound {
    fn map(self, f: &mut impl FnMut(Expr) -> Expr) -> FrameBound {
        match self {
            FrameBound::Preceding(e) => FrameBound::Preceding(Box::new(f(*e))),
            FrameBound::Following(e) => FrameBound::Following(Box::new(f(*e))),
            fixed => fixed,
        }
    }
}
