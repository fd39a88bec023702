//! Operators, comparisons, subscripts and string formatting.

use super::{Eval, Interpreter, MAX_ITEMS, MAX_TEXT, Stop};
use crate::frontend::pyspark::batch::collected;
use crate::frontend::pyspark::column;
use crate::frontend::python::scope::Scope;
use crate::frontend::python::syntax::{Expression, Range};
use crate::frontend::python::value::{Arguments, List, Text, Value};
use crate::model::Place;
use std::cell::RefCell;
use std::rc::Rc;

impl Interpreter<'_> {
    pub fn unary(&mut self, operator: &str, operand: &Value, range: Range) -> Eval<Value> {
        Ok(match (operator, operand) {
            (_, Value::Column(expr)) => match operator {
                "-" => column::negative(expr),
                "~" => column::call("not", vec![expr.as_ref().clone()]),
                _ => operand.clone(),
            },
            ("-", Value::Int(number)) => number.checked_neg().map_or(Value::Float(-(*number as f64)), Value::Int),
            ("-", Value::Float(number)) => Value::Float(-number),
            ("-", Value::Duration(micros)) => Value::Duration(micros.saturating_neg()),
            ("-", Value::Bool(flag)) => Value::Int(-i64::from(*flag)),
            ("+", Value::Int(_) | Value::Float(_)) => operand.clone(),
            ("~", Value::Int(number)) => Value::Int(!number),
            (_, Value::Unknown(unknown)) => {
                let unknown = unknown.clone();
                self.derived(&unknown, &format!("{operator}{}", unknown.name))
            }
            _ => self.unknown_operation(operator, &[operand], range),
        })
    }

    pub fn binary(&mut self, operator: &str, left: &Value, right: &Value, range: Range) -> Eval<Value> {
        if let Value::Choice(choice) = left {
            let choice = choice.clone();
            return self.lift(&choice, |this, option| this.binary(operator, option, right, range));
        }
        if let Value::Choice(choice) = right
            && !matches!(left, Value::Str(_))
        {
            let choice = choice.clone();
            return self.lift(&choice, |this, option| this.binary(operator, left, option, range));
        }
        if matches!(left, Value::Column(_)) || matches!(right, Value::Column(_)) {
            return Ok(column::binary(self, operator, left, right, &self.place(range)));
        }
        if let Some(value) = self.plain_binary(operator, left, right)? {
            return Ok(value);
        }
        if let (Value::Instance(_), Some(method)) = (left, dunder(operator)) {
            let place = self.place(range);
            if let Some(function) = self.find_method(left, method) {
                return self.call(&function, Arguments::of(vec![right.clone()], place));
            }
        }
        Ok(self.unknown_operation(operator, &[left, right], range))
    }

    fn plain_binary(&mut self, operator: &str, left: &Value, right: &Value) -> Eval<Option<Value>> {
        Ok(match (operator, left, right) {
            ("+", Value::Str(_), _) | ("+", _, Value::Str(_)) => {
                let (Some(a), Some(b)) = (left.render_string(), right.render_string()) else { return Ok(None) };
                if a.len() + b.len() > MAX_TEXT {
                    return Err(Stop::OutOfFuel);
                }
                self.spend((a.len() + b.len()) as u64 / 64)?;
                let symbolic = !(is_known_text(left) && is_known_text(right));
                Some(Value::Str(Text { text: format!("{a}{b}").into(), symbolic }))
            }
            ("%", Value::Str(format), _) => Some(self.percent_format(format, right)?),
            ("*", Value::Str(text), Value::Int(count)) | ("*", Value::Int(count), Value::Str(text)) => {
                let count = usize::try_from(*count).unwrap_or(0);
                if text.text.len().saturating_mul(count) > MAX_TEXT {
                    return Err(Stop::OutOfFuel);
                }
                Some(Value::Str(Text { text: text.text.repeat(count).into(), symbolic: text.symbolic }))
            }
            ("+", Value::List(a), Value::List(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                let items: Vec<Value> = a.items.iter().chain(&b.items).cloned().collect();
                self.spend(items.len() as u64)?;
                if items.len() > MAX_ITEMS {
                    return Err(Stop::OutOfFuel);
                }
                Some(Value::List(Rc::new(RefCell::new(List { items, open: a.open || b.open }))))
            }
            ("+", Value::List(known), Value::Unknown(_)) | ("+", Value::Unknown(_), Value::List(known)) => {
                let items = known.borrow().items.clone();
                Some(Value::List(Rc::new(RefCell::new(List { items, open: true }))))
            }
            ("+", Value::Tuple(a), Value::Tuple(b)) => {
                if a.len() + b.len() > MAX_ITEMS {
                    return Err(Stop::OutOfFuel);
                }
                Some(Value::Tuple(a.iter().chain(b.iter()).cloned().collect()))
            }
            ("*", Value::List(list), Value::Int(count)) | ("*", Value::Int(count), Value::List(list)) => {
                let list = list.borrow();
                let count = usize::try_from(*count).unwrap_or(0);
                if list.items.len().saturating_mul(count) > MAX_ITEMS {
                    return Err(Stop::OutOfFuel);
                }
                let items = std::iter::repeat_n(list.items.clone(), count).flatten().collect();
                Some(Value::List(Rc::new(RefCell::new(List { items, open: list.open }))))
            }
            ("|", Value::Dict(a), Value::Dict(b)) => {
                let mut merged = a.borrow().clone();
                for (key, value) in &b.borrow().items {
                    merged.insert(key.clone(), value.clone());
                }
                merged.open |= b.borrow().open;
                Some(Value::Dict(Rc::new(RefCell::new(merged))))
            }
            ("|" | "&" | "-" | "^", Value::Set(a), Value::Set(b)) => {
                Some(set_operation(operator, &a.borrow(), &b.borrow()))
            }
            ("|", Value::Type(_) | Value::External(_) | Value::Class(_), _) => Some(left.clone()),
            // Paths are text here: `Path(…) / "name"` joins.
            ("/", Value::Str(_), _) => {
                Some(crate::frontend::python::builtins::join_paths(&[left.clone(), right.clone()]))
            }
            ("+" | "-", Value::Timestamp(at), Value::Duration(by)) => {
                let by = if operator == "+" { *by } else { by.saturating_neg() };
                Some(Value::Timestamp(at.saturating_add(by)))
            }
            ("+" | "-", Value::Duration(a), Value::Duration(b)) => {
                let b = if operator == "+" { *b } else { b.saturating_neg() };
                Some(Value::Duration(a.saturating_add(b)))
            }
            ("-", Value::Timestamp(a), Value::Timestamp(b)) => Some(Value::Duration(a.saturating_sub(*b))),
            ("*", Value::Duration(a), Value::Int(b)) | ("*", Value::Int(b), Value::Duration(a)) => {
                Some(Value::Duration(a.saturating_mul(*b)))
            }
            ("+" | "-", Value::Date(day), Value::Duration(by)) => {
                let days = i32::try_from(by / 86_400_000_000).unwrap_or(0);
                let days = if operator == "+" { days } else { days.saturating_neg() };
                Some(Value::Date(day.saturating_add(days)))
            }
            _ => arithmetic(operator, left, right),
        })
    }

    fn unknown_operation(&mut self, operator: &str, operands: &[&Value], range: Range) -> Value {
        let place = self.place(range);
        let unknown = operands.iter().find_map(|operand| match operand {
            Value::Unknown(unknown) => Some(unknown.clone()),
            _ => None,
        });
        let shown: Vec<String> = operands.iter().map(|operand| self.identity(operand)).collect();
        let name = match shown.as_slice() {
            [operand] => format!("{operator}{operand}"),
            _ => shown.join(&format!(" {operator} ")),
        };
        match unknown {
            Some(unknown) => self.derived(&unknown, &name),
            None => {
                let types: Vec<_> = operands.iter().map(|operand| operand.type_name()).collect();
                let reason = format!("`{operator}` on {} is not followed", types.join(" and "));
                self.unknown(&name, "unknown-operation", reason, place)
            }
        }
    }

    /// A value for the reader of a message.
    pub fn short(&self, value: &Value) -> String {
        match value {
            Value::Str(text) => text.text.to_string(),
            Value::Function(function) => function.name.borrow().to_string(),
            Value::Unknown(_)
            | Value::Choice(_)
            | Value::External(_)
            | Value::None
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_) => self.identity(value),
            other => other.type_name().to_owned(),
        }
    }

    /// A value as it stands in the names of symbols: equal texts are equal values. What has no short form is known by its content.
    pub fn identity(&self, value: &Value) -> String {
        self.identity_within(value, 6)
    }

    fn identity_within(&self, value: &Value, depth: u32) -> String {
        let items = |items: &[Value], depth: u32| {
            items.iter().map(|item| self.identity_within(item, depth)).collect::<Vec<_>>().join(", ")
        };
        let open = |is_open: bool| if is_open { ", …" } else { "" };
        let Some(depth) = depth.checked_sub(1) else {
            return format!("{}#{}", value.type_name(), self.contents.of_value(value));
        };
        match value {
            Value::None => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Str(text) => format!("'{}'", text.text),
            Value::Duration(micros) => format!("timedelta({})", *micros as f64 / 86_400e6),
            Value::Unknown(unknown) => unknown.name.to_string(),
            Value::Choice(choice) => choice.name.to_string(),
            Value::External(path) => path.strip_prefix("builtins.").unwrap_or(path).to_string(),
            Value::List(list) if list.borrow().items.len() <= 20 => {
                let list = list.borrow();
                format!("[{}{}]", items(&list.items, depth), open(list.open))
            }
            Value::Tuple(values) if values.len() <= 20 => format!("({})", items(values, depth)),
            Value::Dict(dict) if dict.borrow().items.len() <= 20 => {
                let dict = dict.borrow();
                let pair = |(key, value): &(Value, Value)| {
                    format!("{}: {}", self.identity_within(key, depth), self.identity_within(value, depth))
                };
                let pairs: Vec<String> = dict.items.iter().map(pair).collect();
                format!("dict({}{})", pairs.join(", "), open(dict.open))
            }
            // Frames and columns that went into a symbol are kept beside its name, and compared as what they are.
            Value::Frame(_) | Value::Grouped(_) | Value::Column(_) => value.type_name().to_owned(),
            Value::Function(function) if !function.definition.is_lambda() => {
                format!("{}#{}", function.name.borrow(), self.contents.of_value(value))
            }
            other => format!("{}#{}", other.type_name(), self.contents.of_value(other)),
        }
    }

    pub fn comparison(
        &mut self,
        left: &Expression,
        rest: &[(&'static str, Expression)],
        range: Range,
        scope: &Rc<Scope>,
    ) -> Eval<Value> {
        let mut left = self.evaluate(left, scope)?;
        let mut result = Value::Bool(true);
        for (operator, right) in rest {
            let right = self.evaluate(right, scope)?;
            result = self.compare(operator, &left, &right, range)?;
            if result.truth() == Some(false) {
                return Ok(result);
            }
            left = right;
        }
        Ok(result)
    }

    pub fn compare(&mut self, operator: &str, left: &Value, right: &Value, range: Range) -> Eval<Value> {
        if !matches!(operator, "in" | "not in" | "is" | "is not")
            && (matches!(left, Value::Column(_)) || matches!(right, Value::Column(_)))
        {
            return Ok(column::binary(self, operator, left, right, &self.place(range)));
        }
        if let Value::Choice(choice) = left {
            let choice = choice.clone();
            return self.lift(&choice, |this, option| this.compare(operator, option, right, range));
        }
        if let ("is" | "is not", Value::None) = (operator, right)
            && collected::is_computed(self, left)
            && let Some(none) = collected::is_none(left)
        {
            return Ok(if operator == "is" {
                none
            } else {
                column::call("not", vec![column::operand(self, &none, &self.place(range))])
            });
        }
        let truth = match operator {
            "==" => left.equals(right),
            "!=" | "<>" => left.equals(right).map(|equal| !equal),
            "is" => identity(left, right),
            "is not" => identity(left, right).map(|same| !same),
            "in" => contains(right, left),
            "not in" => contains(right, left).map(|inside| !inside),
            _ => order(operator, left, right),
        };
        Ok(match truth {
            Some(truth) => Value::Bool(truth),
            None => {
                let name = format!("{} {operator} {}", self.identity(left), self.identity(right));
                match (left, right) {
                    (Value::Unknown(unknown), _) | (_, Value::Unknown(unknown)) => {
                        let unknown = unknown.clone();
                        self.derived(&unknown, &name)
                    }
                    _ => {
                        let place = self.place(range);
                        self.unknown(&name, "unknown-condition", format!("`{name}` is not known"), place)
                    }
                }
            }
        })
    }

    pub fn subscript(&mut self, receiver: &Value, index: &Value, place: &Place) -> Eval<Value> {
        if let Value::Unknown(unknown) = receiver
            && let Some(value) = collected::item(unknown, index, place)
        {
            return Ok(value);
        }
        match (receiver, index) {
            (Value::Choice(choice), _) => {
                let choice = choice.clone();
                self.lift(&choice, |this, option| this.subscript(option, index, place))
            }
            (Value::Dict(dict), _) => {
                let (found, open) = {
                    let dict = dict.borrow();
                    (dict.get(index).cloned(), dict.open)
                };
                let name = self.short(index);
                match found {
                    Some(value) => Ok(value),
                    None if open || index.is_unknown() || !is_known(index) => {
                        self.unknown_item(receiver, index, &name, place)
                    }
                    None => self.fails("KeyError", &name, format!("no key `{name}`"), place.clone()),
                }
            }
            (Value::List(_) | Value::Tuple(_) | Value::Str(_), Value::Slice(bounds)) => {
                Ok(self.slice(receiver, bounds, place))
            }
            (Value::List(list) | Value::Set(list), Value::Int(at)) => {
                let (items, open) = (list.borrow().items.clone(), list.borrow().open);
                self.item_at(&items, open, *at, place)
            }
            (Value::Tuple(items), Value::Int(at)) => self.item_at(items, false, *at, place),
            (Value::Str(text), Value::Int(at)) if !text.symbolic => {
                let chars: Vec<char> = text.text.chars().collect();
                match position(chars.len(), *at).and_then(|at| chars.get(at)) {
                    Some(c) => Ok(Value::str(c.to_string())),
                    None => self.fails("IndexError", "item", "string index out of range".to_owned(), place.clone()),
                }
            }
            (Value::Frame(_), _) => self.frame_item(receiver, index, place),
            (Value::Column(expr), _) => Ok(column::item(self, expr, index, place)),
            (Value::Schema(schema), _) => {
                let field = index.as_str().and_then(|name| schema.borrow().field(name).cloned());
                match field {
                    Some(field) => Ok(Value::Field(Rc::new(field))),
                    None => self.unknown_item(receiver, index, "field", place),
                }
            }
            // `list[str]`, `Dict[str, int]`: a type.
            (Value::External(path), _) if path.starts_with("typing.") || path.starts_with("builtins.") => {
                Ok(receiver.clone())
            }
            (Value::External(path), _) if path.as_ref() == "os.environ" => {
                let name = self.short(index);
                let reason = format!("the environment variable `{name}` is only known at run time");
                Ok(self.unknown(&name, "unknown-configuration", reason, place.clone()))
            }
            (Value::Class(class), Value::Str(_)) if class.is_enum.get() => {
                let name = self.short(index);
                self.attribute(receiver, &name, place)
            }
            (Value::Instance(_), _) => match self.find_method(receiver, "__getitem__") {
                Some(method) => self.call(&method, Arguments::of(vec![index.clone()], place.clone())),
                None => self.unknown_item(receiver, index, "item", place),
            },
            _ => {
                let name = self.short(index);
                self.unknown_item(receiver, index, &name, place)
            }
        }
    }

    /// `x[i]` where one of both is not known. Known rows of a table share their name with the table's symbol.
    fn unknown_item(&mut self, receiver: &Value, index: &Value, name: &str, place: &Place) -> Eval<Value> {
        Ok(match (receiver, index) {
            (Value::Unknown(unknown), _) => {
                let unknown = unknown.clone();
                let name = match index {
                    Value::Str(text) if !text.symbolic => format!("{}.{}", unknown.name, text.text),
                    _ => format!("{}[{}]", unknown.name, self.identity(index)),
                };
                self.derived(&unknown, &name)
            }
            // One of the items, whichever the symbol says.
            (_, Value::Unknown(symbol)) if self.few_items(receiver).is_some() => {
                let condition = symbol.name.clone();
                let items = self.few_items(receiver).unwrap_or_default();
                self.conditions.push(condition.clone());
                let joined = self.join(&condition, items, place);
                self.conditions.pop();
                joined
            }
            (_, Value::Unknown(unknown)) => {
                let unknown = unknown.clone();
                let name = format!("{}[{}]", self.identity(receiver), unknown.name);
                self.derived(&unknown, &name)
            }
            _ => {
                let reason = format!("the item `{name}` of a {} is not known", receiver.type_name());
                let name = format!("{}[{}]", self.identity(receiver), self.identity(index));
                self.unknown(&name, "unknown-item", reason, place.clone())
            }
        })
    }

    /// The values of a collection that is known and small.
    fn few_items(&self, receiver: &Value) -> Option<Vec<Value>> {
        let items = match receiver {
            Value::Dict(dict) if !dict.borrow().open => {
                dict.borrow().items.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>()
            }
            Value::List(list) if !list.borrow().open => list.borrow().items.clone(),
            Value::Tuple(items) => items.to_vec(),
            _ => return None,
        };
        (1..=super::MAX_OPTIONS).contains(&items.len()).then_some(items)
    }

    fn item_at(&mut self, items: &[Value], open: bool, at: i64, place: &Place) -> Eval<Value> {
        let reachable = !open || at >= 0;
        match position(items.len(), at).filter(|_| reachable).and_then(|at| items.get(at)) {
            Some(item) => Ok(item.clone()),
            None if open => {
                let reason = "an item of a list whose length is not known";
                let shown: Vec<String> = items.iter().map(|item| self.identity(item)).collect();
                Ok(self.unknown(&format!("[{}, …][{at}]", shown.join(", ")), "unknown-item", reason, place.clone()))
            }
            None => self.fails("IndexError", "item", "list index out of range".to_owned(), place.clone()),
        }
    }

    fn slice(&mut self, receiver: &Value, bounds: &[Value; 3], place: &Place) -> Value {
        let bound = |value: &Value| match value {
            Value::None => Some(None),
            Value::Int(number) => Some(Some(*number)),
            _ => None,
        };
        let known = (bound(&bounds[0]), bound(&bounds[1]), bound(&bounds[2]));
        if let (Some(from), Some(to), Some(step)) = known {
            let step = step.unwrap_or(1);
            match receiver {
                Value::List(list) if !list.borrow().open => {
                    return Value::list(sliced(&list.borrow().items, from, to, step));
                }
                Value::Tuple(items) => return Value::Tuple(sliced(items, from, to, step).into()),
                Value::Str(text) if !text.symbolic => {
                    let chars: Vec<char> = text.text.chars().collect();
                    return Value::str(sliced(&chars, from, to, step).into_iter().collect::<String>());
                }
                _ => {}
            }
        }
        let name =
            format!("{}[{}]", self.identity(receiver), bounds.each_ref().map(|bound| self.identity(bound)).join(":"));
        self.unknown(&name, "unknown-item", "a slice with unknown bounds or of an unknown value", place.clone())
    }
}

fn dunder(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "+" => "__add__",
        "-" => "__sub__",
        "*" => "__mul__",
        "/" => "__truediv__",
        "|" => "__or__",
        "&" => "__and__",
        _ => return None,
    })
}

