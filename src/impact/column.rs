//! Columns followed down the plans: which columns of which readers depend on a changed one, and which no longer resolve.

use super::Impact;
use crate::analyze::{Analysis, AnalyzedFlow, Aspects, SourceAspect, Term};
use crate::diff::{Change, Diff};
use crate::graph::{Graph, Vertex};
use crate::model::{DatasetKind, Effect, QualifiedName};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// A column that readers see changed, and how.
struct Changed<'a> {
    dataset: QualifiedName,
    pipeline: &'a str,
    column: String,
    what: What,
    /// Paths of fields inside the column that differ; empty where all of it does.
    fields: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// New rows hold NULL, or the column is gone.
    Gone,
    Retyped,
    Recomputed,
}

/// Follows every changed column to the columns that are computed from it.
pub fn follow_columns(before: &Analysis, after: &Analysis, diff: &Diff, graph: &Graph) -> Vec<Impact> {
    let mut impacts = Vec::new();
    for change in &diff.changes {
        let Some(changed) = changed(change) else { continue };
        let cause = format!("{}.{}", changed.dataset, changed.column);
        let mut seen = BTreeSet::new();
        let first = Used { dataset: changed.dataset.clone(), column: changed.column.clone(), fields: changed.fields };
        let mut pending = VecDeque::from([(first, vec![cause.clone()])]);
        while let Some((used, path)) = pending.pop_front() {
            let column = used.column.clone();
            for reader in readers(before, after, graph, changed.pipeline, &used, changed.what) {
                if !seen.insert((reader.name.key(), reader.columns.clone())) {
                    continue;
                }
                let path = super::extended(&path, reader.name.to_string());
                let (effect, hint) = describe(&reader, changed.what, &column);
                impacts.push(Impact {
                    dataset: reader.name.to_string(),
                    pipeline: reader.pipeline.clone(),
                    kind: "column",
                    because_of: cause.clone(),
                    path: path.clone(),
                    effect,
                    hint,
                });
                for column in reader.columns {
                    let used = Used { dataset: reader.name.clone(), column, fields: Vec::new() };
                    pending.push_back((used, path.clone()));
                }
            }
        }
    }
    impacts
}

fn changed(change: &Change) -> Option<Changed<'_>> {
    let (fact, what) = match change.kind {
        "column-dropped" => ("column", What::Gone),
        "column-renamed" => ("before", What::Gone),
        "column-retyped" => ("column", What::Retyped),
        "expression-changed" => ("column", What::Recomputed),
        _ => return None,
    };
    Some(Changed {
        dataset: change.dataset.clone()?,
        pipeline: &change.pipeline,
        column: change.text(fact)?.to_owned(),
        what,
        fields: match (change.text("type_before"), change.text("type_after")) {
            (Some(before), Some(after)) => fields_that_differ(before, after),
            _ => Vec::new(),
        },
    })
}

/// Fields of two struct types that only one has, or that have other types: `b` of `struct<a:int,b:int>` and `struct<a:int>`. Empty
/// for all other types.
fn fields_that_differ(before: &str, after: &str) -> Vec<String> {
    let (Some(before), Some(after)) = (fields(before), fields(after)) else { return Vec::new() };
    let all = before.iter().chain(&after);
    let differ = all.filter(|field| !(before.contains(field) && after.contains(field)));
    differ.map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Names and types of a struct type's fields.
fn fields(text: &str) -> Option<Vec<(&str, &str)>> {
    let inner = text.strip_prefix("struct<")?.strip_suffix('>')?;
    let (mut depth, mut start, mut found) = (0_i32, 0, Vec::new());
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
        if c == ',' && depth == 0 {
            found.push(inner.get(start..at)?.split_once(':')?);
            start = at + 1;
        }
    }
    Some(found)
}

/// A column that is looked for in readers of its dataset.
struct Used {
    dataset: QualifiedName,
    column: String,
    fields: Vec<String>,
}

impl Used {
    /// A term uses the column of the source called `source`; of a struct, one of the fields that differ.
    fn in_term(&self, term: &Term, source: &str) -> bool {
        let mut seen = HashSet::new();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            if !seen.insert(term.id()) {
                continue;
            }
            match self.path(term, source) {
                Some(path) if self.concerns(&path) => return true,
                // Another field of the same column.
                Some(_) => {}
                None => pending.extend(term.children()),
            }
        }
        false
    }

    /// Fields, from the outermost, that a term takes of the column and of nothing else.
    fn path(&self, term: &Term, source: &str) -> Option<Vec<String>> {
        if let Some((of, name)) = term.column() {
            let own = of.source_name() == Some(source) && name.eq_ignore_ascii_case(&self.column);
            return own.then(Vec::new);
        }
        let (base, field) = term.field()?;
        let mut path = self.path(base, source)?;
        path.push(field.to_owned());
        Some(path)
    }

    fn concerns(&self, path: &[String]) -> bool {
        let Some(field) = path.first() else { return true };
        self.fields.is_empty() || self.fields.iter().any(|differs| differs.eq_ignore_ascii_case(field))
    }
}

