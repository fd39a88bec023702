//! Watermarks: how late a row may come, and by which column. A watermark counts for the stateful operators that it stands in front
//! of; where none does, it decides nothing, whatever it says.

use super::change::Change;
use super::comparison::Comparison;
use crate::analyze::{Aspects, WatermarkAspect, duration};

/// Compares the watermarks of a flow by what its stateful operators hear of them.
pub fn compare(comparison: &Comparison) -> Vec<Change> {
    let pipeline = &comparison.after.pipeline.key;
    let streaming = |aspects: &'_ Aspects| aspects.watermarks.iter().filter(|mark| mark.streaming).cloned().collect();
    let mut gone: Vec<WatermarkAspect> = streaming(&comparison.before.analyzed.aspects);
    let marks: Vec<WatermarkAspect> = streaming(&comparison.aspects);
    let show = |mark: &WatermarkAspect| format!("{} of {}", comparison.show(&mark.event_time), delay(mark));
    let removed = |old: &WatermarkAspect| {
        Change::new("watermark-removed", pipeline).fact("before", show(old)).places(&old.place, &Default::default())
    };
    let added = |new: &WatermarkAspect| {
        Change::new("watermark-added", pipeline).fact("after", show(new)).places(&Default::default(), &new.place)
    };
    let mut came: Vec<WatermarkAspect> = Vec::new();
    let mut changes = Vec::new();
    for mark in marks {
        let same = |old: &WatermarkAspect| old.event_time == mark.event_time;
        let in_place = gone.iter().position(|old| same(old) && old.heard_by == mark.heard_by);
        let Some(index) = in_place.or_else(|| gone.iter().position(same)) else {
            came.push(mark);
            continue;
        };
        let old = gone.remove(index);
        for operator in moved(&old, &mark) {
            let place = format!("{} in front of {operator}", show(&old));
            changes.push(removed(&old).fact("before", place).places(&old.place, &mark.place));
        }
        for operator in moved(&mark, &old) {
            let place = format!("{} in front of {operator}", show(&mark));
            changes.push(added(&mark).fact("after", place).places(&old.place, &mark.place));
        }
        let heard = !old.heard_by.is_empty() && !mark.heard_by.is_empty();
        if heard && old.given != mark.given && (old.delay != mark.delay || old.delay.is_none()) {
            let direction = if mark.delay > old.delay { "longer" } else { "shorter" };
            changes.push(
                Change::new("watermark-delay-changed", pipeline)
                    .values(delay(&old), delay(&mark))
                    .fact("direction", direction)
                    .places(&old.place, &mark.place),
            );
        }
    }
    gone.retain(|old| !old.heard_by.is_empty());
    came.retain(|new| !new.heard_by.is_empty());
    let exchanged = gone.len().min(came.len());
    for (old, new) in gone.drain(..exchanged).zip(came.drain(..exchanged)) {
        changes.push(
            Change::new("watermark-column-changed", pipeline)
                .values(comparison.show(&old.event_time), comparison.show(&new.event_time))
                .places(&old.place, &new.place),
        );
    }
    changes.extend(gone.iter().map(removed));
    changes.extend(came.iter().map(added));
    changes
}

/// Operators that heard of the one watermark and stand in front of the other.
fn moved(heard: &WatermarkAspect, other: &WatermarkAspect) -> Vec<&'static str> {
    let mut rest = heard.heard_by.clone();
    let mut take = |operator: &&'static str| match rest.iter().position(|own| own == operator) {
        Some(index) => {
            rest.remove(index);
            true
        }
        None => false,
    };
    other.heard_by.iter().for_each(|operator| {
        take(operator);
    });
    other.behind.iter().filter(|operator| take(operator)).copied().collect()
}

fn delay(mark: &WatermarkAspect) -> String {
    mark.delay.map_or_else(|| "an unknown delay".to_owned(), duration)
}
