//! Content of functions and values: a hash of what they say and of the repository's functions they reach, independent of
//! layout, comments, docstrings, places, and of the names that helpers go by.

use super::interpret::{Interpreter, header_place};
use super::syntax::{Fingerprint, Token};
use super::value::{Arguments, Class, Function, Value};
use crate::frontend::pyspark::opaque;
use crate::model::{CodeUnit, Opaque, Place, Plan, Span};
use std::rc::Rc;
use std::sync::Arc;

/// Levels of functions and values that are followed.
const MAX_DEPTH: u32 = 24;
/// Tokens hashed for one piece of content.
const MAX_TOKENS: u64 = 400_000;

/// FNV-1a: the same on every machine and in every version.
#[derive(Debug, Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain(std::iter::once(0xff)) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.text(&format!("{number:x}"));
    }
}

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// A plan's content, whatever its frames are numbered.
fn plan(plan: &Plan, hash: &mut Fnv) {
    let mut plan = plan.clone();
    super::frames::normalize(&mut plan);
    std::hash::Hash::hash(&plan, hash);
}

pub fn of_text(text: &str) -> u64 {
    let mut hash = Fnv::new();
    hash.text(text);
    hash.0
}

/// Hashing of definitions and values.
#[derive(Debug, Default)]
pub struct Contents;

/// A walk over everything a piece of code reaches.
struct Reach {
    visiting: Vec<usize>,
    units: Vec<Reached>,
    budget: u64,
    /// Decorators count as code too.
    decorators: bool,
}

impl Reach {
    fn new(decorators: bool) -> Self {
        Reach { visiting: Vec::new(), units: Vec::new(), budget: MAX_TOKENS, decorators }
    }
}

enum Reached {
    Function(Rc<Function>),
    Class(Rc<Class>),
}

impl Contents {
    /// A definition's own content, without what it reaches.
    pub fn own(&self, fingerprint: &Fingerprint) -> u64 {
        let mut hash = Fnv::new();
        for token in &fingerprint.tokens {
            match token {
                Token::Open(kind) => hash.text(kind),
                Token::Close => hash.text(")"),
                // A helper may be renamed without a change of meaning where it is called.
                Token::Name(name) if !fingerprint.bound.contains(name) => hash.text("name"),
                Token::Text(text) | Token::Name(text) => hash.text(text),
                Token::Local(number) => hash.text(&format!("local {number}")),
            }
        }
        hash.0
    }

    pub fn mentions(&self, fingerprint: &Fingerprint, words: &[&str]) -> bool {
        fingerprint.tokens.iter().any(|token| match token {
            Token::Text(text) | Token::Name(text) => words.contains(&text.as_ref()),
            _ => false,
        })
    }

    /// Content of a call's arguments.
    pub fn of_arguments(&mut self, arguments: &Arguments) -> u64 {
        let mut hash = Fnv::new();
        let mut reach = Reach::new(false);
        for value in &arguments.positional {
            self.value(value, &mut hash, &mut reach, MAX_DEPTH);
        }
        for (key, value) in &arguments.keywords {
            hash.text(key);
            self.value(value, &mut hash, &mut reach, MAX_DEPTH);
        }
        hash.0
    }

    /// Content of a value, in few letters.
    pub fn of_value(&self, value: &Value) -> String {
        let mut hash = Fnv::new();
        let mut reach = Reach::new(false);
        Contents.value(value, &mut hash, &mut reach, MAX_DEPTH);
        format!("{:08x}", (hash.0 >> 32) ^ (hash.0 & 0xffff_ffff))
    }

