//! Real checkpoints in place of, or next to, the before side: which flow resumes from which, what a restart comes to, and the
//! changes that say so.

use crate::analyze::{Analysis, AnalyzedFlow};
use crate::checkpoint::{self, Checkpoint, SourceFacts};
use crate::diff::{Change, Diff, FlowRef, FlowStatus, deployed};
use crate::engine::deployed::{Restart, restart};
use crate::model::{DatasetKind, FlowKind, Place, Schema, StateStoreSchema};
use crate::reading::Checkpoints;
use crate::revision::Tree;
use crate::verdict::{CheckpointFlow, CheckpointSource, CheckpointVerdict, Resumption, SchemaPair};
use std::collections::{BTreeMap, BTreeSet};

/// Compares every checkpoint with the flow that resumes from it, and adds what differs to the difference. `before` is the older
/// revision where there is one; where a checkpoint is not of that revision, the checkpoint wins.
pub fn judge(
    read: &Checkpoints,
    before: Option<&Analysis>,
    after: &Analysis,
    difference: &mut Diff,
) -> Vec<CheckpointVerdict> {
    let folder = read.files.label();
    let checkpoints = newest(checkpoint::read(&read.files));
    let owners = Owners::find(after, &checkpoints);
    let mut verdicts = Vec::new();
    let mut owned: BTreeSet<FlowRef> = BTreeSet::new();
    for (held, owner) in checkpoints.iter().zip(&owners.by_checkpoint) {
        let judged = match owner {
            Owner::None => orphan(held, folder, after, difference),
            Owner::Several => undecided_owner(held, folder),
            Owner::Flow(reference) => {
                owned.insert(*reference);
                Judge { before, after, held, folder, facts: &read.facts, reference: *reference }.judge(difference)
            }
        };
        verdicts.push(judged);
    }
    missing(before, after, difference, (&checkpoints, &owners), &owned, folder);
    difference.changes.sort_by(|x, y| {
        (&x.pipeline, &x.dataset, &x.flow, x.kind, &x.facts).cmp(&(&y.pipeline, &y.dataset, &y.flow, y.kind, &y.facts))
    });
    verdicts
}

/// Of the checkpoints of one flow the one of the last full refresh.
fn newest(checkpoints: Vec<Checkpoint>) -> Vec<Checkpoint> {
    let mut newest: BTreeMap<String, Checkpoint> = BTreeMap::new();
    for checkpoint in checkpoints {
        let folder = checkpoint.location.flow_folder();
        let later = |known: &Checkpoint| known.location.generation() < checkpoint.location.generation();
        if newest.get(&folder).is_none_or(later) {
            newest.insert(folder, checkpoint);
        }
    }
    newest.into_values().collect()
}

/// Which flow a checkpoint belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Flow(FlowRef),
    None,
    /// Flows whose paths fit equally well.
    Several,
}

struct Owners {
    by_checkpoint: Vec<Owner>,
}

impl Owners {
    fn find(analysis: &Analysis, checkpoints: &[Checkpoint]) -> Self {
        let flows: Vec<(FlowRef, &AnalyzedFlow)> = resuming(analysis);
        // One checkpoint and one flow belong together, whatever they are called.
        if let ([_], [(only, _)]) = (checkpoints, flows.as_slice())
            && checkpoints.iter().all(|held| held.location.path.is_empty())
        {
            return Owners { by_checkpoint: vec![Owner::Flow(*only)] };
        }
        let by_checkpoint = checkpoints.iter().map(|held| owner(analysis, &flows, held)).collect();
        Owners { by_checkpoint }
    }
}

fn owner(analysis: &Analysis, flows: &[(FlowRef, &AnalyzedFlow)], held: &Checkpoint) -> Owner {
    let mut best: Vec<FlowRef> = Vec::new();
    let mut most = 0;
    for (reference, _) in flows {
        let Some(flow) = flow_of(analysis, *reference) else { continue };
        let common = match &flow.kind {
            FlowKind::StreamJob(write) => write.checkpoint.as_deref().and_then(|path| held.location.match_path(path)),
            _ => held.location.match_flow(&flow.target, &flow.name),
        };
        let Some(common) = common.filter(|common| *common >= most) else { continue };
        if common > most {
            best.clear();
            most = common;
        }
        best.push(*reference);
    }
    match best.as_slice() {
        [] => Owner::None,
        [flow] => Owner::Flow(*flow),
        _ => Owner::Several,
    }
}

