//! Reads that would stop, and tables without protection: an option on the read, a property of the table.

use super::draft::{Draft, Parsed};
use super::sheet::Spot;
use super::{Alternative, Answer, Case, Desk, Goal, Stands};
use crate::diff::FlowStatus;
use crate::impact::Impact;
use crate::model::{DatasetKind, FullRefresh, QualifiedName, Read, Source};
use crate::rules::losses;
use std::collections::BTreeSet;

const PASS_OVER: &str = "The stream goes on and passes over commits that change or delete rows: their updates, deletes and merged \
                         rows never arrive. After a full refresh of its source every row of it is appended again and arrives a \
                         second time, beside the rows that are there: refresh this table in the same selection to avoid that.";
const PROTECT: &str = "A full refresh of the table then fails until somebody lifts the protection on purpose.";

/// The option that was taken out comes back.
pub fn skip_again(desk: &Desk, case: &Case) -> Option<Answer> {
    let draft = skip_change_commits(desk.spot(&case.change.after)?)?;
    Some(Answer {
        title: "Skip change commits again".to_owned(),
        text: PASS_OVER,
        stands: Stands::ForRemedy("skip-change-commits"),
        goal: Goal::FindingGone,
        draft,
    })
}

/// The protection that was taken out comes back.
pub fn protect_again(desk: &Desk, case: &Case) -> Option<Answer> {
    Some(Answer {
        title: format!("Protect `{}` again", case.dataset),
        text: PROTECT,
        stands: Stands::ForRemedy("protect-table"),
        goal: Goal::Protected,
        draft: protect(desk.spot(&case.change.after)?)?,
    })
}

fn skip_change_commits(here: Spot) -> Option<Draft> {
    let (region, range, text) = match Parsed::of(&here.sheet, here.at())? {
        Parsed::Sql(statement) => {
            let (at, text) = statement.read_option(here.at(), "SKIPCHANGECOMMITS", "TRUE")?;
            (statement.bytes()?, at..at, text)
        }
        Parsed::Python(python) => {
            let (range, text) = python.read_option(&here.range, "skipChangeCommits", "true")?;
            (python.whole(here.at())?, range, text)
        }
    };
    Some(Draft::new(here.sheet, region).replace(range, text))
}

fn protect(here: Spot) -> Option<Draft> {
    let (name, value) = ("pipelines.reset.allowed", "false");
    let (region, (range, text)) = match Parsed::of(&here.sheet, here.at())? {
        Parsed::Sql(statement) => (statement.bytes()?, statement.property(name, value)?),
        Parsed::Python(python) => (python.whole(here.at())?, python.property(here.at(), name, value)?),
    };
    Some(Draft::new(here.sheet, region).replace(range, text))
}

/// An alternative that no finding asks for.
fn unasked(
    rule: &str,
    dataset: &QualifiedName,
    title: String,
    text: &str,
    goal: Goal,
    draft: Draft,
) -> Option<Alternative> {
    let language = draft.language();
    let (edits, code) = draft.finish()?;
    Some(Alternative {
        rule: rule.to_owned(),
        findings: Vec::new(),
        stands: Stands::Alone,
        dataset: dataset.clone(),
        title,
        text: text.to_owned(),
        language,
        code,
        edits,
        goal,
    })
}

impl Desk<'_> {
    /// Streaming readers of tables that are refreshed, and would stop at the commits that empty them.
    pub fn stopped_readers(&self) -> Vec<Alternative> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        // A reader that is refreshed for what was done to itself reads its source from the start anyway.
        let refreshed = |dataset: &str| {
            let required = |f: &&crate::rules::Finding| f.full_refresh == FullRefresh::Required;
            let names = self.findings.iter().filter(required).filter_map(|finding| finding.dataset.as_ref());
            names.into_iter().any(|name| name.to_string() == dataset)
        };
        let stopped = |impact: &&Impact| impact.stops_a_stream() && !refreshed(&impact.dataset);
        for impact in self.impacts.iter().filter(stopped) {
            let parent = impact.path.iter().rev().nth(1).unwrap_or(&impact.because_of);
            for (dataset, read) in self.streaming_reads(&impact.pipeline, &impact.dataset, parent) {
                let Some(draft) = self.spot(&read.place).and_then(skip_change_commits) else { continue };
                let title = format!("Let the stream of `{dataset}` pass over the commits that empty `{parent}`");
                let new =
                    unasked(Alternative::SKIP_CHANGE_COMMITS, &dataset, title, PASS_OVER, Goal::BetterEffect, draft);
                found.extend(new.filter(|new| {
                    let places = new.edits.iter().map(|edit| (edit.path.clone(), edit.range.start));
                    seen.insert(places.collect::<Vec<_>>())
                }));
            }
        }
        found
    }

    fn streaming_reads(&self, pipeline: &str, dataset: &str, source: &str) -> Vec<(QualifiedName, &Read)> {
        let after = self.after;
        let flows = after.flows.iter().filter_map(|analyzed| {
            let owner = after.workspace.pipelines.get(analyzed.pipeline).filter(|owner| owner.key == pipeline)?;
            let flow = owner.flows.get(analyzed.flow).filter(|flow| flow.target.to_string() == dataset)?;
            Some((flow.target.clone(), analyzed))
        });
        let named =
            |read: &&Read| read.streaming && matches!(&read.source, Source::Table(name) if name.to_string() == source);
        flows
            .flat_map(|(target, analyzed)| {
                analyzed.plan.reads().into_iter().filter(named).map(move |read| (target.clone(), read))
            })
            .collect()
    }

    /// Changed tables over sources that do not keep what they have given, and that nothing protects from a full refresh.
    pub fn unprotected(&self) -> Vec<Alternative> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let refreshed =
            |name: &QualifiedName| self.plan.full_refresh.iter().any(|r| r.datasets.contains(&name.to_string()));
        let changed = |status: FlowStatus| matches!(status, FlowStatus::Added | FlowStatus::Changed);
        for pair in self.difference.flows.iter().filter(|pair| changed(pair.status)) {
            let owner = self.pipeline(&pair.pipeline);
            let dataset = owner.and_then(|owner| owner.dataset(&pair.dataset));
            let Some(dataset) = dataset else { continue };
            let told = dataset.property("pipelines.reset.allowed").is_some();
            let open = dataset.kind == DatasetKind::StreamingTable && !told && !refreshed(&dataset.name);
            let lost = losses(self.after, self.difference, &pair.pipeline, &pair.dataset);
            let declared = lost.into_iter().find(|(_, _, retention)| !retention.is_empty());
            let Some((reason, ..)) = declared.filter(|_| open && seen.insert(dataset.name.key())) else { continue };
            let Some(draft) = self.spot(&dataset.place).and_then(protect) else { continue };
            let title = format!("Protect `{}` from full refresh: {reason}", dataset.name);
            found.extend(unasked(Alternative::PROTECT_TABLE, &dataset.name, title, PROTECT, Goal::Protected, draft));
        }
        found
    }
}
