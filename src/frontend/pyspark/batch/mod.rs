//! What a script writes in batch: `df.write…`, `writeTo`, `spark.sql("INSERT …")`, configuration, threads, `foreachBatch`.
//!
//! Records [`Step`]s in the order in which the code would run them; does nothing while a pipeline is read.

pub mod collected;
mod delta;
mod thread;
mod writer;

pub use delta::{table, table_method};
pub use thread::{library_call, partial_method};
pub use writer::{stream, writer_method};

use crate::frontend::pyspark::option_text;
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Frame, Value};
use crate::model::{
    BatchWrite, DataType, Expr, Place, QualifiedName, Step, Way, WriteApi, WriteOperation, WriteTarget,
};
use std::collections::BTreeMap;

/// Steps recorded so far; inner lists are open while a branch of them runs.
#[derive(Debug, Default)]
pub struct Recorder {
    recording: bool,
    open: Vec<Vec<Step>>,
    next_relation: u32,
    /// Values made of collected rows that went into texts, by number.
    placeholders: Vec<Expr>,
    /// SQL's session variables, by lower-case name.
    pub variables: BTreeMap<String, Expr>,
}

/// A point between two steps of one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    depth: usize,
    length: usize,
}

impl Recorder {
    pub fn start() -> Self {
        Recorder { recording: true, open: vec![Vec::new()], ..Recorder::default() }
    }

    pub fn is_on(&self) -> bool {
        self.recording
    }

    pub fn push(&mut self, step: Step) {
        if let (true, Some(steps)) = (self.recording, self.open.last_mut()) {
            steps.push(step);
        }
    }

    pub fn begin(&mut self) {
        self.open.push(Vec::new());
    }

    pub fn end(&mut self) -> Vec<Step> {
        self.open.pop().unwrap_or_default()
    }

    /// Steps of the innermost open list so far.
    pub fn mark(&self) -> Mark {
        Mark { depth: self.open.len(), length: self.open.last().map_or(0, Vec::len) }
    }

    /// Takes the steps since a mark off.
    pub fn since(&mut self, mark: Mark) -> Vec<Step> {
        match self.open.last_mut() {
            Some(steps) if mark.length <= steps.len() => steps.split_off(mark.length),
            _ => Vec::new(),
        }
    }

    pub fn extend(&mut self, steps: Vec<Step>) {
        steps.into_iter().for_each(|step| self.push(step));
    }

    /// Adds the steps of a call: as they are, unless some way through them leaves it.
    pub fn call(&mut self, steps: Vec<Step>) {
        if may_leave(&steps) {
            self.push(Step::Call { steps });
        } else {
            self.extend(steps);
        }
    }

    /// Adds the ways through a condition, unless no way does anything.
    pub fn branch(&mut self, ways: Vec<Way>, place: Place) {
        if ways.iter().any(|way| !way.steps.is_empty() || way.leaves) {
            self.push(Step::Branches { ways, place });
        }
    }

    /// Everything recorded.
    pub fn finish(&mut self) -> Vec<Step> {
        self.recording = false;
        std::mem::take(&mut self.open).into_iter().flatten().collect()
    }
}

impl Interpreter<'_> {
    fn record_write(&mut self, mut write: BatchWrite) {
        write.condition = self.condition();
        write.repetition = self.repetition();
        self.job.push(Step::Write(Box::new(write)));
    }

    /// Steps that `work` records, apart from the others.
    fn recorded(&mut self, work: impl FnOnce(&mut Self) -> Eval<()>) -> Eval<Vec<Step>> {
        self.job.begin();
        let result = work(self);
        let steps = self.job.end();
        result.map(|()| steps)
    }
}

/// `cache()` and its like keep a frame's rows.
pub fn materialize(interpreter: &mut Interpreter<'_>, frame: &Frame, cuts: bool, place: &Place) {
    if let Some(frame) = frame.plan.frame {
        interpreter.job.push(Step::Materialize { frame, cuts, place: place.clone() });
    }
}

/// `spark.conf.set`, `spark.conf.unset`, `SparkSession.builder.config`, file deletions.
pub fn session_call(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) {
    if !interpreter.job.is_on() {
        return;
    }
    let place = arguments.place.clone();
    let last = path.rsplit('.').next().unwrap_or(path);
    let text = |index: usize, name: &str| arguments.given(index, name).map(option_text);
    match (path, last) {
        ("spark.conf.set", _) => {
            if let (Some(key), value) = (text(0, "key"), text(1, "value")) {
                interpreter.job.push(Step::Conf { key, value, place });
            }
        }
        ("spark.conf.unset", _) => {
            if let Some(key) = text(0, "key") {
                interpreter.job.push(Step::Conf { key, value: None, place });
            }
        }
        (_, "config") if path.starts_with("pyspark.sql.SparkSession") => {
            if let (Some(key), value @ Some(_)) = (text(0, "key"), text(1, "value")) {
                interpreter.job.push(Step::Conf { key, value, place });
            }
        }
        ("shutil.rmtree" | "dbutils.fs.rm" | "os.remove", _) => {
            if let Some(path) = text(0, "path") {
                interpreter.job.push(Step::RemoveFiles { path, place });
            }
        }
        _ => {}
    }
}

