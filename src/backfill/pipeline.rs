//! Backfills of tables that pipelines write: a flow of its own for each chunk, which its checkpoint keeps from running again.

use super::day::DayColumn;
use super::input::{Input, table_name};
use super::proof::{self, Patch};
use super::range::Range;
use super::table::{DatasetTable, Repository, short_name};
use super::{Backfill, Chunk, Form, Refusal, Request, quoted, surroundings};
use crate::analyze::AnalyzedFlow;
use crate::impact::commands;
use crate::model::{Dataset, DatasetKind, Flow, FlowKind, Pipeline, Platform};
use crate::reading::Options;
use crate::rules::CodeLanguage;
use crate::runbook::{Snippet, language, python, start};

/// # Errors
/// The table's rows are computed anew, come by key, or have no day to be chosen by.
pub fn backfill(
    repository: &Repository<'_>,
    target: &DatasetTable,
    options: &Options,
    request: &Request,
) -> Result<Backfill, Refusal> {
    let analysis = &repository.reading.analysis;
    let pipeline = analysis.workspace.pipelines.get(target.pipeline);
    let dataset = pipeline.and_then(|pipeline| pipeline.datasets.get(target.dataset));
    let (Some(pipeline), Some(dataset)) = (pipeline, dataset) else {
        return Err(Refusal::new(format!("no table `{}` is there", request.table), "name another table"));
    };
    let (flow, analyzed, others) = filling_flow(repository, pipeline, dataset, target.pipeline)?;
    let name = dataset.name.to_string();
    let fields = &analyzed.schema.fields;
    let day = DayColumn::of_columns(&name, fields, &dataset.layout.partition_by, request.column.as_deref())?;
    let form = match pipeline.platform {
        Platform::Lakeflow => Form::OnceFlow,
        Platform::Spark => Form::AppendFlow,
    };
    let view = format!("{}_rows", short_name(request));
    let input = Input::of(repository, (&flow.plan, &flow.place), &day, view, form == Form::AppendFlow);
    let language = language(&flow.place);
    let writing = FlowWriting { dataset, form, language, day: &day, input: &input, short: short_name(request) };
    let chunks: Vec<Chunk> = super::chunks(request)?.into_iter().map(|range| writing.chunk(range)).collect();
    let codes: Vec<&str> = chunks.iter().map(|chunk| chunk.code.as_str()).collect();
    let script = format!("{}{}\n", writing.imports(), codes.join("\n\n"));
    let proof = match chunks.first() {
        Some(first) => {
            let patch = Patch { flow, text: format!("\n{}{}\n", writing.imports(), first.code), chunk: first.range };
            proof::of_pipeline(repository, options, (pipeline, dataset), &day, &patch, &input)
        }
        None => proof::Proof::NotRun { reason: "there is no chunk".to_owned() },
    };
    Ok(Backfill {
        revision: repository.tree.label().to_owned(),
        format: dataset.format.clone().unwrap_or_else(|| pipeline.table_format.clone()),
        form,
        language,
        range: request.range,
        chunks,
        script,
        log: None,
        writers: surroundings::writers(repository, &name),
        readers: surroundings::readers(repository, &name),
        notes: notes(&writing, flow, &others),
        instead: restarts(pipeline, flow, language),
        proof,
        table: name,
        day: day.clone(),
        input: input.clone(),
    })
}

/// The flow whose rows are filled again, with the names of the others.
fn filling_flow<'a>(
    repository: &'a Repository<'_>,
    pipeline: &'a Pipeline,
    dataset: &Dataset,
    index: usize,
) -> Result<(&'a Flow, &'a AnalyzedFlow, Vec<String>), Refusal> {
    let name = dataset.name.to_string();
    match dataset.kind {
        DatasetKind::MaterializedView => {
            let refresh = commands(pipeline, &[name.as_str()]);
            let how =
                refresh.first().map_or_else(|| "run its pipeline".to_owned(), |command| format!("`{}`", command.text));
            return Err(Refusal::new(
                format!("`{name}` is a materialized view: each update computes it from all that its sources hold"),
                format!("fill its sources; to compute it anew as a whole: {how}"),
            ));
        }
        DatasetKind::View => {
            return Err(Refusal::new(format!("`{name}` is a view and holds no rows"), "fill the tables that it reads"));
        }
        DatasetKind::Sink => {
            return Err(Refusal::new(
                format!("`{name}` is a sink: what it holds is not in reach of the pipeline"),
                "fill the system behind the sink by its own means",
            ));
        }
        DatasetKind::StreamingTable | DatasetKind::Table => {}
    }
    let analyzed = repository.reading.analysis.flows.iter().filter(|analyzed| analyzed.pipeline == index);
    let mut into: Vec<(&Flow, &AnalyzedFlow)> = analyzed
        .filter_map(|analyzed| Some((pipeline.flows.get(analyzed.flow)?, analyzed)))
        .filter(|(flow, _)| flow.target == dataset.name && !flow.is_once())
        .collect();
    if into.iter().any(|(flow, _)| flow.cdc().is_some()) {
        return Err(Refusal::new(
            format!("`{name}` is the target of AUTO CDC: its rows come by key, not by day"),
            "give the old changes to a flow `AS AUTO CDC ONCE INTO` with the same KEYS and SEQUENCE BY: the sequence keeps newer rows",
        ));
    }
    into.retain(|(flow, _)| matches!(flow.kind, FlowKind::Default | FlowKind::Append));
    let others = into.iter().skip(1).map(|(flow, _)| flow.name.clone()).collect();
    match into.first() {
        Some((flow, analyzed)) => Ok((flow, analyzed, others)),
        None => Err(Refusal::new(
            format!("no flow that goes on appending writes `{name}`"),
            "give the old rows to a once flow, or change the flow that replaces them",
        )),
    }
}

