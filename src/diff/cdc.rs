//! AUTO CDC: keys, sequence, history, deletes and columns.

use super::change::Change;
use super::comparison::{Comparison, Side, surplus};
use super::text;
use crate::model::{CdcSpec, DataType, Expr};

pub fn compare(comparison: &Comparison) -> Vec<Change> {
    let (Some(old), Some(new)) = (comparison.before.flow.cdc(), comparison.after.flow.cdc()) else { return Vec::new() };
    let pipeline = comparison.after.pipeline.key.as_str();
    let mut changes: Vec<Change> = Vec::new();
    changes.extend(compare_keys(comparison, old, new));
    if old.scd_type != new.scd_type {
        let show =
            |spec: &CdcSpec| if spec.scd_type == crate::model::ScdType::One { "SCD type 1" } else { "SCD type 2" };
        changes.push(Change::new("cdc-scd-type-changed", pipeline).values(show(old), show(new)));
    }
    changes.extend(compare_sequence(comparison, old, new));
    let track = |spec: &CdcSpec| text::selection(&spec.track_history).to_lowercase();
    if track(old) != track(new) {
        changes.push(Change::new("cdc-track-history-changed", pipeline).values(track(old), track(new)));
    }
    let shown = |expr: &Option<Expr>| expr.as_ref().map(text::expression).unwrap_or_default();
    for (aspect, b, a) in [
        ("deletes", shown(&old.apply_as_deletes), shown(&new.apply_as_deletes)),
        ("truncates", shown(&old.apply_as_truncates), shown(&new.apply_as_truncates)),
    ] {
        if b != a {
            changes.push(Change::new("cdc-deletes-changed", pipeline).values(b, a).fact("aspect", aspect));
        }
    }
    let columns = |spec: &CdcSpec| text::selection(&spec.columns).to_lowercase();
    if columns(old) != columns(new) {
        changes.push(Change::new("cdc-columns-changed", pipeline).values(columns(old), columns(new)));
    }
    if old.ignore_null_updates != new.ignore_null_updates {
        let show = |on: bool| if on { "nulls are skipped" } else { "nulls overwrite" };
        let change = Change::new("cdc-null-updates-changed", pipeline);
        changes.push(change.values(show(old.ignore_null_updates), show(new.ignore_null_updates)));
    }
    changes
}

fn compare_keys(comparison: &Comparison, old: &CdcSpec, new: &CdcSpec) -> Option<Change> {
    let names = |spec: &CdcSpec| spec.keys.iter().map(text::expression).collect::<Vec<_>>();
    let types = |side: Side, spec: &CdcSpec| spec.keys.iter().map(|key| type_of(side, key)).collect::<Vec<_>>();
    let (b, a) = (names(old), names(new));
    let (types_before, types_after) = (types(comparison.before, old), types(comparison.after, new));
    let (added, removed) = (surplus(&b, &a), surplus(&a, &b));
    let by_name = |names: &[String], types: &[DataType]| {
        let mut pairs: Vec<(String, String)> =
            names.iter().cloned().zip(types.iter().map(ToString::to_string)).collect();
        pairs.sort();
        pairs
    };
    let known = types_before.iter().chain(&types_after).all(|data_type| !data_type.is_unknown());
    // The platform keeps keys by name with their types; their order does not count.
    let types_equal = !known || by_name(&b, &types_before) == by_name(&a, &types_after);
    if added.is_empty() && removed.is_empty() && types_equal {
        return None;
    }
    let show = |types: &[DataType]| types.iter().map(ToString::to_string).collect::<Vec<_>>();
    Some(
        Change::new("cdc-keys-changed", &comparison.after.pipeline.key)
            .values(b, a)
            .fact("added", added)
            .fact("removed", removed)
            .fact("types_equal", types_equal)
            .fact("types_before", show(&types_before))
            .fact("types_after", show(&types_after)),
    )
}

fn compare_sequence(comparison: &Comparison, old: &CdcSpec, new: &CdcSpec) -> Option<Change> {
    let shown = |spec: &CdcSpec| spec.sequence_by.as_ref().map(text::expression).unwrap_or_default();
    let data_type =
        |side: Side, spec: &CdcSpec| spec.sequence_by.as_ref().map_or(DataType::Unknown, |e| type_of(side, e));
    let (b, a) = (shown(old), shown(new));
    let (type_before, type_after) = (data_type(comparison.before, old), data_type(comparison.after, new));
    let types_equal = type_before == type_after || type_before.is_unknown() || type_after.is_unknown();
    if b == a && types_equal {
        return None;
    }
    Some(
        Change::new("cdc-sequence-changed", &comparison.after.pipeline.key)
            .values(b, a)
            .fact("type_before", type_before.to_string())
            .fact("type_after", type_after.to_string())
            .fact("types_equal", types_equal),
    )
}

/// Type of an expression over the columns that the flow's source gives.
fn type_of(side: Side, expr: &Expr) -> DataType {
    match expr {
        Expr::Column(column) => {
            let name = column.parts.last().map(String::as_str).unwrap_or_default();
            side.analyzed.schema.field(name).map_or(DataType::Unknown, |field| field.data_type.clone())
        }
        Expr::Attribute(attribute) => attribute.data_type.clone(),
        Expr::Alias { expr, .. } => type_of(side, expr),
        Expr::Cast { to, .. } => to.clone(),
        Expr::Literal { data_type, .. } => data_type.clone(),
        Expr::Call(call) if call.function.as_ref() == "struct" => DataType::Struct(
            call.args.iter().map(|arg| crate::model::Field::new(text::expression(arg), type_of(side, arg))).collect(),
        ),
        // Arithmetic keeps the wider of two integral types; anything finer is for the analysis.
        Expr::Call(call) => match (call.function.as_ref(), call.args.as_slice()) {
            ("+" | "-" | "*", [left, right]) => match (type_of(side, left), type_of(side, right)) {
                (x, y) if x == y => x,
                (DataType::Long, y) if y.is_integral() => DataType::Long,
                (x, DataType::Long) if x.is_integral() => DataType::Long,
                _ => DataType::Unknown,
            },
            _ => DataType::Unknown,
        },
        _ => DataType::Unknown,
    }
}
