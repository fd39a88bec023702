//! Statements: control flow, assignment, and joining the branches of unknown conditions.

use super::{Eval, Interpreter, Stop};
use crate::frontend::pyspark::batch::collected;
use crate::frontend::python::content;
use crate::frontend::python::scope::{Scope, Snapshot};
use crate::frontend::python::syntax::{
    Case, Expression, ExpressionKind, FunctionDef, Handler, Statement, StatementKind,
};
use crate::frontend::python::value::{Arguments, Function, MethodKind, Unknown, Value};
use crate::model::{Expr, Place, Way};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Rounds of a `while` whose condition stays known.
const MAX_ROUNDS: u32 = 2_000;

pub(super) enum Completion {
    Normal,
    Return(Value),
    Break,
    Continue,
}

/// One way through an unknown condition.
struct Branch<'s> {
    condition: Arc<str>,
    /// What decides, where that is in tables.
    test: Option<Expr>,
    body: &'s [Statement],
}

impl Interpreter<'_> {
    pub(super) fn block(&mut self, statements: &[Statement], scope: &Rc<Scope>) -> Eval<Completion> {
        for statement in statements {
            match self.statement(statement, scope)? {
                Completion::Normal => {}
                other => return Ok(other),
            }
        }
        Ok(Completion::Normal)
    }

    pub(super) fn statement(&mut self, statement: &Statement, scope: &Rc<Scope>) -> Eval<Completion> {
        self.deeper(|this| this.statement_kind(statement, scope))
    }

    fn statement_kind(&mut self, statement: &Statement, scope: &Rc<Scope>) -> Eval<Completion> {
        match &statement.kind {
            StatementKind::Expression(expression) => {
                let value = self.evaluate(expression, scope)?;
                // A value that nobody takes decides nothing.
                self.open_values -= u64::from(value.is_open());
                if let (ExpressionKind::Call { function, .. }, Value::Unknown(result)) = (&expression.kind, &value)
                    && let ExpressionKind::Attribute { value: object, .. } = &function.kind
                {
                    self.touch(object, &result.name, scope);
                }
            }
            StatementKind::Assign { targets, value } => {
                let value = self.evaluate(value, scope)?;
                for target in targets {
                    self.assign(target, value.clone(), scope)?;
                }
            }
            StatementKind::Annotated { target, value: Some(value), .. } => {
                let value = self.evaluate(value, scope)?;
                self.assign(target, value, scope)?;
            }
            StatementKind::Augmented { target, operator, value } => {
                let current = self.evaluate(target, scope)?;
                let value = self.evaluate(value, scope)?;
                if let (Value::List(list), "+") = (&current, *operator) {
                    // `list += …` changes the list itself.
                    match self.items_of(&value) {
                        Some(more) => {
                            let mut list = list.borrow_mut();
                            list.items.extend(more.items);
                            list.open |= more.open;
                        }
                        None => list.borrow_mut().open = true,
                    }
                } else {
                    let result = self.binary(operator, &current, &value, statement.range)?;
                    self.assign(target, result, scope)?;
                }
            }
            StatementKind::Function(definition) => self.define_function(definition, scope)?,
            StatementKind::Class(definition) => {
                let class = self.define_class(definition, scope)?;
                scope.assign(definition.name.clone(), class);
            }
            StatementKind::Return(value) => {
                let value = match value {
                    Some(value) => self.evaluate(value, scope)?,
                    None => Value::None,
                };
                return Ok(Completion::Return(value));
            }
            StatementKind::If { branches, otherwise } => return self.if_statement(branches, otherwise, scope),
            StatementKind::For { target, iterable, body, otherwise } => {
                return self.for_statement(target, iterable, body, otherwise, scope);
            }
            StatementKind::While { test, body, otherwise } => {
                return self.while_statement(test, body, otherwise, scope);
            }
            StatementKind::Try { body, handlers, otherwise, finally } => {
                return self.try_statement(body, handlers, otherwise, finally, scope);
            }
            StatementKind::With { items, body } => return self.with_statement(items, body, scope),
            StatementKind::Match { subject, cases } => return self.match_statement(subject, cases, scope),
            StatementKind::Import(names) => self.import(names, scope),
            StatementKind::ImportFrom { level, module, names } => {
                self.import_from(*level, module, names.as_deref(), scope, statement.range);
            }
            StatementKind::Raise(value) => return self.raise_statement(value.as_ref(), scope),
            StatementKind::Global(names) => names.iter().for_each(|name| scope.declare_global(name.clone())),
            StatementKind::Nonlocal(names) => names.iter().for_each(|name| scope.declare_nonlocal(name.clone())),
            StatementKind::Delete(targets) => self.delete(targets, scope)?,
            StatementKind::Break => return Ok(Completion::Break),
            StatementKind::Continue => return Ok(Completion::Continue),
            StatementKind::Annotated { value: None, .. } | StatementKind::Pass => {}
        }
        Ok(Completion::Normal)
    }

    pub(super) fn assign(&mut self, target: &Expression, value: Value, scope: &Rc<Scope>) -> Eval<()> {
        match &target.kind {
            ExpressionKind::Name(name) => scope.assign(name.clone(), value),
            ExpressionKind::Attribute { value: object, name, .. } => {
                let receiver = self.evaluate(object, scope)?;
                self.touch(object, &format!(".{name} = {}", self.identity(&value)), scope);
                self.assign_attribute(&receiver, name, value);
            }
            ExpressionKind::Subscript { value: object, index } => {
                let receiver = self.evaluate(object, scope)?;
                let index = self.evaluate(index, scope)?;
                self.touch(object, &format!("[{}] = {}", self.identity(&index), self.identity(&value)), scope);
                self.assign_item(&receiver, index, value)?;
            }
            ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => self.unpack(parts, &value, target, scope)?,
            ExpressionKind::Star(inner) => self.assign(inner, value, scope)?,
            _ => {}
        }
        Ok(())
    }

    fn assign_item(&mut self, receiver: &Value, index: Value, value: Value) -> Eval<()> {
        match (receiver, &index) {
            (Value::Dict(dict), _) => {
                let size = dict.borrow().items.len();
                self.spend(1 + size as u64 / 16)?;
                if size > super::MAX_ITEMS {
                    return Err(Stop::OutOfFuel);
                }
                dict.borrow_mut().insert(index, value);
            }
            (Value::List(list), Value::Int(at)) => {
                let mut list = list.borrow_mut();
                let length = list.items.len() as i64;
                let at = if *at < 0 { length + at } else { *at };
                match usize::try_from(at).ok().and_then(|at| list.items.get_mut(at)) {
                    Some(slot) => *slot = value,
                    None => list.open = true,
                }
            }
            (Value::List(list), _) => list.borrow_mut().open = true,
            (Value::Instance(_), _) => {
                if let Some(method) = self.find_method(receiver, "__setitem__") {
                    self.call(&method, Arguments::of(vec![index, value], Place::unknown()))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn unpack(&mut self, parts: &[Expression], value: &Value, target: &Expression, scope: &Rc<Scope>) -> Eval<()> {
        let known = self.items_of(value).filter(|list| !list.open);
        let star = parts.iter().position(|part| matches!(part.kind, ExpressionKind::Star(_)));
        match (known, star) {
            (Some(list), None) if list.items.len() == parts.len() => {
                for (part, item) in parts.iter().zip(list.items) {
                    self.assign(part, item, scope)?;
                }
            }
            (Some(list), Some(star)) if list.items.len() + 1 >= parts.len() => {
                let after = parts.len() - star - 1;
                let mut items = list.items;
                let tail = items.split_off(items.len() - after);
                let middle = items.split_off(star);
                let values = items.into_iter().chain(std::iter::once(Value::list(middle))).chain(tail);
                for (part, item) in parts.iter().zip(values) {
                    self.assign(part, item, scope)?;
                }
            }
            _ => {
                for (at, part) in parts.iter().enumerate() {
                    let name = format!("{}[{at}]", self.identity(value));
                    let value = match value {
                        Value::Unknown(unknown) => {
                            let unknown = unknown.clone();
                            self.derived(&unknown, &name)
                        }
                        _ => {
                            let place = self.place(target.range);
                            self.unknown(&name, "unknown-item", "a value that is unpacked in a way not followed", place)
                        }
                    };
                    self.assign(part, value, scope)?;
                }
            }
        }
        Ok(())
    }

    fn delete(&mut self, targets: &[Expression], scope: &Rc<Scope>) -> Eval<()> {
        for target in targets {
            match &target.kind {
                ExpressionKind::Name(name) => scope.remove(name),
                ExpressionKind::Subscript { value, index } => {
                    let receiver = self.evaluate(value, scope)?;
                    let index = self.evaluate(index, scope)?;
                    if let Value::Dict(dict) = receiver {
                        dict.borrow_mut().remove(&index);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Something was done to an object that is not known: it is another one from here on.
    fn touch(&mut self, object: &Expression, what: &str, scope: &Rc<Scope>) {
        let ExpressionKind::Name(name) = &object.kind else { return };
        let Some(Value::Unknown(unknown)) = scope.lookup(name) else { return };
        let content = content::of_text(&format!("{:016x} {what}", unknown.content));
        let touched = self.note(Unknown { content, ..unknown.as_ref().clone() });
        scope.assign(name.clone(), Value::Unknown(touched));
    }

    /// Defines a function and applies its decorators, innermost first.
    fn define_function(&mut self, definition: &Arc<FunctionDef>, scope: &Rc<Scope>) -> Eval<()> {
        let mut value = self.function_value(definition, scope)?;
        let (open_values, registered) = (self.open_values, self.registry.flow_count());
        for decorator in definition.decorators.iter().rev() {
            if let (Some(kind), Value::Function(function)) = (method_kind(decorator), &value) {
                function.kind.set(kind);
                continue;
            }
            let callee = self.evaluate(decorator, scope)?;
            // A decorator's place is the definition, from the first decorator to the parameters.
            let place = self.place(definition.header);
            value = match &callee {
                Value::Unknown(_) => wrapped(value),
                // Decorators of other libraries (`@cache`, `@retry`) leave what a function computes alone.
                Value::External(path) if !knows_decorator(path) => wrapped(value),
                _ => self.call(&callee, Arguments::of(vec![value], place))?,
            };
        }
        if self.open_values > open_values {
            self.registry.open_flows_from(registered);
        }
        scope.assign(definition.name.clone(), value);
        Ok(())
    }

    fn if_statement(
        &mut self,
        branches: &[(Expression, Vec<Statement>)],
        otherwise: &[Statement],
        scope: &Rc<Scope>,
    ) -> Eval<Completion> {
        let mut open: Vec<Branch<'_>> = Vec::new();
        let mut excluded: Vec<Arc<str>> = Vec::new();
        for (test, body) in branches {
            let value = self.evaluate(test, scope)?;
            match value.truth() {
                Some(true) if open.is_empty() => return self.block(body, scope),
                Some(true) => {
                    open.push(Branch { condition: excluded.join(" and ").into(), test: None, body });
                    return self.run_branches(&open, scope);
                }
                Some(false) => {}
                None => {
                    let text = condition(test, &value);
                    let test = collected::is_computed(self, &value).then(|| collected::truth(&value)).flatten();
                    open.push(Branch { condition: text.clone(), test, body });
                    excluded.push(format!("not ({text})").into());
                }
            }
        }
        if open.is_empty() {
            return self.block(otherwise, scope);
        }
        open.push(Branch { condition: excluded.join(" and ").into(), test: None, body: otherwise });
        self.run_branches(&open, scope)
    }

    /// Runs every branch from the same start and joins what they leave.
    fn run_branches(&mut self, branches: &[Branch<'_>], scope: &Rc<Scope>) -> Eval<Completion> {
        let before = scope.snapshot();
        let mut ends: Vec<Snapshot> = Vec::new();
        let mut returns: Vec<Value> = Vec::new();
        let mut leaves = None;
        let mut failure = None;
        let mut ways = Vec::new();
        for branch in branches {
            scope.restore(before.clone());
            self.conditions.push(branch.condition.clone());
            self.job.begin();
            let result = self.block(branch.body, scope);
            self.conditions.pop();
            ways.push(Way {
                condition: branch.condition.to_string(),
                test: branch.test.clone(),
                steps: self.job.end(),
                leaves: matches!(result, Ok(Completion::Return(_)) | Err(Stop::Raise { .. })),
            });
            match result {
                Ok(Completion::Return(value)) => returns.push(value),
                Ok(Completion::Normal) => ends.push(scope.snapshot()),
                // A loop left under an unknown condition may also go on.
                Ok(other @ (Completion::Break | Completion::Continue)) => {
                    leaves = Some(other);
                    ends.push(scope.snapshot());
                }
                Err(stop @ Stop::Raise { .. }) => failure = Some(stop),
                Err(stop) => return Err(stop),
            }
        }
        self.job.branch(ways, Place::unknown());
        let condition = branches.first().map(|branch| branch.condition.clone()).unwrap_or_default();
        if ends.is_empty() {
            scope.restore(before);
            if returns.is_empty() {
                return match failure {
                    Some(stop) => Err(stop),
                    None => Ok(Completion::Normal),
                };
            }
            self.conditions.push(condition);
            let joined = self.join("result", returns, &Place::unknown());
            self.conditions.pop();
            return Ok(Completion::Return(joined));
        }
        for value in returns {
            self.keep_return(value);
        }
        let only_leaves = leaves.is_some() && ends.len() == 1 && branches.len() == 1;
        self.conditions.push(condition);
        // Two ends are those of the two ways, in their order.
        let test = branches.first().and_then(|branch| branch.test.clone());
        let outer = std::mem::replace(&mut self.deciding, test.filter(|_| branches.len() == 2 && ends.len() == 2));
        let joined = self.join_snapshots(ends);
        self.deciding = outer;
        self.conditions.pop();
        scope.restore(joined);
        match leaves {
            Some(completion) if only_leaves => Ok(completion),
            _ => Ok(Completion::Normal),
        }
    }

    fn join_snapshots(&mut self, ends: Vec<Snapshot>) -> Snapshot {
        if ends.len() == 1 {
            return ends.into_iter().next().unwrap_or_default();
        }
        let names: BTreeSet<Arc<str>> = ends.iter().flat_map(|end| end.keys().cloned()).collect();
        let mut joined = Snapshot::new();
        for name in names {
            let values: Vec<Value> = ends.iter().filter_map(|end| end.get(&name).cloned()).collect();
            let value = self.join(&name, values, &Place::unknown());
            joined.insert(name, value);
        }
        joined
    }

    fn for_statement(
        &mut self,
        target: &Expression,
        iterable: &Expression,
        body: &[Statement],
        otherwise: &[Statement],
        scope: &Rc<Scope>,
    ) -> Eval<Completion> {
        let iterable = self.evaluate(iterable, scope)?;
        let mut returned = None;
        let mut broken = false;
        self.for_each(&iterable, target, scope, |this| {
            Ok(match this.block(body, scope)? {
                Completion::Normal | Completion::Continue => true,
                Completion::Break => {
                    broken = true;
                    false
                }
                Completion::Return(value) => {
                    returned = Some(value);
                    false
                }
            })
        })?;
        match returned {
            Some(value) => Ok(Completion::Return(value)),
            None if broken => Ok(Completion::Normal),
            None => self.block(otherwise, scope),
        }
    }

    /// `with a as x, b: body`. A context manager made of a generator runs to its `yield` before the body, on from there after it.
    fn with_statement(
        &mut self,
        items: &[(Expression, Option<Expression>)],
        body: &[Statement],
        scope: &Rc<Scope>,
    ) -> Eval<Completion> {
        let Some(((manager, target), rest)) = items.split_first() else { return self.block(body, scope) };
        let place = self.place(manager.range);
        self.yielded_at = None;
        let manager = self.evaluate(manager, scope)?;
        let after = self.yielded_at.take().map(|mark| self.job.since(mark)).unwrap_or_default();
        let method = |this: &mut Self, name: &str, arguments: Vec<Value>| -> Eval<Option<Value>> {
            match this.find_method(&manager, name).filter(|_| matches!(manager, Value::Instance(_))) {
                Some(method) => this.call(&method, Arguments::of(arguments, place.clone())).map(Some),
                None => Ok(None),
            }
        };
        let entered = match (&manager, method(self, "__enter__", Vec::new())?) {
            (_, Some(entered)) => entered,
            // A list is no context manager: these are what a generator yields.
            (Value::List(list), None) => list.borrow().items.first().cloned().unwrap_or(Value::None),
            (_, None) => manager.clone(),
        };
        if let Some(target) = target {
            self.assign(target, entered, scope)?;
        }
        let completion = self.with_statement(rest, body, scope)?;
        method(self, "__exit__", vec![Value::None, Value::None, Value::None])?;
        self.job.extend(after);
        Ok(completion)
    }

    fn while_statement(
        &mut self,
        test: &Expression,
        body: &[Statement],
        otherwise: &[Statement],
        scope: &Rc<Scope>,
    ) -> Eval<Completion> {
        for _ in 0..MAX_ROUNDS {
            match self.evaluate(test, scope)?.truth() {
                Some(false) => return self.block(otherwise, scope),
                Some(true) => {
                    self.loops += 1;
                    let completion = self.block(body, scope);
                    self.loops -= 1;
                    match completion? {
                        Completion::Normal | Completion::Continue => {}
                        Completion::Break => return Ok(Completion::Normal),
                        returned => return Ok(returned),
                    }
                }
                None => {
                    // Once or never, and no more is told of further rounds.
                    let condition = condition_text(test);
                    let negated = format!("not ({condition})").into();
                    let branches = [
                        Branch { condition, test: None, body },
                        Branch { condition: negated, test: None, body: otherwise },
                    ];
                    self.open_loops += 1;
                    let completion = self.run_branches(&branches, scope);
                    self.open_loops -= 1;
                    return completion;
                }
            }
        }
        // A loop that waits for something at run time: what it does has been seen.
        Ok(Completion::Normal)
    }

    fn try_statement(
        &mut self,
        body: &[Statement],
        handlers: &[Handler],
        otherwise: &[Statement],
        finally: &[Statement],
        scope: &Rc<Scope>,
    ) -> Eval<Completion> {
        let before = scope.snapshot();
        let doubts = self.doubts;
        self.handlers += 1;
        let result = self.block(body, scope);
        self.handlers -= 1;
        let doubtful = self.doubts > doubts && !self.job.is_on();
        let result = match result {
            Ok(completion @ (Completion::Normal | Completion::Return(_))) if doubtful => {
                let completion = match completion {
                    Completion::Normal => self.block(otherwise, scope)?,
                    other => other,
                };
                self.or_handled(body, handlers, completion, before, scope)
            }
            Ok(Completion::Normal) => self.block(otherwise, scope),
            Err(Stop::Raise { class, message }) => match handlers.iter().find(|handler| handles(handler, &class)) {
                Some(handler) => {
                    if let Some(name) = &handler.name {
                        scope.assign(name.clone(), Value::str(message));
                    }
                    self.block(&handler.body, scope)
                }
                None => Err(Stop::Raise { class, message }),
            },
            other => other,
        };
        match self.block(finally, scope)? {
            Completion::Normal => result,
            other => Ok(other),
        }
    }

    /// A body that may raise at run time and came to its end: either that, or what a handler leaves from the same start.
    fn or_handled(
        &mut self,
        body: &[Statement],
        handlers: &[Handler],
        completion: Completion,
        before: Snapshot,
        scope: &Rc<Scope>,
    ) -> Eval<Completion> {
        let mut ends = Vec::new();
        let mut returns = Vec::new();
        match completion {
            Completion::Return(value) => returns.push(value),
            _ => ends.push(scope.snapshot()),
        }
        for handler in handlers {
            scope.restore(before.clone());
            if let Some(name) = &handler.name {
                let place = self.place(handler.exception.as_ref().map(|test| test.range).unwrap_or_default());
                let reason = "an exception is only known at run time";
                let exception = self.unknown("exception", "runtime-data", reason, place);
                scope.assign(name.clone(), exception);
            }
            let doubts = self.doubts;
            match self.block(&handler.body, scope) {
                // Another module of the same names, which the repository has: the one that can be read.
                Ok(Completion::Normal)
                    if imports_only(body) && imports_only(&handler.body) && self.doubts == doubts =>
                {
                    return Ok(Completion::Normal);
                }
                // A handler that gives nothing ends the update where a table is wanted.
                Ok(Completion::Return(Value::None)) | Err(Stop::Raise { .. }) => {}
                Ok(Completion::Return(value)) => returns.push(value),
                Ok(_) => ends.push(scope.snapshot()),
                Err(stop) => return Err(stop),
            }
        }
        self.conditions.push("no exception".into());
        let completion = if ends.is_empty() {
            scope.restore(before);
            Completion::Return(self.join("result", returns, &Place::unknown()))
        } else {
            returns.into_iter().for_each(|value| self.keep_return(value));
            let joined = self.join_snapshots(ends);
            scope.restore(joined);
            Completion::Normal
        };
        self.conditions.pop();
        Ok(completion)
    }

    fn match_statement(&mut self, subject: &Expression, cases: &[Case], scope: &Rc<Scope>) -> Eval<Completion> {
        let value = self.evaluate(subject, scope)?;
        let text = condition_text(subject);
        let mut open: Vec<Branch<'_>> = Vec::new();
        for case in cases {
            let mut truth = Some(case.wildcard);
            for pattern in &case.values {
                if case.wildcard {
                    break;
                }
                // A bare name captures; constants compare.
                if let ExpressionKind::Name(name) = &pattern.kind {
                    scope.assign(name.clone(), value.clone());
                    truth = Some(true);
                    break;
                }
                let constant = self.evaluate(pattern, scope)?;
                match value.equals(&constant) {
                    Some(true) => {
                        truth = Some(true);
                        break;
                    }
                    Some(false) => {}
                    None => truth = None,
                }
            }
            if let (Some(guard), true) = (&case.guard, truth != Some(false)) {
                match self.evaluate(guard, scope)?.truth() {
                    Some(true) => {}
                    Some(false) => truth = Some(false),
                    None => truth = None,
                }
            }
            match truth {
                Some(false) => {}
                Some(true) if open.is_empty() => return self.block(&case.body, scope),
                Some(true) => {
                    open.push(Branch { condition: text, test: None, body: &case.body });
                    return self.run_branches(&open, scope);
                }
                None => open.push(Branch { condition: text.clone(), test: None, body: &case.body }),
            }
        }
        if open.is_empty() {
            return Ok(Completion::Normal);
        }
        open.push(Branch { condition: text, test: None, body: &[] });
        self.run_branches(&open, scope)
    }

    fn raise_statement(&mut self, value: Option<&Expression>, scope: &Rc<Scope>) -> Eval<Completion> {
        let Some(expression) = value else { return self.raise("Exception", "raised again") };
        let class: Arc<str> = match &expression.kind {
            ExpressionKind::Call { function, .. } => condition_text(function),
            _ => condition_text(expression),
        };
        let message = match &expression.kind {
            ExpressionKind::Call { arguments, .. } => {
                let arguments = self.arguments(arguments, scope)?;
                arguments.text(0, "message").unwrap_or_default().to_string()
            }
            _ => String::new(),
        };
        self.raise(&class, message)
    }
}

fn imports_only(statements: &[Statement]) -> bool {
    let is_import = |s: &Statement| matches!(s.kind, StatementKind::Import(_) | StatementKind::ImportFrom { .. });
    statements.iter().all(is_import)
}

fn method_kind(decorator: &Expression) -> Option<MethodKind> {
    let ExpressionKind::Name(name) = &decorator.kind else {
        let ExpressionKind::Attribute { name, .. } = &decorator.kind else { return None };
        return (name.as_ref() == "setter" || name.as_ref() == "getter").then_some(MethodKind::Property);
    };
    match name.as_ref() {
        "staticmethod" => Some(MethodKind::Static),
        "classmethod" => Some(MethodKind::OfClass),
        "property" | "cached_property" => Some(MethodKind::Property),
        _ => None,
    }
}

fn knows_decorator(path: &str) -> bool {
    crate::frontend::pyspark::dlt::is_library(path)
        || path.starts_with("pyspark.")
        || path.starts_with("functools.partial")
}

/// Whether a handler takes an exception of this class.
fn handles(handler: &Handler, class: &str) -> bool {
    let base_of = |name: &str| match name {
        "Exception" | "BaseException" => true,
        "ImportError" => class == "ModuleNotFoundError",
        "LookupError" => matches!(class, "KeyError" | "IndexError"),
        "OSError" | "IOError" => class == "FileNotFoundError",
        _ => false,
    };
    match handler.exception.as_ref().map(|exception| &exception.kind) {
        None => true,
        Some(ExpressionKind::Name(name)) => name.as_ref() == class || base_of(name),
        Some(ExpressionKind::Tuple(parts)) => parts
            .iter()
            .any(|part| matches!(&part.kind, ExpressionKind::Name(name) if name.as_ref() == class || base_of(name))),
        Some(ExpressionKind::Attribute { name, .. }) => class.ends_with(name.as_ref()),
        Some(_) => false,
    }
}

/// A condition that is not known: by the symbol that it is where it is one, else as it is written.
pub(super) fn condition(test: &Expression, value: &Value) -> Arc<str> {
    match value {
        Value::Unknown(unknown) => unknown.name.clone(),
        Value::Choice(choice) => choice.name.clone(),
        Value::External(path) => path.clone(),
        _ => condition_text(test),
    }
}

/// A condition in few words, for the reader; deep parts are left out.
pub(super) fn condition_text(expression: &Expression) -> Arc<str> {
    text_of(expression, 6).into()
}

fn text_of(expression: &Expression, depth: u32) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
    match &expression.kind {
        ExpressionKind::Name(name) => name.to_string(),
        ExpressionKind::Str(text) => format!("'{text}'"),
        ExpressionKind::Int(number) => number.to_string(),
        ExpressionKind::Bool(true) => "True".to_owned(),
        ExpressionKind::Bool(false) => "False".to_owned(),
        ExpressionKind::None => "None".to_owned(),
        ExpressionKind::Attribute { value, name, .. } => format!("{}.{name}", text_of(value, depth)),
        ExpressionKind::Subscript { value, index } => format!("{}[{}]", text_of(value, depth), text_of(index, depth)),
        ExpressionKind::Not(inner) => format!("not {}", text_of(inner, depth)),
        ExpressionKind::Logical { and, left, right } => {
            format!("{} {} {}", text_of(left, depth), if *and { "and" } else { "or" }, text_of(right, depth))
        }
        ExpressionKind::Compare { left, rest } => {
            let rest: String =
                rest.iter().map(|(operator, right)| format!(" {operator} {}", text_of(right, depth))).collect();
            format!("{}{rest}", text_of(left, depth))
        }
        ExpressionKind::Call { function, arguments } => {
            let shown: Vec<String> = arguments
                .iter()
                .map(|argument| match argument {
                    crate::frontend::python::syntax::Argument::Positional(value) => text_of(value, depth),
                    _ => "…".to_owned(),
                })
                .collect();
            format!("{}({})", text_of(function, depth), shown.join(", "))
        }
        _ => "…".to_owned(),
    }
}

/// Where a function stands, from its first decorator to its parameters.
pub fn header_place(interpreter: &Interpreter<'_>, function: &Rc<Function>) -> Place {
    let source = &function.source;
    let range = function.definition.header;
    let mut span = interpreter.span(range);
    span.path = source.path.clone();
    span.cell = source.cell;
    span.line = range.line + source.line_offset;
    span.end_line = range.end_line + source.line_offset;
    Place::at(span)
}

/// The function under a decorator that is not followed.
fn wrapped(value: Value) -> Value {
    if let Value::Function(function) = &value {
        function.is_wrapped.set(true);
    }
    value
}
