//! Scripts of the repository that write what the flows read or write: part of each revision in the experiment.
//!
//! What a script defines (tables, columns, constraints) is done once, before the revision that has it runs; what it writes is done
//! with every batch, before the flows, where some script differs between the revisions. A script that fails ends where it fails, as
//! it does in a deployment.

use crate::analyze::Analysis;
use crate::engine::batch::run_steps;
use crate::engine::{
    BatchFunction, Functions, World, facts_named, location, normalized, read_location, source_location,
};
use crate::model::{
    BatchWrite, Job, Pipeline, Plan, QualifiedName, Read, Source, Step, StreamQuery, StreamSink, WriteOperation,
    WriteTarget,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A script with the context that it is read in.
#[derive(Debug, Clone)]
pub struct Script {
    pub job: Job,
    pub pipeline: Pipeline,
    /// The other revision has no script of this content.
    pub changed: bool,
}

fn streams(job: &Job) -> impl Iterator<Item = &StreamQuery> {
    job.steps.iter().filter_map(|step| match step {
        Step::Stream(stream) => Some(stream.as_ref()),
        _ => None,
    })
}

/// What the functions of a script's streaming queries write.
fn in_functions(script: &Script) -> impl Iterator<Item = String> + '_ {
    let functions = streams(&script.job).filter_map(|stream| match &stream.sink {
        StreamSink::ForeachBatch { steps, .. } => Some(steps),
        StreamSink::Append(_) => None,
    });
    functions.flat_map(|steps| writes(steps)).filter_map(|write| script.location(&write.target))
}

/// The scripts of both revisions.
#[derive(Debug, Clone, Default)]
pub struct Scripts {
    before: Vec<Script>,
    after: Vec<Script>,
}

/// Why a table does not hold what a script of the repository puts there, by location.
pub type Unwritten = BTreeMap<String, String>;

impl Scripts {
    /// Those that matter to the flows of either revision, and to each other, in the order in which they feed each other.
    pub fn new(both: [&Analysis; 2], before: Vec<Script>, after: Vec<Script>) -> Self {
        let mut wanted: BTreeSet<String> = both.into_iter().flat_map(touched).collect();
        wanted.extend(before.iter().chain(&after).flat_map(in_functions));
        loop {
            let known = wanted.len();
            let own = before.iter().chain(&after).filter(|script| script.writes_into(&wanted));
            let read: Vec<String> = own.flat_map(Script::reads).collect();
            wanted.extend(read);
            if wanted.len() == known {
                break;
            }
        }
        let own = |scripts: Vec<Script>| {
            let concerned = |script: &Script| script.writes_into(&wanted) || in_functions(script).next().is_some();
            let own = scripts.into_iter().filter(concerned).collect();
            in_order(own)
        };
        Scripts { before: own(before), after: own(after) }
    }

    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// What functions of AFTER's, or else BEFORE's, streaming queries do, by checkpoint.
    pub fn functions(&self, after: bool) -> Functions {
        let scripts = if after { &self.after } else { &self.before };
        let mut functions = BTreeMap::new();
        for stream in scripts.iter().flat_map(|script| streams(&script.job)) {
            if let (Some(checkpoint), StreamSink::ForeachBatch { batch, steps }) = (&stream.checkpoint, &stream.sink) {
                let function = BatchFunction { batch: batch.clone(), steps: steps.clone() };
                functions.insert(normalized(checkpoint), function);
            }
        }
        Functions(Arc::new(functions))
    }

    /// Locations that the functions of either revision write, by checkpoint.
    pub fn function_targets(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut targets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for script in self.before.iter().chain(&self.after) {
            for stream in streams(&script.job) {
                if let (Some(checkpoint), StreamSink::ForeachBatch { steps, .. }) = (&stream.checkpoint, &stream.sink) {
                    let written = writes(steps).into_iter().filter_map(|write| script.location(&write.target));
                    targets.entry(normalized(checkpoint)).or_default().extend(written);
                }
            }
        }
        targets
    }

    /// Whether scripts write with the batches: one of them is another in the other revision.
    pub fn run(&self) -> bool {
        let writes = |script: &Script| !script.writes().is_empty();
        self.before.iter().chain(&self.after).any(|script| script.changed && writes(script))
    }

    /// Locations that scripts read.
    pub fn reads(&self) -> BTreeSet<String> {
        self.before.iter().chain(&self.after).flat_map(Script::reads).collect()
    }

    /// Locations that scripts write.
    pub fn writes(&self) -> BTreeSet<String> {
        self.before.iter().chain(&self.after).flat_map(Script::writes).collect()
    }

    /// Every write of either revision, for what its conditions compare with.
    pub fn statements(&self) -> impl Iterator<Item = &BatchWrite> {
        self.before.iter().chain(&self.after).flat_map(|script| writes(&script.job.steps))
    }

    /// What BEFORE defines, in a world without flows.
    pub fn define_before(&self, world: &mut World) {
        self.before.iter().for_each(|script| script.define(world, &|_| true));
    }

