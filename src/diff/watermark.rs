//! Watermarks: how late a row may come, and by which column.

use super::change::Change;
use super::flow::Comparison;
use super::text;
use crate::model::WatermarkSignature;

/// Compares the watermarks of a flow that keeps state on either side; elsewhere they do nothing.
pub fn compare(comparison: &Comparison) -> Vec<Change> {
    if !comparison.before.is_stateful() && !comparison.after.is_stateful() {
        return Vec::new();
    }
    let pipeline = &comparison.after.pipeline.key;
    let mut gone: Vec<&WatermarkSignature> = comparison.before.analyzed.signature.watermarks.iter().collect();
    let mut came: Vec<&WatermarkSignature> = Vec::new();
    let mut changes = Vec::new();
    let column = |mark: &WatermarkSignature| comparison.rebased(&mark.event_time);
    for mark in &comparison.after.analyzed.signature.watermarks {
        let Some(index) = gone.iter().position(|old| old.event_time == column(mark)) else {
            came.push(mark);
            continue;
        };
        let old = gone.remove(index);
        if old.delay != mark.delay {
            let direction = if mark.delay > old.delay { "longer" } else { "shorter" };
            changes.push(
                Change::new("watermark-delay-changed", pipeline)
                    .values(delay(old), delay(mark))
                    .fact("direction", direction)
                    .places(&old.place, &mark.place),
            );
        }
    }
    let exchanged = gone.len().min(came.len());
    for (old, new) in gone.drain(..exchanged).zip(came.drain(..exchanged)) {
        changes.push(
            Change::new("watermark-column-changed", pipeline)
                .values(old.event_time.as_str(), new.event_time.as_str())
                .places(&old.place, &new.place),
        );
    }
    let show = |mark: &WatermarkSignature| format!("{} of {}", mark.event_time, delay(mark));
    changes.extend(gone.into_iter().map(|old| {
        Change::new("watermark-removed", pipeline).fact("before", show(old)).places(&old.place, &Default::default())
    }));
    changes.extend(came.into_iter().map(|new| {
        Change::new("watermark-added", pipeline).fact("after", show(new)).places(&Default::default(), &new.place)
    }));
    changes
}

fn delay(mark: &WatermarkSignature) -> String {
    mark.delay.map_or_else(|| "an unknown delay".to_owned(), text::duration)
}
