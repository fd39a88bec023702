//! Calls: arguments, binding of parameters, and running a function's body.

use super::{Activation, Eval, Interpreter, MAX_CALLS, Stop};
use crate::frontend::pyspark;
use crate::frontend::pyspark::dlt;
use crate::frontend::python::builtins;
use crate::frontend::python::scope::{Scope, ScopeKind};
use crate::frontend::python::syntax::{Argument, Expression, ExpressionKind, ParameterKind, Range};
use crate::frontend::python::value::{Arguments, Dict, Function, List, Partial, Value};
use crate::model::Place;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

impl Interpreter<'_> {
    pub(super) fn call_expression(
        &mut self,
        function: &Expression,
        arguments: &[Argument],
        range: Range,
        scope: &Rc<Scope>,
    ) -> Eval<Value> {
        // `super()` needs the running method's class and instance.
        if let ExpressionKind::Name(name) = &function.kind
            && name.as_ref() == "super"
            && let Some(value) = self.super_value(scope)
        {
            return Ok(value);
        }
        let callee = self.evaluate(function, scope)?;
        let place = match &function.kind {
            ExpressionKind::Attribute { name_range, .. } => self.place(name_range.to(range)),
            _ => self.place(range),
        };
        let mut arguments = self.arguments(arguments, scope)?;
        arguments.place = place;
        if let (Value::External(path), ExpressionKind::Name(_)) = (&callee, &function.kind)
            && let Some(value) = builtins::scope_call(path, scope)
        {
            return Ok(value);
        }
        if let Value::External(path) = &callee
            && matches!(path.as_ref(), "builtins.exec" | "builtins.eval")
        {
            return Ok(self.run_text(&arguments, scope));
        }
        self.call(&callee, arguments)
    }

    /// `exec("…")`: code in a text of the repository is followed where it stands; other code is said to be unread.
    fn run_text(&mut self, arguments: &Arguments, scope: &Rc<Scope>) -> Value {
        let text = arguments.positional.first().and_then(Value::as_str).map(str::to_owned);
        if let Some(text) = text
            && self.activations.len() < MAX_CALLS
        {
            let module = self.files.cache.module(&text);
            for statement in &module.body {
                // What stops inside stops the code inside alone: its places are those of the text, not of a file.
                if self.statement(statement, scope).is_err() {
                    break;
                }
            }
            return Value::None;
        }
        let reason = "this code is made at run time: what it defines is not read";
        let unread = self.unknown_call("exec", "unread-code", reason, arguments);
        self.report_value(&unread, None);
        unread
    }

    pub fn arguments(&mut self, arguments: &[Argument], scope: &Rc<Scope>) -> Eval<Arguments> {
        let mut out = Arguments::default();
        for argument in arguments {
            match argument {
                Argument::Positional(expression) => {
                    let value = self.evaluate(expression, scope)?;
                    out.positional.push(value);
                }
                Argument::Keyword(name, expression) => {
                    let value = self.evaluate(expression, scope)?;
                    out.keywords.push((name.clone(), value));
                }
                Argument::Splat(expression) => {
                    let value = self.evaluate(expression, scope)?;
                    match self.items_of(&value) {
                        Some(list) => {
                            out.open |= list.open;
                            out.positional.extend(list.items);
                        }
                        None => {
                            out.open = true;
                            // One element stands for all, so that the unknown is seen where it is used.
                            out.positional.push(value);
                        }
                    }
                }
                Argument::KeywordSplat(expression) => match self.evaluate(expression, scope)? {
                    Value::Dict(dict) => {
                        let dict = dict.borrow();
                        out.open |= dict.open;
                        for (key, value) in &dict.items {
                            if let Some(key) = key.render_string() {
                                out.keywords.push((key, value.clone()));
                            }
                        }
                    }
                    _ => out.open = true,
                },
            }
        }
        Ok(out)
    }

    pub fn call(&mut self, callee: &Value, arguments: Arguments) -> Eval<Value> {
        // What a library that is not modelled holds is a value of the run, where it is more than called.
        let given = arguments.positional.iter().chain(arguments.keywords.iter().map(|(_, value)| value));
        let is_open = |value: &&Value| matches!(value, Value::External(path) if !is_modelled(path));
        let external = given.filter(is_open).count();
        self.open_values += external as u64 + u64::from(arguments.open);
        self.deeper(|this| this.call_value(callee, arguments))
    }

    fn call_value(&mut self, callee: &Value, mut arguments: Arguments) -> Eval<Value> {
        match callee {
            Value::Function(function) => self.call_function(function, arguments),
            Value::Method { receiver, function } => {
                arguments.positional.insert(0, receiver.as_ref().clone());
                self.call_function(function, arguments)
            }
            Value::Decorated(decorated) => {
                let function = decorated.function.clone();
                self.call(&function, arguments)
            }
            Value::Partial(partial) => {
                let mut merged = partial.arguments.clone();
                merged.positional.extend(arguments.positional);
                merged.keywords.retain(|(key, _)| !arguments.keywords.iter().any(|(other, _)| other == key));
                merged.keywords.extend(arguments.keywords);
                merged.open |= arguments.open;
                merged.place = arguments.place;
                self.call(&partial.function, merged)
            }
            Value::Class(class) => self.instantiate(class, arguments),
            Value::External(path) => self.call_external(path, arguments),
            Value::BoundNative { receiver, name } => self.call_method(receiver, name, arguments),
            Value::Udf(udf) => Ok(pyspark::functions::call_udf(self, udf, &arguments)),
            Value::Choice(choice) => {
                let choice = choice.clone();
                self.lift(&choice, |this, option| this.call(option, arguments.clone()))
            }
            Value::Unknown(unknown) => {
                let unknown = unknown.clone();
                Ok(self.unknown_result(&unknown, &arguments))
            }
            Value::Instance(_) => match self.find_method(callee, "__call__") {
                Some(method) => self.call(&method, arguments),
                None => Ok(self.unknown_call("object", "unknown-call", "this object cannot be called", &arguments)),
            },
            Value::Frame(_) | Value::Column(_) => {
                Ok(self.unknown_call(callee.type_name(), "unknown-call", "this object cannot be called", &arguments))
            }
            other => {
                let reason = format!("a {} cannot be called", other.type_name());
                Ok(self.unknown_call(other.type_name(), "unknown-call", &reason, &arguments))
            }
        }
    }

    /// The result of calling an unknown function: unknown, with the DataFrames it was given.
    fn unknown_result(&mut self, function: &crate::frontend::python::value::Unknown, arguments: &Arguments) -> Value {
        let mut shown: Vec<String> = arguments.positional.iter().map(|value| self.identity(value)).collect();
        shown.extend(arguments.keywords.iter().map(|(key, value)| format!("{key}={}", self.identity(value))));
        shown.extend(arguments.open.then(|| "…".to_owned()));
        let name = format!("{}({})", function.name, shown.join(", "));
        let inputs = pyspark::input_plans(arguments);
        let content = self.contents.of_arguments(arguments);
        let mut unknown = function.clone();
        unknown.name = super::clip(&name).into();
        unknown.inputs.extend(inputs);
        unknown.columns.extend(pyspark::input_columns(arguments));
        unknown.content = content;
        unknown.place = arguments.place.clone();
        Value::Unknown(self.note(unknown))
    }

    /// An unknown result of a known call.
    pub fn unknown_call(&mut self, name: &str, code: &'static str, reason: &str, arguments: &Arguments) -> Value {
        let function = crate::frontend::python::value::Unknown {
            name: name.into(),
            code,
            reason: reason.into(),
            hint: None,
            place: arguments.place.clone(),
            inputs: Vec::new(),
            columns: Vec::new(),
            content: 0,
            rows: None,
        };
        self.unknown_result(&function, arguments)
    }

    fn call_external(&mut self, path: &Arc<str>, arguments: Arguments) -> Eval<Value> {
        if let Some(value) = dlt::call(self, path, &arguments)? {
            return Ok(value);
        }
        if let Some(value) = pyspark::call(self, path, &arguments)? {
            return Ok(value);
        }
        if let Some(value) = builtins::call(self, path, &arguments)? {
            return Ok(value);
        }
        let name = path.strip_prefix("builtins.").unwrap_or(path);
        let reason = format!("`{name}` is not part of the repository and not a function that is known");
        self.doubts += 1;
        Ok(self.unknown_call(name, "unknown-call", &reason, &arguments))
    }

    pub fn call_method(&mut self, receiver: &Value, name: &str, arguments: Arguments) -> Eval<Value> {
        if let Some(value) = pyspark::call_method(self, receiver, name, &arguments)? {
            return Ok(value);
        }
        if let Some(value) = builtins::call_method(self, receiver, name, &arguments)? {
            return Ok(value);
        }
        let shown = format!("{}.{name}", self.identity(receiver));
        let reason = format!("`{name}` of a {} is not followed", receiver.type_name());
        let mut arguments = arguments;
        if matches!(receiver, Value::Frame(_) | Value::Grouped(_) | Value::Column(_)) {
            arguments.positional.insert(0, receiver.clone());
        }
        Ok(self.unknown_call(&shown, "unknown-call", &reason, &arguments))
    }

    /// Runs a repository function on these arguments.
    pub fn call_function(&mut self, function: &Rc<Function>, arguments: Arguments) -> Eval<Value> {
        if self.activations.len() >= MAX_CALLS {
            let name = function.name.borrow().clone();
            return Ok(self.unknown_call(&name, "too-deep", "calls are nested too deeply to follow", &arguments));
        }
        if !self.trace.iter().any(|seen| Arc::ptr_eq(&seen.definition, &function.definition)) {
            self.trace.push(function.clone());
        }
        self.executed.insert(Arc::as_ptr(&function.definition) as usize);
        self.open_values += u64::from(function.is_wrapped.get());
        let scope = Scope::new(ScopeKind::Function, Some(function.closure.clone()));
        self.bind_parameters(function, arguments, &scope);
        let outer = std::mem::replace(&mut self.source, function.source.clone());
        self.activations.push(Activation {
            function: Some(function.clone()),
            returns: Vec::new(),
            yields: function.definition.is_generator.then(Vec::new),
        });
        self.job.begin();
        let result = self.run_body(function, &scope);
        let steps = self.job.end();
        self.job.call(steps);
        let activation = self.activations.pop();
        self.source = outer;
        let result = result?;
        let Some(mut activation) = activation else { return Ok(result) };
        if let Some(items) = activation.yields {
            return Ok(Value::list(items));
        }
        if activation.returns.is_empty() {
            return Ok(result);
        }
        activation.returns.push(result);
        let name = function.name.borrow().clone();
        let place = Place::at(crate::model::Span::start_of(function.source.path.clone()));
        Ok(self.join(&name, activation.returns, &place))
    }

    fn run_body(&mut self, function: &Rc<Function>, scope: &Rc<Scope>) -> Eval<Value> {
        use super::statements::Completion;
        match self.block(&function.definition.body, scope) {
            Ok(Completion::Return(value)) => Ok(value),
            Ok(_) => Ok(Value::None),
            // Some path returned before the exception.
            Err(Stop::Raise { .. }) if self.activations.last().is_some_and(|a| !a.returns.is_empty()) => {
                let returned = self.activations.last_mut().and_then(|activation| activation.returns.pop());
                Ok(returned.unwrap_or(Value::None))
            }
            Err(stop) => Err(stop),
        }
    }

    pub(super) fn keep_return(&mut self, value: Value) {
        if let Some(activation) = self.activations.last_mut() {
            activation.returns.push(value);
        }
    }

    pub(super) fn yield_value(&mut self, value: Value) {
        if let Some(items) = self.activations.last_mut().and_then(|activation| activation.yields.as_mut()) {
            if items.is_empty() {
                self.yielded_at = Some(self.job.mark());
            }
            items.push(value);
        }
    }

    fn bind_parameters(&mut self, function: &Rc<Function>, arguments: Arguments, scope: &Rc<Scope>) {
        let definition = &function.definition;
        let mut positional = arguments.positional.into_iter();
        let mut keywords = arguments.keywords;
        for (index, parameter) in definition.parameters.iter().enumerate() {
            let value = match parameter.kind {
                ParameterKind::Rest => {
                    let items = positional.by_ref().collect();
                    Value::List(Rc::new(RefCell::new(List { items, open: arguments.open })))
                }
                ParameterKind::KeywordRest => {
                    let rest = std::mem::take(&mut keywords);
                    let items = rest.into_iter().map(|(key, value)| (Value::str(key), value)).collect();
                    Value::Dict(Rc::new(RefCell::new(Dict { items, open: arguments.open })))
                }
                kind => {
                    let from_position = if kind == ParameterKind::Plain { positional.next() } else { None };
                    let keyword = keywords.iter().position(|(key, _)| *key == parameter.name);
                    let from_keyword = keyword.map(|at| keywords.remove(at).1);
                    let default = function.defaults.get(index).cloned().flatten();
                    match from_position.or(from_keyword) {
                        Some(value) => value,
                        None => match default {
                            Some(value) if !arguments.open => value,
                            _ => self.missing_argument(function, &parameter.name),
                        },
                    }
                }
            };
            scope.define(parameter.name.clone(), value);
        }
    }

    fn missing_argument(&mut self, function: &Rc<Function>, name: &Arc<str>) -> Value {
        if matches!(name.as_ref(), "spark" | "dbutils") {
            return Value::External(name.clone());
        }
        let reason = format!("no value is known for the parameter `{name}` of `{}`", function.name.borrow());
        let place = self.place(function.definition.header);
        self.unknown(name, "unknown-argument", reason, place)
    }

    /// A native callable with arguments given now: `dlt.table(name=…)` waiting for its function.
    pub fn partial(path: &str, arguments: Arguments) -> Value {
        Value::Partial(Rc::new(Partial { function: Value::external(path), arguments }))
    }
}

/// An object of Spark, of the pipeline library or of Python's own functions.
fn is_modelled(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    matches!(root, "pyspark" | "builtins" | "spark" | "dbutils" | "sc") || dlt::is_library(path)
}
