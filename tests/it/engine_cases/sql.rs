//! SQL that is run on tables by hand between two runs: read by the SQL frontend; its queries run on the engine.

use super::rows;
use pipelint::analyze::analyze;
use pipelint::engine::{CommitKind, Row, Rows, Table, TableFormat, UpdateKind, World, contents, update};
use pipelint::frontend::sql::{Context, Session, Statement, parse_data_type, parse_statements};
use pipelint::model::{
    BatchWrite, Call, ColumnName, DataType, Dataset, DatasetKind, Expr, Field, Flow, FlowKind, JoinKind, JoinOn, Merge,
    MergeAction, MergeMatch, Node, Pipeline, PipelineKind, Place, Plan, Platform, QualifiedName, Read, Schema, Source,
    SourceFacts, Value, Workspace, WriteOperation, WriteTarget,
};
use std::collections::{BTreeMap, BTreeSet};

/// Runs the statements of a text, one after the other.
pub fn execute(world: &mut World, text: &str) {
    let mut dynamic = false;
    for statement in statements(text) {
        match statement {
            Statement::Set { key, value } if key == "spark.sql.sources.partitionOverwriteMode" => {
                dynamic = value.as_deref() == Some("dynamic");
            }
            Statement::Write(write) => execute_write(world, &write, dynamic),
            other => panic!("what does this do to a table? {other:?}"),
        }
    }
}

/// What the statements make of the columns of a table.
pub fn evolve(schema: &mut Schema, table: &str, text: &str) {
    for statement in statements(text) {
        if let Statement::Write(write) = statement
            && let WriteOperation::Ddl(text) = &write.operation
            && rows::last_part(&target(&write)) == table
        {
            alter_schema(schema, &Alteration::of(text));
        }
    }
}

fn statements(text: &str) -> Vec<Statement> {
    let script = parse_statements(text, &Context::default(), &mut Session::default());
    script.statements.into_iter().map(|(statement, _)| statement).collect()
}

fn target(write: &BatchWrite) -> String {
    match &write.target {
        WriteTarget::Table(name) => name.to_string(),
        other => panic!("what table is {other:?}?"),
    }
}

fn execute_write(world: &mut World, write: &BatchWrite, dynamic: bool) {
    match &write.operation {
        WriteOperation::DropTable { .. } => {
            let location = rows::location(world, &target(write)).unwrap();
            world.drop_table(&location);
        }
        WriteOperation::Create { replace, .. } => create(world, write, *replace),
        WriteOperation::Ddl(text) => ddl(world, write, text),
        WriteOperation::Truncate { .. } => stored(world, write).truncate(),
        WriteOperation::Overwrite => {
            let new = query(world, write.query.clone().unwrap());
            let table = stored(world, write);
            let kept = if dynamic { outside(&contents(table), &new, &table.layout.partition_by) } else { Vec::new() };
            let rows = kept.into_iter().chain(new.rows).collect();
            table.replace(CommitKind::Overwrite, rows, &new.schema, None);
        }
        WriteOperation::Delete { condition } => {
            let condition = condition.clone().unwrap();
            let kept = call("not", vec![call("coalesce", vec![condition.clone(), boolean(false)])]);
            let gone = query(world, filter(condition, read(write)));
            let rows = query(world, filter(kept, read(write)));
            let table = stored(world, write);
            let whole = outside(&contents(table), &gone, &table.layout.partition_by).len() == rows.rows.len();
            // Whole files go where the condition picks whole partitions; otherwise what is left of them is written anew.
            let whole = whole && !table.layout.partition_by.is_empty();
            let kind = if whole { CommitKind::Delete } else { CommitKind::Overwrite };
            table.replace(kind, rows.rows, &rows.schema, None);
        }
        WriteOperation::Update { assignments, condition } => {
            let condition = condition.clone().unwrap_or_else(|| boolean(true));
            let columns = stored(world, write).schema.clone();
            let rows = query(world, project(updated(&columns, None, &condition, assignments), read(write)));
            stored(world, write).replace(CommitKind::Update, rows.rows, &rows.schema, None);
        }
        WriteOperation::Merge(merge) => {
            let columns = stored(world, write).schema.clone();
            let rows = query(world, merged(&columns, merge, read(write)));
            stored(world, write).replace(CommitKind::Update, rows.rows, &rows.schema, None);
        }
        other => panic!("what does {other:?} do to a table?"),
    }
}

fn stored<'a>(world: &'a mut World, write: &BatchWrite) -> &'a mut Table {
    let location = rows::location(world, &target(write)).unwrap();
    world.tables.get_mut(&location).unwrap()
}

