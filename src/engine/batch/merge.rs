//! MERGE, DELETE and UPDATE.

use super::lake::{LakeFile, Operation};
use super::lake_write::{ICEBERG_VALIDATION, ROW, TARGET, numbered, row_number, target_read};
use super::query::Run;
use super::resolve::position;
use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::model::{
    BatchWrite, DataType, Expr, JoinKind, JoinOn, Merge, MergeAction, MergeClause, MergeMatch, Node, Plan,
    QualifiedName, Read, Schema, Source, Value,
};
use std::collections::{BTreeMap, BTreeSet};

const SOURCE: &str = "__source";
const SOURCE_ROW: &str = "__source_row";

/// A row of the target after a statement.
enum Outcome {
    Delete,
    Values(Row),
}

impl Run<'_> {
    /// # Errors
    /// Those of the condition.
    pub(super) fn delete(&mut self, key: &str, condition: Option<&Expr>) -> Result<(), ExecutionError> {
        let rows = self.lake(key)?.rows(None);
        let hit = self.matching(key, &rows.schema, &rows.rows, condition)?;
        let outcomes = hit.into_iter().map(|at| (at, Outcome::Delete)).collect();
        self.rewrite(key, outcomes, Vec::new(), Operation::Delete)
    }

    /// # Errors
    /// Those of the condition and the values.
    pub(super) fn update(
        &mut self,
        key: &str,
        assignments: &[(String, Expr)],
        condition: Option<&Expr>,
    ) -> Result<(), ExecutionError> {
        let rows = self.lake(key)?.rows(None);
        let hit = self.matching(key, &rows.schema, &rows.rows, condition)?;
        self.relations.insert(TARGET.to_owned(), numbered(&rows.schema, &rows.rows));
        let mut list = vec![Expr::column(ROW)];
        list.extend(assigned(&rows.schema, assignments, Expr::column));
        let result = self.query(&Plan::new(Node::Project { list, input: Box::new(target_read(key)) }));
        self.relations.remove(TARGET);
        let outcomes = result?
            .rows
            .iter()
            .filter_map(|row| Some((row_number(row.first())?, row.get(1..)?.iter().cloned().collect())))
            .filter(|(at, _)| hit.contains(at))
            .map(|(at, values)| (at, Outcome::Values(values)))
            .collect();
        self.rewrite(key, outcomes, Vec::new(), Operation::Overwrite)
    }

    /// # Errors
    /// `MERGE_CARDINALITY_VIOLATION`, or what analysis and execution fail with.
    pub(super) fn merge(&mut self, write: &BatchWrite, key: &str, merge: &Merge) -> Result<(), ExecutionError> {
        if merge.schema_evolution && self.version < (4, 0) && !self.lake(key)?.delta {
            return Err(ExecutionError::new(
                "PARSE_SYNTAX_ERROR",
                "WITH SCHEMA EVOLUTION is not known to this version",
            ));
        }
        let target = self.lake(key)?.rows(None);
        let (alias, source) = source_alias(&merge.source);
        let source = self.query(source)?;
        let started = self.lake(key)?.current;
        self.relations.insert(TARGET.to_owned(), numbered(&target.schema, &target.rows));
        self.relations.insert(SOURCE.to_owned(), with_number(&source));
        let planned = self.merge_rows(key, merge, &target.schema, &source.schema, alias.as_deref());
        self.relations.remove(TARGET);
        self.relations.remove(SOURCE);
        let (outcomes, inserted) = planned?;
        self.merge_conflicts(write, key, started)?;
        self.rewrite(key, outcomes, inserted, Operation::Overwrite)
    }

    /// A MERGE is serializable unless the table says otherwise: anything committed since it started is a conflict.
    fn merge_conflicts(&self, write: &BatchWrite, key: &str, _started: Option<u64>) -> Result<(), ExecutionError> {
        let lake = self.lake(key)?;
        let Some(base) = self.base.get(key) else { return Ok(()) };
        let _ = write;
        if *base == lake.current {
            return Ok(());
        }
        let old: BTreeSet<u64> = lake.files(*base).iter().map(|file| file.id).collect();
        let now: BTreeSet<u64> = lake.files(lake.current).iter().map(|file| file.id).collect();
        let snapshot = lake.property("write.merge.isolation-level") == Some("snapshot");
        if !old.is_subset(&now) || !snapshot {
            return Err(ExecutionError::new(
                ICEBERG_VALIDATION,
                "found conflicting files that can contain records matching true",
            ));
        }
        Ok(())
    }

    fn merge_rows(
        &mut self,
        key: &str,
        merge: &Merge,
        target: &Schema,
        source: &Schema,
        alias: Option<&str>,
    ) -> Result<(BTreeMap<usize, Outcome>, Vec<Row>), ExecutionError> {
        let left = match &merge.target_alias {
            Some(alias) => {
                let read = Plan::new(Node::Read(Read::new(Source::Table(QualifiedName::bare(TARGET)), false)));
                Plan::new(Node::SubqueryAlias {
                    alias: alias.as_str().into(),
                    columns: Vec::new(),
                    input: Box::new(read),
                })
            }
            None => target_read(key),
        };
        let left_name =
            merge.target_alias.clone().unwrap_or_else(|| key.rsplit(['.', '/']).next().unwrap_or(key).to_owned());
        let right_name = alias.unwrap_or(SOURCE).to_owned();
        let read = Plan::new(Node::Read(Read::new(Source::Table(QualifiedName::bare(SOURCE)), false)));
        let right = Plan::new(Node::SubqueryAlias {
            alias: right_name.as_str().into(),
            columns: Vec::new(),
            input: Box::new(read),
        });
        let names = Names { target: &left_name, source: &right_name };
        let joined = Plan::new(Node::Join {
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
            kind: JoinKind::Inner,
            on: JoinOn::Condition(merge.on.clone()),
            lateral: false,
        });
        let of = |when: MergeMatch| -> Vec<&MergeClause> { merge.clauses.iter().filter(|c| c.when == when).collect() };
        let (matched, not_matched, by_source) =
            (of(MergeMatch::Matched), of(MergeMatch::NotMatched), of(MergeMatch::NotMatchedBySource));
        let numbers = [names.column(true, ROW), names.column(false, SOURCE_ROW)];
        let rows = self.clauses(&joined, &numbers, &matched, &names, target, source)?;
        let mut outcomes = BTreeMap::new();
        let mut hit_targets = BTreeSet::new();
        let mut hit_sources = BTreeSet::new();
        let unconditional_delete =
            matches!(matched.as_slice(), [MergeClause { condition: None, action: MergeAction::Delete, .. }]);
        for row in &rows {
            let (Some(at), Some(from)) = (row_number(row.first()), row_number(row.get(1))) else { continue };
            if !hit_targets.insert(at) && !matched.is_empty() && !unconditional_delete {
                let class = if self.lake(key)?.delta {
                    "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
                } else {
                    "MERGE_CARDINALITY_VIOLATION"
                };
                return Err(ExecutionError::new(class, "a target row is matched by more than one source row"));
            }
            hit_sources.insert(from);
            if let Some(outcome) = first_outcome(row.get(2..).unwrap_or_default(), &matched, target) {
                outcomes.insert(at, outcome);
            }
        }
        let numbers = [names.column(false, SOURCE_ROW)];
        let rows = self.clauses(&right, &numbers, &not_matched, &names, target, source)?;
        let mut inserted = Vec::new();
        for row in &rows {
            let Some(at) = row_number(row.first()).filter(|at| !hit_sources.contains(at)) else { continue };
            let _ = at;
            if let Some(Outcome::Values(values)) = first_outcome(row.get(1..).unwrap_or_default(), &not_matched, target)
            {
                inserted.push(values);
            }
        }
        let numbers = [names.column(true, ROW)];
        let rows = self.clauses(&left, &numbers, &by_source, &names, target, source)?;
        for row in &rows {
            let Some(at) = row_number(row.first()).filter(|at| !hit_targets.contains(at)) else { continue };
            if let Some(outcome) = first_outcome(row.get(1..).unwrap_or_default(), &by_source, target) {
                outcomes.insert(at, outcome);
            }
        }
        Ok((outcomes, inserted))
    }

    /// Row numbers, then for each clause its condition and the values it would write.
    fn clauses(
        &mut self,
        input: &Plan,
        numbers: &[Expr],
        clauses: &[&MergeClause],
        names: &Names<'_>,
        target: &Schema,
        source: &Schema,
    ) -> Result<Vec<Row>, ExecutionError> {
        let mut list: Vec<Expr> = numbers.to_vec();
        for (at, clause) in clauses.iter().enumerate() {
            let truth = Expr::literal(Value::Boolean(true), DataType::Boolean);
            list.push(clause.condition.clone().unwrap_or(truth).alias(format!("__when_{at}")));
            for (name, expr) in target.fields.iter().zip(clause_values(clause, names, target, source)) {
                let cast = Expr::Cast { expr: Box::new(expr), to: name.data_type.clone(), try_cast: false };
                list.push(cast.alias(format!("__{at}_{}", name.name)));
            }
        }
        Ok(self.query(&Plan::new(Node::Project { list, input: Box::new(input.clone()) }))?.rows)
    }

    /// Replaces the files that hold changed rows, and adds those of new ones.
    fn rewrite(
        &mut self,
        key: &str,
        mut outcomes: BTreeMap<usize, Outcome>,
        inserted: Vec<Row>,
        operation: Operation,
    ) -> Result<(), ExecutionError> {
        if outcomes.is_empty() && inserted.is_empty() {
            return Ok(());
        }
        let head = match self.base.get(key) {
            Some(base) => *base,
            None => self.lake(key)?.current,
        };
        let current = self.lake(key)?.current;
        let seen: Vec<LakeFile> = self.lake(key)?.files(head).to_vec();
        let later: Vec<LakeFile> = self
            .lake(key)?
            .files(current)
            .iter()
            .filter(|file| !seen.iter().any(|s| s.id == file.id))
            .cloned()
            .collect();
        let Some(lake) = self.warehouse.lakes.get_mut(key) else { return Ok(()) };
        let append_only = outcomes.is_empty();
        let mut files = Vec::new();
        let mut rewritten = Vec::new();
        let mut number = 0usize;
        for file in seen {
            let rows = lake.file_rows(&file);
            let changed = (number..number + rows.len()).any(|at| outcomes.contains_key(&at));
            if !changed {
                number += rows.len();
                files.push(file);
                continue;
            }
            for row in rows {
                match outcomes.remove(&number) {
                    None => rewritten.push(row),
                    Some(Outcome::Values(values)) => rewritten.push(values),
                    Some(Outcome::Delete) => {}
                }
                number += 1;
            }
        }
        rewritten.extend(inserted);
        files.extend(later);
        files.extend(lake.new_files(rewritten));
        lake.commit(if append_only { Operation::Append } else { operation }, files, None);
        Ok(())
    }
}

