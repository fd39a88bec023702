//! SELECT lists: stars, lateral aliases, names for what has none, generators and window functions.

use super::column::Scope;
use super::relation::{Relation, as_rest};
use super::{Resolver, at, expression};
use crate::analyze::optimize::{MAX_EXPRESSION, size};
use crate::functions::{self, Kind};
use crate::model::{AttrId, DataType, Expr, GroupingSets, Node, Place, SubqueryKind, Value};
use std::sync::Arc;

/// One resolved item of a SELECT list, before it has an id.
pub(super) struct Item {
    pub expr: Expr,
    pub name: Arc<str>,
    pub place: Place,
}

impl Resolver<'_> {
    pub(super) fn project(&mut self, list: &[Expr], input: Relation, place: &Place) -> Relation {
        let calls_aggregate = |expr: &Expr| expression::has_aggregate(expr);
        if list.iter().any(calls_aggregate) {
            let parts = super::aggregate::AggregateParts {
                groupings: &[],
                sets: &GroupingSets::Simple,
                outputs: list,
                having: None,
            };
            return self.aggregate(&parts, input, place);
        }
        let items = self.items(list, &input, &[], place);
        let (items, input) = self.pull_out(items, input, place);
        self.project_items(items, input, place)
    }

    /// Resolves a SELECT list; an item may name those to its left, and what `named` says.
    pub(super) fn items(
        &mut self,
        list: &[Expr],
        input: &Relation,
        named: &[(Arc<str>, Expr)],
        place: &Place,
    ) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::with_capacity(list.len());
        let mut aliases: Vec<(Arc<str>, Expr)> = named.to_vec();
        for expr in list {
            let resolved = {
                let scope = Scope { relations: vec![input], aliases: &aliases, place };
                self.list_entry(expr, &scope)
            };
            for item in resolved {
                if matches!(expr, Expr::Alias { .. }) && size(&item.expr) <= MAX_EXPRESSION {
                    aliases.push((item.name.clone(), item.expr.clone()));
                }
                items.push(item);
            }
        }
        items
    }

    fn list_entry(&mut self, expr: &Expr, scope: &Scope<'_>) -> Vec<Item> {
        match expr {
            Expr::Star { .. } if as_rest(expr).is_some() => {
                vec![Item { expr: expr.clone(), name: Arc::from(""), place: Place::unknown() }]
            }
            Expr::Star { .. } => {
                let columns = self.star(expr, scope);
                columns
                    .into_iter()
                    .map(|column| match column {
                        Expr::Alias { expr, name, place, .. } => Item { expr: self.types(*expr), name, place },
                        other => Item { name: pretty(&other).into(), expr: other, place: Place::unknown() },
                    })
                    .collect()
            }
            Expr::ColumnRegex(pattern) => self.column_regex(pattern, scope),
            Expr::Alias { expr, name, place, .. } => {
                let expr = self.in_scope(expr, scope);
                vec![Item { expr, name: name.clone(), place: place.or(scope.place) }]
            }
            Expr::MultiAlias { expr, names } => {
                let inner = self.in_scope(expr, scope);
                let expr = Expr::MultiAlias { expr: Box::new(inner), names: names.clone() };
                vec![Item { expr, name: Arc::from(""), place: scope.place.clone() }]
            }
            other => {
                let named = self.names(other, scope);
                // A column is named in the letter case it is asked for with (`Attribute.withName`).
                let name = match other {
                    Expr::Column(column) => column.parts.last().cloned().unwrap_or_default(),
                    _ => implicit_name(&named),
                };
                let place = other.span().cloned().map_or_else(|| scope.place.clone(), Place::at);
                vec![Item { expr: self.types(named), name: name.into(), place }]
            }
        }
    }

    fn column_regex(&mut self, pattern: &str, scope: &Scope<'_>) -> Vec<Item> {
        let anchored = regex::RegexBuilder::new(&format!("^(?:{pattern})$")).case_insensitive(true).build();
        let matches = |name: &str| anchored.as_ref().is_ok_and(|regex| regex.is_match(name));
        let mut items = Vec::new();
        for relation in &scope.relations {
            for column in relation.output.iter().filter(|c| matches(&c.name)) {
                let name = column.name.clone();
                items.push(Item { expr: Expr::Attribute(column.clone()), name, place: Place::unknown() });
            }
            for open in &relation.open {
                items.push(Item { expr: super::relation::rest_of(open), name: Arc::from(""), place: Place::unknown() });
            }
        }
        items
    }

    /// Moves generators and window functions of the items into nodes below.
    pub(super) fn pull_out(&mut self, items: Vec<Item>, input: Relation, place: &Place) -> (Vec<Item>, Relation) {
        let (mut names, mut exprs) = (Vec::new(), Vec::new());
        for item in items {
            names.push((item.name, item.place));
            exprs.push(super::time_window::normalize(item.expr));
        }
        let (exprs, input) = self.pull_out_window_functions(exprs, input, place);
        let items: Vec<Item> =
            exprs.into_iter().zip(names).map(|(expr, (name, place))| Item { expr, name, place }).collect();
        self.pull_out_generators(items, input, place)
    }

    pub(super) fn project_items(&mut self, items: Vec<Item>, input: Relation, place: &Place) -> Relation {
        let mut list = Vec::with_capacity(items.len());
        let mut output = Vec::with_capacity(items.len());
        let mut open = Vec::new();
        for item in items {
            if let Some((id, excluded)) = as_rest(&item.expr) {
                let known = input.open.iter().find(|o| o.id == id);
                open.push(super::relation::Open {
                    id,
                    qualifier: known.map(|o| o.qualifier.clone()).unwrap_or_default(),
                    excluded: excluded.to_vec(),
                });
                list.push(item.expr);
                continue;
            }
            let place = item.place.clone();
            let named = self.named(item);
            if let Some(column) = crate::analyze::output::named(&named) {
                if place.span().is_some() {
                    self.places.insert(column.id, place);
                }
                output.push(column);
            }
            list.push(named);
        }
        let mut relation = at(input.map_plan(|input| Node::Project { list, input }), place);
        relation.output = output;
        relation.open = open;
        relation.metadata.clear();
        relation.hidden.clear();
        relation.loose = false;
        relation
    }

    /// An attribute under its own name, or an alias.
    fn named(&mut self, item: Item) -> Expr {
        match item.expr {
            Expr::Attribute(attribute) if attribute.name == item.name => Expr::Attribute(attribute),
            Expr::Alias { expr, name, id, place } if id != AttrId(0) => Expr::Alias { expr, name, id, place },
            expr => Expr::Alias { expr: Box::new(expr), name: item.name, id: self.fresh(), place: item.place },
        }
    }
}

