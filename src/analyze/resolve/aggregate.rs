//! GROUP BY, HAVING, global aggregates and PIVOT.
//!
//! After resolution an `Aggregate` groups by plain columns (others are columns of a projection below) and by constants; HAVING
//! is a `Filter` above, window functions over aggregates a `Window` above.

use super::column::Scope;
use super::project::Item;
use super::relation::{Relation, same_name};
use super::{Resolver, at, expression, ordinal};
use crate::functions;
use crate::model::{Attribute, Call, DataType, Expr, GroupingSets, Node, Place};
use std::sync::Arc;

pub(super) struct AggregateParts<'p> {
    pub groupings: &'p [Expr],
    pub sets: &'p GroupingSets,
    pub outputs: &'p [Expr],
    pub having: Option<&'p Expr>,
}

pub(super) struct PivotParts<'p> {
    pub groupings: &'p [Expr],
    pub column: &'p Expr,
    pub values: &'p [Expr],
    pub aggregates: &'p [Expr],
}

impl Resolver<'_> {
    pub(super) fn aggregate(&mut self, parts: &AggregateParts<'_>, input: Relation, place: &Place) -> Relation {
        let groupings: Vec<Expr> =
            self.groupings(parts, &input, place).into_iter().map(super::time_window::normalize).collect();
        let written = groupings.clone();
        let (groupings, input) = self.pull_out_grouping_expressions(groupings, input, place);

        let windows: Vec<(Arc<str>, Expr)> = groupings
            .iter()
            .filter_map(|grouping| Some((super::time_window::name(grouping)?.clone(), grouping.clone())))
            .collect();
        let settle = |expr: Expr| replace_groupings(super::time_window::normalize(expr), &written, &groupings);
        let mut items = self.items(parts.outputs, &input, &windows, place);
        for item in &mut items {
            let expr = std::mem::replace(&mut item.expr, Expr::null());
            item.expr = settle(expr);
        }
        let having = parts.having.map(|having| self.having(having, &input, &items, &windows, place));
        let having = having.map(settle);
        self.check_grouped(&items, &groupings, &input, place);

        let grouped = matches!(parts.sets, GroupingSets::Simple);
        let nullable_groupings: Vec<Expr> =
            if grouped { groupings } else { groupings.into_iter().map(as_nullable).collect() };
        let visible = items.len();
        let windowed = items.iter().any(|item| has_window(&item.expr));
        let below = if windowed || having.is_some() {
            self.split_above(&mut items, having.as_ref(), &nullable_groupings, place)
        } else {
            None
        };
        let Some((inner, having)) = below else {
            return self.aggregate_node(items, &nullable_groupings, parts.sets, input, place);
        };
        let mut relation = self.aggregate_node(inner, &nullable_groupings, parts.sets, input, place);
        if let Some(condition) = having {
            relation = at(relation.map_plan(|input| Node::Filter { condition, input }), place);
        }
        items.truncate(visible);
        let mut exprs = Vec::new();
        let mut names = Vec::new();
        for item in items {
            exprs.push(item.expr);
            names.push((item.name, item.place));
        }
        let (exprs, relation) = self.pull_out_window_functions(exprs, relation, place);
        let items = exprs.into_iter().zip(names).map(|(expr, (name, place))| Item { expr, name, place }).collect();
        self.project_items(items, relation, place)
    }

    fn aggregate_node(
        &mut self,
        items: Vec<Item>,
        groupings: &[Expr],
        sets: &GroupingSets,
        input: Relation,
        place: &Place,
    ) -> Relation {
        let (items, input) = self.pull_out_generators(items, input, place);
        let relation = self.project_items(items, input, place);
        let open = relation.open.clone();
        let Node::Project { list, input } = relation.plan.node else { return relation };
        let node =
            Node::Aggregate { groupings: groupings.to_vec(), sets: sets.clone(), outputs: list, having: None, input };
        let plan = crate::model::Plan::at(node, place.clone());
        Relation {
            plan,
            open,
            ..Relation::new(crate::model::Plan::unresolved("", "", 0, Place::unknown()), relation.output)
        }
    }

    /// GROUP BY expressions: ordinals and aliases stand for SELECT items, ALL for those without an aggregate.
    fn groupings(&mut self, parts: &AggregateParts<'_>, input: &Relation, place: &Place) -> Vec<Expr> {
        let mut groupings = Vec::new();
        for grouping in parts.groupings {
            if is_all(grouping, input) {
                let plain = parts.outputs.iter().filter(|o| !expression::has_aggregate(o));
                for output in plain {
                    groupings.extend(self.grouping(unaliased(output), input, place));
                }
                continue;
            }
            let selected = ordinal(grouping).and_then(|n| parts.outputs.get(n)).map(unaliased);
            let written = selected.or_else(|| self.aliased(grouping, parts.outputs, input)).unwrap_or(grouping);
            groupings.extend(self.grouping(unaliased(written), input, place));
        }
        groupings
    }

    fn grouping(&mut self, expr: &Expr, input: &Relation, place: &Place) -> Vec<Expr> {
        match expr {
            Expr::Star { .. } => {
                let scope = Scope { relations: vec![input], aliases: &[], place };
                self.star(expr, &scope)
            }
            other => vec![self.scalar(other, input, place)],
        }
    }

    /// `GROUP BY name` where the input has no such column but the SELECT list an alias (`spark.sql.groupByAliases`).
    fn aliased<'p>(&self, grouping: &Expr, outputs: &'p [Expr], input: &Relation) -> Option<&'p Expr> {
        let Expr::Column(column) = grouping else { return None };
        let [name] = column.parts.as_slice() else { return None };
        let known = matches!(
            super::relation::find(input.output.iter().chain(&input.hidden), &column.parts),
            super::relation::Found::Column(..) | super::relation::Found::Ambiguous(_)
        );
        if known {
            return None;
        }
        outputs.iter().find_map(|output| match output {
            Expr::Alias { expr, name: alias, .. } if same_name(alias, name) && !expression::has_aggregate(expr) => {
                Some(expr.as_ref())
            }
            _ => None,
        })
    }

    fn pull_out_grouping_expressions(
        &mut self,
        groupings: Vec<Expr>,
        input: Relation,
        place: &Place,
    ) -> (Vec<Expr>, Relation) {
        let complex: Vec<Expr> = groupings.iter().filter(|g| needs_column(g)).cloned().collect();
        let (columns, input) = self.pull_out_keys(complex, input, place);
        let mut columns = columns.into_iter();
        let groupings =
            groupings.into_iter().map(|g| if needs_column(&g) { columns.next().unwrap_or(g) } else { g }).collect();
        (groupings, input)
    }

    /// HAVING: outside of aggregates a name means a SELECT alias first, then a grouping column.
    fn having(
        &mut self,
        having: &Expr,
        input: &Relation,
        items: &[Item],
        windows: &[(Arc<str>, Expr)],
        place: &Place,
    ) -> Expr {
        let selected = items.iter().map(|i| (i.name.clone(), i.expr.clone()));
        let aliases: Vec<(Arc<str>, Expr)> = windows.iter().cloned().chain(selected).collect();
        let written = self.with_aliases(having, &aliases);
        let scope = Scope { relations: vec![input], aliases: &aliases, place };
        self.in_scope(&written, &scope)
    }

    fn with_aliases(&self, expr: &Expr, aliases: &[(Arc<str>, Expr)]) -> Expr {
        match expr {
            Expr::Call(call) if expression::is_aggregate(call) => expr.clone(),
            Expr::Column(column) => match column.parts.as_slice() {
                [name] if column.frame.is_none() => aliases
                    .iter()
                    .find(|(alias, _)| same_name(alias, name))
                    .map_or_else(|| expr.clone(), |(_, aliased)| aliased.clone()),
                _ => expr.clone(),
            },
            other => other.clone().map_children(&mut |child| self.with_aliases(&child, aliases)),
        }
    }

    /// Splits items (and HAVING) into what the aggregate computes and what stands above it.
    fn split_above(
        &mut self,
        items: &mut [Item],
        having: Option<&Expr>,
        groupings: &[Expr],
        place: &Place,
    ) -> Option<(Vec<Item>, Option<Expr>)> {
        let mut inner: Vec<(Attribute, Expr)> = Vec::new();
        // Every item first, so that the aggregates of HAVING follow those of SELECT, as in Spark's state.
        for item in items.iter_mut() {
            let expr = std::mem::replace(&mut item.expr, Expr::null());
            item.expr = if has_window(&expr) {
                self.lift(expr, groupings, &mut inner)
            } else {
                self.lift_whole(expr, &item.name, &mut inner)
            };
        }
        let having = having.map(|h| self.lift(h.clone(), groupings, &mut inner));
        let inner = inner
            .into_iter()
            .map(|(column, expr)| Item {
                expr: Expr::Alias {
                    expr: Box::new(expr),
                    name: column.name.clone(),
                    id: column.id,
                    place: place.clone(),
                },
                name: column.name,
                place: place.clone(),
            })
            .collect::<Vec<_>>();
        Some((inner, having))
    }

    /// Replaces aggregates and grouping columns by columns of the aggregate below.
    fn lift(&mut self, expr: Expr, groupings: &[Expr], inner: &mut Vec<(Attribute, Expr)>) -> Expr {
        match expr {
            Expr::Window { call, spec } => {
                // The window function itself is no aggregate of this level, its arguments may hold some.
                let call = call.map_children(&mut |child| self.lift(child, groupings, inner));
                let shell = Expr::Window { call: Box::new(Expr::null()), spec };
                match shell.map_children(&mut |child| self.lift(child, groupings, inner)) {
                    Expr::Window { spec, .. } => Expr::Window { call: Box::new(call), spec },
                    other => other,
                }
            }
            Expr::Call(ref call) if expression::is_aggregate(call) => {
                let name: Arc<str> = super::project::pretty(&expr).into();
                self.lift_whole(expr, &name, inner)
            }
            Expr::Attribute(ref attribute) if reads_group(attribute, groupings) => {
                let name = attribute.name.clone();
                self.lift_whole(expr, &name, inner)
            }
            Expr::Call(ref call) if groupings.contains(&expr) => {
                let name = call.function.clone();
                self.lift_whole(expr, &name, inner)
            }
            other => other.map_children(&mut |child| self.lift(child, groupings, inner)),
        }
    }

    fn lift_whole(&mut self, expr: Expr, name: &Arc<str>, inner: &mut Vec<(Attribute, Expr)>) -> Expr {
        if let Some((column, _)) = inner.iter().find(|(_, known)| *known == expr) {
            return Expr::Attribute(column.clone());
        }
        let (data_type, nullable) = expression::typed(&expr);
        let mut column = self.attribute(name, data_type, nullable);
        if let Expr::Attribute(a) = &expr {
            column.watermark_delay = a.watermark_delay;
        }
        inner.push((column.clone(), expr));
        Expr::Attribute(column)
    }

    /// Columns outside of aggregates must be grouped.
    fn check_grouped(&mut self, items: &[Item], groupings: &[Expr], input: &Relation, place: &Place) {
        if !input.is_complete() {
            return;
        }
        for item in items {
            if let Some(stray) = ungrouped(&item.expr, groupings) {
                let message = format!("`{}` is neither grouped nor aggregated", stray.name);
                self.error("MISSING_AGGREGATION", message, &item.place.or(place));
            }
        }
    }

    pub(super) fn pivot(&mut self, parts: &PivotParts<'_>, input: Relation, place: &Place) -> Relation {
        if parts.values.is_empty() {
            let relation = self.unknown("pivot", "its columns are values of the data; list them with IN (…)", place);
            return relation;
        }
        let column = self.scalar(parts.column, &input, place);
        let mut outputs: Vec<Expr> = Vec::new();
        let groupings: Vec<Expr> = if parts.groupings.is_empty() {
            self.implicit_pivot_groupings(parts, &column, &input, place)
        } else {
            parts.groupings.to_vec()
        };
        outputs.extend(groupings.iter().cloned());
        for value in parts.values {
            let (value, value_name) = match value {
                Expr::Alias { expr, name, .. } => (expr.as_ref(), name.to_string()),
                other => (other, super::project::pretty(other)),
            };
            for aggregate in parts.aggregates {
                let (aggregate, name) = match aggregate {
                    Expr::Alias { expr, name, .. } if parts.aggregates.len() == 1 => {
                        let _ = name;
                        (expr.as_ref(), value_name.clone())
                    }
                    Expr::Alias { expr, name, .. } => (expr.as_ref(), format!("{value_name}_{name}")),
                    other if parts.aggregates.len() == 1 => (other, value_name.clone()),
                    other => (other, format!("{value_name}_{}", super::project::pretty(other))),
                };
                outputs.push(filtered(aggregate.clone(), parts.column, value).alias(name));
            }
        }
        let aggregate =
            AggregateParts { groupings: &groupings, sets: &GroupingSets::Simple, outputs: &outputs, having: None };
        self.aggregate(&aggregate, input, place)
    }

    /// All columns that neither the pivot column nor an aggregate names.
    fn implicit_pivot_groupings(
        &mut self,
        parts: &PivotParts<'_>,
        column: &Expr,
        input: &Relation,
        place: &Place,
    ) -> Vec<Expr> {
        let mut used = references(column);
        for aggregate in parts.aggregates {
            let resolved = self.scalar(aggregate, input, place);
            used.extend(references(&resolved));
        }
        input.output.iter().filter(|a| !used.contains(&a.id)).cloned().map(Expr::Attribute).collect()
    }
}

