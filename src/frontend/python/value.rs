//! Abstract values: what a Python expression can be known to be without running it.

use super::scope::Scope;
use super::syntax::{ClassDef, FunctionDef};
use crate::model::{
    DataType, Expectation, Expr, Field, GroupingSets, Place, Plan, Schema, SortKey, StateVariable, WindowSpec,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Text, in which unknown parts stand as `{name}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub text: Arc<str>,
    /// Some part is unknown.
    pub symbolic: bool,
}

impl Text {
    pub fn known(text: impl Into<Arc<str>>) -> Self {
        Text { text: text.into(), symbolic: false }
    }
}

/// A symbol: something that cannot be known statically.
#[derive(Debug, Clone)]
pub struct Unknown {
    /// Its identity, and what readers see, without braces: the dotted path of an import, a key of the configuration, an operation on
    /// symbols (`catalog`, `lib.days('eu')`, `now - timedelta(7)`). Equal names are equal values; what a name leaves out of an
    /// expression stands in it as a hash.
    pub name: Arc<str>,
    /// Short and stable: `unknown-call`, `runtime-data`, `unknown-configuration`, …
    pub code: &'static str,
    pub reason: Arc<str>,
    pub hint: Option<Arc<str>>,
    pub place: Place,
    /// DataFrames that went into it.
    pub inputs: Vec<Rc<Plan>>,
    /// Columns that went into it.
    pub columns: Vec<Rc<Expr>>,
    /// Content of the repository's code behind it.
    pub content: u64,
    /// Rows of a table that a script has collected.
    pub rows: Option<Collected>,
}

/// What a script holds of a query's rows.
#[derive(Debug, Clone)]
pub enum Collected {
    Rows(Relation),
    FirstRow(Relation),
}

/// Kept rows under a name of their own, with their columns where the code says them.
#[derive(Debug, Clone)]
pub struct Relation {
    pub name: String,
    pub columns: Option<Vec<String>>,
    /// It has one column.
    pub single: bool,
}

/// A value on which an unknown condition decides.
#[derive(Debug)]
pub struct Choice {
    pub name: Arc<str>,
    /// The condition, as written.
    pub condition: Arc<str>,
    /// What decides for the first of two options, where that is in tables.
    pub test: Option<Expr>,
    pub options: Vec<Value>,
    pub place: Place,
}

/// Insertion-ordered, keys compared as Python compares constants.
#[derive(Debug, Default, Clone)]
pub struct Dict {
    pub items: Vec<(Value, Value)>,
    /// More keys may exist.
    pub open: bool,
}

impl Dict {
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.items.iter().find(|(k, _)| k.same(key)).map(|(_, value)| value)
    }

    pub fn get_str(&self, key: &str) -> Option<&Value> {
        self.items.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, value)| value)
    }

    pub fn insert(&mut self, key: Value, value: Value) {
        match self.items.iter_mut().find(|(k, _)| k.same(&key)) {
            Some((_, slot)) => *slot = value,
            None => self.items.push((key, value)),
        }
    }

    pub fn remove(&mut self, key: &Value) -> Option<Value> {
        let at = self.items.iter().position(|(k, _)| k.same(key))?;
        Some(self.items.remove(at).1)
    }
}

/// A list, with `open` where more elements may exist.
#[derive(Debug, Default, Clone)]
pub struct List {
    pub items: Vec<Value>,
    pub open: bool,
}

/// The text a definition stands in: a file, or a cell of a notebook.
#[derive(Debug)]
pub struct SourceText {
    pub path: Arc<str>,
    pub cell: Option<u32>,
    /// Added to a range's lines and columns.
    pub line_offset: u32,
    pub column_offset: u32,
}

#[derive(Debug)]
pub struct Function {
    pub definition: Arc<FunctionDef>,
    /// `__name__`; `functools.wraps` changes it.
    pub name: RefCell<Arc<str>>,
    pub closure: Rc<Scope>,
    pub defaults: Vec<Option<Value>>,
    pub source: Rc<SourceText>,
    /// Class the method was defined in, for `super()`.
    pub owner: RefCell<Option<Rc<Class>>>,
    pub kind: Cell<MethodKind>,
    /// A decorator that is not followed was applied to it: what a call of it gives is not certain.
    pub is_wrapped: Cell<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodKind {
    Plain,
    Static,
    OfClass,
    Property,
}

#[derive(Debug)]
pub struct Class {
    pub name: Arc<str>,
    pub definition: Arc<ClassDef>,
    pub bases: Vec<Value>,
    pub scope: Rc<Scope>,
    pub source: Rc<SourceText>,
    /// Fields of a dataclass or NamedTuple, in order, with their defaults.
    pub fields: RefCell<Vec<(Arc<str>, Option<Value>)>>,
    pub is_record: Cell<bool>,
    pub is_enum: Cell<bool>,
}

#[derive(Debug)]
pub struct Instance {
    pub class: Rc<Class>,
    pub attributes: RefCell<BTreeMap<Arc<str>, Value>>,
}

/// An imported module of the repository.
#[derive(Debug)]
pub struct ModuleValue {
    /// Dotted name.
    pub name: Arc<str>,
    /// Folder of a package, for its submodules.
    pub package: Option<Arc<str>>,
    pub scope: Rc<Scope>,
}

/// A callable with arguments already given: `functools.partial`, a decorator waiting for its function.
#[derive(Debug)]
pub struct Partial {
    pub function: Value,
    pub arguments: Arguments,
}

/// Evaluated arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    pub positional: Vec<Value>,
    pub keywords: Vec<(Arc<str>, Value)>,
    /// More arguments may be given (`*unknown`).
    pub open: bool,
    /// From the method's name to the closing parenthesis.
    pub place: Place,
}

impl Arguments {
    pub fn of(positional: Vec<Value>, place: Place) -> Self {
        Arguments { positional, keywords: Vec::new(), open: false, place }
    }

    pub fn keyword(&self, name: &str) -> Option<&Value> {
        self.keywords.iter().find(|(key, _)| key.as_ref() == name).map(|(_, value)| value)
    }

    /// A parameter by position or name.
    pub fn get(&self, index: usize, name: &str) -> Option<&Value> {
        self.positional.get(index).or_else(|| self.keyword(name))
    }

    /// The same, `None` counted as not given.
    pub fn given(&self, index: usize, name: &str) -> Option<&Value> {
        self.get(index, name).filter(|value| !matches!(value, Value::None))
    }

    pub fn text(&self, index: usize, name: &str) -> Option<Arc<str>> {
        self.get(index, name).and_then(Value::render_string)
    }

    pub fn flag(&self, index: usize, name: &str) -> Option<bool> {
        match self.get(index, name) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }
}

/// A DataFrame.
#[derive(Debug, Clone)]
pub struct Frame {
    pub plan: Rc<Plan>,
}

#[derive(Debug, Clone)]
pub struct Grouped {
    pub frame: Frame,
    pub groupings: Vec<Expr>,
    pub sets: GroupingSets,
    /// Column and values of `pivot`.
    pub pivot: Option<(Expr, Option<Vec<Expr>>)>,
}

/// `spark.read`, `spark.readStream`.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    pub streaming: bool,
    pub format: Option<Arc<str>>,
    pub options: BTreeMap<String, String>,
    pub schema: Option<Schema>,
    pub name: Option<String>,
    pub place: Place,
}

/// `df.writeStream`, `df.write`.
#[derive(Debug, Clone)]
pub struct Writer {
    pub streaming: bool,
    pub frame: Value,
    pub format: Option<Arc<str>>,
    pub output_mode: Option<Arc<str>>,
    pub query_name: Option<Arc<str>>,
    pub trigger: Option<Arc<str>>,
    pub partition_by: Vec<String>,
    pub options: BTreeMap<String, String>,
    pub foreach_batch: Option<Value>,
    /// The table that `writeTo` names.
    pub table: Option<Arc<str>>,
    pub bucket_by: Option<(u32, Vec<String>)>,
}

/// A user-defined function registered with Spark.
#[derive(Debug, Clone)]
pub struct Udf {
    pub function: Value,
    pub returns: DataType,
    pub deterministic: bool,
}

/// A function that decorators of the pipeline library have seen.
#[derive(Debug)]
pub struct Decorated {
    pub function: Value,
    pub expectations: RefCell<Vec<Expectation>>,
    /// Datasets made of it, as the registry numbers them.
    pub datasets: RefCell<Vec<usize>>,
}

/// State variables a StatefulProcessor's `init` asked its handle for.
#[derive(Debug, Default)]
pub struct StateHandle {
    pub variables: RefCell<Vec<StateVariable>>,
}

#[derive(Debug, Clone)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Text),
    List(Rc<RefCell<List>>),
    Tuple(Rc<[Value]>),
    Set(Rc<RefCell<List>>),
    Dict(Rc<RefCell<Dict>>),
    Slice(Rc<[Value; 3]>),
    Function(Rc<Function>),
    /// A function of the repository bound to its receiver.
    Method {
        receiver: Box<Value>,
        function: Rc<Function>,
    },
    /// A method of a built-in or Spark object.
    BoundNative {
        receiver: Box<Value>,
        name: Arc<str>,
    },
    Class(Rc<Class>),
    Instance(Rc<Instance>),
    Super {
        instance: Box<Value>,
        class: Rc<Class>,
    },
    Module(Rc<ModuleValue>),
    /// An object of a library, by its dotted path: `pyspark.sql.functions.col`, `builtins.len`, `spark`.
    External(Arc<str>),
    Partial(Rc<Partial>),
    Decorated(Rc<Decorated>),
    Udf(Rc<Udf>),
    Frame(Frame),
    Grouped(Rc<Grouped>),
    Column(Rc<Expr>),
    SortKey(Rc<SortKey>),
    Window(Rc<WindowSpec>),
    Reader(Rc<Reader>),
    Writer(Rc<Writer>),
    Type(Rc<DataType>),
    Field(Rc<Field>),
    Schema(Rc<RefCell<Schema>>),
    StateHandle(Rc<StateHandle>),
    /// `datetime.date`, `datetime.datetime`: days, or microseconds since the epoch.
    Date(i32),
    Timestamp(i64),
    /// `datetime.timedelta`, microseconds.
    Duration(i64),
    Unknown(Rc<Unknown>),
    Choice(Rc<Choice>),
}

impl Value {
    pub fn str(text: impl Into<Arc<str>>) -> Self {
        Value::Str(Text::known(text))
    }

    pub fn list(items: Vec<Value>) -> Self {
        Value::List(Rc::new(RefCell::new(List { items, open: false })))
    }

    pub fn dict(items: Vec<(Value, Value)>) -> Self {
        Value::Dict(Rc::new(RefCell::new(Dict { items, open: false })))
    }

    pub fn column(expr: Expr) -> Self {
        Value::Column(Rc::new(expr))
    }

    pub fn external(path: &str) -> Self {
        Value::External(path.into())
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// Text that is known to the last letter.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) if !text.symbolic => Some(&text.text),
            _ => None,
        }
    }

    /// Text for a place where text is wanted: unknown parts and unknown values as `{name}`.
    pub fn render_string(&self) -> Option<Arc<str>> {
        match self {
            Value::Str(text) => Some(text.text.clone()),
            Value::Unknown(unknown) => Some(format!("{{{}}}", unknown.name).into()),
            Value::Choice(choice) => Some(format!("{{{}}}", choice.name).into()),
            Value::External(path) => Some(format!("{{{path}}}").into()),
            _ => None,
        }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Value::Unknown(_) | Value::Choice(_))
    }

    /// Equal beyond doubt.
    pub fn same(&self, other: &Value) -> bool {
        self.equals(other) == Some(true)
    }

    /// The same object, or equal beyond doubt.
    pub fn identical(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(a), Value::List(b)) | (Value::Set(a), Value::Set(b)) => Rc::ptr_eq(a, b) || self.same(other),
            (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
            (Value::Frame(a), Value::Frame(b)) => Rc::ptr_eq(&a.plan, &b.plan),
            (Value::Column(a), Value::Column(b)) => Rc::ptr_eq(a, b) || a == b,
            (Value::Schema(a), Value::Schema(b)) => Rc::ptr_eq(a, b) || *a.borrow() == *b.borrow(),
            (Value::Module(a), Value::Module(b)) => Rc::ptr_eq(a, b),
            (Value::Decorated(a), Value::Decorated(b)) => Rc::ptr_eq(a, b),
            _ => self.same(other),
        }
    }

    /// Python's `==`, where it can be told.
    pub fn equals(&self, other: &Value) -> Option<bool> {
        self.equals_within(other, 32)
    }

    fn equals_within(&self, other: &Value, depth: u32) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let all = |a: &[Value], b: &[Value]| -> Option<bool> {
            if a.len() != b.len() {
                return Some(false);
            }
            let mut known = true;
            for (x, y) in a.iter().zip(b) {
                match x.equals_within(y, depth) {
                    Some(false) => return Some(false),
                    Some(true) => {}
                    None => known = false,
                }
            }
            known.then_some(true)
        };
        match (self, other) {
            (Value::Unknown(a), Value::Unknown(b)) => (a.name == b.name).then_some(true),
            (Value::Unknown(_) | Value::Choice(_), _) | (_, Value::Unknown(_) | Value::Choice(_)) => None,
            (Value::None, Value::None) => Some(true),
            (Value::Str(a), Value::Str(b)) => match (a.text == b.text, a.symbolic || b.symbolic) {
                (true, _) => Some(true),
                (false, true) => None,
                (false, false) => Some(false),
            },
            (Value::Bool(a), Value::Bool(b)) => Some(a == b),
            (Value::List(a), Value::List(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                if a.open || b.open { None } else { all(&a.items, &b.items) }
            }
            (Value::Tuple(a), Value::Tuple(b)) => all(a, b),
            (Value::External(a), Value::External(b)) => Some(a == b),
            (Value::Date(a), Value::Date(b)) => Some(a == b),
            (Value::Timestamp(a), Value::Timestamp(b)) | (Value::Duration(a), Value::Duration(b)) => Some(a == b),
            (Value::Type(a), Value::Type(b)) => Some(a == b),
            (Value::Instance(a), Value::Instance(b)) => Rc::ptr_eq(a, b).then_some(true),
            (Value::Class(a), Value::Class(b)) => Some(Rc::ptr_eq(a, b)),
            (Value::Function(a), Value::Function(b)) => Some(Rc::ptr_eq(a, b)),
            (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b).then_some(true),
            _ => match (self.as_number(), other.as_number()) {
                (Some(a), Some(b)) => Some(a == b),
                _ if self.is_constant() && other.is_constant() => Some(false),
                _ => None,
            },
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
            _ => None,
        }
    }

    fn is_constant(&self) -> bool {
        matches!(
            self,
            Value::None
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Str(Text { symbolic: false, .. })
                | Value::List(_)
                | Value::Tuple(_)
                | Value::Dict(_)
                | Value::Set(_)
        )
    }

    /// It is known only at run time, or one of several under an unknown condition.
    pub fn is_open(&self) -> bool {
        match self {
            Value::Unknown(_) | Value::Choice(_) => true,
            Value::Str(text) => text.symbolic,
            Value::List(list) | Value::Set(list) => list.borrow().open,
            Value::Dict(dict) => dict.borrow().open,
            _ => false,
        }
    }

    /// Python's truth, where it can be told.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Value::None => Some(false),
            Value::Bool(flag) => Some(*flag),
            Value::Int(number) => Some(*number != 0),
            Value::Float(number) => Some(*number != 0.0),
            Value::Str(text) if text.symbolic => {
                // Known text beside the unknown part makes it true.
                let holes_only = text.text.starts_with('{') && text.text.matches('{').count() == 1;
                (!holes_only || !text.text.ends_with('}')).then_some(true)
            }
            Value::Str(text) => Some(!text.text.is_empty()),
            Value::List(list) | Value::Set(list) => {
                let list = list.borrow();
                if !list.items.is_empty() { Some(true) } else { (!list.open).then_some(false) }
            }
            Value::Tuple(items) => Some(!items.is_empty()),
            Value::Dict(dict) => {
                let dict = dict.borrow();
                if !dict.items.is_empty() { Some(true) } else { (!dict.open).then_some(false) }
            }
            Value::Unknown(_) | Value::External(_) => None,
            Value::Choice(choice) => {
                let mut truths = choice.options.iter().map(Value::truth);
                let first = truths.next().flatten()?;
                truths.all(|truth| truth == Some(first)).then_some(first)
            }
            _ => Some(true),
        }
    }

    /// What Python calls the type, for messages and `isinstance`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Set(_) => "set",
            Value::Dict(_) => "dict",
            Value::Slice(_) => "slice",
            Value::Function(_) | Value::Decorated(_) | Value::Partial(_) => "function",
            Value::Method { .. } | Value::BoundNative { .. } => "method",
            Value::Class(_) => "type",
            Value::Instance(_) | Value::Super { .. } => "object",
            Value::Module(_) => "module",
            Value::External(_) => "external object",
            Value::Udf(_) => "UserDefinedFunction",
            Value::Frame(_) => "DataFrame",
            Value::Grouped(_) => "GroupedData",
            Value::Column(_) | Value::SortKey(_) => "Column",
            Value::Window(_) => "WindowSpec",
            Value::Reader(reader) => {
                if reader.streaming {
                    "DataStreamReader"
                } else {
                    "DataFrameReader"
                }
            }
            Value::Writer(writer) => {
                if writer.streaming {
                    "DataStreamWriter"
                } else {
                    "DataFrameWriter"
                }
            }
            Value::Type(_) => "DataType",
            Value::Field(_) => "StructField",
            Value::Schema(_) => "StructType",
            Value::StateHandle(_) => "StatefulProcessorHandle",
            Value::Date(_) => "date",
            Value::Timestamp(_) => "datetime",
            Value::Duration(_) => "timedelta",
            Value::Unknown(_) | Value::Choice(_) => "unknown value",
        }
    }
}
