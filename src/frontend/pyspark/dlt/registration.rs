//! Datasets and flows as the code registers them, and what they become once every file has been read.

use super::expectations::{self, is_callable, of_arguments, of_function, undecorated};
use super::gaps::{report_gaps, report_names, report_uncalled, usual_hint};
use super::replace;
use crate::frontend::pyspark::{self, column_names, option_text, types};
use crate::frontend::python::interpret::Eval;
use crate::frontend::python::interpret::{Interpreter, Stop, header_place};
use crate::frontend::python::value::{Arguments, Decorated, Function, Value};
use crate::model::{
    CodeUnit, Dataset, DatasetKind, Expectation, Flow, FlowKind, Node, Opaque, Place, Plan, Platform, QualifiedName,
    Schema, StreamWrite, Unresolved,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Steps of the interpreter that a flow is counted as: each is compared, checked and reported later.
const STEPS_OF_A_DEFINITION: u64 = 300;

/// How a dataset's kind is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// `table`: a streaming table where its query streams, else a materialized view.
    ByQuery,
    As(DatasetKind),
}

struct DatasetDraft {
    dataset: Dataset,
    declared: Declared,
    function: Option<Rc<Function>>,
}

/// A flow as registered; its query may still have to run.
pub struct FlowDraft {
    pub name: String,
    pub target: String,
    pub kind: FlowKind,
    /// The query function, where there is no plan yet.
    pub query: Value,
    pub plan: Option<Plan>,
    /// The dataset whose definition the flow is.
    pub dataset: Option<usize>,
    pub spark_conf: BTreeMap<String, String>,
    pub comment: Option<String>,
    pub place: Place,
}

struct Registered {
    draft: FlowDraft,
    /// Functions that were running when the flow was registered, innermost first.
    factories: Vec<Rc<Function>>,
    /// Functions that ran while its query was built.
    helpers: Vec<Rc<Function>>,
    condition: Option<String>,
    /// Its definition rests on a value that is known only at run time.
    is_open: bool,
}

#[derive(Default)]
pub struct Registry {
    datasets: Vec<DatasetDraft>,
    flows: Vec<Registered>,
    /// Functions that SQL text may call, by name.
    pub functions: Vec<Opaque>,
    pub unresolved: Vec<Unresolved>,
}

impl Registry {
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// The flows registered since there were `count` rest on a value that is known only at run time.
    pub fn open_flows_from(&mut self, count: usize) {
        self.flows.iter_mut().skip(count).for_each(|flow| flow.is_open = true);
    }

    pub fn add_expectations(&mut self, dataset: usize, expectations: &[Expectation]) {
        if let Some(draft) = self.datasets.get_mut(dataset) {
            draft.dataset.expectations.extend(expectations.iter().cloned());
        }
    }
}

/// The function as decorators of the library pass it on.
pub fn decorated(value: Value) -> Rc<Decorated> {
    expectations::shared(&value).unwrap_or_else(|| {
        Rc::new(Decorated { function: value, expectations: RefCell::default(), datasets: RefCell::default() })
    })
}