/// What the two sides of a MERGE are called.
struct Names<'a> {
    target: &'a str,
    source: &'a str,
}

impl Names<'_> {
    fn column(&self, target: bool, name: &str) -> Expr {
        let side = if target { self.target } else { self.source };
        match Expr::column(name) {
            Expr::Column(mut column) => {
                column.parts.insert(0, side.to_owned());
                Expr::Column(column)
            }
            other => other,
        }
    }
}

/// Values of the target's columns that a clause would write; the old ones where it writes none.
fn clause_values(clause: &MergeClause, names: &Names<'_>, target: &Schema, source: &Schema) -> Vec<Expr> {
    let _ = source;
    match &clause.action {
        MergeAction::Delete => Vec::new(),
        MergeAction::UpdateAll | MergeAction::InsertAll => {
            target.fields.iter().map(|field| names.column(false, &field.name)).collect()
        }
        MergeAction::Update(assignments) => {
            let short: Vec<(String, Expr)> = assignments
                .iter()
                .map(|(column, expr)| (column.rsplit('.').next().unwrap_or(column).to_owned(), expr.clone()))
                .collect();
            let old = |name: &str| names.column(true, name);
            assigned(target, &short, old).into_iter().map(unaliased).collect()
        }
        MergeAction::Insert { columns, values } => target
            .fields
            .iter()
            .map(|field| {
                let at = columns.iter().position(|column| {
                    column.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(&field.name))
                });
                at.and_then(|at| values.get(at)).cloned().unwrap_or_else(Expr::null)
            })
            .collect(),
    }
}

