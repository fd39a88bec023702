//! Columns that a flow gives: added, dropped, renamed, retyped, or computed otherwise.

use super::change::Change;
use super::comparison::{Comparison, Explained, Side};
use super::pair::FlowRef;
use crate::analyze::{Analysis, OutputColumn, SourceAspect, Term, TermKind};
use crate::model::{DataType, Field, QualifiedName, Schema, Source, SourceFacts};
use std::collections::{BTreeMap, BTreeSet};

pub fn compare(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let (old, new) = (&comparison.before.analyzed.aspects, &comparison.aspects);
    let pipeline = comparison.after.pipeline.key.as_str();
    let mut changes = Vec::new();
    let mut gone: Vec<&OutputColumn> = Vec::new();
    for column in &old.outputs {
        match find(&new.outputs, &column.name) {
            Some(other) => changes.extend(compare_column(comparison, explained, column, other)),
            None => gone.push(column),
        }
    }
    let came: Vec<&OutputColumn> = new.outputs.iter().filter(|c| find(&old.outputs, &c.name).is_none()).collect();
    let column_mapping = property(comparison, "delta.columnMapping.mode").is_some_and(|mode| mode != "none");
    let declared = comparison.after.dataset.is_some_and(|dataset| dataset.declared.is_some());
    for column in came {
        let same =
            gone.iter().position(|other| other.term == column.term && same_type(&other.data_type, &column.data_type));
        if let Some(index) = same {
            let other = gone.remove(index);
            let change = Change::new("column-renamed", pipeline).values(other.name.as_str(), column.name.as_str());
            changes.push(change.fact("column_mapping", column_mapping).places(&other.place, &column.place));
        } else if old.complete {
            let change = Change::new("column-added", pipeline)
                .fact("column", column.name.as_str())
                .fact("type_after", type_name(&column.data_type))
                .fact("nondeterministic", is_nondeterministic(&column.term))
                .fact("declared", declared)
                .fact("new_in_source", is_new_in_source(comparison, &column.term));
            changes.push(change.places(&Default::default(), &column.place));
        }
    }
    for column in gone.into_iter().filter(|_| new.complete) {
        let change = Change::new("column-dropped", pipeline)
            .fact("column", column.name.as_str())
            .fact("type_before", type_name(&column.data_type))
            .fact("declared", declared)
            .fact("column_mapping", column_mapping);
        changes.push(change.places(&column.place, &Default::default()));
    }
    changes
}

/// Empty where the type is not known.
fn type_name(data_type: &DataType) -> String {
    if *data_type == DataType::Unknown { String::new() } else { data_type.to_string() }
}

fn find<'a>(columns: &'a [OutputColumn], name: &str) -> Option<&'a OutputColumn> {
    columns
        .iter()
        .find(|column| column.name == name)
        .or_else(|| columns.iter().find(|c| c.name.eq_ignore_ascii_case(name)))
}

fn compare_column(
    comparison: &Comparison,
    explained: &Explained,
    old: &OutputColumn,
    new: &OutputColumn,
) -> Option<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    if let Some(conversion) = conversion(&old.data_type, &new.data_type) {
        let enabled = ["delta.enableTypeWidening", "pipelines.enableTypeWidening"].into_iter().any(|name| {
            property(comparison, name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
                || comparison.after.configuration().get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
        });
        let change = Change::new("column-retyped", pipeline)
            .fact("column", new.name.as_str())
            .fact("type_before", old.data_type.to_string())
            .fact("type_after", new.data_type.to_string())
            .fact("conversion", conversion)
            .fact("delta_widening", widens(&old.data_type, &new.data_type))
            .fact("widening_enabled", enabled);
        return Some(change.places(&old.place, &new.place));
    }
    let same = old.term == new.term || branches_moved(comparison, &new.term) == old.term;
    if !same && !explained.covers(&old.term, &new.term) {
        let change = Change::new("expression-changed", pipeline)
            .fact("column", new.name.as_str())
            .values(comparison.show(&old.term), comparison.show(&new.term))
            .fact("nondeterministic", is_nondeterministic(&new.term) && !is_nondeterministic(&old.term));
        return Some(change.places(&old.place, &new.place));
    }
    // A column that is known from its use alone has the source's own name, whatever its letter case in the code.
    (old.name != new.name && comparison.aspects.complete).then(|| {
        let change = Change::new("column-case-changed", pipeline).values(old.name.as_str(), new.name.as_str());
        change.places(&old.place, &new.place)
    })
}