/// A dataset one of whose flows uses the column.
struct Reader {
    name: QualifiedName,
    pipeline: String,
    kind: DatasetKind,
    /// Its columns that are computed from it.
    columns: Vec<String>,
    /// It decides which rows come, not only what they hold.
    in_filters: bool,
    /// Its query does not resolve any more, with the error's message.
    broken: Option<String>,
}

fn readers(before: &Analysis, after: &Analysis, graph: &Graph, pipeline: &str, used: &Used, what: What) -> Vec<Reader> {
    let dataset = &used.dataset;
    let index = after.workspace.pipelines.iter().position(|p| p.key == pipeline);
    let node = index.and_then(|index| graph.find(after, index, dataset)).or_else(|| {
        graph
            .vertices()
            .find(|(_, vertex)| matches!(vertex, Vertex::Dataset { name, .. } if name == dataset))
            .map(|(n, _)| n)
    });
    let Some(node) = node else { return Vec::new() };
    let mut found = Vec::new();
    for (reader, edge) in graph.readers(node) {
        let Some(Vertex::Dataset { pipeline: p, dataset: d, name, kind }) = graph.vertex(reader) else { continue };
        let owner = after.workspace.pipelines.get(*p);
        let Some((owner, analyzed)) = owner.zip(after.flows.get(edge.flow)) else { continue };
        if *kind == DatasetKind::View || owner.datasets.get(*d).is_none() {
            continue;
        }
        // Where the new query no longer resolves, what it used is told by the old one.
        let old = owner.flows.get(analyzed.flow).and_then(|flow| {
            let at = before.workspace.pipelines.iter().position(|old| old.key == owner.key)?;
            let named = |other: &&AnalyzedFlow| {
                let other = before.workspace.pipelines.get(at).and_then(|old| old.flows.get(other.flow));
                other.is_some_and(|other| other.name == flow.name)
            };
            before.flows_into(at, &flow.target).find(named)
        });
        let broken = analyzed
            .errors
            .iter()
            .find(|error| error.class.starts_with("UNRESOLVED_COLUMN") || error.class == "FIELD_NOT_FOUND");
        let aspects = match (broken, old) {
            (Some(_), Some(old)) => &old.aspects,
            _ => &analyzed.aspects,
        };
        let uses = |aspects: &Aspects, term: &Term| {
            let of_dataset = |source: &&SourceAspect| {
                crate::graph::text_without_number(&source.text).eq_ignore_ascii_case(&dataset.to_string())
            };
            aspects.sources.iter().filter(of_dataset).any(|source| used.in_term(term, &source.text))
        };
        let outputs = |aspects: &Aspects| -> Vec<String> {
            aspects.outputs.iter().filter(|o| uses(aspects, &o.term)).map(|o| o.name.clone()).collect()
        };
        let mut columns = outputs(aspects);
        if let (What::Gone, None, Some(old)) = (what, broken, old) {
            // What a star had passed on is not named any more.
            let passed_on = outputs(&old.aspects).into_iter().filter(|name| !columns.contains(name));
            let gone: Vec<String> =
                passed_on.filter(|name| !analyzed.aspects.outputs.iter().any(|o| o.name == *name)).collect();
            columns.extend(gone);
        }
        let uses = |term: &Term| uses(aspects, term);
        let in_filters = aspects.filters.iter().any(|piece| uses(&piece.term))
            || aspects.joins.iter().any(|join| join.keys.iter().chain(&join.condition).any(|piece| uses(&piece.term)))
            || aspects.deduplicates.iter().any(|dedup| dedup.keys.iter().any(|piece| uses(&piece.term)))
            || aspects.aggregates.iter().any(|a| a.groupings.iter().any(|piece| uses(&piece.term)));
        if !columns.is_empty() || in_filters {
            found.push(Reader {
                name: name.clone(),
                pipeline: owner.key.clone(),
                kind: *kind,
                columns,
                in_filters,
                broken: broken.map(|error| error.message.clone()),
            });
        }
    }
    found
}

fn describe(reader: &Reader, what: What, column: &str) -> (Effect, String) {
    if let Some(message) = &reader.broken {
        return (Effect::Invalid, format!("its query no longer resolves: {message}"));
    }
    let computed = reader.kind == DatasetKind::MaterializedView;
    let effect = if computed { Effect::Recomputed } else { Effect::Mixed };
    let columns = reader.columns.join(", ");
    let rows =
        if reader.in_filters { "; it also decides which rows come, so that rows may appear or go missing" } else { "" };
    let hint = match what {
        What::Gone if columns.is_empty() => format!("uses `{column}`, which is NULL in new rows{rows}"),
        What::Gone => format!("{columns}: computed from `{column}`, which is NULL in new rows{rows}"),
        What::Retyped => format!("{columns}: computed from `{column}`, which has another type{rows}"),
        What::Recomputed => {
            format!("{columns}: computed from `{column}`, which is computed otherwise in new rows{rows}")
        }
    };
    (effect, hint)
}

#[cfg(test)]
mod tests {
    use super::fields_that_differ;

    #[test]
    fn fields_of_structs_are_told_apart() {
        let (before, after) =
            ("struct<a:int,b:array<struct<x:int>>,c:decimal(10,2)>", "struct<a:int,b:array<struct<x:int>>>");
        assert_eq!(fields_that_differ(before, after), ["c"]);
        assert!(fields_that_differ("int", "bigint").is_empty());
    }
}
