//! Proposals: for each finding that has a known alternative, the edits that make it.

use super::edit::{self, Edit};
use super::python::Source as PythonSource;
use super::sql::Statement;
use crate::diff::{Change, FlowStatus};
use crate::impact::Impact;
use crate::model::{DatasetKind, FullRefresh, Pipeline, Platform, QualifiedName, Read, Source, Span};
use crate::review::Examination;
use crate::revision::Tree;
use crate::rules::{Finding, losses};
use crate::runbook::suffix_of;
use std::collections::BTreeSet;

/// What a proposal must reach to be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Less happens to the tables.
    BetterEffect,
    /// The table is protected, and nothing is worse.
    Protected,
}

#[derive(Debug, Clone)]
pub struct Proposal {
    pub rule: String,
    pub dataset: QualifiedName,
    pub title: String,
    pub edits: Vec<Edit>,
    pub goal: Goal,
}

/// All proposals, of one rule where one is named; findings first, then reads that would stop, then protection.
pub fn proposals(examination: &Examination, before: &dyn Tree, after: &dyn Tree, rule: Option<&str>) -> Vec<Proposal> {
    let desk = Desk { examination, before, after };
    let mut proposals: Vec<Proposal> = Vec::new();
    for finding in examination.report.findings.iter().filter(|finding| finding.allowed.is_none()) {
        let change = finding.change.and_then(|index| examination.difference.changes.get(index));
        proposals.extend(change.and_then(|change| desk.answer(finding, change)));
    }
    proposals.extend(desk.stopped_readers());
    proposals.extend(desk.unprotected());
    proposals.retain(|proposal| rule.is_none_or(|rule| proposal.rule == rule));
    proposals
}

struct Desk<'a> {
    examination: &'a Examination,
    before: &'a dyn Tree,
    after: &'a dyn Tree,
}

/// A place of the new code with its file's text.
struct Spot {
    path: String,
    text: String,
    at: usize,
}

impl Spot {
    fn edit(&self, range: std::ops::Range<usize>, text: impl Into<String>) -> Edit {
        Edit { path: self.path.clone(), range, text: text.into() }
    }

    fn insert(&self, at: usize, text: impl Into<String>) -> Edit {
        self.edit(at..at, text)
    }

    fn slice(&self, range: std::ops::Range<usize>) -> Option<&str> {
        self.text.get(range)
    }

    fn is_python(&self) -> bool {
        self.path.ends_with(".py")
    }
}

fn spot(tree: &dyn Tree, span: &Span) -> Option<Spot> {
    let text = edit::text(tree, &span.path)?;
    let at = edit::bytes(&text, span)?.start;
    Some(Spot { path: span.path.to_string(), text, at })
}