/// `agg(x)` over the rows where the pivot column has a value.
fn filtered(aggregate: Expr, column: &Expr, value: &Expr) -> Expr {
    match aggregate {
        Expr::Call(call) if expression::is_aggregate(&call) => {
            let matches = Expr::call("<=>", vec![column.clone(), value.clone()]);
            let filter = match call.filter {
                Some(filter) => Expr::call("and", vec![*filter, matches]),
                None => matches,
            };
            Expr::Call(Call { filter: Some(Box::new(filter)), ..call })
        }
        other => other.map_children(&mut |child| filtered(child, column, value)),
    }
}

fn references(expr: &Expr) -> Vec<crate::model::AttrId> {
    let mut ids = Vec::new();
    expr.walk(&mut |e| {
        if let Expr::Attribute(a) = e {
            ids.push(a.id);
        }
    });
    ids
}

/// A key that a projection below computes: not a column, a constant or a time window.
fn needs_column(key: &Expr) -> bool {
    let is_window = matches!(key, Expr::Call(call) if super::time_window::is_time_window(call));
    !matches!(key, Expr::Attribute(_)) && !is_window && reads_columns(key)
}

fn reads_columns(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |e| match e {
        Expr::Attribute(_) | Expr::Subquery { .. } | Expr::Opaque(_) | Expr::Star { .. } => reads = true,
        Expr::Call(call) => {
            // A function that is not known may read anything.
            let known = functions::lookup(&call.function).is_some();
            reads |= !known || functions::call_volatility(call) != functions::Volatility::Immutable;
        }
        _ => {}
    });
    reads
}