/// A term of AFTER with the branches of its unions in BEFORE's order: where the branches of a union are the same ones by what they
/// read, only another order of them is told by the sources.
pub fn branches_moved(comparison: &Comparison, term: &Term) -> Term {
    let (before, after) = (&comparison.before.analyzed.aspects.unions, &comparison.aspects.unions);
    let mut orders: BTreeMap<usize, Option<Vec<usize>>> = BTreeMap::new();
    for (old, new) in before.iter().zip(after).filter(|_| before.len() == after.len()) {
        let order = order_of(old, new);
        let known = orders.entry(new.len()).or_insert_with(|| order.clone());
        // Unions of one size whose branches moved in different ways cannot be told apart in a column's term.
        if *known != order {
            *known = None;
        }
    }
    in_order(term, &orders)
}

/// Where each branch of BEFORE's union stands in AFTER's; none where the branches are not told apart by what they read.
fn order_of(old: &[Vec<String>], new: &[Vec<String>]) -> Option<Vec<usize>> {
    let distinct: BTreeSet<&Vec<String>> = old.iter().collect();
    if distinct.len() != old.len() || old.len() != new.len() {
        return None;
    }
    old.iter().map(|branch| new.iter().position(|other| other == branch)).collect()
}

fn in_order(term: &Term, orders: &BTreeMap<usize, Option<Vec<usize>>>) -> Term {
    term.replaced(&mut |part| {
        let size = part.children().count();
        let order = orders.get(&size)?.as_ref().filter(|_| part.kind() == TermKind::Union)?;
        let below: Vec<Term> = part.children().map(|branch| in_order(branch, orders)).collect();
        part.reordered(order).map(|moved| {
            moved.replaced(&mut |branch| {
                let at = part.children().position(|other| other == branch)?;
                below.get(at).cloned()
            })
        })
    })
}

/// The column comes from a source outside the repository that did not have it before: older rows have nothing to put there. Tables
/// of the repository between the two pass it on.
fn is_new_in_source(comparison: &Comparison, term: &Term) -> bool {
    let texts = comparison.before.streams();
    let of_source = |aspect: &&SourceAspect| -> Option<bool> {
        let column = column_of(term, aspect)?;
        let (Source::Table(name) | Source::ChangeFeed(name)) = &aspect.source else { return None };
        passes_on_new(comparison, name, column, &mut BTreeSet::new())
    };
    if let Some(passed_on) = texts.iter().find_map(of_source) {
        return passed_on;
    }
    lacks(&comparison.before, term)
}

/// The column of a source that a term is, and nothing more.
fn column_of<'t>(term: &'t Term, aspect: &SourceAspect) -> Option<&'t str> {
    let (source, column) = term.column()?;
    (source.source_name() == Some(aspect.text.as_str())).then_some(column)
}

/// A source that the flow reads from outside is known, and had no column that a term is.
fn lacks(before: &Side, term: &Term) -> bool {
    let sources = &before.analyzed.signature.sources;
    before.streams().iter().zip(sources).any(|(aspect, source)| {
        let column = column_of(term, aspect);
        let held = held_by(before, aspect, &source.schema).filter(|held| held.complete && !held.fields.is_empty());
        column.zip(held).is_some_and(|(column, held)| held.field(column).is_none())
    })
}