/// `table`, `view`, `append_flow` and the like: with a function they register, without one they wait for it.
pub fn decorator(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Eval<Value> {
    let at = arguments.positional.iter().position(is_callable);
    let by_keyword = ["query_function", "func", "f"].into_iter().find_map(|key| arguments.keyword(key)).cloned();
    let function = at.and_then(|at| arguments.positional.get(at)).cloned().or(by_keyword);
    let Some(function) = function else {
        return Ok(Interpreter::partial(&format!("dlt.{name}"), arguments.clone()));
    };
    let mut rest = arguments.clone();
    if let Some(at) = at {
        rest.positional.remove(at);
    }
    let target = decorated(function);
    match name {
        "append_flow" | "replace_flow" | "update_flow" => append_flow(interpreter, &target, &rest)?,
        "on_event_hook" => {}
        "foreach_batch_sink" | "sink" => foreach_sink(interpreter, &target, &rest),
        _ => table(interpreter, name, &target, &rest)?,
    }
    Ok(Value::Decorated(target))
}

fn function_of(value: &Value) -> Option<Rc<Function>> {
    match undecorated(value) {
        Value::Function(function) | Value::Method { function, .. } => Some(function),
        Value::Partial(partial) => function_of(&partial.function),
        _ => None,
    }
}

fn function_name(value: &Value) -> String {
    function_of(value).map_or_else(|| "{table}".to_owned(), |function| function.name.borrow().to_string())
}

/// The definition's place: that of the decorated function, unless the call stands elsewhere.
fn definition_place(interpreter: &Interpreter<'_>, function: &Value, arguments: &Arguments) -> Place {
    match function_of(function) {
        Some(function) if !function.definition.decorators.is_empty() => header_place(interpreter, &function),
        _ => arguments.place.clone(),
    }
}

fn table(
    interpreter: &mut Interpreter<'_>,
    decorator: &str,
    target: &Rc<Decorated>,
    arguments: &Arguments,
) -> Eval<()> {
    let function = target.function.clone();
    let name = match arguments.given(0, "name") {
        Some(name) => pyspark::given_name(interpreter, name),
        None => function_name(&function),
    };
    let declared = match decorator {
        "view" | "create_view" | "temporary_view" => Declared::As(DatasetKind::View),
        "materialized_view" => Declared::As(DatasetKind::MaterializedView),
        // Spark's own `table` is a streaming table; a batch query in it is refused.
        _ if interpreter.pipeline.platform == Platform::Spark => Declared::As(DatasetKind::StreamingTable),
        _ => Declared::ByQuery,
    };
    let replacing = replace::kind(interpreter, arguments);
    let declared = if replacing.is_some() { Declared::As(DatasetKind::StreamingTable) } else { declared };
    let place = definition_place(interpreter, &function, arguments);
    let mut dataset = new_dataset(interpreter, &name, declared, place.clone());
    describe(interpreter, &mut dataset, arguments);
    dataset.expectations.extend(of_function(&Value::Decorated(target.clone())));
    let spark_conf = dataset.spark_conf.clone();
    let index = interpreter.register_dataset(dataset, declared, function_of(&function));
    target.datasets.borrow_mut().push(index);
    interpreter.register_flow(FlowDraft {
        name: QualifiedName::parse(&name).name.clone(),
        target: name,
        kind: replacing.unwrap_or(FlowKind::Default),
        query: function,
        plan: None,
        dataset: Some(index),
        spark_conf,
        comment: None,
        place,
    });
    Ok(())
}

fn new_dataset(interpreter: &Interpreter<'_>, name: &str, declared: Declared, place: Place) -> Dataset {
    let kind = match declared {
        Declared::As(kind) => kind,
        Declared::ByQuery => DatasetKind::MaterializedView,
    };
    let parsed = pyspark::reader::table_name(name);
    let name = match kind {
        DatasetKind::View | DatasetKind::Sink => parsed,
        _ => parsed.qualified(interpreter.pipeline.catalog.as_deref(), interpreter.pipeline.schema.as_deref()),
    };
    let mut dataset = Dataset::new(name, kind, place);
    dataset.private = kind == DatasetKind::View;
    dataset.template = interpreter.in_template();
    if let Some(condition) = interpreter.condition() {
        dataset.other.insert("condition".to_owned(), condition);
    }
    dataset
}

/// Reads the arguments that `table`, `view` and `create_streaming_table` share.
fn describe(interpreter: &mut Interpreter<'_>, dataset: &mut Dataset, arguments: &Arguments) {
    let place = arguments.place.clone();
    for (key, value) in &arguments.keywords {
        let text = || value.render_string().map(|text| text.to_string());
        match key.as_ref() {
            _ if value.is_none() => {}
            "comment" => dataset.comment = text(),
            "format" => dataset.format = text().map(|format| format.to_lowercase()),
            "path" => dataset.location = text(),
            "temporary" | "private" => dataset.private |= value.truth() == Some(true),
            "partition_cols" => dataset.layout.partition_by = column_names(interpreter, std::slice::from_ref(value)),
            "cluster_by" => dataset.layout.cluster_by = column_names(interpreter, std::slice::from_ref(value)),
            "cluster_by_auto" => dataset.layout.cluster_by_auto = value.truth() == Some(true),
            "table_properties" => text_map(value, &mut dataset.properties),
            "spark_conf" => text_map(value, &mut dataset.spark_conf),
            "schema" => declare_schema(interpreter, dataset, value, &place),
            key if replace::ARGUMENTS.contains(&key) => {}
            "name" | "query_function" | "func" | "f" | "expect_all" | "expect_all_or_drop" | "expect_all_or_fail" => {}
            other => {
                dataset.other.insert(other.to_owned(), option_text(value));
            }
        }
    }
    if arguments.open {
        dataset.other.insert("arguments".to_owned(), "not all are known".to_owned());
    }
}

fn declare_schema(interpreter: &mut Interpreter<'_>, dataset: &mut Dataset, value: &Value, place: &Place) {
    if let Value::Str(text) = value
        && let Some((declared, generated)) = crate::frontend::python::sql_text::table_schema(&text.text)
    {
        dataset.declared = Some(declared);
        dataset.generated = generated;
        return;
    }
    let schema = types::schema(interpreter, value, place);
    if schema == Schema::unknown() {
        interpreter.report_value(value, Some(&dataset.name.clone()));
    }
    dataset.declared = Some(schema);
}

pub fn text_map(value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Dict(dict) => {
            for (key, value) in &dict.borrow().items {
                into.insert(key.render_string().unwrap_or_default().to_string(), option_text(value));
            }
        }
        Value::Choice(choice) => choice.options.iter().for_each(|option| text_map(option, into)),
        other => {
            let text = option_text(other);
            into.insert(text.clone(), text);
        }
    }
}

