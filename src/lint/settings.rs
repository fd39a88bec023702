//! The overwrite mode that scripts run under: what they set themselves, and what configuration files of the tree set for clusters
//! and jobs.

use super::experiment::all_steps;
use super::script::same_statement;
use crate::model::{Job, Place, Step};
use crate::revision::{Tree, text};

pub const OVERWRITE_MODE: &str = "spark.sql.sources.partitionOverwriteMode";
/// Configuration files are short.
const MAX_BYTES: u64 = 1 << 20;

/// The first configuration file that sets the session's overwrite mode to dynamic, as a phrase.
pub fn dynamic_overwrite(tree: &dyn Tree) -> Option<String> {
    let is_configuration =
        |path: &str| [".yml", ".yaml", ".json", ".conf", ".properties"].iter().any(|ending| path.ends_with(ending));
    let entries = tree.entries().iter().filter(|entry| is_configuration(&entry.path));
    for entry in entries.filter(|entry| tree.size(&entry.path).is_none_or(|bytes| bytes <= MAX_BYTES)) {
        let Some(text) = text::shown(tree, &entry.path) else { continue };
        let sets = |line: &str| {
            line.split_once(OVERWRITE_MODE).is_some_and(|(before, value)| {
                !before.trim_start().starts_with('#') && value.to_lowercase().contains("dynamic")
            })
        };
        if let Some(line) = text.lines().position(sets) {
            return Some(format!("in {}:{}, for what runs under that configuration", entry.path, line + 1));
        }
    }
    None
}

/// The session's overwrite mode at one write.
pub struct OverwriteMode {
    pub dynamic: bool,
    /// Where the script makes it dynamic without that holding for the write.
    pub elsewhere: Option<String>,
}

/// Follows the script's own settings up to a write, and beyond it.
pub fn overwrite_mode(job: &Job, place: &Place) -> OverwriteMode {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    let line = |place: &Place| place.span().map(|span| format!("{}:{}", span.path, span.line));
    let is_write = |step: &Step| matches!(step, Step::Write(write) if same_statement(&write.place, place));
    let at = steps.iter().rposition(|step| is_write(step)).unwrap_or(steps.len());
    let mut set: Option<&Place> = None;
    let mut lost = None;
    let mut later = None;
    for (index, step) in steps.iter().enumerate() {
        let Step::Conf { key, value, place } = step else { continue };
        if key != OVERWRITE_MODE {
            continue;
        }
        let dynamic = value.as_deref().is_some_and(|value| value.eq_ignore_ascii_case("dynamic"));
        match (index < at, dynamic) {
            (true, true) => set = Some(place),
            (true, false) => {
                lost = set.take().and_then(line).map(|then| match line(place) {
                    Some(now) => format!("at {then}, and taken back at {now}"),
                    None => format!("at {then}, and taken back"),
                });
            }
            (false, true) => later = later.or_else(|| line(place).map(|line| format!("at {line}, after it"))),
            (false, false) => {}
        }
    }
    OverwriteMode { dynamic: set.is_some(), elsewhere: lost.or(later).filter(|_| set.is_none()) }
}

/// Where a script sets the overwrite mode to dynamic.
pub fn sets_dynamic(job: &Job) -> Option<String> {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    steps.into_iter().find_map(|step| match step {
        Step::Conf { key, value: Some(value), place }
            if key == OVERWRITE_MODE && value.eq_ignore_ascii_case("dynamic") =>
        {
            let line = place.span().map(|span| format!(":{}", span.line)).unwrap_or_default();
            Some(format!("in {}{line}, for that script's own session", job.path))
        }
        _ => None,
    })
}
