//! Built-in functions.

use crate::frontend::python::interpret::{Eval, Interpreter, MAX_ITEMS, Stop};
use crate::frontend::python::value::{Arguments, Dict, List, Value};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

pub fn call(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let first = arguments.positional.first().cloned().unwrap_or(Value::None);
    Ok(Some(match name {
        "print" | "exec" | "display" => Value::None,
        "str" | "repr" | "format" => {
            if arguments.positional.is_empty() {
                return Ok(Some(Value::str("")));
            }
            if let (Value::Unknown(_), "str") = (&first, name) {
                return Ok(Some(first));
            }
            let spec = if name == "format" { arguments.text(1, "format_spec").unwrap_or_default() } else { "".into() };
            Value::Str(interpreter.format_value(&first, &spec)?)
        }
        "int" | "float" | "bool" => return Ok(number(name, &first)),
        "len" => match interpreter.items_of(&first) {
            Some(list) if !list.open => Value::Int(list.items.len() as i64),
            _ => return Ok(None),
        },
        "list" | "tuple" | "set" | "frozenset" | "iter" => return Ok(collection(interpreter, name, arguments)),
        "dict" => return dict(interpreter, arguments).map(Some),
        "range" => return Ok(range(arguments)),
        "enumerate" => {
            let Some(list) = interpreter.items_of(&first) else { return Ok(None) };
            let start = match arguments.get(1, "start") {
                Some(Value::Int(start)) => *start,
                _ => 0,
            };
            let pairs = list.items.into_iter().enumerate();
            let items = pairs.map(|(at, item)| Value::Tuple([Value::Int(at as i64 + start), item].into())).collect();
            Value::List(Rc::new(RefCell::new(List { items, open: list.open })))
        }
        "zip" => {
            let mut lists = Vec::new();
            for value in &arguments.positional {
                let Some(list) = interpreter.items_of(value) else { return Ok(None) };
                lists.push(list);
            }
            let open = lists.iter().any(|list| list.open);
            let length = lists.iter().map(|list| list.items.len()).min().unwrap_or(0);
            let row = |at: usize| lists.iter().filter_map(|list| list.items.get(at).cloned()).collect();
            let items = (0..length).map(|at| Value::Tuple(row(at))).collect();
            Value::List(Rc::new(RefCell::new(List { items, open })))
        }
        "map" => return map(interpreter, arguments).map(Some),
        "filter" => return filter(interpreter, arguments),
        "sorted" => {
            let Some(list) = interpreter.items_of(&first) else { return Ok(None) };
            let items = sorted(interpreter, list.items, arguments)?;
            Value::List(Rc::new(RefCell::new(List { items, open: list.open })))
        }
        "reversed" => {
            let Some(mut list) = interpreter.items_of(&first) else { return Ok(None) };
            list.items.reverse();
            Value::List(Rc::new(RefCell::new(list)))
        }
        "sum" => {
            let Some(list) = interpreter.items_of(&first).filter(|list| !list.open) else { return Ok(None) };
            let mut total = arguments.positional.get(1).cloned().unwrap_or(Value::Int(0));
            for item in &list.items {
                total = interpreter.binary("+", &total, item, Default::default())?;
            }
            total
        }
        "min" | "max" => return Ok(extreme(interpreter, name, arguments)),
        "abs" => match first {
            Value::Int(number) => Value::Int(number.saturating_abs()),
            Value::Float(number) => Value::Float(number.abs()),
            _ => return Ok(None),
        },
        "round" => match (&first, arguments.get(1, "ndigits")) {
            (Value::Int(_), _) => first,
            (Value::Float(number), None) => Value::Int(number.round_ties_even() as i64),
            (Value::Float(number), Some(Value::Int(digits))) => {
                let factor = 10f64.powi(i32::try_from(*digits).unwrap_or(0));
                Value::Float((number * factor).round() / factor)
            }
            _ => return Ok(None),
        },
        "any" | "all" => return Ok(quantified(interpreter, name, &first)),
        "isinstance" => return Ok(is_instance(&first, arguments.positional.get(1)).map(Value::Bool)),
        "callable" => Value::Bool(matches!(
            first,
            Value::Function(_) | Value::Method { .. } | Value::Class(_) | Value::External(_) | Value::Partial(_)
        )),
        "hasattr" | "getattr" => return attribute(interpreter, name, arguments).map(Some),
        "setattr" => {
            if let (Some(name), Some(value)) = (arguments.text(1, "name"), arguments.positional.get(2)) {
                interpreter.assign_attribute(&first, &name, value.clone());
            }
            Value::None
        }
        "type" => match &first {
            Value::Instance(instance) => Value::Class(instance.class.clone()),
            other => Value::external(&format!("builtins.{}", other.type_name())),
        },
        "next" => {
            let Some(list) = interpreter.items_of(&first) else { return Ok(None) };
            match (list.items.first(), arguments.positional.get(1)) {
                (Some(item), _) => item.clone(),
                (None, Some(default)) if !list.open => default.clone(),
                _ => return Ok(None),
            }
        }
        "open" => {
            let path = arguments.text(0, "file").unwrap_or_default();
            match interpreter.data_file(&path) {
                Some(text) => Value::Partial(Rc::new(crate::frontend::python::value::Partial {
                    function: Value::external("io.file"),
                    arguments: Arguments::of(vec![Value::str(text)], place.clone()),
                })),
                None => {
                    let reason = format!("the file `{path}` is not part of the repository");
                    let hint = Some("keep the file in the repository, or name its values in pipelint.yaml");
                    interpreter.unknown_with_hint(&path, "runtime-data", reason, hint, place.clone())
                }
            }
        }
        "__import__" => return interpreter.import_by_name(&first),
        "object" => Value::None,
        "chr" => match first {
            Value::Int(code) => match u32::try_from(code).ok().and_then(char::from_u32) {
                Some(c) => Value::str(c.to_string()),
                None => return Ok(None),
            },
            _ => return Ok(None),
        },
        "ord" => match first.as_str().and_then(|text| text.chars().next()) {
            Some(c) => Value::Int(i64::from(u32::from(c))),
            None => return Ok(None),
        },
        "slice" => {
            let part = |at: usize| arguments.positional.get(at).cloned().unwrap_or(Value::None);
            match arguments.positional.len() {
                1 => Value::Slice(Rc::new([Value::None, part(0), Value::None])),
                _ => Value::Slice(Rc::new([part(0), part(1), part(2)])),
            }
        }
        "property" | "staticmethod" | "classmethod" => first,
        _ => return Ok(None),
    }))
}