pub fn create_streaming_table(interpreter: &mut Interpreter<'_>, arguments: &Arguments) {
    let name = pyspark::given_name(interpreter, arguments.get(0, "name").unwrap_or(&Value::None));
    let declared = Declared::As(DatasetKind::StreamingTable);
    let mut dataset = new_dataset(interpreter, &name, declared, arguments.place.clone());
    describe(interpreter, &mut dataset, arguments);
    dataset.expectations = of_arguments(interpreter, arguments);
    interpreter.register_dataset(dataset, declared, None);
}

pub fn create_sink(interpreter: &mut Interpreter<'_>, arguments: &Arguments) {
    let name = pyspark::given_name(interpreter, arguments.get(0, "name").unwrap_or(&Value::None));
    let declared = Declared::As(DatasetKind::Sink);
    let mut dataset = new_dataset(interpreter, &name, declared, arguments.place.clone());
    dataset.format = arguments.text(1, "format").map(|format| format.to_lowercase());
    if let Some(options) = arguments.get(2, "options") {
        text_map(options, &mut dataset.properties);
    }
    dataset.location = dataset.property("path").map(str::to_owned);
    interpreter.register_dataset(dataset, declared, None);
}

/// `@foreach_batch_sink`: a sink that is a function of each batch.
fn foreach_sink(interpreter: &mut Interpreter<'_>, target: &Rc<Decorated>, arguments: &Arguments) {
    let function = target.function.clone();
    let name = match arguments.given(0, "name") {
        Some(name) => pyspark::given_name(interpreter, name),
        None => function_name(&function),
    };
    let declared = Declared::As(DatasetKind::Sink);
    let place = definition_place(interpreter, &function, arguments);
    let mut dataset = new_dataset(interpreter, &name, declared, place);
    dataset.format = Some("foreachbatch".to_owned());
    let (content, _) = interpreter.code_of(&function);
    dataset.other.insert("function".to_owned(), format!("{content:016x}"));
    interpreter.register_dataset(dataset, declared, function_of(&function));
}

fn append_flow(interpreter: &mut Interpreter<'_>, target: &Rc<Decorated>, arguments: &Arguments) -> Eval<()> {
    let function = target.function.clone();
    let into = pyspark::given_name(interpreter, arguments.get(0, "target").unwrap_or(&Value::None));
    let name = match arguments.given(1, "name") {
        Some(name) => pyspark::given_name(interpreter, name),
        None => function_name(&function),
    };
    let once = arguments.keyword("once").and_then(Value::truth) == Some(true);
    let kind = replace::kind(interpreter, arguments).unwrap_or(if once { FlowKind::Once } else { FlowKind::Append });
    let mut spark_conf = BTreeMap::new();
    if let Some(conf) = arguments.keyword("spark_conf") {
        text_map(conf, &mut spark_conf);
    }
    interpreter.register_flow(FlowDraft {
        name,
        target: into,
        kind,
        place: definition_place(interpreter, &function, arguments),
        query: function,
        plan: None,
        dataset: None,
        spark_conf,
        comment: arguments.keyword("comment").and_then(Value::render_string).map(|text| text.to_string()),
    });
    Ok(())
}