    fn value(&mut self, value: &Value, hash: &mut Fnv, reach: &mut Reach, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        reach.budget = reach.budget.saturating_sub(1);
        if reach.budget == 0 {
            return;
        }
        match value {
            Value::Function(function) | Value::Method { function, .. } => {
                let content = self.function(function, reach, depth);
                hash.number(content);
            }
            Value::Decorated(decorated) => self.value(&decorated.function, hash, reach, depth),
            Value::Udf(udf) => self.value(&udf.function, hash, reach, depth),
            Value::Partial(partial) => {
                self.value(&partial.function, hash, reach, depth);
                for argument in
                    partial.arguments.positional.iter().chain(partial.arguments.keywords.iter().map(|(_, v)| v))
                {
                    self.value(argument, hash, reach, depth);
                }
            }
            Value::Class(class) => {
                let content = self.class(class, reach, depth);
                hash.number(content);
            }
            Value::Instance(instance) => {
                let content = self.class(&instance.class, reach, depth);
                hash.number(content);
                for (key, value) in instance.attributes.borrow().iter() {
                    hash.text(key);
                    self.value(value, hash, reach, depth);
                }
            }
            Value::List(list) | Value::Set(list) => {
                for item in &list.borrow().items {
                    self.value(item, hash, reach, depth);
                }
            }
            Value::Tuple(items) => {
                for item in items.iter() {
                    self.value(item, hash, reach, depth);
                }
            }
            Value::Dict(dict) => {
                for (key, value) in &dict.borrow().items {
                    self.value(key, hash, reach, depth);
                    self.value(value, hash, reach, depth);
                }
            }
            Value::Str(text) => hash.text(&text.text),
            Value::Int(number) => hash.number(*number as u64),
            Value::Float(number) => hash.number(number.to_bits()),
            Value::Bool(flag) => hash.text(if *flag { "True" } else { "False" }),
            Value::External(path) => hash.text(path),
            Value::Unknown(unknown) => {
                hash.text(&unknown.name);
                hash.number(unknown.content);
            }
            Value::Choice(choice) => {
                hash.text(&choice.name);
                for option in &choice.options {
                    self.value(option, hash, reach, depth);
                }
            }
            Value::Type(data_type) => hash.text(&data_type.to_string()),
            Value::Date(days) => hash.number(*days as u64),
            Value::Timestamp(micros) | Value::Duration(micros) => hash.number(*micros as u64),
            Value::Column(expr) => {
                use std::hash::Hash;
                expr.hash(hash);
            }
            Value::Schema(schema) => hash.text(&crate::frontend::pyspark::functions::ddl(&schema.borrow().fields)),
            Value::BoundNative { receiver, name } => {
                hash.text(name);
                self.value(receiver, hash, reach, depth);
            }
            Value::Frame(frame) => plan(&frame.plan, hash),
            Value::Grouped(grouped) => {
                hash.text("grouped");
                plan(&grouped.frame.plan, hash);
            }
            Value::Writer(writer) => self.value(&writer.frame, hash, reach, depth),
            Value::Slice(parts) => parts.iter().for_each(|part| self.value(part, hash, reach, depth)),
            Value::Super { instance, .. } => self.value(instance, hash, reach, depth),
            Value::Module(module) => hash.text(&module.name),
            Value::SortKey(key) => std::hash::Hash::hash(key, hash),
            Value::Window(window) => std::hash::Hash::hash(window, hash),
            Value::Field(field) => std::hash::Hash::hash(field, hash),
            Value::None | Value::Reader(_) | Value::StateHandle(_) => hash.text(value.type_name()),
        }
    }

    fn function(&mut self, function: &Rc<Function>, reach: &mut Reach, depth: u32) -> u64 {
        let key = Arc::as_ptr(&function.definition) as usize;
        if reach.visiting.contains(&key) {
            return 1;
        }
        reach.units.push(Reached::Function(function.clone()));
        reach.visiting.push(key);
        let definition = function.definition.clone();
        let mut content = self.tokens(&definition.fingerprint, &function.closure, reach, depth);
        if reach.decorators {
            let mut hash = Fnv(content);
            hash.number(self.tokens(&definition.decoration, &function.closure, reach, depth));
            content = hash.0;
        }
        reach.visiting.pop();
        content
    }

    fn class(&mut self, class: &Rc<Class>, reach: &mut Reach, depth: u32) -> u64 {
        let key = Arc::as_ptr(&class.definition) as usize;
        if reach.visiting.contains(&key) {
            return 2;
        }
        reach.units.push(Reached::Class(class.clone()));
        reach.visiting.push(key);
        let definition = class.definition.clone();
        let mut hash = Fnv(self.tokens(&definition.fingerprint, &class.scope, reach, depth));
        for base in &class.bases {
            self.value(base, &mut hash, reach, depth);
        }
        reach.visiting.pop();
        hash.0
    }

