//! What differs between platforms at a restart: Apache Spark by version, and Lakeflow with Delta tables.

use crate::analyze::PINNED_SETTINGS;
use crate::model::{Pipeline, Platform};

/// Which runtime an update imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    pub platform: Platform,
    pub spark_version: (u32, u32),
}

impl Behaviour {
    pub fn of(pipeline: &Pipeline) -> Self {
        Behaviour { platform: pipeline.platform, spark_version: pipeline.spark_version }
    }

    pub fn is_lakeflow(self) -> bool {
        self.platform == Platform::Lakeflow
    }

    /// Operator names are kept in `state/{id}/_metadata/metadata` and compared (Spark 4.0 and later).
    pub fn keeps_operator_names(self) -> bool {
        self.is_lakeflow() || self.spark_version >= (4, 0)
    }

    /// Stored state schemas say every field is nullable, so nullability never refuses a restart (Spark 4.3; 4.2 refuses).
    pub fn stores_nullable_state(self) -> bool {
        self.is_lakeflow() || self.spark_version >= (4, 3)
    }

    /// A predicate that makes a column non-nullable makes old state rows with a NULL there fail (seen on Spark 4.3, not on 3.5).
    pub fn trusts_nullability(self) -> bool {
        self.is_lakeflow() || self.spark_version >= (4, 0)
    }

    /// Error classes of the state store's compatibility checks have names of their own (Spark 4.0 and later).
    pub fn names_state_errors(self) -> bool {
        self.is_lakeflow() || self.spark_version >= (4, 0)
    }

    /// Configuration that the last entry of the offset log keeps (`OffsetSeqMetadata.relevantSQLConfs`).
    pub fn pinned_configuration(self) -> &'static [&'static str] {
        if self.is_lakeflow() || self.spark_version >= (4, 0) { PINNED_SETTINGS } else { PINNED_3 }
    }
}

const PINNED_3: &[&str] = &[
    "spark.sql.shuffle.partitions",
    "spark.sql.streaming.stateStore.providerClass",
    "spark.sql.streaming.multipleWatermarkPolicy",
    "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion",
    "spark.sql.streaming.aggregation.stateFormatVersion",
    "spark.sql.streaming.join.stateFormatVersion",
    "spark.sql.streaming.stateStore.compression.codec",
    "spark.sql.streaming.stateStore.rocksdb.formatVersion",
    "spark.sql.streaming.statefulOperator.useStrictDistribution",
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan",
];