/// A statement inside `spark.sql(…)` that writes.
pub fn sql_write(interpreter: &mut Interpreter<'_>, write: BatchWrite, place: &Place) {
    if interpreter.job.is_on() {
        let write = BatchWrite { place: place.clone(), ..write };
        interpreter.record_write(write);
    }
}

/// `SET` and `RESET` inside `spark.sql(…)`.
pub fn sql_conf(interpreter: &mut Interpreter<'_>, key: &str, value: Option<&str>, place: &Place) {
    match value {
        Some(value) => interpreter.conf.insert(key.to_owned(), value.to_owned()),
        None => interpreter.conf.remove(key),
    };
    let step = Step::Conf { key: key.to_owned(), value: value.map(str::to_owned), place: place.clone() };
    interpreter.job.push(step);
}

/// A statement that is not understood.
pub fn unknown_statement(interpreter: &mut Interpreter<'_>, what: String, place: &Place) {
    interpreter.job.push(Step::Unknown { what, place: place.clone() });
}

/// `CALL catalog.system.publish_changes('schema.table', 'id')`: true where the statement is that.
pub fn publish(interpreter: &mut Interpreter<'_>, text: &str, place: &Place) -> bool {
    let Some((catalog, arguments)) = text.split_once(".system.publish_changes(") else { return false };
    let catalog = catalog.split_whitespace().last().unwrap_or_default();
    let Some(table) = arguments.split('\'').nth(1) else { return false };
    let target = WriteTarget::Table(QualifiedName::parse(&format!("{catalog}.{table}")));
    let operation = WriteOperation::Ddl(text.trim().to_owned());
    interpreter.record_write(BatchWrite::new(target, WriteApi::Sql, operation, place.clone()));
    true
}

/// A UDF that gives back one of its arguments, as an expression: the argument itself, or (where it raises for one value) a CASE.
pub fn returned_argument(
    interpreter: &mut Interpreter<'_>,
    function: &Value,
    args: &[Expr],
    place: &Place,
) -> Option<Expr> {
    if !interpreter.job.is_on() || !matches!(function, Value::Function(_)) {
        return None;
    }
    let names: Vec<String> = match function {
        Value::Function(function) => function.definition.parameters.iter().map(|p| p.name.to_string()).collect(),
        _ => Vec::new(),
    };
    let symbols: Vec<Value> =
        names.iter().map(|name| interpreter.unknown(name, "runtime-data", "a row's value", place.clone())).collect();
    let result = interpreter.call(function, Arguments::of(symbols.clone(), place.clone())).ok()?;
    let same = |value: &Value| match value {
        Value::Unknown(own) => {
            symbols.iter().position(|symbol| matches!(symbol, Value::Unknown(other) if std::rc::Rc::ptr_eq(own, other)))
        }
        _ => None,
    };
    match &result {
        Value::Choice(choice) => {
            let at = choice.options.iter().find_map(same)?;
            let raises = choice
                .options
                .iter()
                .any(|option| matches!(option, Value::Unknown(unknown) if unknown.code == "python-raises" || is_division_by_zero(&unknown.name)));
            let argument = args.get(at)?.clone();
            let (name, value) = choice.condition.split_once("!=")?;
            let literal = value.trim().strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
            let plain = raises && name.trim() == names.get(at)?.as_str();
            let fails =
                Expr::call("raise_error", vec![Expr::string("PythonException: the function raises for this value")]);
            let fails = Expr::Cast { expr: Box::new(fails), to: DataType::String, try_cast: false };
            let equal = Expr::call("=", vec![argument.clone(), Expr::string(literal)]);
            plain.then(|| Expr::Case { branches: vec![(equal, fails)], otherwise: Some(Box::new(argument)) })
        }
        other => args.get(same(other)?).cloned(),
    }
}

fn is_division_by_zero(text: &str) -> bool {
    text.split_once('/').is_some_and(|(_, divisor)| divisor.trim().parse() == Ok(0.0))
}

fn may_leave(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Branches { ways, .. } => ways.iter().any(|way| way.leaves || may_leave(&way.steps)),
        _ => false,
    })
}
