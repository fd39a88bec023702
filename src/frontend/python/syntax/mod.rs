//! Python source as an owned syntax tree.
//!
//! Takes text, gives a [`Module`]: the parts of Python that the interpreter knows, with ranges inside the text. What it does not
//! know becomes [`ExpressionKind::Unsupported`] with its kind; broken lines are listed and the rest is kept.

mod comments;
mod fingerprint;
mod lower;
mod lower_expression;
mod strings;

pub use comments::comments;
pub use fingerprint::{Fingerprint, Token};
pub use lower::{content, parse};

use std::sync::Arc;

/// A range in a parsed text: lines and columns from 1, columns in characters, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

impl Range {
    /// From this range's start to the other's end.
    pub fn to(self, end: Range) -> Range {
        Range { end_line: end.end_line, end_column: end.end_column, ..self }
    }
}

/// One parsed file or notebook cell.
#[derive(Debug, Default)]
pub struct Module {
    pub body: Vec<Statement>,
    /// Where the text is not Python.
    pub errors: Vec<Range>,
    /// The whole text was dropped: too large or too deeply nested to read.
    pub rejected: Option<&'static str>,
}

#[derive(Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub range: Range,
}

#[derive(Debug)]
pub enum ExpressionKind {
    Name(Arc<str>),
    None,
    Bool(bool),
    Ellipsis,
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    /// An f-string.
    Format(Vec<FormatPiece>),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Set(Vec<Expression>),
    Dict(Vec<DictItem>),
    Attribute {
        value: Box<Expression>,
        name: Arc<str>,
        name_range: Range,
    },
    Subscript {
        value: Box<Expression>,
        index: Box<Expression>,
    },
    Slice {
        lower: Option<Box<Expression>>,
        upper: Option<Box<Expression>>,
        step: Option<Box<Expression>>,
    },
    Call {
        function: Box<Expression>,
        arguments: Vec<Argument>,
    },
    Unary {
        operator: &'static str,
        operand: Box<Expression>,
    },
    Binary {
        operator: &'static str,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// `and`, `or`.
    Logical {
        and: bool,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    Not(Box<Expression>),
    Compare {
        left: Box<Expression>,
        rest: Vec<(&'static str, Expression)>,
    },
    Conditional {
        test: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
    Lambda(Arc<FunctionDef>),
    Comprehension(Box<Comprehension>),
    Named {
        name: Arc<str>,
        value: Box<Expression>,
    },
    Yield(Option<Box<Expression>>),
    /// `*x` in a list or target.
    Star(Box<Expression>),
    Unsupported(Arc<str>),
}

#[derive(Debug)]
pub enum FormatPiece {
    Text(Arc<str>),
    /// `{value!conversion:format}`; `format` is the text after the colon.
    Value {
        value: Expression,
        format: Arc<str>,
        debug: Option<Arc<str>>,
    },
}

#[derive(Debug)]
pub enum DictItem {
    Pair(Expression, Expression),
    /// `**other`.
    Splat(Expression),
}

#[derive(Debug)]
pub enum Argument {
    Positional(Expression),
    Keyword(Arc<str>, Expression),
    /// `*args`.
    Splat(Expression),
    /// `**kwargs`.
    KeywordSplat(Expression),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComprehensionKind {
    List,
    Set,
    Dict,
    Generator,
}

#[derive(Debug)]
pub struct Comprehension {
    pub kind: ComprehensionKind,
    /// The element; of a dict comprehension the key.
    pub element: Expression,
    pub value: Option<Expression>,
    pub clauses: Vec<Clause>,
}

#[derive(Debug)]
pub enum Clause {
    For { target: Expression, iterable: Expression },
    If(Expression),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    Plain,
    /// After `*` or `*args`.
    KeywordOnly,
    /// `*args`.
    Rest,
    /// `**kwargs`.
    KeywordRest,
}

#[derive(Debug)]
pub struct Parameter {
    pub name: Arc<str>,
    pub kind: ParameterKind,
    pub default: Option<Expression>,
}

#[derive(Debug)]
pub struct FunctionDef {
    /// `<lambda>` for a lambda, whose body is one return.
    pub name: Arc<str>,
    pub parameters: Vec<Parameter>,
    pub decorators: Vec<Expression>,
    pub body: Vec<Statement>,
    pub is_generator: bool,
    pub docstring: Option<Arc<str>>,
    /// From the first decorator to the end of the parameters.
    pub header: Range,
    pub fingerprint: Fingerprint,
    /// Content of the decorators.
    pub decoration: Fingerprint,
}

impl FunctionDef {
    pub fn is_lambda(&self) -> bool {
        self.name.as_ref() == "<lambda>"
    }
}

#[derive(Debug)]
pub struct ClassDef {
    pub name: Arc<str>,
    pub bases: Vec<Argument>,
    pub decorators: Vec<Expression>,
    pub body: Vec<Statement>,
    pub range: Range,
    pub fingerprint: Fingerprint,
}

#[derive(Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub range: Range,
}

#[derive(Debug)]
pub enum StatementKind {
    Expression(Expression),
    Assign {
        targets: Vec<Expression>,
        value: Expression,
    },
    Annotated {
        target: Expression,
        value: Option<Expression>,
    },
    Augmented {
        target: Expression,
        operator: &'static str,
        value: Expression,
    },
    Function(Arc<FunctionDef>),
    Class(Arc<ClassDef>),
    Return(Option<Expression>),
    If {
        branches: Vec<(Expression, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    For {
        target: Expression,
        iterable: Expression,
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    While {
        test: Expression,
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    Try {
        body: Vec<Statement>,
        handlers: Vec<Handler>,
        otherwise: Vec<Statement>,
        finally: Vec<Statement>,
    },
    With {
        items: Vec<(Expression, Option<Expression>)>,
        body: Vec<Statement>,
    },
    Match {
        subject: Expression,
        cases: Vec<Case>,
    },
    Import(Vec<ImportedName>),
    ImportFrom {
        /// Leading dots.
        level: usize,
        module: Arc<str>,
        /// Nothing for `*`.
        names: Option<Vec<ImportedName>>,
    },
    Raise(Option<Expression>),
    Global(Vec<Arc<str>>),
    Nonlocal(Vec<Arc<str>>),
    Delete(Vec<Expression>),
    Break,
    Continue,
    /// Does nothing that is followed.
    Pass,
}

#[derive(Debug)]
pub struct Handler {
    pub exception: Option<Expression>,
    pub name: Option<Arc<str>>,
    pub body: Vec<Statement>,
}

/// A `case` of a `match`: values it equals (any of them), or everything.
#[derive(Debug)]
pub struct Case {
    pub values: Vec<Expression>,
    pub wildcard: bool,
    pub guard: Option<Expression>,
    pub body: Vec<Statement>,
}

#[derive(Debug)]
pub struct ImportedName {
    pub name: Arc<str>,
    pub alias: Option<Arc<str>>,
}
