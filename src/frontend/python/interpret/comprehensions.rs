//! Iteration: what a `for` or comprehension runs over, and comprehensions.

use super::{Eval, Interpreter, Stop};
use crate::frontend::python::scope::{Scope, ScopeKind};
use crate::frontend::python::syntax::{Clause, Comprehension, ComprehensionKind, Expression, ExpressionKind};
use crate::frontend::python::value::{Dict, List, Unknown, Value};
use std::cell::RefCell;
use std::rc::Rc;

impl Interpreter<'_> {
    /// The elements of an iterable, where it is known to be one.
    pub fn items_of(&mut self, value: &Value) -> Option<List> {
        Some(match value {
            Value::List(list) | Value::Set(list) => list.borrow().clone(),
            Value::Tuple(items) => List { items: items.to_vec(), open: false },
            Value::Dict(dict) => {
                let dict = dict.borrow();
                List { items: dict.items.iter().map(|(key, _)| key.clone()).collect(), open: dict.open }
            }
            Value::Str(text) if !text.symbolic => {
                List { items: text.text.chars().map(|c| Value::str(c.to_string())).collect(), open: false }
            }
            Value::Schema(schema) => {
                let schema = schema.borrow();
                let items = schema.fields.iter().map(|field| Value::Field(Rc::new(field.clone()))).collect();
                List { items, open: !schema.complete }
            }
            Value::Class(class) if class.is_enum.get() => {
                // Members in the order of their definition.
                let mut items = Vec::new();
                for statement in &class.definition.body {
                    if let crate::frontend::python::syntax::StatementKind::Assign { targets, .. } = &statement.kind
                        && let Some(Expression { kind: ExpressionKind::Name(name), .. }) = targets.first()
                    {
                        items.extend(class.scope.own(name));
                    }
                }
                List { items, open: false }
            }
            Value::Instance(instance) if instance.class.is_record.get() => {
                let attributes = instance.attributes.borrow();
                let fields = instance.class.fields.borrow();
                let items = fields.iter().filter_map(|(name, _)| attributes.get(name).cloned()).collect();
                List { items, open: false }
            }
            _ => return None,
        })
    }

    /// Runs `work` for each element; for an unknown set once, with a symbol that stands for any element.
    pub(super) fn for_each(
        &mut self,
        iterable: &Value,
        target: &Expression,
        scope: &Rc<Scope>,
        mut work: impl FnMut(&mut Self) -> Eval<bool>,
    ) -> Eval<()> {
        let known = self.items_of(iterable);
        let open = known.as_ref().is_none_or(|list| list.open);
        let items = known.map(|list| list.items).unwrap_or_default();
        // Elements made from an unknown set already stand for all of it.
        let stands_for_all = open && items.iter().any(has_symbol);
        for item in items {
            self.spend(1)?;
            let symbolic = open && has_symbol(&item);
            self.assign(target, item, scope)?;
            self.templates += u32::from(symbolic);
            self.loops += 1;
            let goes_on = work(self);
            self.loops -= 1;
            self.templates -= u32::from(symbolic);
            if !goes_on? {
                return Ok(());
            }
        }
        if open && !stands_for_all {
            let element = self.any_element(iterable, target);
            self.bind_element(target, &element, scope)?;
            self.templates += 1;
            let result = work(self);
            self.templates -= 1;
            result?;
        }
        Ok(())
    }

    /// The symbol that stands for any element of an unknown set: its identity is that of the set, and of the loop among nested ones.
    fn any_element(&mut self, iterable: &Value, target: &Expression) -> Rc<Unknown> {
        let inner = if self.templates > 0 { format!(" ({})", self.templates + 1) } else { String::new() };
        let name = super::clip(&format!("any of {}{inner}", self.identity(iterable)));
        let place = self.place(target.range);
        let unknown = match iterable {
            Value::Unknown(from) => Unknown { name: name.as_str().into(), place, ..from.as_ref().clone() },
            other => Unknown {
                name: name.as_str().into(),
                code: "unknown-set",
                reason: format!("the elements of this {} are only known at run time", other.type_name()).into(),
                hint: None,
                place,
                inputs: Vec::new(),
                columns: Vec::new(),
                content: 0,
                rows: None,
            },
        };
        self.note(unknown)
    }

    fn bind_element(&mut self, target: &Expression, element: &Rc<Unknown>, scope: &Rc<Scope>) -> Eval<()> {
        match &target.kind {
            ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    let value = self.derived(element, &format!("{}[{at}]", element.name));
                    match value {
                        Value::Unknown(unknown) => self.bind_element(part, &unknown, scope)?,
                        value => self.assign(part, value, scope)?,
                    }
                }
                Ok(())
            }
            _ => self.assign(target, Value::Unknown(element.clone()), scope),
        }
    }

    pub(super) fn comprehension(&mut self, comprehension: &Comprehension, scope: &Rc<Scope>) -> Eval<Value> {
        let inner = Scope::new(ScopeKind::Function, Some(scope.clone()));
        // Inside a class body the first iterable is evaluated in the class.
        let mut out = Collected { keys: Vec::new(), items: Vec::new(), open: false };
        self.clause(comprehension, 0, &inner, scope, &mut out)?;
        Ok(match comprehension.kind {
            ComprehensionKind::Dict => {
                let mut dict = Dict { items: Vec::new(), open: out.open };
                for (key, value) in out.keys.into_iter().zip(out.items) {
                    dict.insert(key, value);
                }
                Value::Dict(Rc::new(RefCell::new(dict)))
            }
            ComprehensionKind::Set => {
                let list = super::expressions::distinct(List { items: out.items, open: out.open });
                Value::Set(Rc::new(RefCell::new(list)))
            }
            ComprehensionKind::List | ComprehensionKind::Generator => {
                Value::List(Rc::new(RefCell::new(List { items: out.items, open: out.open })))
            }
        })
    }

    /// Symbols of a comprehension's variables, of which a condition leaves some elements: others than those of the whole set.
    fn narrow(&mut self, scope: &Rc<Scope>, condition: &str) {
        for (name, value) in scope.entries() {
            if let Value::Unknown(symbol) = value {
                let narrowed = self.derived(&symbol, &format!("{} where {condition}", symbol.name));
                scope.define(name, narrowed);
            }
        }
    }

    fn clause(
        &mut self,
        comprehension: &Comprehension,
        at: usize,
        scope: &Rc<Scope>,
        outer: &Rc<Scope>,
        out: &mut Collected,
    ) -> Eval<()> {
        match comprehension.clauses.get(at) {
            None => {
                let element = self.evaluate(&comprehension.element, scope)?;
                if let Some(value) = &comprehension.value {
                    let value = self.evaluate(value, scope)?;
                    out.keys.push(element);
                    out.items.push(value);
                } else {
                    out.items.push(element);
                }
                if out.items.len() > super::MAX_ITEMS {
                    return Err(Stop::OutOfFuel);
                }
                Ok(())
            }
            Some(Clause::If(test)) => {
                let value = self.evaluate(test, scope)?;
                match value.truth() {
                    Some(true) => self.clause(comprehension, at + 1, scope, outer, out),
                    Some(false) => Ok(()),
                    None => {
                        out.open = true;
                        let condition = super::statements::condition(test, &value);
                        self.narrow(scope, &condition);
                        self.conditions.push(condition);
                        let result = self.clause(comprehension, at + 1, scope, outer, out);
                        self.conditions.pop();
                        result
                    }
                }
            }
            Some(Clause::For { target, iterable }) => {
                let iterable = self.evaluate(iterable, if at == 0 { outer } else { scope })?;
                if self.items_of(&iterable).is_none_or(|list| list.open) {
                    out.open = true;
                }
                self.for_each(&iterable, target, scope, |this| {
                    this.clause(comprehension, at + 1, scope, outer, out)?;
                    Ok(true)
                })
            }
        }
    }
}

/// Some part of it is a symbol.
fn has_symbol(value: &Value) -> bool {
    match value {
        Value::Unknown(_) => true,
        Value::Str(text) => text.symbolic,
        Value::Tuple(items) => items.iter().any(has_symbol),
        Value::Dict(dict) => dict.borrow().items.iter().any(|(_, value)| matches!(value, Value::Unknown(_))),
        _ => false,
    }
}

struct Collected {
    keys: Vec<Value>,
    items: Vec<Value>,
    open: bool,
}