fn number(name: &str, value: &Value) -> Option<Value> {
    Some(match (name, value) {
        ("bool", other) => Value::Bool(other.truth()?),
        ("int", Value::Float(number)) => Value::Int(*number as i64),
        ("int", Value::Int(_)) | ("float", Value::Float(_)) => value.clone(),
        ("int", Value::Bool(flag)) => Value::Int(i64::from(*flag)),
        ("float", Value::Int(number)) => Value::Float(*number as f64),
        ("int", Value::Str(_)) => Value::Int(value.as_str()?.trim().replace('_', "").parse().ok()?),
        ("float", Value::Str(_)) => Value::Float(value.as_str()?.trim().parse().ok()?),
        ("int", Value::None) => Value::Int(0),
        _ => return None,
    })
}

fn collection(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Option<Value> {
    let list = match arguments.positional.first() {
        Some(value) => interpreter.items_of(value)?,
        None => List::default(),
    };
    Some(match name {
        "tuple" if !list.open => Value::Tuple(list.items.into()),
        "set" | "frozenset" => {
            let mut items: Vec<Value> = Vec::new();
            for item in list.items {
                if items.len() > 2_000 || !items.iter().any(|seen| seen.same(&item)) {
                    items.push(item);
                }
            }
            Value::Set(Rc::new(RefCell::new(List { items, open: list.open })))
        }
        _ => Value::List(Rc::new(RefCell::new(list))),
    })
}

fn dict(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Eval<Value> {
    let mut dict = Dict { items: Vec::new(), open: arguments.open };
    match arguments.positional.first() {
        Some(Value::Dict(other)) => dict = other.borrow().clone(),
        Some(value) => match interpreter.items_of(value) {
            Some(pairs) => {
                dict.open |= pairs.open;
                for pair in pairs.items {
                    let parts = interpreter.items_of(&pair).map(|list| list.items).unwrap_or_default();
                    match parts.as_slice() {
                        [key, value] => dict.insert(key.clone(), value.clone()),
                        _ => dict.open = true,
                    }
                }
            }
            None => dict.open = true,
        },
        None => {}
    }
    for (key, value) in &arguments.keywords {
        dict.insert(Value::str(key.clone()), value.clone());
    }
    Ok(Value::Dict(Rc::new(RefCell::new(dict))))
}

fn range(arguments: &Arguments) -> Option<Value> {
    let mut bounds = Vec::new();
    for value in &arguments.positional {
        match value {
            Value::Int(number) => bounds.push(*number),
            _ => return None,
        }
    }
    let (from, to, step) = match bounds.as_slice() {
        [to] => (0, *to, 1),
        [from, to] => (*from, *to, 1),
        [from, to, step] if *step != 0 => (*from, *to, *step),
        _ => return None,
    };
    let mut items = Vec::new();
    let mut at = from;
    while (step > 0 && at < to) || (step < 0 && at > to) {
        if items.len() >= MAX_ITEMS {
            // Nobody writes so many of anything: what a loop does is followed once, for any element.
            return Some(Value::List(Rc::new(RefCell::new(List { items: Vec::new(), open: true }))));
        }
        items.push(Value::Int(at));
        at = at.checked_add(step)?;
    }
    Some(Value::list(items))
}

fn map(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Eval<Value> {
    let Some(function) = arguments.positional.first().cloned() else { return Ok(Value::list(Vec::new())) };
    let mut lists = Vec::new();
    for value in arguments.positional.get(1..).unwrap_or_default() {
        match interpreter.items_of(value) {
            Some(list) => lists.push(list),
            None => lists.push(List { items: Vec::new(), open: true }),
        }
    }
    let open = lists.iter().any(|list| list.open);
    let length = lists.iter().map(|list| list.items.len()).min().unwrap_or(0);
    let mut items = Vec::with_capacity(length);
    for at in 0..length {
        let row = lists.iter().filter_map(|list| list.items.get(at).cloned()).collect();
        items.push(interpreter.call(&function, Arguments::of(row, arguments.place.clone()))?);
    }
    Ok(Value::List(Rc::new(RefCell::new(List { items, open }))))
}

fn filter(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Eval<Option<Value>> {
    let function = arguments.positional.first().cloned().unwrap_or(Value::None);
    let Some(list) = arguments.positional.get(1).cloned().and_then(|value| interpreter.items_of(&value)) else {
        return Ok(None);
    };
    let mut kept = List { items: Vec::new(), open: list.open };
    for item in list.items {
        let verdict = match &function {
            Value::None => item.clone(),
            function => interpreter.call(function, Arguments::of(vec![item.clone()], arguments.place.clone()))?,
        };
        match verdict.truth() {
            Some(true) => kept.items.push(item),
            Some(false) => {}
            None => {
                kept.items.push(item);
                kept.open = true;
            }
        }
    }
    Ok(Some(Value::List(Rc::new(RefCell::new(kept)))))
}

/// Sorted by Python's order, `key=` and `reverse=`; what cannot be compared keeps its place.
pub fn sorted(interpreter: &mut Interpreter<'_>, items: Vec<Value>, arguments: &Arguments) -> Eval<Vec<Value>> {
    let mut keyed = Vec::with_capacity(items.len());
    let function = arguments.keyword("key").filter(|key| !key.is_none()).cloned();
    for item in items {
        let key = match &function {
            Some(function) => interpreter.call(function, Arguments::of(vec![item.clone()], arguments.place.clone()))?,
            None => item.clone(),
        };
        keyed.push((key, item));
    }
    interpreter.spend(keyed.len() as u64)?;
    keyed.sort_by(|(a, _), (b, _)| compare(a, b, 8));
    if arguments.keyword("reverse").and_then(Value::truth) == Some(true) {
        keyed.reverse();
    }
    Ok(keyed.into_iter().map(|(_, item)| item).collect())
}

/// A total order, whatever the values: by kind first where kinds differ.
fn compare(a: &Value, b: &Value, depth: u32) -> Ordering {
    let Some(depth) = depth.checked_sub(1) else { return Ordering::Equal };
    let rank = |value: &Value| match value {
        Value::None => 0,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => 1,
        Value::Str(_) => 2,
        Value::Tuple(_) | Value::List(_) => 3,
        Value::Date(_) => 4,
        Value::Timestamp(_) => 5,
        _ => 6,
    };
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => a.text.cmp(&b.text),
        (Value::Tuple(a), Value::Tuple(b)) => a
            .iter()
            .zip(b.iter())
            .map(|(a, b)| compare(a, b, depth))
            .find(|ordering| ordering.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        _ => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => rank(a).cmp(&rank(b)),
        },
    }
}

fn extreme(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Option<Value> {
    let items = match arguments.positional.as_slice() {
        [one] => {
            let list = interpreter.items_of(one)?;
            if list.open {
                return None;
            }
            list.items
        }
        many => many.to_vec(),
    };
    if items.iter().any(Value::is_unknown) || arguments.keyword("key").is_some() {
        return None;
    }
    let best = items.into_iter().reduce(|best, item| {
        let ordering = compare(&item, &best, 8);
        let better = if name == "min" { ordering.is_lt() } else { ordering.is_gt() };
        if better { item } else { best }
    });
    best.or_else(|| arguments.keyword("default").cloned())
}

fn quantified(interpreter: &mut Interpreter<'_>, name: &str, value: &Value) -> Option<Value> {
    let list = interpreter.items_of(value)?;
    let wanted = name == "any";
    let mut certain = !list.open;
    for item in &list.items {
        match item.truth() {
            Some(truth) if truth == wanted => return Some(Value::Bool(wanted)),
            Some(_) => {}
            None => certain = false,
        }
    }
    certain.then_some(Value::Bool(!wanted))
}

fn is_instance(value: &Value, class: Option<&Value>) -> Option<bool> {
    let named = |path: &Arc<str>| -> Option<bool> {
        let wanted = path.rsplit('.').next().unwrap_or(path);
        let actual = value.type_name();
        Some(match wanted {
            _ if value.is_unknown() || matches!(value, Value::External(_)) => return None,
            "str" | "int" | "float" | "list" | "tuple" | "dict" | "set" => {
                actual == wanted || (wanted == "int" && actual == "bool")
            }
            "DataFrame" | "Column" | "StructType" | "StructField" => actual == wanted,
            "Sequence" | "Iterable" => matches!(actual, "list" | "tuple" | "set" | "dict" | "str"),
            "Mapping" => actual == "dict",
            "DataType" => matches!(value, Value::Type(_) | Value::Schema(_)),
            _ => return None,
        })
    };
    match class? {
        Value::External(path) => named(path),
        Value::Class(class) => match value {
            Value::Instance(instance) => {
                Some(Rc::ptr_eq(&instance.class, class) || inherits(&instance.class, class, 16))
            }
            other if other.is_unknown() => None,
            _ => Some(false),
        },
        Value::Tuple(classes) => {
            let verdicts: Vec<Option<bool>> = classes.iter().map(|class| is_instance(value, Some(class))).collect();
            if verdicts.contains(&Some(true)) { Some(true) } else { (!verdicts.contains(&None)).then_some(false) }
        }
        _ => None,
    }
}

fn inherits(
    class: &crate::frontend::python::value::Class,
    from: &Rc<crate::frontend::python::value::Class>,
    depth: u32,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    class.bases.iter().any(|base| match base {
        Value::Class(base) => Rc::ptr_eq(base, from) || inherits(base, from, depth),
        _ => false,
    })
}

fn attribute(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Eval<Value> {
    let receiver = arguments.positional.first().cloned().unwrap_or(Value::None);
    let Some(wanted) = arguments.positional.get(1).and_then(Value::render_string) else { return Ok(Value::None) };
    let known = match &receiver {
        Value::Instance(instance) => Some(
            instance.attributes.borrow().contains_key(&wanted)
                || interpreter.find_in_class(&instance.class, &wanted).is_some(),
        ),
        Value::Module(module) => Some(module.scope.own(&wanted).is_some()),
        Value::Class(class) => Some(interpreter.find_in_class(class, &wanted).is_some()),
        Value::None => Some(false),
        _ => None,
    };
    match (name, known, arguments.positional.get(2)) {
        ("hasattr", Some(known), _) => Ok(Value::Bool(known)),
        ("hasattr", None, _) => Ok(Value::Bool(true)),
        (_, Some(false), Some(default)) => Ok(default.clone()),
        _ => interpreter.attribute(&receiver, &wanted, &arguments.place),
    }
}

/// A loop's worth of fuel, for library functions that repeat.
pub fn charge(interpreter: &mut Interpreter<'_>, items: usize) -> Eval<()> {
    if items > MAX_ITEMS { Err(Stop::OutOfFuel) } else { interpreter.spend(items as u64) }
}
