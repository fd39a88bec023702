//! The abstract interpreter: executes module bodies on abstract values, never the code itself.
//!
//! Soundness rests on three habits. What cannot be known is a [`Value::Unknown`] with a name, a place and a reason, and stays
//! one through every operation. Under an unknown condition both branches run and their results are joined. Fuel and depth are
//! bounded, and running out is an unknown like any other.

mod attributes;
mod calls;
mod classes;
mod comprehensions;
mod expressions;
mod formatting;
mod imports;
mod operators;
mod statements;

pub use imports::ProjectFiles;
pub use statements::header_place;

use super::content::Contents;
use super::scope::{Scope, ScopeKind};
use super::syntax::{Module, Range};
use super::value::{Choice, Function, ModuleValue, SourceText, Unknown, Value};
use crate::frontend::Definitions;
use crate::frontend::pyspark::batch::{Mark, Recorder};
use crate::frontend::pyspark::dlt::Registry;
use crate::frontend::sql::Session;
use crate::model::{Diagnostic, DiagnosticLevel, Expr, Node, Pipeline, Place, Plan, Repetition, Span, Way};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Steps one pipeline's Python may take.
const FUEL: u64 = 1_500_000;
/// Nested calls of repository functions.
const MAX_CALLS: usize = 40;
/// Nested evaluations of any kind.
const MAX_DEPTH: u32 = 3_000;
/// Options that one value may have under unknown conditions.
const MAX_OPTIONS: usize = 8;
/// Letters of a string, elements of a list.
pub(super) const MAX_TEXT: usize = 1 << 20;
pub(super) const MAX_ITEMS: usize = 20_000;

/// Why evaluation of a statement or expression ended early.
#[derive(Debug)]
pub enum Stop {
    /// A Python exception, by class and message.
    Raise {
        class: Arc<str>,
        message: String,
    },
    OutOfFuel,
}

pub type Eval<T> = Result<T, Stop>;

/// What a value is unknown for: a stable code, and what would help.
#[derive(Debug, Clone)]
pub struct Gap {
    pub code: &'static str,
    pub hint: Option<Arc<str>>,
}

/// One call in progress.
struct Activation {
    function: Option<Rc<Function>>,
    /// Values returned under unknown conditions.
    returns: Vec<Value>,
    yields: Option<Vec<Value>>,
}

pub struct Interpreter<'a> {
    pub files: &'a ProjectFiles<'a>,
    pub pipeline: &'a Pipeline,
    pub registry: Registry,
    pub diagnostics: Vec<Diagnostic>,
    /// Reasons given so far, for the report of what could not be resolved.
    pub gaps: BTreeMap<Arc<str>, Gap>,
    /// Unknown values that went into names, by name.
    pub symbols: BTreeMap<Arc<str>, Rc<Unknown>>,
    /// Configuration that the code itself sets.
    pub conf: BTreeMap<String, String>,
    /// Temporary views registered so far, by lower-case name.
    pub views: BTreeMap<String, Rc<Plan>>,
    pub contents: Contents,
    /// Repository functions called while the current flow is built, in order of first call.
    pub trace: Vec<Rc<Function>>,
    /// `SET` and `USE` of the notebook's SQL cells so far, and what the cells define.
    pub sql_session: Session,
    pub sql_cells: Vec<Definitions>,
    /// Functions of the repository that were defined, and the definitions of those that ran.
    pub defined: Vec<Rc<Function>>,
    pub executed: BTreeSet<usize>,
    /// What the code writes in batch, where a script is read for that.
    pub job: Recorder,
    /// Arguments that the script's command line takes, with what they are by default.
    pub command_line: BTreeMap<Arc<str>, Value>,
    /// Where the generator that ran last yielded, among the steps of a script.
    yielded_at: Option<Mark>,
    pub source: Rc<SourceText>,
    pub(super) modules: BTreeMap<Arc<str>, Rc<ModuleValue>>,
    loading: Vec<Arc<str>>,
    pub(super) search_path: Vec<String>,
    activations: Vec<Activation>,
    /// The test in tables of the condition whose ways are being joined.
    deciding: Option<Expr>,
    /// Unknown conditions under which code now runs.
    conditions: Vec<Arc<str>>,
    /// How many expressions gave a value that is known only at run time.
    pub open_values: u64,
    /// Loops over unknown sets that are being run once, for any element.
    templates: u32,
    /// Loops that are being run.
    loops: u32,
    /// Loops whose number of passes is not known, run once.
    open_loops: u32,
    handlers: u32,
    /// Things that may raise at run time so far: imports and calls that are not known, configuration that is set nowhere.
    pub(super) doubts: u32,
    next_frame: u32,
    fuel: u64,
    depth: u32,
}