/// The columns that a source outside the repository is known to have held. A reader's own schema says what was read of files, not what
/// they held.
fn held_by<'a>(before: &Side<'a>, aspect: &SourceAspect, read: &'a Schema) -> Option<&'a Schema> {
    match &aspect.source {
        Source::Table(_) | Source::ChangeFeed(_) => Some(read),
        Source::Files { path, .. } => {
            let folder = |path: &str| path.trim_end_matches('/').to_owned();
            let named = |facts: &&SourceFacts| {
                folder(&facts.name) == folder(path)
                    || facts.path.as_deref().is_some_and(|at| folder(at) == folder(path))
            };
            before.pipeline.sources.iter().find(named)?.schema.as_ref()
        }
        Source::Connector { .. } => None,
    }
}

/// Every flow into a table of the repository gives the column from a source that did not have it. None for other tables.
/// `seen` are the tables that the column was followed through; what they tell is told once.
fn passes_on_new(
    comparison: &Comparison,
    table: &QualifiedName,
    column: &str,
    seen: &mut BTreeSet<String>,
) -> Option<bool> {
    let (before, after) = (comparison.before.analysis, comparison.after.analysis);
    let (old, new) = (flows_into(before, table), flows_into(after, table));
    if old.is_empty() {
        return None;
    }
    if seen.len() >= MAX_TABLES || !seen.insert(table.key()) {
        return Some(seen.contains(&table.key()));
    }
    let mut is_new = |reference: &FlowRef| -> Option<bool> {
        let flow = Side::new(after, *reference)?;
        let old = old.iter().filter_map(|old| Side::new(before, *old)).find(|old| old.flow.name == flow.flow.name)?;
        let term = &find(&flow.analyzed.aspects.outputs, column)?.term;
        let above = old.streams().into_iter().find_map(|aspect| {
            let column = column_of(term, aspect)?;
            let (Source::Table(name) | Source::ChangeFeed(name)) = &aspect.source else { return None };
            passes_on_new(comparison, name, column, seen)
        });
        Some(above.unwrap_or_else(|| lacks(&old, term)))
    };
    Some(new.iter().all(|flow| is_new(flow) == Some(true)))
}

/// Tables that a column is followed through.
const MAX_TABLES: usize = 64;

fn flows_into(analysis: &Analysis, table: &QualifiedName) -> Vec<FlowRef> {
    let flows = analysis.flows.iter().enumerate().filter(|(_, flow)| {
        let owner = analysis.workspace.pipelines.get(flow.pipeline);
        owner.and_then(|owner| owner.flows.get(flow.flow)).is_some_and(|flow| flow.target == *table)
    });
    flows.map(|(analyzed, flow)| FlowRef { pipeline: flow.pipeline, flow: flow.flow, analyzed }).collect()
}

fn property(comparison: &Comparison, name: &str) -> Option<String> {
    comparison.after.dataset.and_then(|dataset| dataset.property(name)).map(str::to_owned)
}

fn is_nondeterministic(term: &Term) -> bool {
    term.any(&mut |part| part.kind() == TermKind::Volatile)
}

/// Equal up to nullability, which a table's schema takes from the first writer.
pub fn same_type(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Array { element: x, .. }, DataType::Array { element: y, .. }) => same_type(x, y),
        (DataType::Map { key: k, value: v, .. }, DataType::Map { key: l, value: w, .. }) => {
            same_type(k, l) && same_type(v, w)
        }
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.len() == y.len()
                && x.iter()
                    .zip(y)
                    .all(|(x, y)| x.name.eq_ignore_ascii_case(&y.name) && same_type(&x.data_type, &y.data_type))
        }
        _ => a == b,
    }
}