impl Interpreter<'_> {
    fn register_dataset(&mut self, dataset: Dataset, declared: Declared, function: Option<Rc<Function>>) -> usize {
        self.registry.datasets.push(DatasetDraft { dataset, declared, function });
        self.registry.datasets.len() - 1
    }

    /// A target that no pipeline declares: what a streaming job writes to.
    pub(super) fn register_target(&mut self, dataset: Dataset) {
        let known = self.registry.datasets.iter().any(|draft| draft.dataset.name == dataset.name);
        if !known {
            let declared = Declared::As(dataset.kind);
            self.registry.datasets.push(DatasetDraft { dataset, declared, function: None });
        }
    }

    pub fn register_flow(&mut self, draft: FlowDraft) {
        // Where the steps are used up, the statement that comes next reports it.
        if self.spend(STEPS_OF_A_DEFINITION).is_err() {
            return;
        }
        let query = function_of(&draft.query);
        let mut factories = self.active_functions();
        factories.retain(|function| query.as_ref().is_none_or(|q| !Rc::ptr_eq(q, function)));
        // A started query is made of everything that its script did so far.
        let is_open = matches!(draft.kind, FlowKind::StreamJob(_)) && self.open_values > 0;
        let mut registered = Registered { draft, factories, helpers: Vec::new(), condition: self.condition(), is_open };
        // Spark calls a query function when it is registered; Lakeflow when all files are loaded.
        if self.pipeline.platform == Platform::Spark {
            self.build(&mut registered);
        }
        self.registry.flows.push(registered);
    }

    fn build(&mut self, registered: &mut Registered) {
        if registered.draft.plan.is_some() {
            return;
        }
        let outer = std::mem::take(&mut self.trace);
        let open_values = self.open_values;
        let query = registered.draft.query.clone();
        registered.draft.plan = Some(self.query_plan(&query, &registered.draft.place));
        registered.helpers = std::mem::replace(&mut self.trace, outer);
        registered.is_open |= self.open_values > open_values;
    }

    fn query_plan(&mut self, query: &Value, place: &Place) -> Plan {
        let result = self.call(query, Arguments::of(Vec::new(), place.clone()));
        match result {
            Ok(value) => pyspark::plan_of(self, &value, place),
            Err(stop) => {
                let name = function_name(query);
                let (code, reason) = match stop {
                    Stop::Raise { class, message } => ("python-raises", format!("`{class}` is raised: {message}")),
                    Stop::OutOfFuel => ("too-long", "the code takes too many steps to follow".to_owned()),
                };
                self.unknown(&name, code, reason.as_str(), place.clone());
                let (content, _) = self.code_of(query);
                Plan::unresolved(&name, &reason, content, place.clone())
            }
        }
    }

    /// Reports an unknown value that a definition hangs on.
    pub fn report_value(&mut self, value: &Value, dataset: Option<&QualifiedName>) {
        let (what, code, why, hint, place) = match value {
            Value::Unknown(unknown) => {
                let hint = unknown.hint.as_ref().map(ToString::to_string);
                (unknown.name.to_string(), unknown.code, unknown.reason.to_string(), hint, unknown.place.clone())
            }
            Value::Choice(choice) => {
                let why = format!("which value it has hangs on `{}`", choice.condition);
                (choice.name.to_string(), "unknown-condition", why, None, choice.place.clone())
            }
            _ => return,
        };
        self.registry.unresolved.push(Unresolved {
            code: code.to_owned(),
            what,
            why,
            hint: hint.or_else(|| usual_hint(code)),
            pipeline: Some(self.pipeline.key.clone()),
            dataset: dataset.cloned(),
            span: place.span().cloned(),
        });
    }

    fn code_unit(&mut self, function: &Rc<Function>) -> CodeUnit {
        CodeUnit {
            name: function.name.borrow().clone(),
            content: self.contents.own(&function.definition.fingerprint),
            place: header_place(self, function),
        }
    }
}