fn flow_of(analysis: &Analysis, reference: FlowRef) -> Option<&crate::model::Flow> {
    analysis.workspace.pipelines.get(reference.pipeline)?.flows.get(reference.flow)
}

/// Flows that run as streams and keep a checkpoint. A flow that runs once is done with its own.
fn resuming(analysis: &Analysis) -> Vec<(FlowRef, &AnalyzedFlow)> {
    let flows = analysis.flows.iter().enumerate().filter(|(_, analyzed)| analyzed.streaming);
    let flows = flows.map(|(index, analyzed)| {
        (FlowRef { pipeline: analyzed.pipeline, flow: analyzed.flow, analyzed: index }, analyzed)
    });
    flows
        .filter(|(reference, _)| {
            let Some(flow) = flow_of(analysis, *reference) else { return false };
            let dataset = analysis.own_dataset(reference.pipeline, &flow.target);
            !flow.is_once() && dataset.is_none_or(|dataset| dataset.kind != DatasetKind::View)
        })
        .collect()
}

/// A checkpoint as it is, whoever it belongs to.
fn description(held: &Checkpoint, folder: &str) -> CheckpointVerdict {
    let last = held.last();
    let source = |(key, offset): (String, Option<&checkpoint::StoredOffset>)| CheckpointSource {
        key,
        kind: offset.map_or("unknown", |offset| offset.form.kind()),
        offset: offset.map(|offset| offset.text.clone()),
        behind: None,
    };
    CheckpointVerdict {
        path: deployed::below(folder, &held.location.path),
        flow: None,
        resumption: Resumption::Unknown,
        error_class: None,
        error: None,
        batch: last.map(|entry| entry.batch),
        committed: held.commits.last().map(|commit| commit.batch),
        watermark: last.map(|_| held.watermark()),
        planned_at: last.map(|entry| entry.timestamp),
        sources: last.map(|entry| entry.sources.iter().map(source).collect()).unwrap_or_default(),
        schemas: Vec::new(),
        open: Vec::new(),
        assumed: Vec::new(),
        problems: held.problems.clone(),
    }
}

fn orphan(held: &Checkpoint, folder: &str, after: &Analysis, difference: &mut Diff) -> CheckpointVerdict {
    let verdict = CheckpointVerdict { resumption: Resumption::Orphaned, ..description(held, folder) };
    let pipeline = after.workspace.pipelines.first().map(|pipeline| pipeline.key.as_str()).unwrap_or_default();
    difference.changes.push(Change::new("checkpoint-orphaned", pipeline).fact("file", verdict.path.as_str()));
    verdict
}

fn undecided_owner(held: &Checkpoint, folder: &str) -> CheckpointVerdict {
    let open = vec!["several flows of the code fit its path: name the folder of one pipeline".to_owned()];
    CheckpointVerdict { open, ..description(held, folder) }
}

struct Judge<'a> {
    before: Option<&'a Analysis>,
    after: &'a Analysis,
    held: &'a Checkpoint,
    folder: &'a str,
    facts: &'a SourceFacts,
    reference: FlowRef,
}