/// Name of an unnamed item (`ResolveAliases`): a cast is named as what it casts, a field as the field, the rest by its text.
pub(super) fn implicit_name(expr: &Expr) -> String {
    match expr {
        Expr::Attribute(attribute) => attribute.name.to_string(),
        Expr::Cast { expr: inner, .. } if is_named(inner) => implicit_name(inner),
        Expr::Call(call) if call.function.as_ref() == "getfield" => match call.args.get(1) {
            Some(Expr::Literal { value: Value::String(name), .. }) => name.to_string(),
            _ => pretty(expr),
        },
        other => super::time_window::name(other).map_or_else(|| pretty(other), ToString::to_string),
    }
}

fn is_named(expr: &Expr) -> bool {
    match expr {
        Expr::Attribute(_) => true,
        Expr::Call(call) => call.function.as_ref() == "getfield",
        _ => false,
    }
}

/// `toPrettySQL`: the text that Spark names an expression by.
pub(in crate::analyze) fn pretty(expr: &Expr) -> String {
    match expr {
        Expr::Attribute(attribute) => attribute.name.to_string(),
        Expr::Column(column) => column.parts.last().cloned().unwrap_or_default(),
        Expr::LambdaVariable { name, .. } => name.to_string(),
        Expr::Literal { value, .. } => match value {
            Value::Null => "NULL".to_owned(),
            Value::Date(_) => format!("DATE '{}'", display(value)),
            Value::Timestamp(_) => format!("TIMESTAMP '{}'", display(value)),
            _ => display(value),
        },
        Expr::Alias { expr, name, .. } => format!("{} AS {name}", pretty(expr)),
        Expr::MultiAlias { expr, .. } => pretty(expr),
        Expr::Cast { expr, to, try_cast } => {
            let word = if *try_cast { "TRY_CAST" } else { "CAST" };
            format!("{word}({} AS {})", pretty(expr), sql_type(to))
        }
        Expr::Case { branches, otherwise } => {
            let mut text = "CASE".to_owned();
            for (when, then) in branches {
                text.push_str(&format!(" WHEN {} THEN {}", pretty(when), pretty(then)));
            }
            if let Some(otherwise) = otherwise {
                text.push_str(&format!(" ELSE {}", pretty(otherwise)));
            }
            text + " END"
        }
        Expr::Call(call) => pretty_call(call),
        Expr::Lambda { params, body } => format!("lambdafunction({}, {})", pretty(body), params.join(", ")),
        Expr::Window { call, .. } => format!("{} OVER (…)", pretty(call)),
        Expr::Subquery { kind: SubqueryKind::Scalar, .. } => "scalarsubquery()".to_owned(),
        Expr::Subquery { .. } => "subquery()".to_owned(),
        Expr::Opaque(opaque) => {
            format!("{}({})", opaque.name, opaque.args.iter().map(pretty).collect::<Vec<_>>().join(", "))
        }
        Expr::Star { .. } => "*".to_owned(),
        Expr::ColumnRegex(pattern) => pattern.clone(),
    }
}

