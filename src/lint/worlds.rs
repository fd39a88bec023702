//! The ways through a script's conditions that only its caller knows (`if args.full: …`): each is a script of its own.
//!
//! Takes a job; gives jobs without unknown conditions. The same condition is decided once for the whole script. Conditions on rows
//! of tables stay: the engine decides them.

use crate::model::{Job, Step, StreamSink, Way};
use std::collections::BTreeMap;

/// Scripts with more ways are followed in this many.
const MOST: usize = 12;

/// Which way is taken, by the condition's text.
type Choice = BTreeMap<String, usize>;

pub fn worlds(job: &Job) -> Vec<Job> {
    let mut conditions = BTreeMap::new();
    collect(&job.steps, &mut conditions);
    if conditions.is_empty() {
        return vec![job.clone()];
    }
    choices(&conditions)
        .into_iter()
        .map(|choice| Job { path: job.path.clone(), steps: decided(&job.steps, &choice) })
        .collect()
}

fn is_unknown(ways: &[Way]) -> bool {
    ways.iter().rev().skip(1).any(|way| way.test.is_none())
}

fn key(ways: &[Way]) -> &str {
    ways.first().map_or("", |way| &way.condition)
}

/// Number of ways by condition.
fn collect(steps: &[Step], found: &mut BTreeMap<String, usize>) {
    for step in steps {
        if let Step::Branches { ways, .. } = step
            && is_unknown(ways)
        {
            let count = found.entry(key(ways).to_owned()).or_insert(0);
            *count = (*count).max(ways.len());
        }
        step.inner().into_iter().for_each(|inner| collect(inner, found));
    }
}

/// Every combination where they are few, else those that take one way other than the first.
fn choices(conditions: &BTreeMap<String, usize>) -> Vec<Choice> {
    let first: Choice = conditions.keys().map(|condition| (condition.clone(), 0)).collect();
    let all = conditions.values().fold(1usize, |product, count| product.saturating_mul(*count));
    let mut found = vec![first.clone()];
    for (condition, count) in conditions {
        let from = if all <= MOST { found.clone() } else { vec![first.clone()] };
        for way in 1..*count {
            found.extend(from.iter().map(|choice| {
                let mut other = choice.clone();
                other.insert(condition.clone(), way);
                other
            }));
        }
    }
    found.truncate(MOST);
    found
}

fn decided(steps: &[Step], choice: &Choice) -> Vec<Step> {
    let of_way = |way: &Way| Way { steps: decided(&way.steps, choice), ..way.clone() };
    let decide = |step: &Step| match step {
        Step::Branches { ways, place } if is_unknown(ways) => {
            let at = choice.get(key(ways)).copied().unwrap_or_default();
            let taken = ways.get(at).or(ways.last()).map(|way| Way { test: None, ..of_way(way) });
            Step::Branches { ways: taken.into_iter().collect(), place: place.clone() }
        }
        Step::Branches { ways, place } => {
            Step::Branches { ways: ways.iter().map(of_way).collect(), place: place.clone() }
        }
        Step::Call { steps } => Step::Call { steps: decided(steps, choice) },
        Step::Parallel { branches, place } => Step::Parallel {
            branches: branches.iter().map(|branch| decided(branch, choice)).collect(),
            place: place.clone(),
        },
        Step::Stream(stream) => {
            let mut stream = stream.clone();
            if let StreamSink::ForeachBatch { steps, .. } = &mut stream.sink {
                *steps = decided(steps, choice);
            }
            Step::Stream(stream)
        }
        Step::Conf { .. }
        | Step::Reset { .. }
        | Step::Write(_)
        | Step::Collect { .. }
        | Step::Materialize { .. }
        | Step::RemoveFiles { .. }
        | Step::Unknown { .. } => step.clone(),
    };
    steps.iter().map(decide).collect()
}
