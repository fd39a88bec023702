//! GROUP BY: ordinals, ALL, ROLLUP, CUBE and GROUPING SETS.

use super::{Lowering, ordinal_item};
use crate::functions::{Kind, lookup};
use crate::model::{Expr, GroupingSets};
use sqlparser::ast::{self, Spanned};

/// CUBE over more columns than this is refused (2^n sets).
const MAX_CUBE: usize = 12;

/// Aggregates that the function registry does not evaluate; a SELECT that calls one is an aggregation all the same.
const UNREGISTERED: &[&str] = &[
    "bitmap_and_agg",
    "bitmap_or_agg",
    "grouping",
    "grouping_id",
    "hll_union_agg",
    "kll_sketch_agg_bigint",
    "kll_sketch_agg_double",
    "regr_avgx",
    "regr_avgy",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "schema_of_json_agg",
    "theta_sketch_agg",
    "theta_union_agg",
];

fn is_aggregate(function: &str) -> bool {
    lookup(function).map_or_else(|| UNREGISTERED.contains(&function), |function| function.kind == Kind::Aggregate)
}

/// True where an aggregate function is called outside a window (a window's own function is none; its arguments may hold one).
pub(super) fn contains_aggregate(expr: &Expr) -> bool {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match expr {
            Expr::Call(call) if is_aggregate(&call.function) => return true,
            Expr::Window { call, .. } => {
                let own = call.children();
                pending.extend(own);
                pending.extend(expr.children().into_iter().skip(1));
            }
            other => pending.extend(other.children()),
        }
    }
    false
}

impl Lowering<'_> {
    /// Grouping expressions without duplicates, and the sets over them.
    pub(super) fn groupings(
        &mut self,
        group_by: &ast::GroupByExpr,
        items: &[ast::SelectItem],
        outputs: &[Expr],
    ) -> (Vec<Expr>, GroupingSets) {
        let (mut elements, modifiers) = match group_by {
            ast::GroupByExpr::All(modifiers) => {
                let keys = outputs.iter().filter(|output| !contains_aggregate(output)).map(unaliased);
                (keys.map(|key| Element::plain(key.clone())).collect::<Vec<_>>(), modifiers)
            }
            ast::GroupByExpr::Expressions(keys, modifiers) => {
                (keys.iter().map(|key| self.element(key, items, outputs)).collect(), modifiers)
            }
        };
        for modifier in modifiers {
            elements = match modifier {
                ast::GroupByWithModifier::Rollup => vec![Element::rollup(plain_keys(elements))],
                ast::GroupByWithModifier::Cube => vec![self.cube(plain_keys(elements), group_by)],
                ast::GroupByWithModifier::GroupingSets(sets) => vec![self.element(sets, items, outputs)],
                ast::GroupByWithModifier::Totals => {
                    self.unsupported("WITH TOTALS", group_by.span());
                    elements
                }
            };
        }
        combine(elements)
    }

    fn element(&mut self, key: &ast::Expr, items: &[ast::SelectItem], outputs: &[Expr]) -> Element {
        let mut group = |keys: &Vec<ast::Expr>| {
            keys.iter().map(|key| self.grouping_key(key, items, outputs)).collect::<Vec<Expr>>()
        };
        match key {
            ast::Expr::Rollup(groups) => Element::rollup(groups.iter().map(group).collect()),
            ast::Expr::Cube(groups) => {
                let groups = groups.iter().map(group).collect();
                self.cube(groups, key)
            }
            ast::Expr::GroupingSets(sets) => Element { kind: Shape::Sets, sets: sets.iter().map(group).collect() },
            // `GROUP BY (a, b)` groups by both.
            ast::Expr::Tuple(keys) => Element { kind: Shape::Plain, sets: vec![group(keys)] },
            key => Element::plain(self.grouping_key(key, items, outputs)),
        }
    }

    fn grouping_key(&mut self, key: &ast::Expr, items: &[ast::SelectItem], outputs: &[Expr]) -> Expr {
        if let ast::Expr::Value(value) = key
            && let Some(item) = ordinal_item(value, items)
            && let Some(index) = items.iter().position(|other| std::ptr::eq(other, item))
            && let Some(output) = outputs.get(index)
        {
            return unaliased(output).clone();
        }
        self.expression(key)
    }

    fn cube(&mut self, groups: Vec<Vec<Expr>>, at: &impl Spanned) -> Element {
        if groups.len() > MAX_CUBE {
            self.unsupported("a CUBE of so many columns", at.span());
            return Element { kind: Shape::Plain, sets: vec![groups.concat()] };
        }
        let count = 1usize << groups.len();
        // Spark lists the fullest set first.
        let sets = (0..count)
            .rev()
            .map(|mask| {
                let chosen = groups.iter().enumerate().filter(|(n, _)| mask & (1 << (groups.len() - 1 - n)) != 0);
                chosen.flat_map(|(_, group)| group.clone()).collect()
            })
            .collect();
        Element { kind: Shape::Cube, sets }
    }
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias { expr, .. } => expr,
        other => other,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    Rollup,
    Cube,
    Sets,
}

/// One entry of GROUP BY as the sets that it stands for.
#[derive(Debug)]
struct Element {
    kind: Shape,
    sets: Vec<Vec<Expr>>,
}

impl Element {
    fn plain(key: Expr) -> Self {
        Element { kind: Shape::Plain, sets: vec![vec![key]] }
    }

    fn rollup(groups: Vec<Vec<Expr>>) -> Self {
        let sets = (0..=groups.len()).rev().map(|n| groups.iter().take(n).flatten().cloned().collect()).collect();
        Element { kind: Shape::Rollup, sets }
    }
}

fn plain_keys(elements: Vec<Element>) -> Vec<Vec<Expr>> {
    elements.into_iter().flat_map(|element| element.sets).collect()
}

/// The cross product of all entries, over one list of distinct grouping expressions.
fn combine(elements: Vec<Element>) -> (Vec<Expr>, GroupingSets) {
    let single = match elements.as_slice() {
        [element] => Some(element.kind),
        _ => None,
    };
    let plain = elements.iter().all(|element| element.kind == Shape::Plain);
    let mut sets: Vec<Vec<Expr>> = vec![Vec::new()];
    for element in elements {
        sets = sets
            .iter()
            .flat_map(|set| element.sets.iter().map(move |more| [set.as_slice(), more.as_slice()].concat()))
            .collect();
    }
    let mut groupings: Vec<Expr> = Vec::new();
    let mut indices = Vec::new();
    for set in sets {
        let mut chosen = Vec::new();
        for key in set {
            let index = groupings.iter().position(|other| *other == key).unwrap_or_else(|| {
                groupings.push(key);
                groupings.len() - 1
            });
            if !chosen.contains(&index) {
                chosen.push(index);
            }
        }
        indices.push(chosen);
    }
    let sets = match single {
        _ if plain => GroupingSets::Simple,
        // ROLLUP and CUBE of single columns; of tuples, the sets are written out.
        Some(Shape::Rollup) if indices.len() == groupings.len() + 1 => GroupingSets::Rollup,
        Some(Shape::Cube) if indices.len() == 1 << groupings.len() => GroupingSets::Cube,
        _ => GroupingSets::Sets(indices),
    };
    (groupings, sets)
}