/// Datasets and flows of everything registered, in order.
pub fn finish(interpreter: &mut Interpreter<'_>) -> (Vec<Dataset>, Vec<Flow>) {
    let mut registry = std::mem::take(&mut interpreter.registry);
    let mut flows = Vec::new();
    for mut registered in std::mem::take(&mut registry.flows) {
        interpreter.build(&mut registered);
        flows.push(registered);
    }
    // A query that runs may register more (a flow inside a flow's function): followed once.
    let more = std::mem::take(&mut interpreter.registry);
    let offset = registry.datasets.len();
    registry.datasets.extend(more.datasets);
    for mut registered in more.flows {
        interpreter.build(&mut registered);
        registered.draft.dataset = registered.draft.dataset.map(|index| index + offset);
        flows.push(registered);
    }
    interpreter.registry.functions = registry.functions;
    interpreter.registry.functions.extend(more.functions);
    interpreter.registry.unresolved = registry.unresolved;
    interpreter.registry.unresolved.extend(more.unresolved);
    for registered in &flows {
        decide_kind(interpreter, &mut registry.datasets, registered);
    }
    let (flows, merged) = merge_alternatives(interpreter, flows, &mut registry.datasets);
    let datasets: Vec<Dataset> = registry.datasets.into_iter().map(|draft| draft.dataset).collect();
    let flows = flows.into_iter().map(|registered| flow(interpreter, registered, &datasets)).collect::<Vec<_>>();
    let datasets = without_repetitions(datasets, &merged);
    report_names(interpreter, &datasets);
    report_uncalled(interpreter);
    (datasets, flows)
}

fn decide_kind(interpreter: &mut Interpreter<'_>, drafts: &mut [DatasetDraft], registered: &Registered) {
    let Some(draft) = registered.draft.dataset.and_then(|index| drafts.get_mut(index)) else { return };
    if draft.declared != Declared::ByQuery {
        return;
    }
    let Some(plan) = &registered.draft.plan else { return };
    let streams = plan.is_streaming() || (has_gap(plan) && mentions_stream(interpreter, draft.function.as_ref()));
    draft.dataset.kind = if streams { DatasetKind::StreamingTable } else { DatasetKind::MaterializedView };
}

fn has_gap(plan: &Plan) -> bool {
    let mut gap = false;
    plan.walk(&mut |node| gap |= matches!(&node.node, Node::Opaque { function, .. } if !function.reason.is_empty()));
    gap
}

/// The query's own text reads a stream: the evidence left where its plan is not known.
fn mentions_stream(interpreter: &Interpreter<'_>, function: Option<&Rc<Function>>) -> bool {
    function.is_some_and(|function| {
        interpreter.contents.mentions(&function.definition.fingerprint, &["readStream", "read_stream"])
    })
}

/// Two definitions of one dataset under conditions that are not known: one flow whose query may be either. Gives the datasets too
/// whose definition is part of another one.
fn merge_alternatives(
    interpreter: &mut Interpreter<'_>,
    flows: Vec<Registered>,
    drafts: &mut [DatasetDraft],
) -> (Vec<Registered>, BTreeSet<usize>) {
    let mut merged: Vec<Registered> = Vec::new();
    // The first flow of each name and target.
    let mut first_of: BTreeMap<[String; 2], usize> = BTreeMap::new();
    let mut dropped = BTreeSet::new();
    for mut registered in flows {
        let key = [&registered.draft.name, &registered.draft.target].map(|name| name.to_ascii_lowercase());
        let next = merged.len();
        let twin = merged.get_mut(*first_of.entry(key).or_insert(next));
        if matches!(registered.draft.kind, FlowKind::StreamJob(_)) {
            // Two queries into one target are two flows: the checkpoint tells them apart.
            if let (Some(twin), FlowKind::StreamJob(write)) = (&twin, &registered.draft.kind)
                && !same_checkpoint(&twin.draft.kind, write)
            {
                let number = merged.len() + 1;
                let checkpoint = write.checkpoint.clone().unwrap_or_else(|| number.to_string());
                registered.draft.name = format!("{} ({checkpoint})", registered.draft.name);
                merged.push(registered);
                continue;
            }
        }
        let Some(twin) = twin else {
            merged.push(registered);
            continue;
        };
        let (Some(first), Some(second)) = (twin.draft.plan.take(), registered.draft.plan.take()) else { continue };
        if first == second && twin.draft.place == registered.draft.place {
            // One definition that is reached twice: a module that is imported and a file of the pipeline too.
            twin.draft.plan = Some(first);
            dropped.extend(registered.draft.dataset);
            continue;
        }
        if twin.condition.is_none() || registered.condition.is_none() {
            twin.draft.plan = Some(first);
            registered.draft.plan = Some(second);
            merged.push(registered);
            continue;
        }
        dropped.extend(registered.draft.dataset);
        let condition = twin.condition.clone().unwrap_or_default();
        let reason = format!("which query runs hangs on `{condition}`");
        let place = twin.draft.place.clone();
        interpreter.unknown(&condition, "unknown-condition", reason.as_str(), place.clone());
        let content = crate::frontend::python::content::of_text(&condition);
        let function = pyspark::opaque(&format!("if {condition}"), &reason, content, place.clone());
        let streams = [&first, &second].into_iter().any(|plan| plan.is_streaming());
        let node = Node::Opaque { function, keys: Vec::new(), output: Schema::unknown(), inputs: vec![first, second] };
        twin.draft.plan = Some(Plan::at(node, place));
        twin.helpers.extend(registered.helpers);
        if let Some(draft) = twin.draft.dataset.and_then(|index| drafts.get_mut(index))
            && draft.declared == Declared::ByQuery
            && streams
        {
            draft.dataset.kind = DatasetKind::StreamingTable;
        }
    }
    (merged, dropped)
}