impl Desk<'_> {
    fn answer(&self, finding: &Finding, change: &Change) -> Option<Proposal> {
        let dataset = finding.dataset.clone()?;
        let flow = finding.flow.clone().unwrap_or_else(|| dataset.name.clone());
        let here = spot(self.after, change.after.span()?)?;
        let (title, edits, goal) = match change.kind {
            "source-added" => {
                let source = change.text("source")?;
                let edits = self.source_added(finding, &here, &flow, source)?;
                (format!("Read `{source}` by a flow of its own"), edits, Goal::BetterEffect)
            }
            "source-replaced" => {
                let source = change.text("source")?;
                let edits = self.source_replaced(finding, change, &here, &flow, source)?;
                (format!("Read `{source}` by a new flow beside the old one"), edits, Goal::BetterEffect)
            }
            "column-renamed" => {
                let (old, new) = (change.text("before")?, change.text("after")?);
                let edits = self.column_renamed(finding, &here, old, new)?;
                (format!("Keep column `{old}` beside `{new}`"), edits, Goal::BetterEffect)
            }
            "column-retyped" if change.text("conversion") != Some("widened") => {
                let (column, to) = (change.text("column")?, change.text("type_after")?);
                let kind: String = to.chars().take_while(char::is_ascii_alphanumeric).collect();
                let added = format!("{column}_{kind}");
                let edits = self.column_retyped(finding, change, &here, column, &added)?;
                (format!("Keep column `{column}` and write the new form as `{added}`"), edits, Goal::BetterEffect)
            }
            "reset-protection-removed" => {
                (format!("Protect `{dataset}` again"), vec![self.protect(&here)?], Goal::Protected)
            }
            _ => return None,
        };
        Some(Proposal { rule: finding.rule.clone(), dataset, title, edits, goal })
    }

    fn pipeline(&self, key: &str) -> Option<&Pipeline> {
        self.examination.after.workspace.pipelines.iter().find(|pipeline| pipeline.key == key)
    }

    /// A table's name as the pipeline's own code needs it.
    fn name(&self, finding: &Finding) -> Option<String> {
        let dataset = finding.dataset.as_ref()?;
        let pipeline = self.pipeline(&finding.pipeline)?;
        let bare = QualifiedName::parse(&dataset.name);
        let is_default = bare.qualified(pipeline.catalog.as_deref(), pipeline.schema.as_deref()) == *dataset;
        Some(if is_default { dataset.name.clone() } else { dataset.to_string() })
    }

    fn source_added(&self, finding: &Finding, here: &Spot, flow: &str, source: &str) -> Option<Vec<Edit>> {
        let name = format!("{flow}_from_{}", suffix_of(source));
        if here.is_python() {
            let python = PythonSource::parse(&here.text)?;
            let union = python.union_around(here.at)?;
            let definition = python.definition(here.at)?;
            let side = here.slice(union.with.clone())?;
            let body = replaced(here, definition.body.clone(), union.call.clone(), side)?;
            let mut edits = vec![here.edit(union.call, here.slice(union.without)?)];
            edits.extend(union.assignment.map(|assignment| here.edit(assignment, "")));
            edits.push(self.python_flow(finding, here, definition.module, definition.whole.end, &name, &body)?);
            return Some(edits);
        }
        let statement = Statement::at(&here.text, here.at)?;
        let union = statement.union_around(here.at)?;
        let operand = here.slice(union.operands.get(union.at)?.clone())?;
        let query = replaced(here, statement.query()?, union.whole()?, operand)?;
        let flow = self.sql_flow(finding, here, &statement, &name, &query)?;
        Some(vec![here.edit(union.without()?, ""), flow])
    }

    fn source_replaced(
        &self,
        finding: &Finding,
        change: &Change,
        here: &Spot,
        flow: &str,
        source: &str,
    ) -> Option<Vec<Edit>> {
        let name = format!("{flow}_from_{}", suffix_of(source));
        let there = spot(self.before, change.before.span()?)?;
        let old = there.slice(edit::bytes(&there.text, change.before.span()?)?)?;
        let range = edit::bytes(&here.text, change.after.span()?)?;
        let restored = here.edit(range, old);
        let added = if here.is_python() {
            let python = PythonSource::parse(&here.text)?;
            let definition = python.definition(here.at)?;
            let body = here.slice(definition.body.clone())?;
            self.python_flow(finding, here, definition.module, definition.whole.end, &name, body)?
        } else {
            let statement = Statement::at(&here.text, here.at)?;
            let query = here.slice(statement.query()?)?;
            self.sql_flow(finding, here, &statement, &name, query)?
        };
        Some(vec![restored, added])
    }

    fn sql_flow(&self, finding: &Finding, here: &Spot, statement: &Statement, name: &str, query: &str) -> Option<Edit> {
        let (end, close) = statement.end()?;
        let target = self.name(finding)?;
        Some(here.insert(end, format!("{close}\n\nCREATE FLOW {name} AS\nINSERT INTO {target} BY NAME\n{query};")))
    }

    fn python_flow(
        &self,
        finding: &Finding,
        here: &Spot,
        module: &str,
        end: usize,
        name: &str,
        body: &str,
    ) -> Option<Edit> {
        let target = self.name(finding)?;
        let start = here.slice(0..end)?;
        let close = if start.ends_with('\n') { "" } else { "\n" };
        let text = format!(
            "{close}\n\n@{module}.append_flow(target=\"{target}\", name=\"{name}\")\ndef {name}():\n    {}",
            body.trim_end()
        );
        Some(here.insert(end, text))
    }

    fn column_renamed(&self, finding: &Finding, here: &Spot, old: &str, new: &str) -> Option<Vec<Edit>> {
        let united = format!("coalesce({new}, {old}) AS {new}");
        if here.is_python() {
            let python = PythonSource::parse(&here.text)?;
            let (item, base) = python.select_item(here.at)?;
            let base = here.slice(base)?;
            (!base.starts_with(['"', '\''])).then_some(())?;
            let as_it_is = base.ends_with(&format!("col(\"{old}\")"));
            let alias = if as_it_is { String::new() } else { format!(".alias(\"{old}\")") };
            let kept = here.insert(item.start, format!("{base}{alias}, "));
            return Some(vec![kept, self.python_view(finding, here, &python, &[new, old], &united)?]);
        }
        let statement = Statement::at(&here.text, here.at)?;
        let (item, expression) = statement.select_item(here.at)?;
        let expression = here.slice(expression)?;
        let alias = if expression.eq_ignore_ascii_case(old) { String::new() } else { format!(" AS {old}") };
        let kept = here.insert(item.start, format!("{expression}{alias}, "));
        Some(vec![kept, self.sql_view(finding, here, &statement, &[new, old], &united)?])
    }

    fn column_retyped(
        &self,
        finding: &Finding,
        change: &Change,
        here: &Spot,
        column: &str,
        added: &str,
    ) -> Option<Vec<Edit>> {
        let there = spot(self.before, change.before.span()?)?;
        let to = change.text("type_after")?;
        let united = format!("coalesce({added}, try_cast({column} AS {to})) AS {column}");
        if here.is_python() {
            let python = PythonSource::parse(&here.text)?;
            let (item, base) = python.select_item(here.at)?;
            let written = PythonSource::parse(&there.text)?.select_item(there.at);
            let old = match written {
                Some((old, _)) => there.slice(old)?.to_owned(),
                // A column that was selected by its name stands at the whole `select`.
                None => {
                    let literal = format!("\"{column}\"");
                    let select = there.slice(edit::bytes(&there.text, change.before.span()?)?)?;
                    select.replace('\'', "\"").contains(&literal).then_some(literal)?
                }
            };
            let text = format!("{old}, {}.alias(\"{added}\")", here.slice(base)?);
            return Some(vec![
                here.edit(item, text),
                self.python_view(finding, here, &python, &[column, added], &united)?,
            ]);
        }
        let statement = Statement::at(&here.text, here.at)?;
        let (item, expression) = statement.select_item(here.at)?;
        let (old, _) = Statement::at(&there.text, there.at)?.select_item(there.at)?;
        let text = format!("{}, {} AS {added}", there.slice(old)?, here.slice(expression)?);
        Some(vec![here.edit(item, text), self.sql_view(finding, here, &statement, &[column, added], &united)?])
    }

    /// A view that readers use in place of the table: both columns in one.
    fn sql_view(
        &self,
        finding: &Finding,
        here: &Spot,
        statement: &Statement,
        columns: &[&str],
        united: &str,
    ) -> Option<Edit> {
        let (end, close) = statement.end()?;
        let table = self.name(finding)?;
        let short = &finding.dataset.as_ref()?.name;
        let temporary = match self.pipeline(&finding.pipeline)?.platform {
            Platform::Lakeflow => "",
            Platform::Spark => "TEMPORARY ",
        };
        let columns = columns.join(", ");
        Some(here.insert(
            end,
            format!(
                "{close}\n\nCREATE {temporary}VIEW {short}_current AS\nSELECT * EXCEPT ({columns}), {united}\nFROM {table};"
            ),
        ))
    }

    fn python_view(
        &self,
        finding: &Finding,
        here: &Spot,
        python: &PythonSource,
        columns: &[&str],
        united: &str,
    ) -> Option<Edit> {
        let definition = python.definition(here.at)?;
        let table = self.name(finding)?;
        let short = &finding.dataset.as_ref()?.name;
        let decorator = if definition.module == "dlt" { "view" } else { "temporary_view" };
        let drop: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
        let drop = drop.join(", ");
        let text = format!(
            "\n\n\n@{}.{decorator}(name=\"{short}_current\")\ndef {short}_current():\n    table = spark.read.table(\"{table}\")\n    \
             return table.selectExpr(\"*\", \"{}\").drop({drop}).withColumnRenamed(\"united\", \"{}\")",
            definition.module,
            united.replace(&format!(" AS {}", united.rsplit(' ').next()?), " AS united"),
            united.rsplit(' ').next()?,
        );
        Some(here.insert(definition.whole.end, text))
    }

    /// Streaming readers of tables that are refreshed, and would stop at the commits that empty them.
    fn stopped_readers(&self) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        let mut seen = BTreeSet::new();
        let report = &self.examination.report;
        // A reader that is refreshed for what was done to itself reads its source from the start anyway.
        let refreshed = |dataset: &str| {
            report.flows.iter().any(|f| f.full_refresh == FullRefresh::Required && f.dataset.to_string() == dataset)
        };
        let stopped = |impact: &&Impact| super::is_stopped_reader(impact) && !refreshed(&impact.dataset);
        for impact in report.impacts.iter().filter(stopped) {
            let parent = impact.path.iter().rev().nth(1).unwrap_or(&impact.because_of);
            for (dataset, read) in self.streaming_reads(&impact.pipeline, &impact.dataset, parent) {
                let Some(edit) = read.place.span().and_then(|span| self.skip_change_commits(span)) else { continue };
                if seen.insert((edit.path.clone(), edit.range.start)) {
                    proposals.push(Proposal {
                        rule: "skip-change-commits".to_owned(),
                        title: format!("Let the stream of `{dataset}` pass over the commits that empty `{parent}`"),
                        dataset,
                        edits: vec![edit],
                        goal: Goal::BetterEffect,
                    });
                }
            }
        }
        proposals
    }

    fn streaming_reads(&self, pipeline: &str, dataset: &str, source: &str) -> Vec<(QualifiedName, &Read)> {
        let after = &self.examination.after;
        let flows = after.flows.iter().filter_map(|analyzed| {
            let owner = after.workspace.pipelines.get(analyzed.pipeline).filter(|owner| owner.key == pipeline)?;
            let flow = owner.flows.get(analyzed.flow).filter(|flow| flow.target.to_string() == dataset)?;
            Some((flow.target.clone(), analyzed))
        });
        let named =
            |read: &&Read| read.streaming && matches!(&read.source, Source::Table(name) if name.to_string() == source);
        flows
            .flat_map(|(target, analyzed)| {
                analyzed.plan.reads().into_iter().filter(named).map(move |read| (target.clone(), read))
            })
            .collect()
    }

    fn skip_change_commits(&self, span: &Span) -> Option<Edit> {
        let here = spot(self.after, span)?;
        if here.is_python() {
            let range = edit::bytes(&here.text, span)?;
            let at = here.slice(range.clone())?.find("readStream")? + range.start + "readStream".len();
            return Some(here.insert(at, ".option(\"skipChangeCommits\", \"true\")"));
        }
        let at = Statement::at(&here.text, here.at)?.after_read(here.at)?;
        Some(here.insert(at, " WITH (SKIPCHANGECOMMITS = TRUE)"))
    }

    /// Changed tables over sources that do not keep what they have given, and that nothing protects from a full refresh.
    fn unprotected(&self) -> Vec<Proposal> {
        let (examination, mut seen) = (self.examination, BTreeSet::new());
        let mut proposals = Vec::new();
        let refreshed = |name: &QualifiedName| {
            examination.report.plan.full_refresh.iter().any(|refresh| refresh.datasets.contains(&name.to_string()))
        };
        let changed = |status: FlowStatus| matches!(status, FlowStatus::Added | FlowStatus::Changed);
        for pair in examination.difference.flows.iter().filter(|pair| changed(pair.status)) {
            let owner = self.pipeline(&pair.pipeline);
            let dataset = owner.and_then(|owner| owner.datasets.iter().find(|dataset| dataset.name == pair.dataset));
            let Some(dataset) = dataset else { continue };
            let lost = losses(&examination.after, &examination.difference, &pair.pipeline, &pair.dataset);
            let told = dataset.property("pipelines.reset.allowed").is_some();
            let open = dataset.kind == DatasetKind::StreamingTable && !told && !refreshed(&dataset.name);
            if !open || lost.iter().all(|(_, _, retention)| retention.is_empty()) || !seen.insert(dataset.name.key()) {
                continue;
            }
            let edit = dataset.place.span().and_then(|span| self.protect(&spot(self.after, span)?));
            if let Some(edit) = edit {
                let (reason, ..) = lost.into_iter().find(|(_, _, retention)| !retention.is_empty()).unwrap_or_default();
                proposals.push(Proposal {
                    rule: "protect-table".to_owned(),
                    dataset: dataset.name.clone(),
                    title: format!("Protect `{}` from full refresh: {reason}", dataset.name),
                    edits: vec![edit],
                    goal: Goal::Protected,
                });
            }
        }
        proposals
    }

    fn protect(&self, here: &Spot) -> Option<Edit> {
        let (at, text) = if here.is_python() {
            PythonSource::parse(&here.text)?.property(here.at, "pipelines.reset.allowed", "false")?
        } else {
            Statement::at(&here.text, here.at)?.property("pipelines.reset.allowed", "false")?
        };
        Some(here.insert(at, text))
    }
}

/// The text of `outer` with `inner`, which lies in it, replaced.
fn replaced(here: &Spot, outer: std::ops::Range<usize>, inner: std::ops::Range<usize>, by: &str) -> Option<String> {
    Some(format!("{}{by}{}", here.slice(outer.start..inner.start)?, here.slice(inner.end..outer.end)?))
}
