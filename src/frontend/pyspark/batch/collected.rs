//! Rows that a script looks at itself: `df.first()["x"]`, `df.collect()[0][0]`, `df.count()`.
//!
//! A cell of such a row is a scalar subquery over rows kept where the script collected them, so that what is made of it (a
//! predicate, a condition, a SQL text) can be computed. Only scripts are read so; in a pipeline rows exist at run time alone.

use crate::frontend::pyspark::{self, known_schema};
use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::value::{Arguments, Collected, Frame, Relation, Unknown, Value};
use crate::model::{
    DataType, Expr, GroupingSets, Node, Place, Plan, QualifiedName, Read, Source, Step, SubqueryKind, Value as Constant,
};
use std::rc::Rc;

/// What a method of a DataFrame that reads rows gives; none where its rows are not followed.
pub fn rows(interpreter: &mut Interpreter<'_>, frame: &Frame, name: &str, arguments: &Arguments) -> Option<Value> {
    if !interpreter.job.is_on() {
        return None;
    }
    let place = &arguments.place;
    let one = name == "head" && arguments.positional.is_empty() && arguments.keywords.is_empty();
    match name {
        "first" => {}
        "head" | "collect" | "take" => {}
        "count" => return Some(count(interpreter, frame, place)),
        "isEmpty" => {
            let count = count(interpreter, frame, place);
            let Value::Column(expr) = count else { return None };
            return Some(Value::column(Expr::call("=", vec![expr.as_ref().clone(), Expr::integer(0)])));
        }
        _ => return None,
    }
    let kept = kept(interpreter, frame.plan.as_ref().clone(), place);
    let shown = format!("{name}()");
    let reason = format!("`{name}` reads rows, which exist only at run time");
    let Value::Unknown(unknown) = interpreter.unknown(&shown, "runtime-data", reason, place.clone()) else {
        return None;
    };
    let rows = if name == "first" || one { Collected::FirstRow(kept) } else { Collected::Rows(kept) };
    Some(Value::Unknown(Rc::new(Unknown { rows: Some(rows), ..unknown.as_ref().clone() })))
}

/// A relation of rows that are computed now.
fn kept(interpreter: &mut Interpreter<'_>, plan: Plan, place: &Place) -> Relation {
    let columns = known_schema::known_columns(&plan);
    let single = match &plan.node {
        Node::Aggregate { outputs, groupings, .. } => groupings.is_empty() && outputs.len() == 1,
        Node::Project { list, .. } => list.len() == 1 && !matches!(list.first(), Some(Expr::Star { .. })),
        _ => false,
    };
    let name = interpreter.job.next_name("collected");
    interpreter.job.push(Step::Collect { name: name.clone(), query: Box::new(plan), place: place.clone() });
    Relation { name, columns, single }
}

impl Relation {
    fn plan(&self, place: &Place) -> Plan {
        let read = Read::new(Source::Table(QualifiedName::bare(&*self.name)), false);
        Plan::at(Node::Read(Read { place: place.clone(), ..read }), place.clone())
    }

    fn cell(&self, column: &str, place: &Place) -> Value {
        let node = Node::Project { list: vec![Expr::column(column)], input: Box::new(self.plan(place)) };
        self.first(Plan::at(node, place.clone()), place)
    }

    fn first(&self, plan: Plan, place: &Place) -> Value {
        let limited = Node::Limit { count: Expr::integer(1), input: Box::new(plan) };
        scalar(Plan::at(limited, place.clone()))
    }
}

fn count(interpreter: &mut Interpreter<'_>, frame: &Frame, place: &Place) -> Value {
    let count = Expr::call("count", vec![Expr::integer(1)]).alias("count");
    let node = Node::Aggregate {
        groupings: Vec::new(),
        sets: GroupingSets::Simple,
        outputs: vec![count],
        having: None,
        input: Box::new(frame.plan.as_ref().clone()),
    };
    scalar(kept(interpreter, Plan::at(node, place.clone()), place).plan(place))
}

fn scalar(plan: Plan) -> Value {
    Value::column(Expr::Subquery { kind: SubqueryKind::Scalar, plan: Box::new(plan) })
}

/// `rows[0]`, `row[0]`, `row["x"]`.
pub fn item(unknown: &Unknown, index: &Value, place: &Place) -> Option<Value> {
    match (unknown.rows.as_ref()?, index) {
        (Collected::Rows(plan), Value::Int(0)) => {
            let row = Unknown { rows: Some(Collected::FirstRow(plan.clone())), ..unknown.clone() };
            Some(Value::Unknown(Rc::new(row)))
        }
        // Whatever its name is.
        (Collected::FirstRow(relation), Value::Int(0) | Value::Str(_)) if relation.single => {
            Some(relation.first(relation.plan(place), place))
        }
        (Collected::FirstRow(relation), Value::Int(at)) => {
            let columns = relation.columns.as_ref()?;
            Some(relation.cell(columns.get(usize::try_from(*at).ok()?)?, place))
        }
        (Collected::FirstRow(relation), Value::Str(name)) if !name.symbolic => Some(relation.cell(&name.text, place)),
        _ => None,
    }
}

