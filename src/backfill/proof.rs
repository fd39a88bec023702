//! Runs the first chunk twice on the engine, as it is printed.

use super::Chunk;
use super::day::DayColumn;
use super::input::Input;
use super::range::Range;
use super::script::Writing;
use super::table::Repository;
use crate::confirm::{self, Data};
use crate::engine::batch::TableKind;
use crate::engine::{CommitKind, FlowStatus, Row, contents, location};
use crate::frontend::{self, ParseCache};
use crate::lint::{Experiment, Label, Snapshot, TableFacts, effect, experiment, same_name};
use crate::model::{Dataset, Flow, Pipeline};
use crate::project::{Language, SourceFile, Unit};
use crate::reading::{self, Options};
use crate::revision::{ContentId, Overlay, text};
use crate::rules::CodeLanguage;
use crate::run::{self, Code, Stage, State};
use std::collections::{BTreeMap, BTreeSet};

/// What two runs of one chunk showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    Ran {
        chunk: Range,
        /// Before, after the first and after the second run; none where the table could not be read.
        rows: [Option<usize>; 3],
        /// `ok`, or what is wrong, in the words of `lint`.
        effect: String,
        error: Option<String>,
        /// The rows that were read had the table's own columns: what gives them in truth did not run.
        stand_in: bool,
    },
    NotRun {
        reason: String,
    },
}

impl Proof {
    /// The second run changed nothing, and no row outside the chunk was touched.
    pub fn holds(&self) -> bool {
        matches!(self, Proof::Ran { effect, .. } if effect == "ok")
    }
}

/// Runs the chunk's own text on generated rows.
pub fn of_script(repository: &Repository<'_>, writing: &Writing<'_>, chunks: &[Chunk]) -> Proof {
    let Some(chunk) = chunks.first() else {
        return Proof::NotRun { reason: "there is no chunk".to_owned() };
    };
    let table = &writing.table.facts;
    let (path, language) = match writing.language {
        CodeLanguage::Sql => ("pipelint-backfill.sql", Language::Sql),
        CodeLanguage::Python => ("pipelint-backfill.py", Language::Python),
    };
    let text = format!("{}{}\n", writing.imports(), chunk.code);
    let overlay = Overlay::new(repository.tree, &BTreeMap::from([(path.to_owned(), text)]));
    let unit = Unit {
        pipeline: writing.table.pipeline.clone(),
        files: vec![SourceFile { path: path.into(), language, content: ContentId([0; 20]) }],
        python_roots: Vec::new(),
        parameters: Default::default(),
    };
    let scripts = frontend::jobs(&overlay, std::slice::from_ref(&unit), &ParseCache::new());
    let Some(script) = scripts.first() else {
        return Proof::NotRun { reason: "the printed statements could not be read".to_owned() };
    };
    let jobs: Vec<&crate::model::Job> = repository.scripts.iter().map(|script| &script.job).collect();
    let mut tables = crate::lint::facts(&script.job, &writing.table.pipeline, &jobs);
    let stand_in = stand_in(writing, &tables);
    let stands_in = stand_in.is_some();
    tables.extend(stand_in);
    let window: Vec<String> = chunk.range.chunks(1).iter().map(|day| day.from.to_string()).collect();
    let setup = Experiment { window: &window, ..Experiment::new(&script.job, &writing.table.pipeline, &tables) };
    match experiment(&setup) {
        Err(error) => Proof::NotRun { reason: error.message },
        Ok(all) => match all.iter().find(|seen| same_name(&seen.target, &table.name)) {
            None => Proof::NotRun { reason: "the printed statements do not write the table".to_owned() },
            Some(seen) => {
                let count = |moment: &Result<Snapshot, crate::engine::ExecutionError>| {
                    moment.as_ref().ok().map(|snapshot| snapshot.rows.len())
                };
                Proof::Ran {
                    chunk: chunk.range,
                    rows: [seen.before.as_ref().and_then(count), count(&seen.after_1), count(&seen.after_2)],
                    effect: effect(&seen.labels),
                    error: seen.error.as_ref().map(|(error, _)| format!("[{}] {}", error.class, error.message)),
                    stand_in: stands_in,
                }
            }
        },
    }
}

/// Code that is put behind a flow's definition.
pub struct Patch<'a> {
    pub flow: &'a Flow,
    pub text: String,
    pub chunk: Range,
}

/// Seeds that are tried until generated rows lie in the chunk.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

/// Fills the table by its own flow, deletes the chunk's rows, and lets two updates of the patched pipeline bring them back.
pub fn of_pipeline(
    repository: &Repository<'_>,
    options: &Options,
    (pipeline, dataset): (&Pipeline, &Dataset),
    day: &DayColumn,
    patch: &Patch<'_>,
    input: &Input,
) -> Proof {
    let not_run = |reason: &str| Proof::NotRun { reason: reason.to_owned() };
    if let Input::ByHand { view, .. } = input {
        return not_run(&format!("`{view}` has to be written first"));
    }
    let span = patch.flow.place.span().filter(|span| span.cell.is_none());
    let text = span.and_then(|span| text::exact(repository.tree, &span.path));
    let (Some(span), Some(text)) = (span, text) else {
        return not_run("the flow stands in a notebook, to which the engine adds no code");
    };
    let separator = if span.path.ends_with(".sql") && !text.trim_end().ends_with(';') { ";" } else { "" };
    let patched = format!("{}{separator}\n{}", text.trim_end(), patch.text);
    let overlay = Overlay::new(repository.tree, &BTreeMap::from([(span.path.to_string(), patched)]));
    let with_chunk = reading::read(&overlay, options, &ParseCache::new());
    if with_chunk.analysis.flows.len() <= repository.reading.analysis.flows.len() {
        return not_run("the printed flow could not be read");
    }
    let Some(location) = location(pipeline, patch.flow) else { return not_run("the table has no place of its own") };
    let trial = Trial {
        before: Code { label: "before".to_owned(), analysis: repository.reading.analysis.clone() },
        after: Code { label: "with the chunk".to_owned(), analysis: with_chunk.analysis },
        location,
        dataset,
        day,
        chunk: patch.chunk,
    };
    SEEDS.into_iter().find_map(|seed| trial.run(seed)).unwrap_or_else(|| not_run("no generated row lies in the chunk"))
}