fn unaliased(expr: Expr) -> Expr {
    match expr {
        Expr::Alias { expr, .. } => *expr,
        other => other,
    }
}

/// Every column of the table: assigned, or as it was.
fn assigned(schema: &Schema, assignments: &[(String, Expr)], old: impl Fn(&str) -> Expr) -> Vec<Expr> {
    schema
        .fields
        .iter()
        .map(|field| {
            let new = assignments.iter().find(|(column, _)| column.eq_ignore_ascii_case(&field.name));
            let expr = new.map_or_else(|| old(&field.name), |(_, expr)| expr.clone());
            Expr::Cast { expr: Box::new(expr), to: field.data_type.clone(), try_cast: false }.alias(field.name.as_str())
        })
        .collect()
}

/// What the first clause whose condition holds does.
fn first_outcome(mut cells: &[Value], clauses: &[&MergeClause], target: &Schema) -> Option<Outcome> {
    for clause in clauses {
        let width = if clause.action == MergeAction::Delete { 0 } else { target.fields.len() };
        let (when, rest) = cells.split_first()?;
        let values = rest.get(..width)?;
        if matches!(when, Value::Boolean(true)) {
            return Some(match clause.action {
                MergeAction::Delete => Outcome::Delete,
                _ => Outcome::Values(values.iter().cloned().collect()),
            });
        }
        cells = rest.get(width..)?;
    }
    None
}

/// The source's alias (of a table the last part of its name) and what stands under it.
fn source_alias(plan: &Plan) -> (Option<String>, &Plan) {
    match &plan.node {
        Node::SubqueryAlias { alias, columns, input } if columns.is_empty() => (Some(alias.to_string()), input),
        Node::With { body, .. } => (source_alias(body).0, plan),
        Node::Read(Read { source: Source::Table(name), .. }) => (Some(name.name.clone()), plan),
        _ => (None, plan),
    }
}

fn with_number(rows: &Rows) -> Rows {
    let mut numbered = numbered(&rows.schema, &rows.rows);
    if let Some(at) = position(&numbered.schema, ROW)
        && let Some(field) = numbered.schema.fields.get_mut(at)
    {
        field.name = SOURCE_ROW.to_owned();
    }
    numbered
}