impl<'a> Interpreter<'a> {
    pub fn new(files: &'a ProjectFiles<'a>, pipeline: &'a Pipeline) -> Self {
        Interpreter {
            files,
            pipeline,
            registry: Registry::default(),
            diagnostics: Vec::new(),
            gaps: BTreeMap::new(),
            symbols: BTreeMap::new(),
            conf: BTreeMap::new(),
            views: BTreeMap::new(),
            contents: Contents,
            trace: Vec::new(),
            sql_session: Session::default(),
            sql_cells: Vec::new(),
            defined: Vec::new(),
            executed: BTreeSet::new(),
            job: Recorder::default(),
            command_line: BTreeMap::new(),
            yielded_at: None,
            source: Rc::new(SourceText { path: "".into(), cell: None, line_offset: 0, column_offset: 0 }),
            modules: BTreeMap::new(),
            loading: Vec::new(),
            search_path: Vec::new(),
            activations: Vec::new(),
            deciding: None,
            conditions: Vec::new(),
            open_values: 0,
            templates: 0,
            loops: 0,
            open_loops: 0,
            handlers: 0,
            doubts: 0,
            next_frame: 0,
            fuel: FUEL,
            depth: 0,
        }
    }

    /// Runs the statements of a file or cell in its namespace.
    pub fn run_module(&mut self, module: &Module, source: SourceText, scope: &Rc<Scope>) {
        let outer = std::mem::replace(&mut self.source, Rc::new(source));
        self.report_syntax(module);
        self.activations.push(Activation { function: None, returns: Vec::new(), yields: None });
        for statement in &module.body {
            match self.statement(statement, scope) {
                Ok(_) => {}
                Err(Stop::Raise { class, message }) => {
                    let text = format!("`{class}` is raised when this module is loaded: {message}");
                    self.diagnose(DiagnosticLevel::Warning, "python-raises", text, statement.range);
                }
                Err(Stop::OutOfFuel) => {
                    let text = "the code takes too many steps to follow; what comes after is not analysed".to_owned();
                    self.diagnose(DiagnosticLevel::Warning, "python-too-long", text, statement.range);
                    break;
                }
            }
        }
        self.activations.pop();
        self.source = outer;
    }

    fn report_syntax(&mut self, module: &Module) {
        if let Some(reason) = module.rejected {
            self.diagnose(DiagnosticLevel::Error, "python-syntax", format!("not analysed: {reason}"), Range::default());
        }
        if let Some(first) = module.errors.first() {
            let text = "this is not valid Python; the statements around it are analysed".to_owned();
            self.diagnose(DiagnosticLevel::Error, "python-syntax", text, *first);
        }
    }

    pub fn diagnose(&mut self, level: DiagnosticLevel, code: &'static str, message: String, range: Range) {
        let span = self.span(range);
        let path = Some(self.source.path.to_string());
        self.diagnostics.push(Diagnostic { level, code, message, help: None, path, span: Some(span) });
    }

    pub fn span(&self, range: Range) -> Span {
        let source = &self.source;
        Span {
            path: source.path.clone(),
            line: range.line.max(1) + source.line_offset,
            column: range.column.max(1) + source.column_offset,
            end_line: range.end_line.max(1) + source.line_offset,
            end_column: range.end_column.max(1) + source.column_offset,
            cell: source.cell,
        }
    }

    pub fn place(&self, range: Range) -> Place {
        Place::at(self.span(range))
    }

    /// Takes `steps` of the fuel.
    pub fn spend(&mut self, steps: u64) -> Eval<()> {
        self.fuel = self.fuel.saturating_sub(steps);
        if self.fuel == 0 { Err(Stop::OutOfFuel) } else { Ok(()) }
    }