struct Trial<'a> {
    before: Code,
    after: Code,
    location: String,
    dataset: &'a Dataset,
    day: &'a DayColumn,
    chunk: Range,
}

impl Trial<'_> {
    /// None where the rows of the seed show nothing.
    fn run(&self, seed: u64) -> Option<Proof> {
        let mut data = confirm::generated(&self.before.analysis, &self.after.analysis, seed);
        self.move_into_chunk(&mut data);
        let mut state = State::default();
        let (before, after) = (std::slice::from_ref(&self.before), std::slice::from_ref(&self.after));
        let steps = run::schedule(&[Stage::default()], 0..data.batches.len());
        run::run(before, &steps, &data, &mut state, &mut |_, _| {}).ok()?;
        let table = state.world.tables.get_mut(&self.location)?;
        let all = contents(table);
        let at = all.schema.fields.iter().position(|field| field.name.eq_ignore_ascii_case(&self.day.name))?;
        let inside = |row: &Row| row.get(at).is_some_and(|value| self.day.holds(self.chunk, value));
        let kept: Vec<Row> = all.rows.iter().filter(|row| !inside(row)).cloned().collect();
        if kept.len() == all.rows.len() {
            return None;
        }
        if !table.format.supports_merge() {
            return Some(Proof::NotRun {
                reason: format!("rows of a table of {} cannot be deleted", table.format.name()),
            });
        }
        let schema = all.schema.clone();
        table.replace(CommitKind::Delete, kept.clone(), &schema, None);
        let mut seen = Vec::new();
        let mut error = None;
        for _ in 0..2 {
            let steps = run::schedule(&[Stage::default()], []);
            let report = run::run(after, &steps, &Data::default(), &mut state, &mut |_, _| {}).ok()?;
            let flows = report.updates.iter().flat_map(|update| &update.flows);
            error = error.or_else(|| {
                flows.filter(|flow| flow.dataset == self.dataset.name).find_map(|flow| match &flow.status {
                    FlowStatus::Failed { error, .. } => Some(format!("[{}] {}", error.class, error.message)),
                    _ => None,
                })
            });
            seen.push(contents(state.world.tables.get(&self.location)?).rows);
        }
        let (first, second) = (seen.first()?, seen.get(1)?);
        let (whole, one, two) = (counted(&all.rows), counted(first), counted(second));
        let mut labels = BTreeSet::new();
        let more = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
            a.iter().any(|(row, count)| b.get(row).copied().unwrap_or(0) < *count)
        };
        let found = [
            (error.is_some(), Label::Error),
            (more(&one, &whole), Label::DuplicatedAtRun1),
            (more(&whole, &one), Label::InputMissing),
            (more(&two, &one), Label::Doubled),
            (more(&one, &two), Label::LostAtRun2),
        ];
        labels.extend(found.into_iter().filter(|(seen, _)| *seen).map(|(_, label)| label));
        Some(Proof::Ran {
            chunk: self.chunk,
            rows: [Some(kept.len()), Some(first.len()), Some(second.len())],
            effect: effect(&labels),
            error,
            stand_in: false,
        })
    }
}

impl Trial<'_> {
    /// Lays every second row into the chunk, and one right behind its end.
    fn move_into_chunk(&self, data: &mut Data) {
        let last = self.chunk.to.yesterday().unwrap_or(self.chunk.from);
        for rows in data.batches.iter_mut().flat_map(|batch| batch.sources.values_mut()) {
            for (at, row) in rows.iter_mut().enumerate() {
                let day = match at % 4 {
                    0 => self.chunk.from,
                    1 => self.chunk.to,
                    2 => last,
                    _ => continue,
                };
                let column = row.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(&self.day.name));
                if let Some((_, value)) = column {
                    *value = serde_json::Value::from(self.day.text(day));
                }
            }
        }
    }
}

/// How often each row is there.
fn counted(rows: &[Row]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry(format!("{row:?}")).or_insert(0) += 1;
    }
    counts
}

/// A table with the target's columns under the input's name, where nothing is known of the input.
fn stand_in(writing: &Writing<'_>, known: &[TableFacts]) -> Option<TableFacts> {
    let name = match writing.input {
        Input::Table { name, .. } if !known.iter().any(|table| same_name(&table.name, name)) => name,
        Input::ByHand { view, .. } => view,
        _ => return None,
    };
    Some(TableFacts {
        name: name.clone(),
        format: "parquet".to_owned(),
        kind: TableKind::Files,
        folder: false,
        partition_by: Vec::new(),
        bucketed: false,
        properties: BTreeMap::new(),
        ..writing.table.facts.clone()
    })
}