pub fn is_known_text(value: &Value) -> bool {
    value.as_str().is_some()
}

/// No part of it is unknown.
fn is_known(value: &Value) -> bool {
    match value {
        Value::Str(text) => !text.symbolic,
        Value::Unknown(_) | Value::Choice(_) => false,
        Value::Tuple(items) => items.iter().all(is_known),
        _ => true,
    }
}

fn set_operation(operator: &str, a: &List, b: &List) -> Value {
    let within = |list: &List, item: &Value| list.items.iter().any(|other| other.same(item));
    let mut items: Vec<Value> = match operator {
        "|" => a.items.clone(),
        "&" => a.items.iter().filter(|item| within(b, item)).cloned().collect(),
        _ => a.items.iter().filter(|item| !within(b, item)).cloned().collect(),
    };
    if matches!(operator, "|" | "^") {
        items.extend(b.items.iter().filter(|item| !within(a, item)).cloned());
    }
    Value::Set(Rc::new(RefCell::new(List { items, open: a.open || b.open })))
}

fn arithmetic(operator: &str, left: &Value, right: &Value) -> Option<Value> {
    let as_int = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::Bool(flag) => Some(i64::from(*flag)),
        _ => None,
    };
    if let (Some(a), Some(b)) = (as_int(left), as_int(right)) {
        let exact = match operator {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" => a.checked_div_euclid(b),
            "%" => a.checked_rem_euclid(b),
            "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            "&" => Some(a & b),
            "|" => Some(a | b),
            "^" => Some(a ^ b),
            "<<" => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
            ">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
            "/" if b != 0 => return Some(Value::Float(a as f64 / b as f64)),
            _ => None,
        };
        return exact.map(Value::Int);
    }
    let (a, b) = (left.as_number()?, right.as_number()?);
    Some(Value::Float(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" if b != 0.0 => a / b,
        "//" if b != 0.0 => (a / b).floor(),
        "%" if b != 0.0 => a.rem_euclid(b),
        "**" => a.powf(b),
        _ => return None,
    }))
}