    /// Runs `work` one level deeper, or not at all where the limit is reached.
    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        self.spend(1)?;
        if self.depth >= MAX_DEPTH {
            return Err(Stop::OutOfFuel);
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// An unknown value; `name` is how it shows in strings.
    pub fn unknown(&mut self, name: &str, code: &'static str, reason: impl Into<Arc<str>>, place: Place) -> Value {
        self.unknown_with_hint(name, code, reason, None, place)
    }

    pub fn unknown_with_hint(
        &mut self,
        name: &str,
        code: &'static str,
        reason: impl Into<Arc<str>>,
        hint: Option<&str>,
        place: Place,
    ) -> Value {
        self.doubts += u32::from(matches!(code, "unknown-configuration" | "unknown-call"));
        let name: Arc<str> = clip(name).into();
        let hint = hint.map(Arc::from);
        let unknown = Unknown {
            name,
            code,
            reason: reason.into(),
            hint,
            place,
            inputs: Vec::new(),
            columns: Vec::new(),
            content: 0,
            rows: None,
        };
        Value::Unknown(self.note(unknown))
    }

    /// Keeps an unknown value's reason for the report.
    pub fn note(&mut self, unknown: Unknown) -> Rc<Unknown> {
        // Unknown values beget unknown values: a loop over them runs out sooner. Running out is seen at the next step.
        self.fuel = self.fuel.saturating_sub(8).max(1);
        let gap = Gap { code: unknown.code, hint: unknown.hint.clone() };
        self.gaps.entry(unknown.reason.clone()).or_insert(gap);
        let unknown = Rc::new(unknown);
        self.symbols.entry(unknown.name.clone()).or_insert_with(|| unknown.clone());
        unknown
    }

    /// What follows from an unknown value, under a longer name and the same reason.
    pub fn derived(&mut self, from: &Unknown, name: &str) -> Value {
        let unknown = Unknown { name: clip(name).into(), rows: None, ..from.clone() };
        Value::Unknown(self.note(unknown))
    }

    /// Joins the values that a variable has after an unknown condition.
    pub fn join(&mut self, name: &str, options: Vec<Value>, place: &Place) -> Value {
        let mut distinct: Vec<Value> = Vec::new();
        for option in options {
            let parts = match &option {
                Value::Choice(choice) => choice.options.clone(),
                other => vec![other.clone()],
            };
            for part in parts {
                if !distinct.iter().any(|seen| seen.identical(&part)) {
                    distinct.push(part);
                }
            }
        }
        if distinct.len() <= 1 {
            return distinct.pop().unwrap_or(Value::None);
        }
        let condition: Arc<str> = self.conditions.last().cloned().unwrap_or_else(|| "an unknown condition".into());
        if let Some(index) = as_if_present(&distinct, &condition) {
            return distinct.swap_remove(index);
        }
        let shown: Vec<String> = distinct.iter().map(|option| self.identity(option)).collect();
        let options = digest(&format!("{condition}: {}", shown.join(" | ")));
        let label = name.split('#').next().unwrap_or(name);
        let identity = format!("{label}#{options}");
        if distinct.len() > MAX_OPTIONS {
            let reason =
                format!("`{name}` has more than {MAX_OPTIONS} possible values under conditions that are not known");
            let inputs = distinct.iter().filter_map(|option| match option {
                Value::Frame(frame) => Some(frame.plan.clone()),
                _ => None,
            });
            let inputs = inputs.collect();
            let unknown = Unknown {
                name: clip(&identity).into(),
                code: "unknown-condition",
                reason: reason.into(),
                hint: None,
                place: place.clone(),
                inputs,
                columns: Vec::new(),
                content: crate::frontend::python::content::of_text(&identity),
                rows: None,
            };
            return Value::Unknown(self.note(unknown));
        }
        let name = clip(&identity).into();
        let test = self.deciding.clone().filter(|_| distinct.len() == 2);
        Value::Choice(Rc::new(Choice { name, condition, test, options: distinct, place: place.clone() }))
    }

    /// Applies `work` to every option of a choice and joins the results.
    pub fn lift(&mut self, choice: &Choice, mut work: impl FnMut(&mut Self, &Value) -> Eval<Value>) -> Eval<Value> {
        let mut results = Vec::new();
        let mut failure = None;
        let mut ways = Vec::new();
        for (at, option) in choice.options.iter().enumerate() {
            self.job.begin();
            let result = work(self, option);
            let steps = self.job.end();
            let test = choice.test.clone().filter(|_| at == 0);
            ways.push(Way { condition: choice.condition.to_string(), test, steps, leaves: false });
            match result {
                Ok(value) => results.push(value),
                Err(stop @ Stop::Raise { .. }) => failure = Some(stop),
                Err(stop) => return Err(stop),
            }
        }
        self.job.branch(ways, choice.place.clone());
        match (results.is_empty(), failure) {
            (true, Some(stop)) => Err(stop),
            _ => {
                self.conditions.push(choice.condition.clone());
                let outer = std::mem::replace(&mut self.deciding, choice.test.clone());
                let joined = self.join(&choice.name, results, &choice.place);
                self.deciding = outer;
                self.conditions.pop();
                Ok(joined)
            }
        }
    }

    pub fn raise<T>(&self, class: &str, message: impl Into<String>) -> Eval<T> {
        Err(Stop::Raise { class: class.into(), message: message.into() })
    }

    /// A failure that Python would raise: an exception where some handler waits for one, else an unknown value.
    pub fn fails(&mut self, class: &str, name: &str, message: String, place: Place) -> Eval<Value> {
        if self.handlers > 0 {
            return self.raise(class, message);
        }
        Ok(self.unknown(name, "python-raises", format!("{class}: {message}"), place))
    }

    pub fn fresh_frame(&mut self) -> u32 {
        self.next_frame += 1;
        self.next_frame
    }

    /// The unknown conditions in force, as one text.
    pub fn condition(&self) -> Option<String> {
        if self.conditions.is_empty() { None } else { Some(self.conditions.join(" and ")) }
    }

    pub fn in_template(&self) -> bool {
        self.templates > 0
    }

    /// What a step recorded now stands for.
    pub fn repetition(&self) -> Repetition {
        if self.in_template() || self.open_loops > 0 {
            Repetition::AnyPass
        } else if self.loops > 0 {
            Repetition::EachPass
        } else {
            Repetition::Once
        }
    }

    /// Repository functions now executing, innermost first.
    pub fn active_functions(&self) -> Vec<Rc<Function>> {
        self.activations.iter().rev().filter_map(|activation| activation.function.clone()).collect()
    }

    pub fn new_module_scope(&self, name: &str, path: &str) -> Rc<Scope> {
        let scope = Scope::new(ScopeKind::Module, None);
        scope.define("__name__".into(), Value::str(name));
        scope.define("__file__".into(), Value::str(path));
        scope
    }

    /// Drops the namespaces, which hold each other through closures.
    pub fn close(&mut self) {
        for module in self.modules.values() {
            module.scope.restore(BTreeMap::new());
        }
    }
}

/// Of a frame and the same frame with a column renamed or dropped if it is there: the latter, for Spark passes over a name that is
/// missing.
fn as_if_present(options: &[Value], condition: &str) -> Option<usize> {
    use crate::frontend::pyspark::dataframe::COLUMNS;
    let [Value::Frame(first), Value::Frame(second)] = options else { return None };
    let changes = |of: &Plan, from: &Plan| {
        let (column, input) = match &of.node {
            Node::RenameColumns { renames, input } => match renames.as_slice() {
                [(old, _)] => (old.as_str(), input),
                _ => return false,
            },
            Node::DropColumns { columns, input } => match columns.as_slice() {
                [Expr::Column(column)] if column.parts.len() == 1 => (column.parts[0].as_str(), input),
                _ => return false,
            },
            _ => return false,
        };
        condition == format!("'{column}' in {COLUMNS}") && input.as_ref() == from
    };
    [(first, second), (second, first)].into_iter().position(|(of, from)| changes(&of.plan, &from.plan))
}

/// Names of symbols stay short enough for a report: a long one ends in a hash of all of it.
fn clip(name: &str) -> String {
    const LONGEST: usize = 80;
    let one_line: String = name.split_whitespace().collect::<Vec<_>>().join(" ");
    // Braces mark where a symbol begins and ends in a text.
    let clean = one_line.replace(['{', '}'], "");
    if clean.chars().count() <= LONGEST {
        return clean;
    }
    let start: String = clean.chars().take(LONGEST - 10).collect();
    format!("{start}…#{}", digest(name))
}

/// A hash in few letters, for names.
fn digest(text: &(impl AsRef<str> + ?Sized)) -> String {
    let hash = crate::frontend::python::content::of_text(text.as_ref());
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}