impl Judge<'_> {
    fn judge(&self, difference: &mut Diff) -> CheckpointVerdict {
        let mut verdict = description(self.held, self.folder);
        let Some(analyzed) = self.after.flows.get(self.reference.analyzed) else { return verdict };
        let Some(flow) = flow_of(self.after, self.reference) else { return verdict };
        let pipeline = self.after.workspace.pipelines.get(self.reference.pipeline);
        verdict.flow = Some(CheckpointFlow {
            pipeline: pipeline.map(|pipeline| pipeline.key.clone()).unwrap_or_default(),
            dataset: flow.target.clone(),
            flow: flow.name.clone(),
        });
        if self.held.is_new() {
            verdict.resumption = Resumption::StartsAnew;
            return verdict;
        }
        let Restart { error, mut open, assumed } = restart(self.after, analyzed, self.held);
        verdict.schemas = self.schemas(analyzed);
        verdict.assumed = assumed;
        let mut changes = deployed::compare(self.after, self.reference, self.held, self.folder);
        changes.extend(self.positions(&mut verdict));
        // What the files do not say cannot be compared, and what they say may be no longer so.
        open.extend(self.held.problems.iter().map(|problem| format!("{}: {}", problem.file, problem.reason)));
        open.sort();
        open.dedup();
        match error {
            Some(error) if self.held.problems.is_empty() => {
                verdict.resumption = Resumption::Refused;
                if !claims_refusal(&changes) {
                    changes.extend(self.refused(&error));
                }
                verdict.error_class = Some(error.class);
                verdict.error = Some(error.message);
            }
            _ if !open.is_empty() => {
                changes.extend(self.undecided(&open));
                changes.retain(|change| change.kind == "checkpoint-undecided");
            }
            _ if changes.iter().any(refuses_beside_the_restart) => {
                verdict.resumption = Resumption::Refused;
            }
            _ => verdict.resumption = Resumption::Resumes,
        }
        verdict.open = open;
        self.merge(difference, changes);
        verdict
    }

    /// What the facts say of the sources: another table, rows that are gone, how far the checkpoint is behind.
    fn positions(&self, verdict: &mut CheckpointVerdict) -> Vec<Change> {
        let mut changes = Vec::new();
        let Some(entry) = self.held.last() else { return changes };
        let sources = deployed::sources(self.after, self.reference, self.held);
        for ((key, offset), (name, names)) in entry.sources.iter().zip(sources) {
            let Some(position) = offset.and_then(|offset| self.facts.position(&names, offset)) else { continue };
            if let Some(shown) = verdict.sources.iter_mut().find(|source| source.key == key) {
                shown.behind.clone_from(&position.behind);
            }
            if position.same_table {
                verdict.assumed.retain(|text| !text.starts_with(&format!("source {key} is still")));
            }
            let change = |kind| deployed::change(self.after, self.reference, kind, self.folder, &entry.file);
            let stored = match offset.map(|offset| &offset.form) {
                Some(checkpoint::OffsetForm::Delta { table, .. }) => table.clone(),
                _ => String::new(),
            };
            if let Some((class, message)) = position.refusal() {
                verdict.error_class = Some(class.to_owned());
                verdict.error = Some(message);
            }
            if let Some(id) = position.other_table {
                let change = change("source-recreated").map(|change| change.fact("source", name.as_str()));
                changes.extend(change.map(|change| change.values(stored, id)));
            }
            if let Some((before, after)) = position.lost {
                let change = change("source-position-lost").map(|change| change.fact("source", name.as_str()));
                changes.extend(change.map(|change| change.values(before, after)));
            }
        }
        changes
    }

    fn refused(&self, error: &crate::engine::ExecutionError) -> Option<Change> {
        let file = self.held.last().map(|entry| entry.file.as_str()).unwrap_or(&self.held.location.path);
        let change = deployed::change(self.after, self.reference, "checkpoint-refused", self.folder, file)?;
        Some(change.fact("error_class", error.class.as_str()).fact("error", error.message.as_str()))
    }

    fn undecided(&self, open: &[String]) -> Option<Change> {
        let damaged = self.held.problems.first().map(|problem| problem.file.as_str());
        let file = damaged.unwrap_or(&self.held.location.path);
        let change = deployed::change(self.after, self.reference, "checkpoint-undecided", self.folder, file)?;
        Some(change.fact("reason", open.join("; ")))
    }

    /// Key and value schemas that are not the same, side by side.
    fn schemas(&self, analyzed: &AnalyzedFlow) -> Vec<SchemaPair> {
        let mut pairs = Vec::new();
        for operator in &analyzed.signature.operators {
            let Some(stored) = self.held.operators.iter().find(|stored| stored.operator.id == operator.id) else {
                continue;
            };
            for store in &operator.stores {
                let known = stored.operator.stores.iter().find(|known| known.store == store.store);
                let Some(known) = known else { continue };
                let file = stored.schema_files.get(store.store.as_ref()).cloned().unwrap_or_default();
                for (part, of) in [("key", key as fn(&StateStoreSchema) -> &Schema), ("value", value)] {
                    if types(of(known)) != types(of(store)) {
                        pairs.push(SchemaPair {
                            operator: operator.name.to_string(),
                            store: store.store.to_string(),
                            part,
                            checkpoint: columns(of(known)),
                            code: columns(of(store)),
                            file: deployed::below(self.folder, &file),
                        });
                    }
                }
            }
        }
        pairs
    }

    /// Puts the changes into the difference. Where the older revision is not what wrote the checkpoint, what was found between the
    /// two revisions says nothing of what runs.
    fn merge(&self, difference: &mut Diff, changes: Vec<Change>) {
        let Some(pair) = difference.flows.iter_mut().find(|pair| pair.after == Some(self.reference)) else { return };
        let old = self.before.zip(pair.before).and_then(|(before, reference)| {
            let error = restart(before, before.flows.get(reference.analyzed)?, self.held).error;
            Some((reference, error))
        });
        let mut changes = changes;
        let (dataset, flow) = (pair.dataset.clone(), pair.flow.clone());
        if let Some((_, error)) = old {
            let of_flow =
                |change: &Change| change.dataset.as_ref() == Some(&dataset) && change.flow.as_ref() == Some(&flow);
            match error {
                Some(error) if self.held.problems.is_empty() => {
                    difference.changes.retain(|change| !of_flow(change) || change.kind == "flow-invalid");
                    let file = self.held.location.path.as_str();
                    let differs = deployed::change(self.after, self.reference, "checkpoint-differs", self.folder, file);
                    changes.extend(
                        differs.map(|change| change.fact("error", format!("{}: {}", error.class, error.message))),
                    );
                }
                // The revisions say more of the same change.
                _ => {
                    let said = |kind: &str| difference.changes.iter().any(|other| of_flow(other) && other.kind == kind);
                    let refused = difference.changes.iter().any(|other| of_flow(other) && is_refusal(other.kind));
                    changes.retain(|change| !(said(change.kind) || refused && is_refusal(change.kind)));
                }
            }
        }
        if !changes.is_empty() && pair.status == FlowStatus::Unchanged {
            pair.status = FlowStatus::Changed;
        }
        difference.changes.extend(changes);
    }
}

