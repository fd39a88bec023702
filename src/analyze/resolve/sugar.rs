//! DataFrame methods that need their input's columns: each becomes a projection or a filter.

use super::column::Scope;
use super::project::Item;
use super::relation::{Relation, same_name};
use super::{Resolver, at, expression};
use crate::model::{Attribute, DataType, Expr, Node, Place, Plan, Value};
use std::sync::Arc;

pub(super) struct UnpivotParts<'p> {
    pub description: &'p Arc<str>,
    pub ids: &'p [Expr],
    pub values: &'p [Expr],
    pub variable: &'p Arc<str>,
    pub value: &'p Arc<str>,
}

impl Resolver<'_> {
    /// `withColumn(s)`: a column of that name is replaced where it stands, a new one comes last.
    pub(super) fn with_columns(&mut self, columns: &[Expr], input: Relation, place: &Place) -> Relation {
        let mut list = input.all_columns();
        let first_unknown = list.len() - input.open.len();
        let mut appended = Vec::new();
        for column in columns {
            let Expr::Alias { name, .. } = column else {
                appended.push(column.clone());
                continue;
            };
            match list.iter_mut().find(|c| matches!(c, Expr::Attribute(a) if same_name(&a.name, name))) {
                Some(slot) => *slot = column.clone(),
                None => appended.push(column.clone()),
            }
        }
        for (open, marker) in input.open.iter().zip(list.iter_mut().skip(first_unknown)) {
            let mut open = open.clone();
            open.excluded.extend(appended.iter().filter_map(|c| match c {
                Expr::Alias { name, .. } => Some(name.to_string()),
                _ => None,
            }));
            *marker = super::relation::rest_of(&open);
        }
        list.extend(appended);
        // A star that came from a lateral alias would see columns replaced here: withColumns resolves over its input alone.
        let mut items: Vec<Item> = Vec::with_capacity(list.len());
        for entry in &list {
            items.extend(self.items(std::slice::from_ref(entry), &input, &[], place));
        }
        self.project_resolved(items, input, place)
    }

    pub(super) fn drop_columns(&mut self, columns: &[Expr], input: Relation, place: &Place) -> Relation {
        let mut dropped_ids = Vec::new();
        let mut dropped_names = Vec::new();
        for column in columns {
            match column {
                Expr::Column(c) if c.frame.is_none() => dropped_names.extend(c.parts.last().cloned()),
                Expr::Column(_) => match self.scalar(column, &input, place) {
                    Expr::Attribute(a) => dropped_ids.push(a.id),
                    _ => continue,
                },
                Expr::Literal { value: Value::String(name), .. } => dropped_names.push(name.to_string()),
                _ => {}
            }
        }
        let mut input = input;
        for open in &mut input.open {
            open.excluded.extend(dropped_names.iter().cloned());
        }
        let keeps =
            |a: &Attribute| !dropped_ids.contains(&a.id) && !dropped_names.iter().any(|n| same_name(n, &a.name));
        input.output.retain(keeps);
        input.loose = true;
        let frames = std::mem::take(&mut input.frames);
        Relation { frames, ..at(input.tight(), place) }
    }

    pub(super) fn rename_columns(&mut self, renames: &[(String, String)], input: Relation, place: &Place) -> Relation {
        let mut items: Vec<Item> = Vec::new();
        for column in &input.output {
            let new = renames.iter().rev().find(|(old, _)| same_name(old, &column.name)).map(|(_, new)| new.as_str());
            items.push(Item {
                expr: Expr::Attribute(column.clone()),
                name: new.map_or_else(|| column.name.clone(), Arc::from),
                place: place.clone(),
            });
        }
        for (old, new) in renames {
            if input.output.iter().any(|c| same_name(&c.name, old)) {
                continue;
            }
            let opens = input.open.clone();
            if let Some(column) = opens.iter().find_map(|open| self.open_column(open, old)) {
                items.push(Item { expr: Expr::Attribute(column), name: new.as_str().into(), place: place.clone() });
            }
        }
        for open in &input.open {
            let mut open = open.clone();
            open.excluded.extend(renames.iter().flat_map(|(old, new)| [old.clone(), new.clone()]));
            items.push(Item { expr: super::relation::rest_of(&open), name: Arc::from(""), place: Place::unknown() });
        }
        self.project_resolved(items, input, place)
    }

    pub(super) fn renamed_all(&mut self, names: &[String], input: Relation, place: &Place) -> Relation {
        if input.is_complete() && names.len() != input.output.len() {
            let message = format!("{} names for {} columns", names.len(), input.output.len());
            self.error("ASSIGNMENT_ARITY_MISMATCH", message, place);
        }
        if !input.is_complete() {
            let known = input.output.clone();
            self.note_unresolved("unknown-schema", "toDF", "the columns that it names are not known", place);
            return self.renamed_unknown(names, &known, input, place);
        }
        let items = input
            .output
            .iter()
            .enumerate()
            .map(|(index, column)| Item {
                expr: Expr::Attribute(column.clone()),
                name: names.get(index).map_or_else(|| column.name.clone(), |n| n.as_str().into()),
                place: place.clone(),
            })
            .collect();
        self.project_resolved(items, input, place)
    }

    /// Names given by position to columns of which some are not known.
    fn renamed_unknown(&mut self, names: &[String], known: &[Attribute], input: Relation, place: &Place) -> Relation {
        let mut items = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let expr = match known.get(index) {
                Some(column) => Expr::Attribute(column.clone()),
                None => {
                    let opens = input.open.clone();
                    let position = format!("_{index}");
                    match opens.iter().find_map(|open| self.open_column(open, &position)) {
                        Some(column) => Expr::Attribute(column),
                        None => Expr::null(),
                    }
                }
            };
            items.push(Item { expr, name: name.as_str().into(), place: place.clone() });
        }
        self.project_resolved(items, input, place)
    }

    fn project_resolved(&mut self, items: Vec<Item>, mut input: Relation, place: &Place) -> Relation {
        let frames = std::mem::take(&mut input.frames);
        let (items, input) = self.pull_out(items, input, place);
        let relation = self.project_items(items, input, place);
        Relation { frames, ..relation }
    }

    /// `na.fill`: columns of a type that the value fits, or those named.
    pub(super) fn na_fill(&mut self, value: &Expr, columns: &[String], input: Relation, place: &Place) -> Relation {
        let scope_input = input.clone();
        let scope = Scope { relations: vec![&scope_input], aliases: &[], place };
        let value = self.in_scope(value, &scope);
        let by_column = struct_values(&value);
        let value_type = expression::data_type(&value);
        let mut opened = Vec::new();
        for name in columns {
            if !input.output.iter().any(|c| same_name(&c.name, name)) {
                let opens = input.open.clone();
                let found = opens.iter().find_map(|open| self.open_column(open, name));
                opened.extend(found.clone());
                if found.is_none() {
                    let message = format!("there is no column `{name}` to fill");
                    self.error("UNRESOLVED_COLUMN.WITH_SUGGESTION", message, place);
                }
            }
        }
        let mut list = Vec::new();
        for column in input.output.iter().chain(&opened) {
            let value = match &by_column {
                Some(values) => values.iter().find(|(name, _)| same_name(name, &column.name)).map(|(_, v)| v),
                None => {
                    let named = columns.iter().any(|name| same_name(name, &column.name));
                    let fits = fits(&column.data_type, &value_type);
                    ((columns.is_empty() && fits) || (named && (fits || column.data_type.is_unknown())))
                        .then_some(&value)
                }
            };
            list.push(match value {
                Some(value) => {
                    let filled =
                        vec![Expr::Attribute(column.clone()), expression::cast_to(value.clone(), &column.data_type)];
                    Expr::call("coalesce", filled).alias(column.name.clone())
                }
                None => Expr::Attribute(column.clone()),
            });
        }
        list.extend(input.open.iter().map(super::relation::rest_of));
        let items = self.items(&list, &input, &[], place);
        self.project_resolved(items, input, place)
    }

    /// `na.drop`: at least so many of the columns are not NULL.
    pub(super) fn na_drop(
        &mut self,
        columns: &[String],
        how_all: bool,
        threshold: Option<i64>,
        input: Relation,
        place: &Place,
    ) -> Relation {
        let named: Vec<Expr> = if columns.is_empty() {
            input.output.iter().cloned().map(Expr::Attribute).collect()
        } else {
            columns.iter().map(|name| self.scalar(&Expr::column(name), &input, place)).collect()
        };
        let tests = |function: &str| named.iter().map(|c| Expr::call(function, vec![c.clone()])).collect::<Vec<_>>();
        let condition = match (threshold, how_all) {
            (Some(least), _) => {
                let mut args = vec![Expr::integer(least)];
                args.extend(named.iter().cloned());
                Some(Expr::call("atleastnnonnulls", args))
            }
            (None, true) => tests("isnotnull").into_iter().reduce(|a, b| Expr::call("or", vec![a, b])),
            (None, false) => tests("isnotnull").into_iter().reduce(|a, b| Expr::call("and", vec![a, b])),
        };
        match condition {
            Some(condition) => at(input.map_plan(|input| Node::Filter { condition, input }), place),
            None => input,
        }
    }

    pub(super) fn unpivot(&mut self, parts: &UnpivotParts<'_>, input: Relation, place: &Place) -> Relation {
        let ids: Vec<Expr> = parts.ids.iter().map(|id| self.scalar(id, &input, place)).collect();
        let values: Vec<Expr> = if parts.values.is_empty() {
            let is_id = |a: &Attribute| ids.iter().any(|id| matches!(id, Expr::Attribute(i) if i.id == a.id));
            input.output.iter().filter(|a| !is_id(a)).cloned().map(Expr::Attribute).collect()
        } else {
            parts.values.iter().map(|value| self.scalar(value, &input, place)).collect()
        };
        let mut output: Vec<Attribute> = Vec::new();
        for id in &ids {
            let (data_type, nullable) = expression::typed(id);
            output.push(self.attribute(&super::project::pretty(id), data_type, nullable));
        }
        let types: Vec<DataType> = values.iter().map(expression::data_type).collect();
        output.push(self.attribute(parts.variable, DataType::String, false));
        let value_type = crate::functions::common_type(&types).unwrap_or(DataType::Unknown);
        output.push(self.attribute(parts.value, value_type, true));
        let node = Node::Unpivot {
            description: parts.description.clone(),
            ids,
            values,
            variable: parts.variable.clone(),
            value: parts.value.clone(),
            input: Box::new(input.plan),
        };
        let mut plan = Plan::at(node, place.clone());
        plan.output.clone_from(&output);
        Relation::new(plan, output)
    }
}

/// `na.fill({'a': 1, 'b': 'x'})` arrives as a struct of values.
fn struct_values(value: &Expr) -> Option<Vec<(String, Expr)>> {
    let Expr::Call(call) = value else { return None };
    match call.function.as_ref() {
        "named_struct" | "map" => {
            let mut pairs = Vec::new();
            for pair in call.args.chunks(2) {
                if let [Expr::Literal { value: Value::String(name), .. }, value] = pair {
                    pairs.push((name.to_string(), value.clone()));
                }
            }
            Some(pairs)
        }
        "struct" => Some(
            call.args
                .iter()
                .filter_map(|arg| match arg {
                    Expr::Alias { expr, name, .. } => Some((name.to_string(), expr.as_ref().clone())),
                    _ => None,
                })
                .collect(),
        ),
        _ => None,
    }
}

/// `DataFrameNaFunctions.fill` fills numbers with numbers, strings with strings, booleans with booleans.
fn fits(column: &DataType, value: &DataType) -> bool {
    (column.is_numeric() && value.is_numeric())
        || matches!((column, value), (DataType::String, DataType::String) | (DataType::Boolean, DataType::Boolean))
}