struct FlowWriting<'a> {
    dataset: &'a Dataset,
    form: Form,
    language: CodeLanguage,
    day: &'a DayColumn,
    input: &'a Input,
    short: String,
}

impl FlowWriting<'_> {
    fn imports(&self) -> &'static str {
        match self.language {
            CodeLanguage::Sql => "",
            CodeLanguage::Python => "from pyspark import pipelines as dp\n\n",
        }
    }

    fn chunk(&self, range: Range) -> Chunk {
        let predicate = self.day.predicate(range);
        let target = table_name(&self.dataset.name);
        let flow = format!("{}_backfill_{}", self.short, range.from.strftime("%Y_%m_%d"));
        Chunk {
            range,
            code: match self.language {
                CodeLanguage::Sql => self.sql(&flow, &target, &predicate),
                CodeLanguage::Python => self.python(&flow, &predicate),
            },
            clear: Some(format!("DELETE FROM {target} WHERE {predicate};")),
            record: None,
            check: format!("SELECT count(*) FROM {target} WHERE {predicate};"),
        }
    }

    fn sql(&self, flow: &str, target: &str, predicate: &str) -> String {
        let (columns, source) = self.input.select(&[]);
        let (once, source) = match (self.form, self.input) {
            (Form::AppendFlow, Input::Query { .. }) => ("", source),
            (Form::AppendFlow, _) => ("", format!("STREAM({source})")),
            _ => ("ONCE ", source),
        };
        format!(
            "CREATE FLOW {flow} AS\nINSERT INTO {once}{target} BY NAME\nSELECT {columns} FROM {source} WHERE {predicate};"
        )
    }

    fn python(&self, flow: &str, predicate: &str) -> String {
        let (_, source) = self.input.select(&[]);
        let (once, read) = match self.form {
            Form::AppendFlow => ("", "readStream"),
            _ => (", once=True", "read"),
        };
        let select = match self.input {
            Input::Table { columns: Some(columns), .. } => {
                let names: Vec<String> = columns.iter().map(|column| python(column)).collect();
                format!(".select({})", names.join(", "))
            }
            _ => String::new(),
        };
        format!(
            "@dp.append_flow(target={}, name=\"{flow}\"{once})\ndef {flow}():\n    return spark.{read}.table({}).where({}){select}",
            python(&self.dataset.name.to_string()),
            python(&source),
            python(predicate)
        )
    }
}

fn notes(writing: &FlowWriting<'_>, flow: &Flow, others: &[String]) -> Vec<String> {
    let mut notes: Vec<String> = writing.day.note().into_iter().collect();
    let name = writing.dataset.name.to_string();
    notes.push(format!(
        "a flow adds rows and replaces none: `{name}` may hold no row of a chunk when its flow runs for the first time; count first, and \
         delete what is there"
    ));
    notes.push(match writing.form {
        Form::OnceFlow => format!(
            "a once flow runs one time, and again after a full refresh of `{name}`: take it out of the code when the flow {} would bring \
             the same rows then, leave it in when nothing else has them",
            quoted(&flow.name)
        ),
        _ => format!(
            "Apache Spark's pipelines know no once flows: each of these reads its source once from the start on a checkpoint of its own; \
             take it out of the code when it is done, or a full refresh of `{name}` runs it again"
        ),
    });
    if !others.is_empty() {
        notes.push(format!("other flows write the table too, and their rows are not filled: {}", others.join(", ")));
    }
    if writing.dataset.is_protected() {
        notes.push(format!("`{name}` is protected from full refresh: a backfill by flows needs none"));
    }
    notes
}

/// The flow itself, started over from another point.
fn restarts(pipeline: &Pipeline, flow: &Flow, language: CodeLanguage) -> Vec<(String, Snippet)> {
    let streams = flow.plan.reads().into_iter().filter(|read| read.streaming);
    streams
        .filter_map(|read| {
            let start = start(pipeline, read, language);
            let text = format!(
                "Where the table may start over: empty it, reset the checkpoint of flow {}, and let {} begin elsewhere by {}",
                flow.name, start.source, start.option?
            );
            Some((text, start.code?))
        })
        .collect()
}