fn key(store: &StateStoreSchema) -> &Schema {
    &store.key
}

fn value(store: &StateStoreSchema) -> &Schema {
    &store.value
}

fn types(schema: &Schema) -> Vec<String> {
    schema.fields.iter().map(|field| field.data_type.to_string()).collect()
}

fn columns(schema: &Schema) -> String {
    let columns = schema.fields.iter().map(|field| format!("{} {}", field.name, field.data_type));
    columns.collect::<Vec<_>>().join(", ")
}

fn claims_refusal(changes: &[Change]) -> bool {
    changes.iter().any(|change| is_refusal(change.kind))
}

/// What the facts and the topics say, which the restart itself does not compare here.
fn refuses_beside_the_restart(change: &Change) -> bool {
    match change.kind {
        "source-recreated" | "source-position-lost" => true,
        "source-topics-changed" => !change.list("removed").is_empty(),
        _ => false,
    }
}

/// Kinds of what a restart compares.
fn is_refusal(kind: &str) -> bool {
    kind.starts_with("stateful-operator")
        || matches!(
            kind,
            "source-added"
                | "source-removed"
                | "source-kind-changed"
                | "state-types-changed"
                | "checkpoint-refused"
                | "source-position-lost"
                | "source-recreated"
        )
}

/// Flows of the code without a checkpoint, where others of their pipeline have one.
fn missing(
    before: Option<&Analysis>,
    after: &Analysis,
    difference: &mut Diff,
    (checkpoints, owners): (&[Checkpoint], &Owners),
    owned: &BTreeSet<FlowRef>,
    folder: &str,
) {
    let ownerless = || {
        let pairs = checkpoints.iter().zip(&owners.by_checkpoint);
        pairs.filter(|(_, owner)| **owner == Owner::None).map(|(held, _)| held)
    };
    for (reference, _) in resuming(after) {
        let Some(flow) = flow_of(after, reference).filter(|_| !owned.contains(&reference)) else { continue };
        let pipeline_is_known = owned.iter().any(|other| other.pipeline == reference.pipeline);
        let table = flow.target.parts().last().unwrap_or_default();
        let related = ownerless().any(|held| held.location.names_table(table));
        if !pipeline_is_known && !related {
            continue;
        }
        let Some(pair) = difference.flows.iter_mut().find(|pair| pair.after == Some(reference)) else { continue };
        // A flow that only the newer revision has starts at its first batch, as it should.
        if before.is_some() && pair.before.is_none() {
            continue;
        }
        if pair.status == FlowStatus::Unchanged {
            pair.status = FlowStatus::Changed;
        }
        let change = deployed::change(after, reference, "checkpoint-missing", folder, "");
        let change = change.map(|change| change.fact("related", related));
        difference.changes.extend(change.map(|change| Change { before: Place::unknown(), ..change }));
    }
}