/// `row.x`; `row.asDict` and what it gives are the row.
pub fn attribute(unknown: &Unknown, name: &str, place: &Place) -> Option<Value> {
    match unknown.rows.as_ref()? {
        Collected::FirstRow(_) if name == "asDict" => Some(Value::Unknown(Rc::new(unknown.clone()))),
        Collected::FirstRow(relation) => {
            let mut known = relation.columns.iter().flatten();
            known.any(|own| own.eq_ignore_ascii_case(name)).then(|| relation.cell(name, place))
        }
        Collected::Rows(_) => None,
    }
}

/// A value that collected rows went into: Python's operators make an expression of it.
pub fn is_computed(interpreter: &Interpreter<'_>, value: &Value) -> bool {
    let Value::Column(expr) = value else { return false };
    let mut found = false;
    if interpreter.job.is_on() {
        expr.walk(&mut |inner| found |= matches!(inner, Expr::Subquery { kind: SubqueryKind::Scalar, .. }));
    }
    found
}

/// `value is None`.
pub fn is_none(value: &Value) -> Option<Value> {
    let Value::Column(expr) = value else { return None };
    Some(Value::column(Expr::call("isnull", vec![expr.as_ref().clone()])))
}

/// Python's truth of a value: neither NULL nor false, zero or empty.
pub fn truth(value: &Value) -> Option<Expr> {
    let Value::Column(expr) = value else { return None };
    let text = Expr::Cast { expr: Box::new(expr.as_ref().clone()), to: DataType::String, try_cast: false };
    let text = Expr::call("coalesce", vec![text, Expr::string("")]);
    let falsy = ["", "false", "0", "0.0"].map(|falsy| Expr::call("=", vec![text.clone(), Expr::string(falsy)]));
    falsy.into_iter().reduce(|a, b| Expr::call("or", vec![a, b])).map(|any| Expr::call("not", vec![any]))
}

/// `then if test else otherwise`.
pub fn either(
    interpreter: &mut Interpreter<'_>,
    test: &Value,
    then: &Value,
    otherwise: &Value,
    place: &Place,
) -> Option<Value> {
    let plain = |value: &Value| {
        matches!(
            value,
            Value::Column(_) | Value::Str(_) | Value::Int(_) | Value::Date(_) | Value::Timestamp(_) | Value::None
        )
    };
    if !plain(then) || !plain(otherwise) {
        return None;
    }
    let test = truth(test)?;
    let then = pyspark::column::operand(interpreter, then, place);
    let otherwise = pyspark::column::operand(interpreter, otherwise, place);
    Some(Value::column(Expr::Case { branches: vec![(test, then)], otherwise: Some(Box::new(otherwise)) }))
}

/// The name under which a SQL text holds a computed value.
pub fn placeholder(interpreter: &mut Interpreter<'_>, value: &Value) -> Option<String> {
    let Value::Column(expr) = value else { return None };
    let known = interpreter.job.placeholders.iter().position(|own| own == expr.as_ref());
    let at = known.unwrap_or_else(|| {
        interpreter.job.placeholders.push(expr.as_ref().clone());
        interpreter.job.placeholders.len() - 1
    });
    Some(format!("collected_{at}"))
}

/// What an expression of a SQL text stands for, where that is a computed value or a string with such values in it.
pub fn value(interpreter: &Interpreter<'_>, expr: &Expr) -> Option<Expr> {
    let values = &interpreter.job.placeholders;
    match expr {
        Expr::Literal { value: Constant::String(text), .. } => in_text(text, values),
        Expr::Opaque(opaque) => named(&opaque.name, values),
        Expr::Column(column) => match column.parts.as_slice() {
            [name] => named(name, values),
            _ => None,
        },
        _ => None,
    }
}

fn named(text: &str, values: &[Expr]) -> Option<Expr> {
    let number = text.trim_matches(['{', '}']).strip_prefix("collected_")?;
    values.get(number.parse::<usize>().ok()?).cloned()
}

/// The text as a concatenation; a text that is one value, as that value's text.
fn in_text(text: &str, values: &[Expr]) -> Option<Expr> {
    let mut parts: Vec<Expr> = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{collected_") {
        let (number, behind) = after.split_once('}')?;
        let value = values.get(number.parse::<usize>().ok()?)?.clone();
        parts.extend((!before.is_empty()).then(|| Expr::string(before)));
        parts.push(Expr::Cast { expr: Box::new(value), to: DataType::String, try_cast: false });
        rest = behind;
    }
    parts.extend((!rest.is_empty() && !parts.is_empty()).then(|| Expr::string(rest)));
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(Expr::call("concat", parts)),
    }
}