fn same_checkpoint(kind: &FlowKind, write: &StreamWrite) -> bool {
    matches!(kind, FlowKind::StreamJob(other) if other.checkpoint == write.checkpoint)
}

fn flow(interpreter: &mut Interpreter<'_>, registered: Registered, datasets: &[Dataset]) -> Flow {
    let draft = registered.draft;
    let target = target_name(interpreter, &draft, datasets);
    let mut plan = draft.plan.unwrap_or_else(|| Plan::unresolved(&draft.name, "no query", 0, draft.place.clone()));
    crate::frontend::python::frames::normalize(&mut plan);
    let mut code: Vec<CodeUnit> = Vec::new();
    let query = function_of(&draft.query);
    for function in registered.helpers.iter().chain(&registered.factories) {
        let is_query = query.as_ref().is_some_and(|q| std::sync::Arc::ptr_eq(&q.definition, &function.definition));
        let unit = interpreter.code_unit(function);
        if !is_query && !code.iter().any(|seen| seen.name == unit.name && seen.content == unit.content) {
            code.push(unit);
        }
    }
    report_gaps(interpreter, &plan, &target);
    let open_code = registered.is_open.then(|| match draft.kind {
        FlowKind::StreamJob(_) => interpreter.content_of_file(&draft.place),
        _ => interpreter.content_behind(&draft.query),
    });
    let mut spark_conf = session_conf(interpreter, &draft.kind);
    spark_conf.extend(draft.spark_conf);
    Flow {
        name: draft.name,
        target,
        kind: draft.kind,
        plan,
        spark_conf,
        comment: draft.comment,
        code,
        open_code,
        place: draft.place,
    }
}

/// What the file sets on its session; a query that is started has what was set before it started.
fn session_conf(interpreter: &Interpreter<'_>, kind: &FlowKind) -> BTreeMap<String, String> {
    if matches!(kind, FlowKind::StreamJob(_)) {
        return BTreeMap::new();
    }
    let own = interpreter.conf.iter().filter(|(key, _)| key.starts_with("spark."));
    own.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn target_name(interpreter: &Interpreter<'_>, draft: &FlowDraft, datasets: &[Dataset]) -> QualifiedName {
    if let Some(dataset) = draft.dataset.and_then(|index| datasets.get(index)) {
        return dataset.name.clone();
    }
    let written = pyspark::reader::table_name(&draft.target);
    if matches!(draft.kind, FlowKind::StreamJob(_)) {
        return written;
    }
    let qualified = written.qualified(interpreter.pipeline.catalog.as_deref(), interpreter.pipeline.schema.as_deref());
    let is_sink = |name: &QualifiedName| datasets.iter().any(|d| d.kind == DatasetKind::Sink && d.name == *name);
    if is_sink(&written) { written } else { qualified }
}

/// Without datasets that are merged into others, and without second ones of one place or under conditions that are not known.
fn without_repetitions(datasets: Vec<Dataset>, merged: &BTreeSet<usize>) -> Vec<Dataset> {
    let mut kept: Vec<Dataset> = Vec::new();
    let mut named: BTreeMap<QualifiedName, Vec<usize>> = BTreeMap::new();
    for (index, dataset) in datasets.into_iter().enumerate() {
        let declares_only = |other: &Dataset| {
            let conditional = |dataset: &Dataset| dataset.other.contains_key("condition");
            other.place == dataset.place || (conditional(other) && conditional(&dataset))
        };
        let before = named.entry(dataset.name.clone()).or_default();
        let repeated = before.iter().filter_map(|at| kept.get(*at)).any(declares_only);
        let is_repeated = repeated && dataset.kind == DatasetKind::StreamingTable;
        if !is_repeated && !merged.contains(&index) {
            before.push(kept.len());
            kept.push(dataset);
        }
    }
    kept
}