fn identity(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Unknown(_) | Value::Choice(_), _) | (_, Value::Unknown(_) | Value::Choice(_)) => None,
        (Value::None, Value::None) => Some(true),
        (Value::None, Value::External(_)) | (Value::External(_), Value::None) => Some(false),
        (Value::None, _) | (_, Value::None) => Some(false),
        _ => left.equals(right),
    }
}

fn contains(container: &Value, item: &Value) -> Option<bool> {
    let within = |items: &[Value], open: bool| {
        let mut certain = true;
        for other in items {
            match other.equals(item) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => certain = false,
            }
        }
        (certain && !open).then_some(false)
    };
    match container {
        Value::List(list) | Value::Set(list) => within(&list.borrow().items, list.borrow().open),
        Value::Tuple(items) => within(items, false),
        Value::Dict(dict) => {
            let dict = dict.borrow();
            let keys: Vec<Value> = dict.items.iter().map(|(key, _)| key.clone()).collect();
            within(&keys, dict.open)
        }
        Value::Str(text) => {
            let needle = item.as_str()?;
            if text.text.contains(needle) { Some(true) } else { (!text.symbolic).then_some(false) }
        }
        _ => None,
    }
}

fn order(operator: &str, left: &Value, right: &Value) -> Option<bool> {
    let ordering = match (left, right) {
        (Value::Str(_), Value::Str(_)) => left.as_str()?.cmp(right.as_str()?),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) | (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        (Value::Tuple(a), Value::Tuple(b)) => {
            let differs = a.iter().zip(b.iter()).find(|(x, y)| x.equals(y) != Some(true));
            match differs {
                Some((x, y)) => return order(operator, x, y),
                None => a.len().cmp(&b.len()),
            }
        }
        _ => left.as_number()?.partial_cmp(&right.as_number()?)?,
    };
    Some(match operator {
        "<" => ordering.is_lt(),
        "<=" => ordering.is_le(),
        ">" => ordering.is_gt(),
        ">=" => ordering.is_ge(),
        _ => return None,
    })
}