fn pretty_call(call: &crate::model::Call) -> String {
    let args: Vec<String> = call.args.iter().map(pretty).collect();
    let name = call.function.as_ref();
    match (name, args.as_slice()) {
        ("+" | "-" | "*" | "/" | "%" | "=" | "<" | "<=" | ">" | ">=" | "&" | "|" | "^" | "<=>", [a, b]) => {
            format!("({a} {name} {b})")
        }
        ("!=", [a, b]) => format!("(NOT ({a} = {b}))"),
        ("and" | "or" | "div", [a, b]) => {
            format!("({a} {} {b})", if name == "div" { name.to_owned() } else { name.to_uppercase() })
        }
        ("not", [a]) => format!("(NOT {a})"),
        ("negative", [a]) => format!("(- {a})"),
        ("isnull", [a]) => format!("({a} IS NULL)"),
        ("isnotnull", [a]) => format!("({a} IS NOT NULL)"),
        ("in", [value, list @ ..]) => format!("({value} IN ({}))", list.join(", ")),
        ("like", [a, b]) => format!("{a} LIKE {b}"),
        ("getfield", [a, b]) => format!("{a}.{b}"),
        ("getitem", [a, b]) => format!("{a}[{b}]"),
        // The DataFrame functions alias them so, and a grouping window is read by that name.
        ("window" | "session_window", _) => name.to_owned(),
        _ => {
            let distinct = if call.distinct { "DISTINCT " } else { "" };
            let filter = call.filter.as_ref().map(|f| format!(" FILTER (WHERE {})", pretty(f))).unwrap_or_default();
            format!("{name}({distinct}{}){filter}", args.join(", "))
        }
    }
}

fn display(value: &Value) -> String {
    functions::display(value, &functions::EvalContext::default().zone)
}

/// A type in upper case, as `DataType.sql`.
fn sql_type(data_type: &DataType) -> String {
    data_type.to_string().to_uppercase()
}

/// True where a call makes rows (`explode`).
pub(super) fn is_generator(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => functions::lookup(&call.function).is_some_and(|f| f.kind == Kind::Generator),
        _ => false,
    }
}
