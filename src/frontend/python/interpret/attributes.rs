//! Attributes: reading and assigning `x.name`.

use super::{Eval, Interpreter};
use crate::frontend::pyspark::batch::collected;
use crate::frontend::pyspark::dlt;
use crate::frontend::pyspark::{self, column, dataframe, session};
use crate::frontend::python::builtins;
use crate::frontend::python::value::{Arguments, MethodKind, Value};
use crate::model::Place;
use std::rc::Rc;
use std::sync::Arc;

impl Interpreter<'_> {
    pub fn attribute(&mut self, receiver: &Value, name: &str, place: &Place) -> Eval<Value> {
        let method = || Value::BoundNative { receiver: Box::new(receiver.clone()), name: name.into() };
        match receiver {
            Value::Choice(choice) => {
                let choice = choice.clone();
                self.lift(&choice, |this, option| this.attribute(option, name, place))
            }
            Value::Unknown(unknown) => {
                let unknown = unknown.clone();
                if let Some(value) = collected::attribute(&unknown, name, place) {
                    return Ok(value);
                }
                if dataframe::suggests_frame(name, !unknown.inputs.is_empty()) {
                    let plan = pyspark::plan_of(self, receiver, place);
                    return match pyspark::frame(self, plan) {
                        Value::Frame(frame) => dataframe::attribute(self, &frame, name, place),
                        other => Ok(other),
                    };
                }
                // What an unknown function gave is used as a column; so is a symbol that is selected under a name.
                let given = unknown.code == "unknown-call" && unknown.inputs.is_empty() && column::is_method(name);
                if given || column::suggests_column(name, !unknown.columns.is_empty()) || name == "alias" {
                    let column = Value::column(column::opaque(&unknown));
                    return Ok(Value::BoundNative { receiver: Box::new(column), name: name.into() });
                }
                Ok(self.derived(&unknown, &format!("{}.{name}", unknown.name)))
            }
            Value::External(path) => Ok(self.external_attribute(path, name, place)),
            Value::Module(module) => {
                if let Some(value) = module.scope.own(name) {
                    return Ok(value);
                }
                match self.submodule(module, name) {
                    Some(submodule) => Ok(submodule),
                    None => {
                        let reason = format!("the module `{}` defines no `{name}`", module.name);
                        Ok(self.unknown(name, "unknown-name", reason, place.clone()))
                    }
                }
            }
            Value::Instance(instance) => {
                if let Some(value) = instance.attributes.borrow().get(name) {
                    return Ok(value.clone());
                }
                self.instance_attribute(receiver, name, place)
            }
            Value::Super { instance, class } => self.super_attribute(instance, class, name, place),
            Value::Class(class) => {
                let class = class.clone();
                self.class_attribute(&class, receiver, name, place)
            }
            Value::Function(function) => Ok(match name {
                "__name__" | "__qualname__" => Value::str(function.name.borrow().clone()),
                "__doc__" => function.definition.docstring.clone().map_or(Value::None, Value::str),
                _ => method(),
            }),
            Value::Decorated(decorated) => {
                let function = decorated.function.clone();
                self.attribute(&function, name, place)
            }
            Value::Method { function, .. } if name == "__name__" => Ok(Value::str(function.name.borrow().clone())),
            Value::Partial(partial) if name == "func" => Ok(partial.function.clone()),
            Value::Frame(frame) => dataframe::attribute(self, frame, name, place),
            Value::Column(_) if column::is_method(name) => Ok(method()),
            Value::Column(expr) => Ok(column::item(self, expr, &Value::str(name), place)),
            Value::Schema(schema) => Ok(match name {
                "fields" => {
                    let fields = schema.borrow().fields.clone();
                    Value::list(fields.into_iter().map(|field| Value::Field(Rc::new(field))).collect())
                }
                "names" => Value::list(schema.borrow().fields.iter().map(|f| Value::str(f.name.as_str())).collect()),
                _ => method(),
            }),
            Value::Str(text) => Ok(builtins::path_part(text, name).unwrap_or_else(method)),
            Value::Field(field) => Ok(match name {
                "name" => Value::str(field.name.as_str()),
                "dataType" => Value::Type(Rc::new(field.data_type.clone())),
                "nullable" => Value::Bool(field.nullable),
                _ => method(),
            }),
            _ => Ok(method()),
        }
    }

    fn external_attribute(&mut self, path: &Arc<str>, name: &str, place: &Place) -> Value {
        let full = format!("{path}.{name}");
        if let Some(value) = builtins::constant(self, &full) {
            return value;
        }
        if let Some(value) = builtins::argument(self, path, name, place) {
            return value;
        }
        if let Some(value) = session::attribute(self, &full, place) {
            return value;
        }
        if dlt::is_library(path) {
            return Value::External(dlt::canonical(&full));
        }
        Value::External(super::imports::canonical(&full))
    }

    pub fn assign_attribute(&mut self, receiver: &Value, name: &Arc<str>, value: Value) {
        match receiver {
            Value::Instance(instance) => {
                instance.attributes.borrow_mut().insert(name.clone(), value);
            }
            Value::Class(class) => class.scope.define(name.clone(), value),
            Value::Module(module) => module.scope.define(name.clone(), value),
            Value::Function(function) if name.as_ref() == "__name__" => {
                if let Some(text) = value.render_string() {
                    *function.name.borrow_mut() = text;
                }
            }
            _ => {}
        }
    }

    /// A method or class attribute, bound to its instance.
    fn instance_attribute(&mut self, receiver: &Value, name: &str, place: &Place) -> Eval<Value> {
        let Value::Instance(instance) = receiver else { return Ok(Value::None) };
        if let Some(found) = self.find_in_class(&instance.class, name) {
            return self.bind(found, receiver, place);
        }
        match name {
            "__class__" => return Ok(Value::Class(instance.class.clone())),
            "__dict__" => {
                let attributes = instance.attributes.borrow();
                let items = attributes.iter().map(|(key, value)| (Value::str(key.clone()), value.clone())).collect();
                return Ok(Value::dict(items));
            }
            _ => {}
        }
        if let Some(method) = self.find_method(receiver, "__getattr__") {
            return self.call(&method, Arguments::of(vec![Value::str(name)], place.clone()));
        }
        let class = instance.class.name.clone();
        if super::classes::has_unknown_base(&instance.class) {
            let reason = format!("`{name}` may come from a base class of `{class}` outside the repository");
            return Ok(self.unknown(name, "unknown-name", reason, place.clone()));
        }
        self.fails("AttributeError", name, format!("`{class}` has no attribute `{name}`"), place.clone())
    }

    /// What reading an attribute found in a class gives: functions are bound, properties are called.
    pub fn bind(&mut self, found: Value, receiver: &Value, place: &Place) -> Eval<Value> {
        let Value::Function(function) = &found else { return Ok(found) };
        match function.kind.get() {
            MethodKind::Static => Ok(found),
            MethodKind::OfClass => {
                let class = match receiver {
                    Value::Instance(instance) => Value::Class(instance.class.clone()),
                    other => other.clone(),
                };
                Ok(Value::Method { receiver: Box::new(class), function: function.clone() })
            }
            MethodKind::Property => self.call(&found, Arguments::of(vec![receiver.clone()], place.clone())),
            MethodKind::Plain => match receiver {
                Value::Class(_) => Ok(found),
                _ => Ok(Value::Method { receiver: Box::new(receiver.clone()), function: function.clone() }),
            },
        }
    }
}
