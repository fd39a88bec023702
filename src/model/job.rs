//! Batch jobs beside the pipelines: what a script writes, statement by statement, in the order in which it would run.

use super::expr::Expr;
use super::name::QualifiedName;
use super::place::Place;
use super::plan::Plan;
use super::schema::Schema;
use std::collections::BTreeMap;

/// One script (file or notebook) that writes tables outside any pipeline.
#[derive(Debug, Clone)]
pub struct Job {
    pub path: String,
    pub steps: Vec<Step>,
}

/// What a script does, as far as it matters for the tables it writes.
#[derive(Debug, Clone)]
pub enum Step {
    /// `spark.conf.set`, SQL `SET`, `SparkSession.builder.config`; no value is an unset. Values that are not known statically
    /// hold a placeholder in braces.
    Conf {
        key: String,
        value: Option<String>,
        place: Place,
    },
    /// `createOrReplaceTempView`, `CREATE TEMPORARY VIEW`.
    View {
        name: String,
        plan: Box<Plan>,
        place: Place,
    },
    Write(Box<BatchWrite>),
    /// A loop whose body writes. Known iterables are unrolled, one inner list an iteration; unknown ones have one iteration and
    /// `known` is false.
    Loop {
        iterations: Vec<Vec<Step>>,
        known: bool,
        place: Place,
    },
    /// Steps that threads or a pool run at the same time.
    Parallel {
        branches: Vec<Vec<Step>>,
        place: Place,
    },
    /// A condition that is not known statically: the alternatives.
    Branch {
        alternatives: Vec<Vec<Step>>,
        place: Place,
    },
    /// Files removed or moved by other means (`dbutils.fs.rm`, `shutil.rmtree`): the path, where known.
    RemoveFiles {
        path: String,
        place: Place,
    },
    /// A statement that may matter and is not understood.
    Unknown {
        what: String,
        place: Place,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WriteTarget {
    Table(QualifiedName),
    Path(String),
    Unknown(String),
}

/// The call that writes: Spark's ways differ in what they replace and in whose layout they follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteApi {
    /// `df.write…save(path)`, `.parquet(path)`, `save(name)` of a lakehouse format.
    Save,
    SaveAsTable,
    InsertInto,
    /// `df.writeTo(…)`.
    WriteTo,
    Sql,
}

/// What is done to the target.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteOperation {
    Append,
    /// `mode("overwrite")`, `INSERT OVERWRITE`: what it replaces hangs on format, API and session configuration.
    Overwrite,
    ErrorIfExists,
    Ignore,
    /// `writeTo.overwritePartitions()`.
    OverwritePartitions,
    /// `writeTo.overwrite(condition)`, `INSERT INTO … REPLACE WHERE`, option `replaceWhere` stays an option.
    OverwriteWhere(Expr),
    /// `INSERT INTO … REPLACE USING (a, b)`.
    ReplaceUsing(Vec<String>),
    /// `INSERT INTO … REPLACE ON condition`.
    ReplaceOn(Expr),
    /// `writeTo.create/replace/createOrReplace`, CTAS, `CREATE OR REPLACE TABLE … AS`.
    Create {
        replace: bool,
        if_not_exists: bool,
    },
    Merge(Box<Merge>),
    Delete {
        condition: Option<Expr>,
    },
    Update {
        assignments: Vec<(String, Expr)>,
        condition: Option<Expr>,
    },
    Truncate {
        partition: Vec<PartitionValue>,
    },
    DropPartition {
        partitions: Vec<Vec<PartitionValue>>,
    },
    DropTable {
        if_exists: bool,
    },
    /// Any other DDL, as canonical text (`ALTER TABLE … ADD COLUMN …`, `CALL …`).
    Ddl(String),
}

/// `d = expr` of a PARTITION clause; without a value the partition is dynamic.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartitionValue {
    pub column: String,
    pub value: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    pub target_alias: Option<String>,
    pub source: Plan,
    pub on: Expr,
    /// In order.
    pub clauses: Vec<MergeClause>,
    pub schema_evolution: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MergeMatch {
    Matched,
    NotMatched,
    NotMatchedBySource,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MergeClause {
    pub when: MergeMatch,
    pub condition: Option<Expr>,
    pub action: MergeAction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MergeAction {
    Delete,
    UpdateAll,
    Update(Vec<(String, Expr)>),
    InsertAll,
    Insert { columns: Vec<String>, values: Vec<Expr> },
}

/// One write.
#[derive(Debug, Clone)]
pub struct BatchWrite {
    pub target: WriteTarget,
    pub api: WriteApi,
    pub operation: WriteOperation,
    /// `format(…)`, `USING`; lower case.
    pub format: Option<String>,
    /// `partitionBy`, `partitionedBy`, `PARTITIONED BY`: column names or transforms (`days(ts)`) as text.
    pub partition_by: Vec<String>,
    pub bucket_by: Option<(u32, Vec<String>)>,
    /// By lower-case name.
    pub options: BTreeMap<String, String>,
    /// PARTITION clause of INSERT.
    pub partition: Vec<PartitionValue>,
    /// Column list of INSERT.
    pub columns: Option<Vec<String>>,
    pub by_name: bool,
    /// Columns a DDL statement declares.
    pub schema: Option<Schema>,
    pub query: Option<Plan>,
    pub place: Place,
}
