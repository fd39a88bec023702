//! Watermarks: how late a row may come, and by which column.

use super::change::Change;
use super::comparison::Comparison;
use crate::analyze::{Aspects, WatermarkAspect, duration};

/// Compares the watermarks of a flow that keeps state on either side; elsewhere they do nothing.
pub fn compare(comparison: &Comparison) -> Vec<Change> {
    if !comparison.before.is_stateful() && !comparison.after.is_stateful() {
        return Vec::new();
    }
    let pipeline = &comparison.after.pipeline.key;
    let streaming = |aspects: &'_ Aspects| aspects.watermarks.iter().filter(|mark| mark.streaming).cloned().collect();
    let mut gone: Vec<WatermarkAspect> = streaming(&comparison.before.analyzed.aspects);
    let marks: Vec<WatermarkAspect> = streaming(&comparison.aspects);
    let mut came: Vec<WatermarkAspect> = Vec::new();
    let mut changes = Vec::new();
    for mark in marks {
        let Some(index) = gone.iter().position(|old| old.event_time == mark.event_time) else {
            came.push(mark);
            continue;
        };
        let old = gone.remove(index);
        if old.given != mark.given && (old.delay != mark.delay || old.delay.is_none()) {
            let direction = if mark.delay > old.delay { "longer" } else { "shorter" };
            changes.push(
                Change::new("watermark-delay-changed", pipeline)
                    .values(delay(&old), delay(&mark))
                    .fact("direction", direction)
                    .places(&old.place, &mark.place),
            );
        }
    }
    let exchanged = gone.len().min(came.len());
    for (old, new) in gone.drain(..exchanged).zip(came.drain(..exchanged)) {
        changes.push(
            Change::new("watermark-column-changed", pipeline)
                .values(comparison.show(&old.event_time), comparison.show(&new.event_time))
                .places(&old.place, &new.place),
        );
    }
    let show = |mark: &WatermarkAspect| format!("{} of {}", comparison.show(&mark.event_time), delay(mark));
    changes.extend(gone.into_iter().map(|old| {
        Change::new("watermark-removed", pipeline).fact("before", show(&old)).places(&old.place, &Default::default())
    }));
    changes.extend(came.into_iter().map(|new| {
        Change::new("watermark-added", pipeline).fact("after", show(&new)).places(&Default::default(), &new.place)
    }));
    changes
}

fn delay(mark: &WatermarkAspect) -> String {
    mark.delay.map_or_else(|| "an unknown delay".to_owned(), duration)
}