/// Python's index into a sequence of this length.
fn position(length: usize, at: i64) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if at < 0 { length.checked_add(at)? } else { at };
    usize::try_from(at).ok().filter(|at| (*at as i64) < length)
}

fn sliced<T: Clone>(items: &[T], from: Option<i64>, to: Option<i64>, step: i64) -> Vec<T> {
    let length = items.len() as i64;
    let clamp = |at: i64, low: i64, high: i64| (if at < 0 { at.saturating_add(length) } else { at }).clamp(low, high);
    let mut out = Vec::new();
    if step > 0 {
        let mut at = from.map_or(0, |from| clamp(from, 0, length));
        let end = to.map_or(length, |to| clamp(to, 0, length));
        while at < end {
            out.extend(items.get(at as usize).cloned());
            at = at.saturating_add(step);
        }
    } else if step < 0 {
        let mut at = from.map_or(length - 1, |from| clamp(from, -1, length - 1));
        let end = to.map_or(-1, |to| clamp(to, -1, length - 1));
        while at > end {
            out.extend(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned());
            at = at.saturating_add(step);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_follow_python() {
        let items = [1, 2, 3, 4, 5];
        assert_eq!(sliced(&items, Some(-2), None, 1), [4, 5]);
        assert_eq!(sliced(&items, None, Some(-1), 2), [1, 3]);
        assert_eq!(sliced(&items, None, None, -2), [5, 3, 1]);
    }
}
