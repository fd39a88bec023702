//! UNION, INTERSECT and EXCEPT: branches aligned by position or by name, and widened to common types.

use super::relation::{Relation, rest_of, same_name};
use super::{OpenKind, Resolver, UnionBranch, at, expression};
use crate::functions;
use crate::model::{Attribute, DataType, Expr, Node, Place, Plan, SetOperation};

impl Resolver<'_> {
    pub(super) fn union(&mut self, inputs: &[Plan], by_name: bool, allow_missing: bool, place: &Place) -> Relation {
        let branches: Vec<Relation> = inputs.iter().map(|input| self.plan(input).tight()).collect();
        if branches.is_empty() {
            return self.unknown("union", "it has no branches", place);
        }
        let open = branches.iter().any(|b| !b.is_complete());
        if open {
            return self.open_union(branches, place);
        }
        let rows = if by_name {
            self.rows_by_name(&branches, allow_missing, place)
        } else {
            self.rows_by_position(&branches, place)
        };
        self.union_of(branches, rows, place)
    }

    /// Columns of each branch, by output column.
    fn rows_by_position(&mut self, branches: &[Relation], place: &Place) -> Vec<Vec<Expr>> {
        let width = branches.first().map_or(0, |b| b.output.len());
        for branch in branches.iter().filter(|b| b.output.len() != width) {
            let message = format!("the branches of a UNION have {width} and {} columns", branch.output.len());
            self.error("NUM_COLUMNS_MISMATCH", message, &branch.plan.place.or(place));
        }
        (0..width)
            .map(|column| {
                branches
                    .iter()
                    .map(|b| b.output.get(column).cloned().map_or_else(Expr::null, Expr::Attribute))
                    .collect()
            })
            .collect()
    }

    fn rows_by_name(&mut self, branches: &[Relation], allow_missing: bool, place: &Place) -> Vec<Vec<Expr>> {
        let mut names: Vec<&str> = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            for column in &branch.output {
                let known = names.iter().any(|name| same_name(name, &column.name));
                if !known && (index == 0 || allow_missing) {
                    names.push(&column.name);
                } else if !known {
                    let message = format!("`{}` is in one branch of unionByName only", column.name);
                    self.error("UNRESOLVED_COLUMN.WITH_SUGGESTION", message, place);
                }
            }
        }
        let mut rows = Vec::with_capacity(names.len());
        for name in names {
            let mut row = Vec::with_capacity(branches.len());
            for branch in branches {
                match branch.output.iter().find(|c| same_name(&c.name, name)) {
                    Some(column) => row.push(Expr::Attribute(column.clone())),
                    None => {
                        if !allow_missing {
                            let message = format!("`{name}` is missing in one branch of unionByName");
                            self.error("UNRESOLVED_COLUMN.WITH_SUGGESTION", message, place);
                        }
                        row.push(Expr::null().alias(name));
                    }
                }
            }
            rows.push(row);
        }
        rows
    }

    /// A union of which some branch is not known in full is aligned by name.
    fn open_union(&mut self, branches: Vec<Relation>, place: &Place) -> Relation {
        let mut names: Vec<String> = Vec::new();
        for column in branches.iter().flat_map(|b| &b.output) {
            if !names.iter().any(|name| same_name(name, &column.name)) {
                names.push(column.name.to_string());
            }
        }
        let mut rows = Vec::with_capacity(names.len());
        for name in &names {
            let row = branches.iter().map(|b| self.branch_column(&b.output, &b.open, name)).collect();
            rows.push(row);
        }
        let parts = branches.iter().map(|b| UnionBranch { output: b.output.clone(), open: b.open.clone() }).collect();
        let open = self.new_open(OpenKind::Union { branches: parts, rows: Vec::new() }, false, &[]);
        let mut relation = self.union_of(branches, rows, place);
        self.mark_leaf(&mut relation.plan, open.id);
        relation.open = vec![open];
        relation
    }

    fn branch_column(&mut self, output: &[Attribute], open: &[super::relation::Open], name: &str) -> Expr {
        if let Some(column) = output.iter().find(|c| same_name(&c.name, name)) {
            return Expr::Attribute(column.clone());
        }
        match open.iter().find_map(|open| self.open_column(open, name)) {
            Some(column) => Expr::Attribute(column),
            None => Expr::null().alias(name),
        }
    }

    /// The columns of an open union's branches for a name that was asked for.
    pub(super) fn union_row(&mut self, id: super::relation::OpenId, name: &str) -> Vec<Expr> {
        let Some(OpenKind::Union { branches, .. }) = self.open.get(id).map(|o| &o.kind) else { return Vec::new() };
        let parts: Vec<(Vec<Attribute>, Vec<super::relation::Open>)> =
            branches.iter().map(|b| (b.output.clone(), b.open.clone())).collect();
        parts.iter().map(|(output, open)| self.branch_column(output, open, name)).collect()
    }

    fn union_of(&mut self, branches: Vec<Relation>, rows: Vec<Vec<Expr>>, place: &Place) -> Relation {
        let mut output = Vec::with_capacity(rows.len());
        let mut lists: Vec<Vec<Expr>> = vec![Vec::with_capacity(rows.len()); branches.len()];
        for row in rows {
            let types: Vec<DataType> = row.iter().map(expression::data_type).collect();
            let common = common(&types);
            let nullable = row.iter().any(expression::nullable);
            let first = row.first().and_then(crate::analyze::output::named);
            let name = first.as_ref().map_or_else(|| "_c".into(), |a| a.name.clone());
            let mut column = self.attribute(&name, common.clone(), nullable);
            column.watermark_delay =
                row.iter().filter_map(crate::analyze::output::named).find_map(|a| a.watermark_delay);
            output.push(column);
            for (list, cell) in lists.iter_mut().zip(row) {
                list.push(self.widened(cell, &common, place));
            }
        }
        let inputs: Vec<Plan> = branches.into_iter().zip(lists).map(|(branch, list)| projected(branch, list)).collect();
        let mut plan = Plan::at(Node::Union { inputs, by_name: false, allow_missing: false }, place.clone());
        plan.output.clone_from(&output);
        Relation::new(plan, output)
    }

    fn widened(&mut self, cell: Expr, to: &DataType, place: &Place) -> Expr {
        let name = crate::analyze::output::named(&cell).map(|a| a.name);
        match expression::cast_to(cell, to) {
            Expr::Attribute(a) => Expr::Attribute(a),
            Expr::Alias { expr, name, place, .. } => Expr::Alias { expr, name, id: self.fresh(), place },
            other => Expr::Alias {
                expr: Box::new(other),
                name: name.unwrap_or_else(|| "_c".into()),
                id: self.fresh(),
                place: place.clone(),
            },
        }
    }

    pub(super) fn set_operation(
        &mut self,
        operation: SetOperation,
        all: bool,
        left: &Plan,
        right: &Plan,
        place: &Place,
    ) -> Relation {
        let left = self.plan(left).tight();
        let right = self.plan(right).tight();
        if !left.is_complete() || !right.is_complete() {
            let node =
                Node::SetOperation { operation, all, left: Box::new(left.plan.clone()), right: Box::new(right.plan) };
            return Relation { plan: Plan::at(node, place.clone()), ..left };
        }
        let types: Vec<DataType> = left
            .output
            .iter()
            .zip(&right.output)
            .map(|(l, r)| super::join::wider(l, r).unwrap_or(DataType::Unknown))
            .collect();
        let left = self.cast_columns(left, &types, place);
        let right = self.cast_columns(right, &types, place);
        let output = left.output.clone();
        let node = Node::SetOperation { operation, all, left: Box::new(left.plan), right: Box::new(right.plan) };
        at(Relation::new(Plan::at(node, place.clone()), output), place)
    }

    fn cast_columns(&mut self, relation: Relation, types: &[DataType], place: &Place) -> Relation {
        let list: Vec<Expr> = relation
            .output
            .iter()
            .zip(types)
            .map(|(column, to)| self.widened(Expr::Attribute(column.clone()), to, place))
            .collect();
        let output = list.iter().filter_map(crate::analyze::output::named).collect();
        let plan = projected(relation, list);
        Relation::new(plan, output)
    }
}

fn common(types: &[DataType]) -> DataType {
    match types.split_first() {
        Some((first, rest)) if rest.iter().all(|t| expression::same_type(t, first)) => first.clone(),
        _ => functions::common_type(types).unwrap_or(DataType::Unknown),
    }
}

/// The branch giving exactly a list of columns; as it is where it does already.
fn projected(branch: Relation, mut list: Vec<Expr>) -> Plan {
    let same = list.len() == branch.output.len()
        && branch.is_complete()
        && list.iter().zip(&branch.output).all(|(e, a)| matches!(e, Expr::Attribute(b) if b.id == a.id));
    if same {
        return branch.plan;
    }
    list.extend(branch.open.iter().map(rest_of));
    let place = branch.plan.place.clone();
    Plan::at(Node::Project { list, input: Box::new(branch.plan) }, place)
}
