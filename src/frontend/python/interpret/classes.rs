//! Classes: definition, method lookup, instances, dataclasses and enums.

use super::{Eval, Interpreter};
use crate::frontend::python::scope::{Scope, ScopeKind};
use crate::frontend::python::syntax::{Argument, ClassDef, ExpressionKind, StatementKind};
use crate::frontend::python::value::{Arguments, Class, Function, Instance, MethodKind, Value};
use crate::model::Place;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Longest chain of base classes that is walked.
const MAX_BASES: usize = 32;

impl Interpreter<'_> {
    pub(super) fn define_class(&mut self, definition: &Arc<ClassDef>, scope: &Rc<Scope>) -> Eval<Value> {
        let mut bases = Vec::new();
        for base in &definition.bases {
            if let Argument::Positional(expression) = base {
                bases.push(self.evaluate(expression, scope)?);
            }
        }
        let body = Scope::new(ScopeKind::Class, Some(scope.clone()));
        let class = Rc::new(Class {
            name: definition.name.clone(),
            definition: definition.clone(),
            bases,
            scope: body.clone(),
            source: self.source.clone(),
            fields: RefCell::default(),
            is_record: Cell::new(false),
            is_enum: Cell::new(false),
        });
        self.block(&definition.body, &body)?;
        for (_, value) in body.entries() {
            if let Value::Function(function) = &value {
                *function.owner.borrow_mut() = Some(class.clone());
            }
        }
        let named_base =
            |name: &str| class.bases.iter().any(|base| matches!(base, Value::External(path) if path.ends_with(name)));
        if named_base("NamedTuple") || named_base("BaseModel") || named_base("BaseSettings") {
            self.make_record(&class);
        }
        let inherits_enum = class.bases.iter().any(|base| matches!(base, Value::Class(base) if base.is_enum.get()));
        if named_base("Enum") || inherits_enum {
            self.make_enum(&class);
        }
        let mut value = Value::Class(class.clone());
        for decorator in definition.decorators.iter().rev() {
            let callee = self.evaluate(decorator, scope)?;
            let is_dataclass = match &callee {
                Value::External(path) => path.ends_with("dataclass"),
                Value::Partial(partial) => {
                    matches!(&partial.function, Value::External(path) if path.ends_with("dataclass"))
                }
                _ => false,
            };
            if is_dataclass {
                self.make_record(&class);
            } else if matches!(callee, Value::Function(_) | Value::Partial(_)) {
                let place = self.place(decorator.range);
                value = self.call(&callee, Arguments::of(vec![value], place))?;
            }
        }
        Ok(value)
    }

    /// Reads the annotated fields of a dataclass, those of its bases first.
    fn make_record(&mut self, class: &Rc<Class>) {
        let mut fields: Vec<(Arc<str>, Option<Value>)> = Vec::new();
        for base in &class.bases {
            if let Value::Class(base) = base {
                fields.extend(base.fields.borrow().iter().cloned());
            }
        }
        for statement in &class.definition.body {
            if let StatementKind::Annotated { target, .. } = &statement.kind
                && let ExpressionKind::Name(name) = &target.kind
            {
                fields.retain(|(seen, _)| seen != name);
                fields.push((name.clone(), class.scope.own(name)));
            }
        }
        *class.fields.borrow_mut() = fields;
        class.is_record.set(true);
    }

    /// `collections.namedtuple(name, fields)`.
    pub fn named_tuple(&mut self, arguments: &Arguments) -> Option<Value> {
        let name = arguments.text(0, "typename")?;
        let given = arguments.get(1, "field_names").cloned()?;
        let names: Vec<Arc<str>> = match given.as_str() {
            Some(text) => text.split([',', ' ']).filter(|part| !part.is_empty()).map(Arc::from).collect(),
            None => self.items_of(&given)?.items.iter().filter_map(Value::render_string).collect(),
        };
        let definition = ClassDef {
            name: name.clone(),
            bases: Vec::new(),
            decorators: Vec::new(),
            body: Vec::new(),
            range: Default::default(),
            fingerprint: Default::default(),
        };
        Some(Value::Class(Rc::new(Class {
            name,
            definition: Arc::new(definition),
            bases: Vec::new(),
            scope: Scope::new(ScopeKind::Class, None),
            source: self.source.clone(),
            fields: RefCell::new(names.into_iter().map(|name| (name, None)).collect()),
            is_record: Cell::new(true),
            is_enum: Cell::new(false),
        })))
    }

    fn make_enum(&mut self, class: &Rc<Class>) {
        class.is_enum.set(true);
        for (name, value) in class.scope.entries() {
            if matches!(value, Value::Function(_)) || name.starts_with("__") {
                continue;
            }
            let attributes = BTreeMap::from([("name".into(), Value::str(name.clone())), ("value".into(), value)]);
            let member = Instance { class: class.clone(), attributes: RefCell::new(attributes) };
            class.scope.define(name, Value::Instance(Rc::new(member)));
        }
    }

    pub(super) fn instantiate(&mut self, class: &Rc<Class>, arguments: Arguments) -> Eval<Value> {
        if class.is_enum.get() {
            return Ok(self.enum_member(class, &arguments));
        }
        let instance = Rc::new(Instance { class: class.clone(), attributes: RefCell::default() });
        let value = Value::Instance(instance.clone());
        let own_init = class.scope.own("__init__").is_some();
        if class.is_record.get() && !own_init {
            self.fill_record(class, &instance, &arguments)?;
            if let Some(method) = self.find_method(&value, "__post_init__") {
                self.call(&method, Arguments::of(Vec::new(), arguments.place))?;
            }
        } else if let Some(method) = self.find_method(&value, "__init__") {
            self.call(&method, arguments)?;
        }
        Ok(value)
    }

    fn enum_member(&mut self, class: &Rc<Class>, arguments: &Arguments) -> Value {
        let wanted = arguments.positional.first();
        let found = class.scope.entries().into_iter().find(|(_, member)| match (member, wanted) {
            (Value::Instance(member), Some(wanted)) => {
                member.attributes.borrow().get("value").is_some_and(|value| value.same(wanted))
            }
            _ => false,
        });
        match found {
            Some((_, member)) => member,
            None => {
                let name = class.name.clone();
                self.unknown_call(
                    &name,
                    "unknown-item",
                    "no member of this enumeration is known to be meant",
                    arguments,
                )
            }
        }
    }

    fn fill_record(&mut self, class: &Rc<Class>, instance: &Rc<Instance>, arguments: &Arguments) -> Eval<()> {
        let fields = class.fields.borrow().clone();
        for (index, (name, default)) in fields.iter().enumerate() {
            let value = match arguments.get(index, name) {
                Some(value) => value.clone(),
                None => match default {
                    Some(Value::Partial(factory)) if matches!(&factory.function, Value::External(path) if path.as_ref() == "dataclasses.field") => {
                        self.field_default(&factory.arguments, name)?
                    }
                    Some(value) => value.clone(),
                    None => {
                        let reason = format!("no value is known for the field `{name}` of `{}`", class.name);
                        self.unknown(name, "unknown-argument", reason, arguments.place.clone())
                    }
                },
            };
            instance.attributes.borrow_mut().insert(name.clone(), value);
        }
        Ok(())
    }

    /// `field(default=…)`, `field(default_factory=…)`.
    fn field_default(&mut self, arguments: &Arguments, name: &str) -> Eval<Value> {
        if let Some(value) = arguments.keyword("default") {
            return Ok(value.clone());
        }
        match arguments.keyword("default_factory").cloned() {
            Some(factory) => self.call(&factory, Arguments::of(Vec::new(), arguments.place.clone())),
            None => {
                let reason = format!("the field `{name}` has no default");
                Ok(self.unknown(name, "unknown-argument", reason, arguments.place.clone()))
            }
        }
    }

    /// An attribute of a class or its bases, depth first.
    pub fn find_in_class(&self, class: &Rc<Class>, name: &str) -> Option<Value> {
        lookup(class, name, MAX_BASES)
    }

    /// A method of an instance, bound to it.
    pub fn find_method(&self, receiver: &Value, name: &str) -> Option<Value> {
        let Value::Instance(instance) = receiver else { return None };
        match self.find_in_class(&instance.class, name)? {
            Value::Function(function) => match function.kind.get() {
                MethodKind::Static => Some(Value::Function(function)),
                MethodKind::OfClass => {
                    Some(Value::Method { receiver: Box::new(Value::Class(instance.class.clone())), function })
                }
                _ => Some(Value::Method { receiver: Box::new(receiver.clone()), function }),
            },
            other => Some(other),
        }
    }

    pub(super) fn class_attribute(
        &mut self,
        class: &Rc<Class>,
        receiver: &Value,
        name: &str,
        place: &Place,
    ) -> Eval<Value> {
        if let Some(found) = self.find_in_class(class, name) {
            return match &found {
                Value::Function(function) if function.kind.get() == MethodKind::Property => Ok(found),
                _ => self.bind(found, receiver, place),
            };
        }
        match name {
            "__name__" | "__qualname__" => Ok(Value::str(class.name.clone())),
            "__members__" => Ok(Value::dict(
                class.scope.entries().into_iter().map(|(name, value)| (Value::str(name), value)).collect(),
            )),
            _ => {
                let reason = format!("the class `{}` defines no `{name}`", class.name);
                Ok(self.unknown(name, "unknown-name", reason, place.clone()))
            }
        }
    }

    pub(super) fn super_value(&mut self, scope: &Rc<Scope>) -> Option<Value> {
        let function: Rc<Function> = self.activations.last().and_then(|activation| activation.function.clone())?;
        let class = function.owner.borrow().clone()?;
        let first = function.definition.parameters.first()?;
        let instance = scope.lookup(&first.name)?;
        Some(Value::Super { instance: Box::new(instance), class })
    }

    pub(super) fn super_attribute(
        &mut self,
        instance: &Value,
        class: &Rc<Class>,
        name: &str,
        place: &Place,
    ) -> Eval<Value> {
        for base in class.bases.clone() {
            if let Value::Class(base) = base
                && let Some(found) = self.find_in_class(&base, name)
            {
                return self.bind(found, instance, place);
            }
        }
        // `object` and bases outside the repository: their constructors set nothing that is known.
        if name == "__init__" || name == "__init_subclass__" || name == "__post_init__" {
            return Ok(Value::external("builtins.object"));
        }
        let reason = format!("`super().{name}` comes from a class outside the repository");
        Ok(self.unknown(name, "unknown-name", reason, place.clone()))
    }
}

fn lookup(class: &Rc<Class>, name: &str, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if let Some(value) = class.scope.own(name) {
        return Some(value);
    }
    class.bases.iter().find_map(|base| match base {
        Value::Class(base) => lookup(base, name, depth),
        _ => None,
    })
}

/// Some base is defined outside the repository (other than `object` and the like).
pub fn has_unknown_base(class: &Class) -> bool {
    class.bases.iter().any(|base| match base {
        Value::Class(base) => has_unknown_base(base),
        Value::External(path) => !matches!(path.as_ref(), "builtins.object" | "abc.ABC" | "typing.NamedTuple"),
        _ => true,
    })
}