    /// What AFTER defines and BEFORE does not.
    pub fn define_new(&self, world: &mut World) {
        self.after.iter().filter(|script| script.changed).for_each(|script| script.define(world, &|_| true));
    }

    /// What AFTER defines of tables at some places, in a world where they are not.
    pub fn define_after(&self, world: &mut World, at: &dyn Fn(&str) -> bool) {
        self.after.iter().for_each(|script| script.define(world, at));
    }

    pub fn write_before(&self, world: &mut World) -> Unwritten {
        if self.run() { write_all(&self.before, world) } else { Unwritten::new() }
    }

    pub fn write_after(&self, world: &mut World) -> Unwritten {
        if self.run() { write_all(&self.after, world) } else { Unwritten::new() }
    }
}

/// Locations that flows read as streams or write.
fn touched(analysis: &Analysis) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for analyzed in &analysis.flows {
        let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { continue };
        found.extend(pipeline.flows.get(analyzed.flow).and_then(|flow| location(pipeline, flow)));
        found.extend(analyzed.plan.reads().into_iter().filter_map(|read| read_location(pipeline, read)));
    }
    found
}

/// A script after those whose tables it reads, otherwise as they come.
fn in_order(mut waiting: Vec<Script>) -> Vec<Script> {
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let fed = |at: usize, script: &Script| {
            let reads = script.reads();
            let mut others = waiting.iter().enumerate().filter(|(other, _)| *other != at);
            others.any(|(_, other)| !other.writes().is_disjoint(&reads))
        };
        let ready = waiting.iter().enumerate().position(|(at, script)| !fed(at, script));
        order.push(waiting.remove(ready.unwrap_or(0)));
    }
    order
}

fn write_all(scripts: &[Script], world: &mut World) -> Unwritten {
    let mut unwritten = Unwritten::new();
    for script in scripts {
        let steps = beside_definitions(&script.job.steps);
        if let Err(error) = run_steps(world, &script.pipeline, &steps, None)
            && error.is_unsupported()
        {
            let reason = format!("what {} writes is not executed: {}", script.job.path, error.message);
            unwritten.extend(script.writes().into_iter().map(|location| (location, reason.clone())));
        }
    }
    unwritten
}

impl Script {
    /// Each definition for itself: one that is there already, or that has been altered so, stays.
    fn define(&self, world: &mut World, at: &dyn Fn(&str) -> bool) {
        let own = |step: &Step| match step {
            Step::Write(write) => self.location(&write.target).is_none_or(|place| at(&place)),
            _ => true,
        };
        for step in definitions(&self.job.steps).into_iter().filter(|step| own(step)) {
            let _ = run_steps(world, &self.pipeline, std::slice::from_ref(step), None);
        }
    }

    fn writes_into(&self, places: &BTreeSet<String>) -> bool {
        self.writes().iter().any(|place| places.contains(place))
    }

    fn writes(&self) -> BTreeSet<String> {
        let targets = writes(&self.job.steps).into_iter().map(|write| &write.target);
        targets.filter_map(|target| self.location(target)).collect()
    }

    fn reads(&self) -> BTreeSet<String> {
        let queries = writes(&self.job.steps).into_iter().flat_map(BatchWrite::queries);
        queries.flat_map(Plan::reads).filter_map(|read| read_location(&self.pipeline, read)).collect()
    }

    fn location(&self, target: &WriteTarget) -> Option<String> {
        match target {
            WriteTarget::Table(name) => {
                let facts = facts_named(&self.pipeline.sources, name).map(source_location);
                facts.or_else(|| self.named(name))
            }
            WriteTarget::Path(path) => read_location(
                &self.pipeline,
                &Read::new(Source::Files { path: path.clone(), format: "delta".to_owned(), auto_loader: false }, false),
            ),
            WriteTarget::Unknown(_) => None,
        }
    }

    fn named(&self, name: &QualifiedName) -> Option<String> {
        read_location(&self.pipeline, &Read::new(Source::Table(name.clone()), false))
    }
}

/// It says what a table is, and puts no rows there.
fn defines(step: &Step) -> bool {
    let Step::Write(write) = step else { return false };
    match &write.operation {
        WriteOperation::Create { replace: false, .. } => write.query.is_none(),
        WriteOperation::Ddl(_) => true,
        _ => false,
    }
}

/// Batch writes in order; those of streaming queries are flows.
fn writes(steps: &[Step]) -> Vec<&BatchWrite> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Write(write) => found.push(write.as_ref()),
            Step::Stream(_) => {}
            other => found.extend(other.inner().into_iter().flat_map(writes)),
        }
    }
    found
}

/// Steps that define something, also in functions that are called.
fn definitions(steps: &[Step]) -> Vec<&Step> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Call { steps } => found.extend(definitions(steps)),
            other if defines(other) => found.push(other),
            _ => {}
        }
    }
    found
}

/// The steps without those.
fn beside_definitions(steps: &[Step]) -> Vec<Step> {
    let mut left = Vec::new();
    for step in steps {
        match step {
            Step::Call { steps } => left.push(Step::Call { steps: beside_definitions(steps) }),
            other if defines(other) => {}
            other => left.push(other.clone()),
        }
    }
    left
}