/// What kind of type change this is; none where the types are equal up to nullability, or one of them is not known.
pub fn conversion(from: &DataType, to: &DataType) -> Option<&'static str> {
    if from.is_unknown() || to.is_unknown() || same_type(from, to) {
        return None;
    }
    Some(match (from, to) {
        (DataType::Decimal { scale: a, .. }, DataType::Decimal { scale: b, .. }) if a == b => "decimal-same-scale",
        (DataType::Struct(x), DataType::Struct(y)) => struct_conversion(x, y),
        (DataType::Array { element: x, .. }, DataType::Array { element: y, .. }) => {
            conversion(x, y).unwrap_or("incompatible")
        }
        (DataType::Map { key: k, value: v, .. }, DataType::Map { key: l, value: w, .. }) if same_type(k, l) => {
            conversion(v, w).unwrap_or("incompatible")
        }
        _ if widens(from, to) => "widened",
        _ if widens(to, from) => "narrowed",
        _ => "incompatible",
    })
}

/// Fields that came or went are one thing; a common field of another type decides otherwise.
fn struct_conversion(from: &[Field], to: &[Field]) -> &'static str {
    let common = from.iter().filter_map(|field| {
        let other = to.iter().find(|other| other.name.eq_ignore_ascii_case(&field.name))?;
        conversion(&field.data_type, &other.data_type)
    });
    common
        .max_by_key(|kind| {
            ["decimal-same-scale", "struct-fields", "widened", "narrowed", "incompatible"]
                .iter()
                .position(|k| k == kind)
        })
        .unwrap_or("struct-fields")
}

/// Delta's type widening: the changes that `delta.enableTypeWidening` allows.
fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType::{Byte, Date, Decimal, Double, Float, Int, Long, Short, TimestampNtz};
    let digits = |data_type: &DataType| match data_type {
        Byte => Some(3),
        Short => Some(5),
        Int => Some(10),
        Long => Some(20),
        _ => None,
    };
    match (from, to) {
        (Byte, Short | Int | Long | Double) | (Short, Int | Long | Double) | (Int, Long | Double) => true,
        (Float, Double) | (Date, TimestampNtz) => true,
        (Decimal { precision: p, scale: s }, Decimal { precision: q, scale: t }) => {
            let (p, q, s, t) = (i16::from(*p), i16::from(*q), i16::from(*s), i16::from(*t));
            t >= s && q - t >= p - s && (q > p || t > s)
        }
        (Byte | Short | Int | Long, Decimal { precision, scale }) => {
            digits(from).is_some_and(|digits| i16::from(*precision) - i16::from(*scale) >= digits)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_follow_the_lists_of_delta_and_spark() {
        assert_eq!(conversion(&DataType::Int, &DataType::Long), Some("widened"));
        assert_eq!(conversion(&DataType::Long, &DataType::Int), Some("narrowed"));
        assert_eq!(conversion(&DataType::Long, &DataType::Double), Some("incompatible"));
        assert_eq!(conversion(&DataType::String, &DataType::Int), Some("incompatible"));
        assert_eq!(conversion(&DataType::decimal(10, 2), &DataType::decimal(12, 2)), Some("decimal-same-scale"));
        assert_eq!(conversion(&DataType::decimal(10, 2), &DataType::decimal(12, 4)), Some("widened"));
        assert_eq!(conversion(&DataType::decimal(10, 2), &DataType::decimal(10, 4)), Some("incompatible"));
        assert_eq!(conversion(&DataType::Unknown, &DataType::Int), None);
    }

    #[test]
    fn a_struct_that_only_gains_fields_is_told_apart() {
        let old = DataType::Struct(vec![Field::new("a", DataType::Int)]);
        let gained = DataType::Struct(vec![Field::new("a", DataType::Int), Field::new("b", DataType::Int)]);
        let retyped = DataType::Struct(vec![Field::new("a", DataType::String), Field::new("b", DataType::Int)]);
        assert_eq!(conversion(&old, &gained), Some("struct-fields"));
        assert_eq!(conversion(&old, &retyped), Some("incompatible"));
    }
}