fn reads_group(attribute: &Attribute, groupings: &[Expr]) -> bool {
    groupings.iter().any(|g| matches!(g, Expr::Attribute(a) if a.id == attribute.id))
}

fn as_nullable(expr: Expr) -> Expr {
    match expr {
        Expr::Attribute(a) => Expr::Attribute(Attribute { nullable: true, ..a }),
        other => other,
    }
}

/// Replaces grouping expressions by the columns that hold them.
fn replace_groupings(expr: Expr, written: &[Expr], columns: &[Expr]) -> Expr {
    if !matches!(expr, Expr::Attribute(_) | Expr::Literal { .. })
        && let Some(column) = written.iter().position(|w| *w == expr).and_then(|index| columns.get(index))
    {
        return column.clone();
    }
    match expr {
        Expr::Call(ref call) if expression::is_aggregate(call) => expr,
        other => other.map_children(&mut |child| replace_groupings(child, written, columns)),
    }
}

/// A column outside of aggregates that no grouping gives.
fn ungrouped<'e>(expr: &'e Expr, groupings: &[Expr]) -> Option<&'e Attribute> {
    match expr {
        grouped if groupings.contains(grouped) => None,
        Expr::Attribute(a) if matches!(a.data_type, DataType::Unknown) => None,
        Expr::Attribute(a) => (!reads_group(a, groupings)).then_some(a),
        Expr::Call(call) if expression::is_aggregate(call) || call.function.starts_with("grouping") => None,
        Expr::Window { .. } | Expr::Opaque(_) => None,
        other => other.children().into_iter().find_map(|child| ungrouped(child, groupings)),
    }
}

fn has_window(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e, Expr::Window { .. }));
    found
}

/// `GROUP BY ALL`, unless a column is named so.
fn is_all(grouping: &Expr, input: &Relation) -> bool {
    match grouping {
        Expr::Column(column) => {
            matches!(column.parts.as_slice(), [name] if name.eq_ignore_ascii_case("all"))
                && !input.output.iter().any(|a| a.name.eq_ignore_ascii_case("all"))
        }
        _ => false,
    }
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias { expr, .. } => unaliased(expr),
        other => other,
    }
}
