//! Methods of lists, tuples, sets and dicts.

use super::functions::sorted;
use crate::frontend::python::interpret::{Eval, Interpreter, MAX_ITEMS, Stop};
use crate::frontend::python::value::{Arguments, Dict, List, Value};
use std::cell::RefCell;
use std::rc::Rc;

pub fn sequence(
    interpreter: &mut Interpreter<'_>,
    receiver: &Value,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let first = arguments.positional.first().cloned().unwrap_or(Value::None);
    if let Value::List(list) | Value::Set(list) = receiver {
        if list.borrow().items.len() > MAX_ITEMS {
            return Err(Stop::OutOfFuel);
        }
        match name {
            "append" => {
                list.borrow_mut().items.push(first);
                return Ok(Some(Value::None));
            }
            "add" => {
                let known = list.borrow().items.iter().any(|item| item.same(&first));
                if !known {
                    list.borrow_mut().items.push(first);
                }
                return Ok(Some(Value::None));
            }
            "extend" | "update" => {
                match interpreter.items_of(&first) {
                    Some(more) => {
                        interpreter.spend(more.items.len() as u64)?;
                        let mut list = list.borrow_mut();
                        list.items.extend(more.items);
                        list.open |= more.open;
                    }
                    None => list.borrow_mut().open = true,
                }
                return Ok(Some(Value::None));
            }
            "insert" => {
                let at = match first {
                    Value::Int(at) => usize::try_from(at).unwrap_or(0),
                    _ => 0,
                };
                let value = arguments.positional.get(1).cloned().unwrap_or(Value::None);
                let mut list = list.borrow_mut();
                let at = at.min(list.items.len());
                list.items.insert(at, value);
                return Ok(Some(Value::None));
            }
            "pop" => {
                let mut list = list.borrow_mut();
                let at = match first {
                    Value::Int(at) => {
                        let length = list.items.len() as i64;
                        usize::try_from(if at < 0 { length + at } else { at }).unwrap_or(usize::MAX)
                    }
                    _ => list.items.len().wrapping_sub(1),
                };
                if at < list.items.len() {
                    return Ok(Some(list.items.remove(at)));
                }
                return Ok(None);
            }
            "remove" | "discard" => {
                list.borrow_mut().items.retain(|item| !item.same(&first));
                return Ok(Some(Value::None));
            }
            "clear" => {
                *list.borrow_mut() = List::default();
                return Ok(Some(Value::None));
            }
            "reverse" => {
                list.borrow_mut().items.reverse();
                return Ok(Some(Value::None));
            }
            "sort" => {
                let items = list.borrow().items.clone();
                let items = sorted(interpreter, items, arguments)?;
                list.borrow_mut().items = items;
                return Ok(Some(Value::None));
            }
            _ => {}
        }
    }
    let Some(known) = interpreter.items_of(receiver) else { return Ok(None) };
    Ok(Some(match name {
        "copy" => match receiver {
            Value::Set(_) => Value::Set(Rc::new(RefCell::new(known))),
            _ => Value::List(Rc::new(RefCell::new(known))),
        },
        "index" => match known.items.iter().position(|item| item.same(&first)) {
            Some(at) => Value::Int(at as i64),
            None => return Ok(None),
        },
        "count" => Value::Int(known.items.iter().filter(|item| item.same(&first)).count() as i64),
        "union" | "intersection" | "difference" | "symmetric_difference" => {
            let operator = match name {
                "union" => "|",
                "intersection" => "&",
                "difference" => "-",
                _ => "^",
            };
            let Some(other) = interpreter.items_of(&first) else { return Ok(None) };
            let left = Value::Set(Rc::new(RefCell::new(known)));
            let right = Value::Set(Rc::new(RefCell::new(other)));
            interpreter.binary(operator, &left, &right, Default::default())?
        }
        "issubset" | "issuperset" => {
            let Some(other) = interpreter.items_of(&first) else { return Ok(None) };
            let (small, large) = if name == "issubset" { (&known, &other) } else { (&other, &known) };
            Value::Bool(small.items.iter().all(|item| large.items.iter().any(|other| other.same(item))))
        }
        _ => return Ok(None),
    }))
}

pub fn dict(
    interpreter: &mut Interpreter<'_>,
    dict: &Rc<RefCell<Dict>>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let first = arguments.positional.first().cloned().unwrap_or(Value::None);
    let open = dict.borrow().open;
    let list = |items: Vec<Value>| Value::List(Rc::new(RefCell::new(List { items, open })));
    Ok(Some(match name {
        "keys" => list(dict.borrow().items.iter().map(|(key, _)| key.clone()).collect()),
        "values" => list(dict.borrow().items.iter().map(|(_, value)| value.clone()).collect()),
        "items" => {
            let pairs = dict.borrow().items.clone();
            list(pairs.into_iter().map(|(key, value)| Value::Tuple([key, value].into())).collect())
        }
        "get" | "pop" | "setdefault" => {
            let default = arguments.get(1, "default").cloned().unwrap_or(Value::None);
            let found = dict.borrow().get(&first).cloned();
            match (found, name) {
                (Some(value), "pop") => {
                    dict.borrow_mut().remove(&first);
                    value
                }
                (Some(value), _) => value,
                (None, _) if open || first.is_unknown() => {
                    let shown = interpreter.short(&first);
                    let reason = format!("the item `{shown}` of a dict is only known at run time");
                    interpreter.unknown(&shown, "unknown-item", reason, arguments.place.clone())
                }
                (None, "setdefault") => {
                    dict.borrow_mut().insert(first, default.clone());
                    default
                }
                (None, "pop") if arguments.get(1, "default").is_none() => {
                    let shown = interpreter.short(&first);
                    return interpreter
                        .fails("KeyError", &shown, format!("no key `{shown}`"), arguments.place.clone())
                        .map(Some);
                }
                (None, _) => default,
            }
        }
        "update" => {
            match &first {
                Value::Dict(other) => {
                    let other = other.borrow().clone();
                    interpreter.spend(other.items.len() as u64)?;
                    let mut dict = dict.borrow_mut();
                    dict.open |= other.open;
                    for (key, value) in other.items {
                        dict.insert(key, value);
                    }
                }
                Value::None => {}
                other => match interpreter.items_of(other) {
                    Some(pairs) => {
                        for pair in pairs.items {
                            if let Value::Tuple(parts) = &pair
                                && let [key, value] = parts.as_ref()
                            {
                                dict.borrow_mut().insert(key.clone(), value.clone());
                            }
                        }
                    }
                    None => dict.borrow_mut().open = true,
                },
            }
            for (key, value) in &arguments.keywords {
                dict.borrow_mut().insert(Value::str(key.clone()), value.clone());
            }
            Value::None
        }
        "copy" => Value::Dict(Rc::new(RefCell::new(dict.borrow().clone()))),
        "clear" => {
            *dict.borrow_mut() = Dict::default();
            Value::None
        }
        "fromkeys" => return Ok(None),
        _ => return Ok(None),
    }))
}