/// CREATE TABLE, with columns or a query; with OR REPLACE the table stays the same one.
fn create(world: &mut World, write: &BatchWrite, replace: bool) {
    let rows = write.query.clone().map(|plan| query(world, plan));
    let schema = rows.as_ref().map(|rows| rows.schema.clone()).or_else(|| write.schema.clone()).unwrap();
    let name = target(write);
    let location = rows::location(world, &name).unwrap_or_else(|| format!("warehouse/{name}"));
    let format = TableFormat::named(write.format.as_deref().unwrap());
    let table = world.create(&location, format, schema.clone());
    if replace {
        table.create_or_replace(schema);
    }
    table.layout.partition_by.clone_from(&write.partition_by);
    table.properties.extend(write.options.clone());
    if let Some(rows) = rows {
        table.replace(CommitKind::Overwrite, rows.rows, &rows.schema, None);
    }
}

/// What DDL does to the columns.
enum Alteration {
    Add(Field),
    Drop(String),
    Rename(String, String),
    Type(String, DataType),
    /// A partition field: nothing about columns.
    None,
}

impl Alteration {
    fn of(text: &str) -> Alteration {
        let words: Vec<&str> = text.split_whitespace().collect();
        let data_type = |text: &str| parse_data_type(text).unwrap();
        let upper: Vec<String> = words.iter().map(|word| word.to_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        match (upper.get(3..).unwrap_or_default(), words.get(5..).unwrap_or_default()) {
            (["ADD", "COLUMN", ..], [name, kind]) => Alteration::Add(Field::new(*name, data_type(kind))),
            (["DROP", "COLUMN", ..], [name]) => Alteration::Drop((*name).to_owned()),
            (["RENAME", "COLUMN", ..], [old, _, new]) => Alteration::Rename((*old).to_owned(), (*new).to_owned()),
            (["ALTER", "COLUMN", ..], [name, _, kind]) => Alteration::Type((*name).to_owned(), data_type(kind)),
            _ => Alteration::None,
        }
    }
}

fn alter_schema(schema: &mut Schema, alteration: &Alteration) {
    match alteration {
        Alteration::Add(field) => schema.fields.push(field.clone()),
        Alteration::Drop(name) => schema.fields.retain(|field| field.name != *name),
        Alteration::Rename(old, new) => {
            schema.fields.iter_mut().filter(|field| field.name == *old).for_each(|field| field.name.clone_from(new));
        }
        Alteration::Type(name, data_type) => {
            let fields = schema.fields.iter_mut().filter(|field| field.name == *name);
            fields.for_each(|field| field.data_type = data_type.clone());
        }
        Alteration::None => {}
    }
}

fn ddl(world: &mut World, write: &BatchWrite, text: &str) {
    let Some(location) = rows::location(world, &target(write)) else { return };
    let table = world.tables.get_mut(&location).unwrap();
    match Alteration::of(text) {
        Alteration::Drop(name) => table.drop_column(&name),
        Alteration::Rename(old, new) => table.rename_column(&old, &new),
        other => alter_schema(&mut table.schema, &other),
    }
}

/// Rows of `old` whose partition has no row in `new`; none where the table has no partitions.
fn outside(old: &Rows, new: &Rows, partition_by: &[String]) -> Vec<Row> {
    let partition = |rows: &Rows, row: &Row| -> Vec<Value> {
        let at = |name: &String| rows.schema.fields.iter().position(|field| field.name == *name);
        partition_by.iter().filter_map(|name| row.get(at(name)?).cloned()).collect()
    };
    let replaced: BTreeSet<Vec<Value>> = new.rows.iter().map(|row| partition(new, row)).collect();
    old.rows.iter().filter(|row| !replaced.contains(&partition(old, row))).cloned().collect()
}

/// Runs a query on the tables as they are.
fn query(world: &World, plan: Plan) -> Rows {
    let name = QualifiedName::bare("result");
    let mut pipeline = Pipeline::new("by hand", PipelineKind::Folder);
    pipeline.platform = Platform::Spark;
    pipeline.sources = plan.reads().into_iter().filter_map(|read| facts(world, read)).collect();
    pipeline.datasets.push(Dataset::new(name.clone(), DatasetKind::MaterializedView, Place::unknown()));
    pipeline.flows.push(Flow {
        name: "result".to_owned(),
        target: name,
        kind: FlowKind::Default,
        plan,
        spark_conf: BTreeMap::new(),
        comment: None,
        code: Vec::new(),
        open_code: None,
        place: Place::unknown(),
    });
    let analysis = analyze(Workspace { pipelines: vec![pipeline], ..Workspace::default() });
    let mut scratch = world.clone();
    let report = update(&mut scratch, &analysis, 0, &UpdateKind::Incremental);
    contents(rows::table(&scratch, "result").unwrap_or_else(|| panic!("the query does not run: {report:?}")))
}

fn facts(world: &World, read: &Read) -> Option<SourceFacts> {
    let Source::Table(name) = &read.source else { return None };
    let table = rows::table(world, &name.to_string())?;
    Some(SourceFacts {
        name: name.to_string(),
        format: Some(table.format.name().to_owned()),
        schema: Some(table.schema.clone()),
        partitioned_by: table.layout.partition_by.clone(),
        retention: None,
        path: None,
        other: BTreeMap::new(),
        span: None,
    })
}

/// Rows of the target after MERGE: each with what the source's row makes of it, then what is inserted.
fn merged(columns: &Schema, merge: &Merge, target: Plan) -> Plan {
    let alias = merge.target_alias.as_deref().unwrap_or("target");
    let old = Plan::new(Node::SubqueryAlias { alias: alias.into(), columns: Vec::new(), input: Box::new(target) });
    let mut list: Vec<Expr> = columns.fields.iter().map(|field| column(Some(alias), &field.name)).collect();
    let mut inserted = Vec::new();
    let flagged = Plan::new(Node::WithColumns {
        columns: vec![named(boolean(true), MATCHED)],
        input: Box::new(merge.source.clone()),
    });
    for clause in &merge.clauses {
        match (clause.when, &clause.action) {
            (MergeMatch::Matched, MergeAction::Update(assignments)) => {
                let condition = call("isnotnull", vec![column(None, MATCHED)]);
                list = updated(columns, Some(alias), &condition, assignments);
            }
            (MergeMatch::NotMatched, MergeAction::Insert { columns: names, values }) => {
                let value = |field: &Field| {
                    let at = names.iter().position(|name| *name == field.name);
                    named(at.map_or_else(Expr::null, |at| values[at].clone()), &field.name)
                };
                let new = join(merge.source.clone(), old.clone(), JoinKind::LeftAnti, &merge.on);
                inserted.push(project(columns.fields.iter().map(value).collect(), new));
            }
            other => panic!("a clause of MERGE that no case has: {other:?}"),
        }
    }
    let kept = project(list, join(old, flagged, JoinKind::LeftOuter, &merge.on));
    let inputs = std::iter::once(kept).chain(inserted).collect();
    Plan::new(Node::Union { inputs, by_name: false, allow_missing: false })
}

/// A column that tells where an outer join has found a row.
const MATCHED: &str = "__matched";

/// The table's columns, with the assigned values where the condition holds.
fn updated(columns: &Schema, alias: Option<&str>, condition: &Expr, assignments: &[(String, Expr)]) -> Vec<Expr> {
    let value = |field: &Field| {
        let old = column(alias, &field.name);
        match assignments.iter().find(|(name, _)| rows::last_part(name) == field.name) {
            None => old,
            Some((_, new)) => {
                let branches = vec![(condition.clone(), new.clone())];
                named(Expr::Case { branches, otherwise: Some(Box::new(old)) }, &field.name)
            }
        }
    };
    columns.fields.iter().map(value).collect()
}

fn read(write: &BatchWrite) -> Plan {
    let script = statements(&format!("SELECT * FROM {}", target(write)));
    match script.into_iter().next() {
        Some(Statement::Query(plan)) => *plan,
        other => panic!("no query: {other:?}"),
    }
}

fn filter(condition: Expr, input: Plan) -> Plan {
    Plan::new(Node::Filter { condition, input: Box::new(input) })
}

fn project(list: Vec<Expr>, input: Plan) -> Plan {
    Plan::new(Node::Project { list, input: Box::new(input) })
}

fn join(left: Plan, right: Plan, kind: JoinKind, on: &Expr) -> Plan {
    let on = JoinOn::Condition(on.clone());
    Plan::new(Node::Join { left: Box::new(left), right: Box::new(right), kind, on, lateral: false })
}

fn column(qualifier: Option<&str>, name: &str) -> Expr {
    let parts = qualifier.into_iter().chain([name]).map(str::to_owned).collect();
    Expr::Column(ColumnName { parts, frame: None, place: Place::unknown() })
}

fn named(expr: Expr, name: &str) -> Expr {
    Expr::Alias { expr: Box::new(expr), name: name.into(), id: Default::default(), place: Place::unknown() }
}

fn boolean(value: bool) -> Expr {
    Expr::Literal { value: Value::Boolean(value), data_type: DataType::Boolean }
}

fn call(function: &str, args: Vec<Expr>) -> Expr {
    Expr::Call(Call {
        function: function.into(),
        args,
        distinct: false,
        filter: None,
        order_by: Vec::new(),
        ignore_nulls: false,
    })
}
