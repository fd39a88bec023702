//! Functions with state of their own: their keys, the state that they declare, their time-outs and their code.

use super::listed;
use super::stored::{Types, same_fields, same_stored};
use crate::analyze::{StatefulMapAspect, code_term};
use crate::diff::change::{Change, Fact};
use crate::diff::comparison::{Comparison, Explained, surplus};
use crate::model::{DataType, Schema, StateVariable, StatefulFunction, StatefulOperator};

pub(super) fn compare(
    comparison: &Comparison,
    operator: &StatefulOperator,
    before: &StatefulMapAspect,
    after: &StatefulMapAspect,
    types: &Types,
    explained: &mut Explained,
) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    let base = |kind| Change::new(kind, pipeline).fact("operator", operator.name.as_ref());
    let (old, new) = (&before.function, &after.function);
    let mut changes = Vec::new();
    if before.keys != after.keys {
        let change = listed("grouping-keys-changed", comparison, &before.keys, &after.keys);
        changes.push(types.of_keys(change.fact("operator", operator.name.as_ref())));
    }
    if let (Some(b), Some(a)) = (&old.state, &new.state)
        && !same_fields(b, a)
    {
        let columns =
            |schema: &Schema| schema.fields.iter().map(|f| format!("{} {}", f.name, f.data_type)).collect::<Vec<_>>();
        let (b, a) = (columns(b), columns(a));
        let change = base("state-schema-changed").fact("added", surplus(&b, &a)).fact("removed", surplus(&a, &b));
        changes.push(change.values(b, a).fact("store", "default").fact("aspect", "schema").fact("types_known", true));
    }
    let avro = comparison.before.configuration().iter().any(|(key, value)| {
        key.eq_ignore_ascii_case("spark.sql.streaming.stateStore.encodingFormat") && value.eq_ignore_ascii_case("avro")
    });
    changes.extend(compare_variables(pipeline, operator, (&old.variables, &new.variables), avro));
    if old.time_mode != new.time_mode || old.output_mode != new.output_mode {
        let modes =
            |function: &StatefulFunction| vec![function.time_mode.to_string(), function.output_mode.to_string()];
        changes.push(base("state-timeout-changed").values(modes(old), modes(new)).fact("types_equal", types.equal));
    }
    if old.function.content != new.function.content {
        let unit = new.function.code.iter().find(|unit| {
            old.function.code.iter().any(|other| other.name == unit.name && other.content != unit.content)
        });
        let place = unit.map_or(&new.function.place, |unit| &unit.place);
        let name = unit.map_or(&new.function.name, |unit| &unit.name);
        let path = place.span().map(|span| span.path.to_string()).unwrap_or_default();
        let change = base("state-function-changed").fact("code", name.as_ref()).fact("code_path", path);
        explained.add([code_term(&new.function), code_term(&old.function)]);
        changes.push(change.places(&old.function.place, place));
    }
    for change in &mut changes {
        change.before = change.before.or(&before.place);
        change.after = change.after.or(&after.place);
    }
    changes
}

/// Named variables of transformWithState: matched by name, so that a renamed one starts empty.
fn compare_variables(
    pipeline: &str,
    operator: &StatefulOperator,
    (old, new): (&[StateVariable], &[StateVariable]),
    avro: bool,
) -> Vec<Change> {
    let shown = |variable: &StateVariable| {
        let key = variable.key.as_ref().map(|key| format!("{key} → ")).unwrap_or_default();
        let ttl = if variable.ttl { ", with TTL" } else { "" };
        format!("{} {} ({key}{}{ttl})", variable.kind, variable.name, variable.value)
    };
    let base = |name: &str, aspect: &'static str| {
        Change::new("state-schema-changed", pipeline)
            .fact("operator", operator.name.as_ref())
            .fact("store", name)
            .fact("types_known", true)
            .fact("aspect", aspect)
    };
    let list = |variables: &[String]| Fact::List(variables.to_vec());
    let mut changes = Vec::new();
    for variable in old {
        let Some(other) = new.iter().find(|other| other.name == variable.name) else {
            let gone = vec![shown(variable)];
            changes.push(base(&variable.name, "variable-removed").values(list(&gone), list(&[])).fact("removed", gone));
            continue;
        };
        let same_kind = variable.kind == other.kind;
        let same = same_kind
            && variable.ttl == other.ttl
            && same_stored(&variable.value, &other.value)
            && match (&variable.key, &other.key) {
                (Some(x), Some(y)) => same_stored(x, y),
                (x, y) => x.is_none() == y.is_none(),
            };
        if !same {
            let aspect = if same_kind { "schema" } else { "variable-kind" };
            let change = base(&variable.name, aspect).values(list(&[shown(variable)]), list(&[shown(other)]));
            changes.push(change.fact("avro", avro && same_kind && only_adds(&variable.value, &other.value)));
        }
    }
    for variable in new.iter().filter(|variable| old.iter().all(|other| other.name != variable.name)) {
        let came = vec![shown(variable)];
        changes.push(base(&variable.name, "variable-added").values(list(&[]), list(&came)).fact("added", came));
    }
    changes
}

/// A struct that keeps its fields, with their types and in their order, and gains others behind them.
fn only_adds(old: &DataType, new: &DataType) -> bool {
    match (old, new) {
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.len() < y.len() && x.iter().zip(y).all(|(x, y)| same_stored(&x.data_type, &y.data_type))
        }
        _ => false,
    }
}
