//! Namespaces.

use super::value::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    Module,
    Function,
    /// Invisible to the functions inside it.
    Class,
}

/// One namespace; functions keep those they were defined in.
#[derive(Debug)]
pub struct Scope {
    pub kind: ScopeKind,
    pub parent: Option<Rc<Scope>>,
    variables: RefCell<BTreeMap<Arc<str>, Value>>,
    globals: RefCell<BTreeSet<Arc<str>>>,
    nonlocals: RefCell<BTreeSet<Arc<str>>>,
}

/// What a branch may have changed: the variables of one scope.
pub type Snapshot = BTreeMap<Arc<str>, Value>;

impl Scope {
    pub fn new(kind: ScopeKind, parent: Option<Rc<Scope>>) -> Rc<Scope> {
        Rc::new(Scope {
            kind,
            parent,
            variables: RefCell::default(),
            globals: RefCell::default(),
            nonlocals: RefCell::default(),
        })
    }

    /// A variable of this scope itself.
    pub fn own(&self, name: &str) -> Option<Value> {
        self.variables.borrow().get(name).cloned()
    }

    pub fn lookup(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.own(name) {
            return Some(value);
        }
        let mut scope = self.parent.as_deref();
        while let Some(current) = scope {
            if current.kind != ScopeKind::Class
                && let Some(value) = current.own(name)
            {
                return Some(value);
            }
            scope = current.parent.as_deref();
        }
        None
    }

    pub fn module(self: &Rc<Scope>) -> Rc<Scope> {
        let mut scope = self.clone();
        while let Some(parent) = scope.parent.clone() {
            scope = parent;
        }
        scope
    }

    pub fn assign(self: &Rc<Scope>, name: Arc<str>, value: Value) {
        if self.globals.borrow().contains(&name) {
            self.module().define(name, value);
        } else if self.nonlocals.borrow().contains(&name) {
            let mut scope = self.parent.clone();
            while let Some(current) = scope {
                if current.own(&name).is_some() {
                    current.define(name, value);
                    return;
                }
                scope = current.parent.clone();
            }
        } else {
            self.define(name, value);
        }
    }

    pub fn define(&self, name: Arc<str>, value: Value) {
        self.variables.borrow_mut().insert(name, value);
    }

    pub fn remove(&self, name: &str) {
        self.variables.borrow_mut().remove(name);
    }

    pub fn declare_global(&self, name: Arc<str>) {
        self.globals.borrow_mut().insert(name);
    }

    pub fn declare_nonlocal(&self, name: Arc<str>) {
        self.nonlocals.borrow_mut().insert(name);
    }

    pub fn snapshot(&self) -> Snapshot {
        self.variables.borrow().clone()
    }

    pub fn restore(&self, snapshot: Snapshot) {
        *self.variables.borrow_mut() = snapshot;
    }

    /// Names and values in alphabetical order.
    pub fn entries(&self) -> Vec<(Arc<str>, Value)> {
        self.variables.borrow().iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}
