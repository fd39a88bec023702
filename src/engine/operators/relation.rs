//! What flows between operators: rows, their columns, and the watermark that holds for them.

use crate::engine::error::ExecutionError;
use crate::engine::row::Row;
use crate::model::Attribute;

/// Watermarks as they reach an operator, in milliseconds: what `PropagateWatermarkSimulator` computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InputWatermark {
    pub late_events: i64,
    pub eviction: i64,
    /// What `eviction` would be in the batch after this one.
    pub next: i64,
}

impl InputWatermark {
    /// Without any watermark below it, an operator reckons with the epoch.
    pub const NONE: InputWatermark = InputWatermark { late_events: 0, eviction: 0, next: 0 };

    pub fn min(self, other: Self) -> Self {
        InputWatermark {
            late_events: self.late_events.min(other.late_events),
            eviction: self.eviction.min(other.eviction),
            next: self.next.min(other.next),
        }
    }

    /// The lower of two inputs' watermarks; one without any has no say.
    pub fn lowest(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Relation {
    /// `watermark_delay` is set where the column carries an event time, as the execution finds it (not as the plan says).
    pub columns: Vec<Attribute>,
    pub rows: Vec<Row>,
    pub streaming: bool,
    pub watermark: Option<InputWatermark>,
}

impl Relation {
    pub fn batch(columns: Vec<Attribute>, rows: Vec<Row>) -> Self {
        Relation { columns, rows, streaming: false, watermark: None }
    }

    /// Other columns and rows over the same input.
    pub fn with(&self, columns: Vec<Attribute>, rows: Vec<Row>) -> Self {
        Relation { columns, rows, streaming: self.streaming, watermark: self.watermark }
    }

    /// Position of the column that carries an event time.
    ///
    /// # Errors
    /// `_LEGACY_ERROR_TEMP_3077` where several do, as Spark has it for the input of a stateful operator
    /// (`WatermarkSupport.findEventTimeColumn`).
    pub fn event_time(&self) -> Result<Option<usize>, ExecutionError> {
        single_event_time(&self.columns)
    }

    pub fn input_watermark(&self) -> InputWatermark {
        self.watermark.unwrap_or(InputWatermark::NONE)
    }
}

/// Position of the first column that carries an event time.
pub(super) fn event_time(columns: &[Attribute]) -> Option<usize> {
    columns.iter().position(|column| column.watermark_delay.is_some())
}

/// The same, for columns of which at most one may.
pub(super) fn single_event_time(columns: &[Attribute]) -> Result<Option<usize>, ExecutionError> {
    let first = event_time(columns);
    let first_id = first.and_then(|at| columns.get(at)).map(|column| column.id);
    let other = columns.iter().find(|column| column.watermark_delay.is_some() && Some(column.id) != first_id);
    match other {
        None => Ok(first),
        Some(column) => Err(ExecutionError::new(
            "_LEGACY_ERROR_TEMP_3077",
            format!(
                "more than one event time column is available to a stateful operator, among them `{}`",
                column.name
            ),
        )),
    }
}
