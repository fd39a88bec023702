//! Batch jobs beside the pipelines: what a script writes, statement by statement, in the order in which it would run.

use super::expr::Expr;
use super::flow::OutputMode;
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

/// What a script does, as far as it matters for the tables it writes. Loops over known values are unrolled, both branches of a
/// condition that is not known are taken; [`BatchWrite::repetition`] and [`BatchWrite::condition`] tell.
#[derive(Debug, Clone)]
pub enum Step {
    /// `spark.conf.set`, SQL `SET`, `SparkSession.builder.config`; no value is an unset. Values that are not known statically
    /// hold a placeholder in braces.
    Conf {
        key: String,
        value: Option<String>,
        place: Place,
    },
    /// `RESET`: every key of the session is what it was when the session began.
    Reset {
        place: Place,
    },
    Write(Box<BatchWrite>),
    /// Rows that the script itself looks at (`collect`, `first`, `count`), computed here and not where they are used.
    Collect {
        /// The relation that later queries read them as.
        name: String,
        query: Box<Plan>,
        place: Place,
    },
    /// The steps of one call of a function: a way that leaves, leaves this.
    Call {
        steps: Vec<Step>,
    },
    /// Ways of which one is taken: the first whose test holds.
    Branches {
        ways: Vec<Way>,
        place: Place,
    },
    /// `cache`, `persist`, `checkpoint`, `localCheckpoint`: the frame's rows are kept from the first time they are needed
    /// (`Plan::frame`).
    Materialize {
        frame: u32,
        /// A checkpoint: what the rows were computed from is forgotten.
        cuts: bool,
        place: Place,
    },
    /// Steps that threads or a pool run at the same time, in the order in which they start.
    Parallel {
        branches: Vec<Vec<Step>>,
        place: Place,
    },
    /// A streaming query that runs what is there and ends (`trigger(availableNow=True)`), or goes on.
    Stream(Box<StreamQuery>),
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

impl Step {
    /// The lists of steps inside this one, in order.
    pub fn inner(&self) -> Vec<&[Step]> {
        match self {
            Step::Parallel { branches, .. } => branches.iter().map(Vec::as_slice).collect(),
            Step::Branches { ways, .. } => ways.iter().map(|way| way.steps.as_slice()).collect(),
            Step::Call { steps } => vec![steps],
            Step::Stream(stream) => match &stream.sink {
                StreamSink::ForeachBatch { steps, .. } => vec![steps],
                StreamSink::Append(_) => Vec::new(),
            },
            Step::Conf { .. }
            | Step::Reset { .. }
            | Step::Write(_)
            | Step::Collect { .. }
            | Step::Materialize { .. }
            | Step::RemoveFiles { .. }
            | Step::Unknown { .. } => Vec::new(),
        }
    }
}

/// One way through a condition.
#[derive(Debug, Clone)]
pub struct Way {
    /// As it is written.
    pub condition: String,
    /// What decides, where that is in the tables; a way without a test is taken or not, nobody knows.
    pub test: Option<Expr>,
    pub steps: Vec<Step>,
    /// It leaves the function, or the script.
    pub leaves: bool,
}

/// A streaming query whose rows a script writes in batches.
#[derive(Debug, Clone)]
pub struct StreamQuery {
    pub query: Plan,
    /// `checkpointLocation`; none makes a new one at each start.
    pub checkpoint: Option<String>,
    pub output_mode: OutputMode,
    pub sink: StreamSink,
    pub place: Place,
}

#[derive(Debug, Clone)]
pub enum StreamSink {
    /// `foreachBatch`: what the function does with one batch, which it reads as the table of this name.
    ForeachBatch { batch: String, steps: Vec<Step> },
    /// `start(path)`, `toTable(name)`.
    Append(Box<BatchWrite>),
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
    /// `writeTo.overwrite(condition)`, `INSERT INTO … REPLACE WHERE`; the option `replaceWhere` is [`BatchWrite::replace_where`].
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
    /// `writeTo.replace()`: the table must be there.
    Replace,
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
    /// What Spark refuses as it stands, by its error class.
    Invalid {
        class: &'static str,
        reason: String,
    },
}

/// `d = expr` of a PARTITION clause; without a value the partition is dynamic.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartitionValue {
    pub column: String,
    pub value: Option<Expr>,
}

/// What a table demands of its rows, or fills itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableConstraint {
    Check {
        name: String,
        condition: Expr,
    },
    /// `GENERATED ALWAYS AS (value)`; without a value an identity column.
    Generated {
        column: String,
        value: Option<Expr>,
    },
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

/// Whether a statement stands in a loop, and what its steps stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repetition {
    /// In no loop. A function that is called several times is no loop either: its calls are steps of their own.
    #[default]
    Once,
    /// In a loop over known values: each pass is a step of its own.
    EachPass,
    /// In a loop over values that are not known: one step stands for every pass.
    AnyPass,
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
    /// What the option `replaceWhere` says; opaque where that is not understood.
    pub replace_where: Option<Expr>,
    /// PARTITION clause of INSERT.
    pub partition: Vec<PartitionValue>,
    /// Column list of INSERT.
    pub columns: Option<Vec<String>>,
    pub by_name: bool,
    /// Columns a DDL statement declares.
    pub schema: Option<Schema>,
    /// What a DDL statement demands of rows, or has the table fill.
    pub constraints: Vec<TableConstraint>,
    pub query: Option<Plan>,
    /// The condition under which it runs, where that is not known.
    pub condition: Option<String>,
    pub repetition: Repetition,
    pub place: Place,
}

/// The option under which a write keeps that its target is a folder named as a table (``parquet.`path` ``), with the format.
pub const PATH_TABLE: &str = "path table";

impl BatchWrite {
    pub fn new(target: WriteTarget, api: WriteApi, operation: WriteOperation, place: Place) -> Self {
        BatchWrite {
            target,
            api,
            operation,
            format: None,
            partition_by: Vec::new(),
            bucket_by: None,
            options: BTreeMap::new(),
            replace_where: None,
            partition: Vec::new(),
            columns: None,
            by_name: false,
            schema: None,
            constraints: Vec::new(),
            query: None,
            condition: None,
            repetition: Repetition::Once,
            place,
        }
    }

    /// What decides which rows of the target it touches.
    pub fn conditions(&self) -> impl Iterator<Item = &Expr> {
        let own: Vec<&Expr> = match &self.operation {
            WriteOperation::OverwriteWhere(condition) | WriteOperation::ReplaceOn(condition) => vec![condition],
            WriteOperation::Delete { condition } | WriteOperation::Update { condition, .. } => {
                condition.iter().collect()
            }
            WriteOperation::Merge(merge) => {
                std::iter::once(&merge.on).chain(merge.clauses.iter().filter_map(|c| c.condition.as_ref())).collect()
            }
            _ => Vec::new(),
        };
        own.into_iter().chain(&self.replace_where)
    }

    /// What it reads rows by: its query, or the source of a MERGE.
    pub fn queries(&self) -> impl Iterator<Item = &Plan> {
        let source = match &self.operation {
            WriteOperation::Merge(merge) => Some(&merge.source),
            _ => None,
        };
        self.query.iter().chain(source)
    }
}
