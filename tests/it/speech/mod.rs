//! Speech: every flow of the cases, edited in one place, must make the comparison speak, unless the two queries are proven equal.
//!
//! What is proven equal is put to the engine: both queries run from nothing on the same rows, and must give the same tables. A
//! mutant that passes in silence though the engine sees a difference is a survivor.
//!
//! Silence: the same flows, rewritten by laws that change no row, must not make it speak.

mod mutate;
mod rewrite;

use pipelint::analyze::{Analysis, analyze};
use pipelint::confirm::{Options as Experiment, confirm};
use pipelint::diff::{FlowStatus, diff};
use pipelint::frontend::ParseCache;
use pipelint::model::{Effect, Workspace};
use pipelint::reading::{Options, read};
use pipelint::revision::{Selection, open};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

crate::tests!(mutants_do_not_pass_in_silence, equivalent_rewrites_are_silent);

/// Sites of one flow that are tried: spread over all of them.
const SITES: usize = 12;

/// Survivors in a thousand mutants.
const SURVIVORS_PER_THOUSAND: usize = 5;

#[derive(Default)]
struct Count {
    mutants: usize,
    killed: usize,
    equal: Vec<String>,
    survivors: Vec<String>,
}

fn mutants_do_not_pass_in_silence() {
    let counts: Vec<BTreeMap<String, Count>> =
        crate::case_folders("").par_iter().map(|folder| mutants_of(folder.as_path())).collect();
    let mut kinds: BTreeMap<String, Count> = BTreeMap::new();
    for (kind, count) in counts.into_iter().flatten() {
        let total = kinds.entry(kind).or_default();
        total.mutants += count.mutants;
        total.killed += count.killed;
        total.equal.extend(count.equal);
        total.survivors.extend(count.survivors);
    }
    let sum = |of: fn(&Count) -> usize| kinds.values().map(of).sum::<usize>();
    for (kind, count) in &kinds {
        println!(
            "{kind:36} {:6} mutants {:6} spoken of {:5} proven equal {:3} survived",
            count.mutants,
            count.killed,
            count.equal.len(),
            count.survivors.len()
        );
    }
    let (mutants, survivors) = (sum(|c| c.mutants), sum(|c| c.survivors.len()));
    println!(
        "{mutants} mutants, {} spoken of, {} proven equal, {survivors} survived",
        sum(|c| c.killed),
        sum(|c| c.equal.len())
    );
    for equal in kinds.values().flat_map(|count| &count.equal) {
        println!("proven equal: {equal}");
    }
    for survivor in kinds.values().flat_map(|count| &count.survivors) {
        println!("survived: {survivor}");
    }
    assert!(mutants > 0, "no flow was edited");
    assert!(survivors * 1000 <= mutants * SURVIVORS_PER_THOUSAND, "{survivors} of {mutants} mutants passed in silence");
}

fn workspace(folder: &Path) -> Option<Workspace> {
    let side = ["after", "code", "job"].into_iter().map(|name| folder.join(name)).find(|path| path.is_dir())?;
    let selection = Selection::Folders { before: side.clone(), after: side };
    let comparison = open(&selection, Path::new(".")).ok()?;
    Some(read(comparison.after.as_ref(), &Options::default(), &ParseCache::new()).analysis.workspace)
}

fn mutants_of(folder: &Path) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let Some(workspace) = workspace(folder) else { return counts };
    let before = analyze(workspace.clone());
    for (p, pipeline) in workspace.pipelines.iter().enumerate() {
        for (f, flow) in pipeline.flows.iter().enumerate() {
            let sites = (0..).take_while(|site| mutate::mutant(&flow.plan, *site).is_some()).count();
            for site in (0..sites).step_by(sites.div_ceil(SITES).max(1)) {
                let Some((kind, plan)) = mutate::mutant(&flow.plan, site) else { continue };
                let mut edited = workspace.clone();
                if let Some(flow) = edited.pipelines.get_mut(p).and_then(|pipeline| pipeline.flows.get_mut(f)) {
                    flow.plan = plan;
                }
                let after = analyze(edited);
                let name = format!("{kind} at site {site} of {} in {}", flow.name, crate::case_name("speech", folder));
                let count = counts.entry(kind).or_default();
                count.mutants += 1;
                if speaks(&before, &after) {
                    count.killed += 1;
                } else if same_rows(&before, &after) {
                    count.equal.push(name);
                } else {
                    count.survivors.push(name);
                }
            }
        }
    }
    counts
}

fn speaks(before: &Analysis, after: &Analysis) -> bool {
    let difference = diff(before, after);
    !difference.changes.is_empty() || difference.flows.iter().any(|pair| pair.status != FlowStatus::Unchanged)
}

/// No flow's table differs between the two, from nothing and on a checkpoint, as far as the engine can run them.
fn same_rows(before: &Analysis, after: &Analysis) -> bool {
    let options = Experiment { seeds: vec![1, 2], ..Experiment::default() };
    let harmless = |effect: Effect| matches!(effect, Effect::None | Effect::Recomputed);
    confirm(before, after, &options).flows.iter().all(|flow| flow.observed.is_none_or(harmless))
}

fn equivalent_rewrites_are_silent() {
    let laws = rewrite::laws();
    let loud: Vec<(usize, Option<String>)> =
        crate::case_folders("").par_iter().flat_map(|folder| rewrites_of(folder, &laws)).collect();
    for (index, (name, _)) in laws.iter().enumerate() {
        let tried = loud.iter().filter(|(law, _)| *law == index).count();
        println!("{name:50} {tried:5} flows");
    }
    let spoken: Vec<&String> = loud.iter().filter_map(|(_, said)| said.as_ref()).collect();
    println!("{} rewrites by {} laws, {} spoken of", loud.len(), laws.len(), spoken.len());
    assert!(spoken.is_empty(), "{spoken:#?}");
}

/// By law, what was said of each flow that the law applies to.
fn rewrites_of(folder: &Path, laws: &[(&'static str, rewrite::Law)]) -> Vec<(usize, Option<String>)> {
    let mut tried = Vec::new();
    let Some(workspace) = workspace(folder) else { return tried };
    let before = analyze(workspace.clone());
    for (p, pipeline) in workspace.pipelines.iter().enumerate() {
        for (f, flow) in pipeline.flows.iter().enumerate() {
            // A query that does not resolve has no meaning to keep.
            if before.flows.iter().any(|own| own.pipeline == p && own.flow == f && !own.errors.is_empty()) {
                continue;
            }
            for (index, (name, law)) in laws.iter().enumerate() {
                let Some(plan) = rewrite::rewritten(&flow.plan, law) else { continue };
                let mut edited = workspace.clone();
                if let Some(flow) = edited.pipelines.get_mut(p).and_then(|pipeline| pipeline.flows.get_mut(f)) {
                    flow.plan = plan;
                }
                let after = analyze(edited);
                let said =
                    diff(&before, &after).changes.iter().map(|change| change.kind).collect::<Vec<_>>().join(", ");
                let place = crate::case_name("speech", folder);
                tried.push((index, (!said.is_empty()).then(|| format!("{name}: {said} of {} in {place}", flow.name))));
            }
        }
    }
    tried
}
