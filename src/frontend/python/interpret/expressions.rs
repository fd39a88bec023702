//! Expressions.

use super::{Eval, Interpreter};
use crate::frontend::pyspark::batch::collected;
use crate::frontend::python::scope::Scope;
use crate::frontend::python::syntax::{
    DictItem, Expression, ExpressionKind, FormatPiece, FunctionDef, ParameterKind, Range,
};
use crate::frontend::python::value::{Dict, Function, List, MethodKind, Text, Value};
use crate::model::Expr;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

impl Interpreter<'_> {
    pub fn evaluate(&mut self, expression: &Expression, scope: &Rc<Scope>) -> Eval<Value> {
        let value = self.deeper(|this| this.evaluate_kind(expression, scope))?;
        self.open_values += u64::from(value.is_open());
        Ok(value)
    }

    fn evaluate_kind(&mut self, expression: &Expression, scope: &Rc<Scope>) -> Eval<Value> {
        let range = expression.range;
        Ok(match &expression.kind {
            ExpressionKind::Name(name) => self.name(name, range, scope),
            ExpressionKind::None => Value::None,
            ExpressionKind::Bool(flag) => Value::Bool(*flag),
            ExpressionKind::Ellipsis => Value::external("builtins.Ellipsis"),
            ExpressionKind::Int(number) => Value::Int(*number),
            ExpressionKind::Float(number) => Value::Float(*number),
            ExpressionKind::Str(text) => Value::str(text.clone()),
            ExpressionKind::Format(pieces) => self.format_string(pieces, scope)?,
            ExpressionKind::List(items) => {
                let list = self.elements(items, scope)?;
                Value::List(Rc::new(RefCell::new(list)))
            }
            ExpressionKind::Set(items) => {
                let list = self.elements(items, scope)?;
                Value::Set(Rc::new(RefCell::new(distinct(list))))
            }
            ExpressionKind::Tuple(items) => {
                let list = self.elements(items, scope)?;
                if list.open { Value::List(Rc::new(RefCell::new(list))) } else { Value::Tuple(list.items.into()) }
            }
            ExpressionKind::Dict(items) => self.dictionary(items, scope)?,
            ExpressionKind::Attribute { value, name, name_range } => {
                let receiver = self.evaluate(value, scope)?;
                let place = self.place(name_range.to(range));
                self.attribute(&receiver, name, &place)?
            }
            ExpressionKind::Subscript { value, index } => {
                let receiver = self.evaluate(value, scope)?;
                let index = self.evaluate(index, scope)?;
                let place = self.place(range);
                self.subscript(&receiver, &index, &place)?
            }
            ExpressionKind::Slice { lower, upper, step } => {
                let mut bound = |part: &Option<Box<Expression>>| match part {
                    Some(part) => self.evaluate(part, scope),
                    None => Ok(Value::None),
                };
                Value::Slice(Rc::new([bound(lower)?, bound(upper)?, bound(step)?]))
            }
            ExpressionKind::Call { function, arguments } => self.call_expression(function, arguments, range, scope)?,
            ExpressionKind::Unary { operator, operand } => {
                let operand = self.evaluate(operand, scope)?;
                self.unary(operator, &operand, range)?
            }
            ExpressionKind::Binary { operator, left, right } => {
                let left = self.evaluate(left, scope)?;
                let right = self.evaluate(right, scope)?;
                self.binary(operator, &left, &right, range)?
            }
            ExpressionKind::Logical { and, left, right } => self.logical(*and, left, right, scope)?,
            ExpressionKind::Not(operand) => {
                let operand = self.evaluate(operand, scope)?;
                match operand.truth() {
                    Some(truth) => Value::Bool(!truth),
                    None if collected::is_computed(self, &operand) => match collected::truth(&operand) {
                        Some(truth) => Value::column(Expr::call("not", vec![truth])),
                        None => self.unknown_condition(&operand, range),
                    },
                    None => self.unknown_condition(&operand, range),
                }
            }
            ExpressionKind::Compare { left, rest } => self.comparison(left, rest, range, scope)?,
            ExpressionKind::Conditional { test, then, otherwise } => {
                let value = self.evaluate(test, scope)?;
                match value.truth() {
                    None if collected::is_computed(self, &value) => {
                        let then = self.evaluate(then, scope)?;
                        let otherwise = self.evaluate(otherwise, scope)?;
                        let place = self.place(range);
                        match collected::either(self, &value, &then, &otherwise, &place) {
                            Some(value) => value,
                            None => self.join("value", vec![then, otherwise], &place),
                        }
                    }
                    Some(true) => self.evaluate(then, scope)?,
                    Some(false) => self.evaluate(otherwise, scope)?,
                    None => {
                        let condition = super::statements::condition(test, &value);
                        self.either(condition, then, otherwise, range, scope)?
                    }
                }
            }
            ExpressionKind::Lambda(definition) => self.function_value(definition, scope)?,
            ExpressionKind::Comprehension(comprehension) => self.comprehension(comprehension, scope)?,
            ExpressionKind::Named { name, value } => {
                let value = self.evaluate(value, scope)?;
                scope.assign(name.clone(), value.clone());
                value
            }
            ExpressionKind::Yield(value) => {
                let value = match value {
                    Some(value) => self.evaluate(value, scope)?,
                    None => Value::None,
                };
                self.yield_value(value);
                Value::None
            }
            ExpressionKind::Star(inner) => self.evaluate(inner, scope)?,
            ExpressionKind::Unsupported(kind) => {
                let place = self.place(range);
                self.unknown(kind, "unknown-syntax", format!("Python's `{kind}` is not followed"), place)
            }
        })
    }

    fn name(&mut self, name: &Arc<str>, range: Range, scope: &Rc<Scope>) -> Value {
        if let Some(value) = scope.lookup(name) {
            return value;
        }
        match name.as_ref() {
            // Names that the platform puts into a pipeline's namespace.
            "spark" | "dbutils" | "sc" | "sqlContext" | "dlt" => Value::External(name.clone()),
            "display" | "displayHTML" => Value::external("builtins.print"),
            _ if crate::frontend::python::builtins::is_builtin(name) => {
                Value::External(format!("builtins.{name}").into())
            }
            _ => {
                let place = self.place(range);
                let reason = format!("`{name}` is defined nowhere in the repository");
                self.unknown(name, "unknown-name", reason, place)
            }
        }
    }

    fn either(
        &mut self,
        condition: Arc<str>,
        then: &Expression,
        otherwise: &Expression,
        range: Range,
        scope: &Rc<Scope>,
    ) -> Eval<Value> {
        self.conditions.push(condition);
        let then = self.evaluate(then, scope);
        let otherwise = self.evaluate(otherwise, scope);
        let place = self.place(range);
        let joined = match (then, otherwise) {
            (Ok(a), Ok(b)) => Ok(self.join("conditional", vec![a, b], &place)),
            (Ok(one), Err(super::Stop::Raise { .. })) | (Err(super::Stop::Raise { .. }), Ok(one)) => Ok(one),
            (Err(stop), _) | (_, Err(stop)) => Err(stop),
        };
        self.conditions.pop();
        joined
    }

    fn elements(&mut self, items: &[Expression], scope: &Rc<Scope>) -> Eval<List> {
        let mut list = List::default();
        for item in items {
            if let ExpressionKind::Star(inner) = &item.kind {
                let value = self.evaluate(inner, scope)?;
                match self.items_of(&value) {
                    Some(more) => {
                        list.open |= more.open;
                        list.items.extend(more.items);
                    }
                    None => list.open = true,
                }
            } else {
                let value = self.evaluate(item, scope)?;
                list.items.push(value);
            }
        }
        Ok(list)
    }

    fn dictionary(&mut self, items: &[DictItem], scope: &Rc<Scope>) -> Eval<Value> {
        let mut dict = Dict::default();
        for item in items {
            match item {
                DictItem::Pair(key, value) => {
                    let key = self.evaluate(key, scope)?;
                    let value = self.evaluate(value, scope)?;
                    dict.insert(key, value);
                }
                DictItem::Splat(other) => match self.evaluate(other, scope)? {
                    Value::Dict(other) => {
                        let other = other.borrow();
                        dict.open |= other.open;
                        for (key, value) in &other.items {
                            dict.insert(key.clone(), value.clone());
                        }
                    }
                    _ => dict.open = true,
                },
            }
        }
        Ok(Value::Dict(Rc::new(RefCell::new(dict))))
    }

    fn format_string(&mut self, pieces: &[FormatPiece], scope: &Rc<Scope>) -> Eval<Value> {
        let mut text = String::new();
        let mut symbolic = false;
        for piece in pieces {
            match piece {
                FormatPiece::Text(literal) => text.push_str(literal),
                FormatPiece::Value { value: expression, format, debug } => {
                    let value = self.evaluate(expression, scope)?;
                    if let Some(debug) = debug {
                        text.push_str(debug);
                    }
                    let shown = self.format_value(&value, format)?;
                    symbolic |= shown.symbolic;
                    text.push_str(&shown.text);
                }
            }
            if text.len() > super::MAX_TEXT {
                return Err(super::Stop::OutOfFuel);
            }
        }
        self.spend(text.len() as u64 / 64)?;
        Ok(Value::Str(Text { text: text.into(), symbolic }))
    }

    fn logical(&mut self, and: bool, left: &Expression, right: &Expression, scope: &Rc<Scope>) -> Eval<Value> {
        let first = self.evaluate(left, scope)?;
        match first.truth() {
            Some(truth) if truth != and => Ok(first),
            Some(_) => self.evaluate(right, scope),
            None if collected::is_computed(self, &first) => {
                let second = self.evaluate(right, scope)?;
                let place = self.place(left.range.to(right.range));
                let (then, otherwise) = if and { (&second, &first) } else { (&first, &second) };
                match collected::either(self, &first, then, otherwise, &place) {
                    Some(value) => Ok(value),
                    None => Ok(self.join("value", vec![first, second], &place)),
                }
            }
            None => {
                // `x or default`, `a and b` with an unknown left: one of both, unless the right settles the truth.
                self.conditions.push(super::statements::condition(left, &first));
                let second = self.evaluate(right, scope);
                self.conditions.pop();
                let second = second?;
                if second.truth() == Some(!and) && matches!(second, Value::Bool(_)) {
                    return Ok(second);
                }
                if matches!(first, Value::Unknown(_)) && matches!(second, Value::Bool(_)) {
                    return Ok(first);
                }
                let place = self.place(left.range.to(right.range));
                let name = super::statements::condition(left, &first);
                self.conditions.push(name.clone());
                let joined = self.join(&name, vec![first, second], &place);
                self.conditions.pop();
                Ok(joined)
            }
        }
    }

    pub fn unknown_condition(&mut self, from: &Value, range: Range) -> Value {
        match from {
            Value::Unknown(unknown) => {
                let unknown = unknown.clone();
                self.derived(&unknown, &format!("not {}", unknown.name))
            }
            _ => {
                let place = self.place(range);
                let name = format!("not {}", self.identity(from));
                self.unknown(&name, "unknown-condition", "a condition that is not known", place)
            }
        }
    }

    /// A function value, with its defaults evaluated now.
    pub fn function_value(&mut self, definition: &Arc<FunctionDef>, scope: &Rc<Scope>) -> Eval<Value> {
        let mut defaults = Vec::with_capacity(definition.parameters.len());
        for parameter in &definition.parameters {
            defaults.push(match (&parameter.default, parameter.kind) {
                (Some(default), ParameterKind::Plain | ParameterKind::KeywordOnly) => {
                    Some(self.evaluate(default, scope)?)
                }
                _ => None,
            });
        }
        let function = Rc::new(Function {
            definition: definition.clone(),
            name: RefCell::new(definition.name.clone()),
            closure: scope.clone(),
            defaults,
            source: self.source.clone(),
            owner: RefCell::new(None),
            kind: Cell::new(MethodKind::Plain),
            is_wrapped: Cell::new(false),
        });
        if !definition.is_lambda() {
            self.defined.push(function.clone());
        }
        Ok(Value::Function(function))
    }
}

/// A set's elements: the first of each.
pub fn distinct(list: List) -> List {
    let mut items: Vec<Value> = Vec::new();
    for item in list.items {
        if !items.iter().any(|seen| seen.same(&item)) {
            items.push(item);
        }
    }
    List { items, open: list.open }
}