    /// Hashes a definition's tokens, each name that means something of the repository by that thing's content.
    fn tokens(
        &mut self,
        fingerprint: &Fingerprint,
        scope: &Rc<super::scope::Scope>,
        reach: &mut Reach,
        depth: u32,
    ) -> u64 {
        let mut hash = Fnv::new();
        let mut tokens = fingerprint.tokens.iter().peekable();
        while let Some(token) = tokens.next() {
            reach.budget = reach.budget.saturating_sub(1);
            if reach.budget == 0 {
                break;
            }
            match token {
                Token::Open(kind) => hash.text(kind),
                Token::Close => hash.text(")"),
                Token::Text(text) => hash.text(text),
                Token::Local(number) => hash.text(&format!("local {number}")),
                Token::Name(name) if fingerprint.bound.contains(name) => hash.text(name),
                Token::Name(name) => match scope.lookup(name) {
                    Some(Value::Module(module)) => {
                        let mut ahead = tokens.clone();
                        let dot = ahead.next();
                        let member = match (dot, ahead.next()) {
                            (Some(Token::Text(dot)), Some(Token::Text(member))) if dot.as_ref() == "." => {
                                module.scope.own(member)
                            }
                            _ => None,
                        };
                        match member {
                            Some(value) => {
                                tokens = ahead;
                                self.value(&value, &mut hash, reach, depth);
                            }
                            None => hash.text(&module.name),
                        }
                    }
                    Some(value) => self.value(&value, &mut hash, reach, depth),
                    None => hash.text(name),
                },
            }
        }
        hash.0
    }
}

impl Interpreter<'_> {
    /// Content of all code that a query function reaches, decorators and the values of its variables included.
    pub fn content_behind(&mut self, query: &Value) -> u64 {
        let mut hash = Fnv::new();
        Contents.value(query, &mut hash, &mut Reach::new(true), MAX_DEPTH);
        hash.0
    }

    /// Content of the file that a place is in.
    pub fn content_of_file(&self, place: &Place) -> u64 {
        let text = place.span().and_then(|span| self.files.data(&span.path)).unwrap_or_default();
        super::syntax::content(&text).map_or_else(|| of_text(&text), |fingerprint| Contents.own(&fingerprint))
    }

    /// Content of a function or class and the units it reaches, itself first.
    pub fn code_of(&mut self, value: &Value) -> (u64, Vec<CodeUnit>) {
        let mut contents = Contents;
        let mut reach = Reach::new(false);
        let mut hash = Fnv::new();
        contents.value(value, &mut hash, &mut reach, MAX_DEPTH);
        let mut units: Vec<CodeUnit> = Vec::new();
        for reached in &reach.units {
            let unit = match reached {
                Reached::Function(function) => CodeUnit {
                    name: function.name.borrow().clone(),
                    content: contents.own(&function.definition.fingerprint),
                    place: header_place(self, function),
                },
                Reached::Class(class) => CodeUnit {
                    name: class.name.clone(),
                    content: contents.own(&class.definition.fingerprint),
                    place: class_place(class),
                },
            };
            if !units.iter().any(|seen| seen.name == unit.name && seen.content == unit.content) {
                units.push(unit);
            }
        }
        (hash.0, units)
    }

    /// A function over whole frames, known by its content.
    pub fn opaque_function(&mut self, value: &Value, place: &Place) -> Opaque {
        let (content, code) = self.code_of(value);
        let reason: Arc<str> = match value {
            Value::Unknown(unknown) => unknown.reason.clone(),
            _ => "".into(),
        };
        let name = match value {
            Value::Class(class) => class.name.to_string(),
            other => self.short(other),
        };
        Opaque { code, ..opaque(&name, &reason, content, place.clone()) }
    }
}

fn class_place(class: &Rc<Class>) -> Place {
    let source = &class.source;
    let range = class.definition.range;
    Place::at(Span {
        path: source.path.clone(),
        line: range.line + source.line_offset,
        column: range.column + source.column_offset,
        end_line: range.line + source.line_offset,
        end_column: range.column + source.column_offset + 1,
        cell: source.cell,
    })
}
