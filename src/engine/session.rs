//! What execution depends on beside rows and state: configuration, clock and batch.

use super::effort::Effort;
use crate::functions::EvalContext;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// Configuration of one query's run.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// `spark.*` keys as written.
    pub conf: BTreeMap<String, String>,
    /// What `current_timestamp()` gives: the batch's timestamp, microseconds since the epoch.
    pub now: i64,
    /// Number of the micro-batch; seeds `rand()` and its like, as Spark gives every batch a seed of its own.
    pub batch_id: u64,
    /// Columns that the query's own predicates make non-nullable are read from state without a look at the NULL bit.
    pub trusts_nullability: bool,
    /// What a run of the query may cost.
    pub effort: Effort,
}

impl Session {
    pub fn conf(&self, key: &str) -> Option<&str> {
        self.conf.get(key).map(String::as_str)
    }

    pub fn flag(&self, key: &str, default: bool) -> bool {
        self.conf(key).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    /// A zone that is not known is read as UTC.
    pub(super) fn evaluation(&self) -> EvalContext {
        let zone = self.conf("spark.sql.session.timeZone").and_then(|name| TimeZone::get(name).ok());
        EvalContext {
            zone: zone.unwrap_or(TimeZone::UTC),
            ansi: self.flag("spark.sql.ansi.enabled", true),
            now: self.now,
            seed: self.batch_id,
            partition: 0,
            row: 0,
        }
    }
}
