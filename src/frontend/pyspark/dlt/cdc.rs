//! `create_auto_cdc_flow`, `apply_changes` and the forms from snapshots.

use super::registration::FlowDraft;
use crate::frontend::pyspark::{column, column_names, frame, given_name, opaque, reader};
use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Reader, Value};
use crate::model::{CdcSpec, ColumnSelection, Expr, FlowKind, Node, Plan, Read, ScdType, Schema, Source};

/// Registers an AUTO CDC flow.
pub fn auto_cdc_flow(interpreter: &mut Interpreter<'_>, arguments: &Arguments, from_snapshot: bool) {
    let place = &arguments.place;
    let target = given_name(interpreter, arguments.get(0, "target").unwrap_or(&Value::None));
    // Positions differ between the two forms; keys follow the source in both.
    let source = arguments.get(1, "source").or_else(|| arguments.keyword("snapshot_and_version")).cloned();
    let spec = CdcSpec {
        keys: keys(interpreter, arguments),
        sequence_by: if from_snapshot { None } else { condition(interpreter, arguments, 3, "sequence_by", true) },
        apply_as_deletes: condition(interpreter, arguments, usize::MAX, "apply_as_deletes", false),
        apply_as_truncates: condition(interpreter, arguments, usize::MAX, "apply_as_truncates", false),
        ignore_null_updates: matches!(arguments.keyword("ignore_null_updates"), Some(Value::Bool(true))),
        columns: selection(interpreter, arguments, "column_list", "except_column_list"),
        scd_type: scd_type(interpreter, arguments),
        track_history: selection(
            interpreter,
            arguments,
            "track_history_column_list",
            "track_history_except_column_list",
        ),
        from_snapshot,
    };
    let plan = match &source {
        Some(value) if from_snapshot => snapshot_source(interpreter, value, arguments),
        Some(Value::Frame(frame)) => frame.plan.as_ref().clone(),
        Some(value) => {
            let name = given_name(interpreter, value);
            table_plan(interpreter, &name, true, arguments)
        }
        None => Plan::unresolved("source", "this flow names no source", 0, place.clone()),
    };
    let once = matches!(arguments.keyword("once"), Some(Value::Bool(true)));
    let kind = if once { FlowKind::AutoCdcOnce(Box::new(spec)) } else { FlowKind::AutoCdc(Box::new(spec)) };
    let name = arguments.keyword("name").or_else(|| arguments.keyword("flow_name"));
    let name = name.map_or_else(|| target.clone(), |name| given_name(interpreter, name));
    interpreter.register_flow(FlowDraft {
        name,
        target,
        kind,
        query: Value::None,
        plan: Some(plan),
        dataset: None,
        spark_conf: Default::default(),
        comment: None,
        place: place.clone(),
    });
}

fn table_plan(interpreter: &mut Interpreter<'_>, name: &str, streaming: bool, arguments: &Arguments) -> Plan {
    let reader = Reader { streaming, place: arguments.place.clone(), ..Reader::default() };
    match reader::table_read(interpreter, &reader, name, &arguments.place) {
        Value::Frame(frame) => frame.plan.as_ref().clone(),
        _ => {
            Plan::at(Node::Read(Read::new(Source::Table(reader::table_name(name)), streaming)), arguments.place.clone())
        }
    }
}

/// A snapshot's source: a table by name, or a function that gives the next snapshot at run time.
fn snapshot_source(interpreter: &mut Interpreter<'_>, value: &Value, arguments: &Arguments) -> Plan {
    if let Some(name) = value.render_string() {
        return table_plan(interpreter, &name, false, arguments);
    }
    let place = &arguments.place;
    let (content, code) = interpreter.code_of(value);
    let mut function = opaque(&interpreter.short(value), "", content, place.clone());
    function.code = code;
    let node = Node::Opaque { function, keys: Vec::new(), output: Schema::unknown(), inputs: Vec::new() };
    match frame(interpreter, Plan::at(node, place.clone())) {
        Value::Frame(frame) => frame.plan.as_ref().clone(),
        _ => Plan::unresolved("source", "", content, place.clone()),
    }
}

fn keys(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Vec<Expr> {
    match arguments.get(2, "keys").cloned() {
        Some(value) => column::columns(interpreter, &[value], &arguments.place),
        None => Vec::new(),
    }
}

/// A column or SQL text; bare text is a column's name where one is wanted, an expression otherwise.
pub(super) fn condition(
    interpreter: &mut Interpreter<'_>,
    arguments: &Arguments,
    index: usize,
    name: &str,
    column_name: bool,
) -> Option<Expr> {
    let place = &arguments.place;
    Some(match arguments.given(index, name)?.clone() {
        Value::Str(text) if column_name && !text.text.contains(['(', ' ']) => column::named(&text.text, place),
        Value::Str(text) => sql_text::expression(interpreter, &text.text, place),
        other => column::column(interpreter, &other, place),
    })
}

fn selection(interpreter: &mut Interpreter<'_>, arguments: &Arguments, only: &str, except: &str) -> ColumnSelection {
    let mut names = |name: &str| {
        let value = arguments.keyword(name).filter(|value| !value.is_none())?.clone();
        Some(column_names(interpreter, &[value]))
    };
    match (names(only), names(except)) {
        (Some(only), _) => ColumnSelection::Only(only),
        (None, Some(except)) => ColumnSelection::Except(except),
        (None, None) => ColumnSelection::All,
    }
}

fn scd_type(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> ScdType {
    match arguments.keyword("stored_as_scd_type") {
        Some(Value::Int(2)) => ScdType::Two,
        Some(value) if value.as_str() == Some("2") => ScdType::Two,
        Some(value @ (Value::Unknown(_) | Value::Choice(_))) => {
            let value = value.clone();
            interpreter.report_value(&value, None);
            ScdType::One
        }
        _ => ScdType::One,
    }
}
