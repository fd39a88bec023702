//! Columns followed down the plans: which columns of which readers depend on a changed one, and which no longer resolve.

use super::Impact;
use crate::analyze::Analysis;
use crate::diff::{Change, Diff};
use crate::graph::{Graph, Vertex};
use crate::model::{DatasetKind, Effect, QualifiedName};
use std::collections::{BTreeSet, VecDeque};

/// A column that readers see changed, and how.
struct Changed<'a> {
    dataset: QualifiedName,
    pipeline: &'a str,
    column: String,
    what: What,
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
        let mut pending = VecDeque::from([(changed.dataset.clone(), changed.column.clone(), vec![cause.clone()])]);
        while let Some((dataset, column, path)) = pending.pop_front() {
            for reader in readers(before, after, graph, changed.pipeline, &dataset, &column) {
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
                    pending.push_back((reader.name.clone(), column, path.clone()));
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
    })
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

fn readers(
    before: &Analysis,
    after: &Analysis,
    graph: &Graph,
    pipeline: &str,
    dataset: &QualifiedName,
    column: &str,
) -> Vec<Reader> {
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
        let old = before.flows.iter().find(|flow| {
            let of = |analysis: &Analysis, pipeline: usize, flow: usize| {
                let owner = analysis.workspace.pipelines.get(pipeline)?;
                Some((owner.key.clone(), owner.flows.get(flow).map(|f| (f.target.key(), f.name.clone()))))
            };
            of(before, flow.pipeline, flow.flow) == of(after, analyzed.pipeline, analyzed.flow)
        });
        let broken = analyzed.errors.iter().find(|error| error.class.starts_with("UNRESOLVED_COLUMN"));
        let aspects = match (broken, old) {
            (Some(_), Some(old)) => &old.aspects,
            _ => &analyzed.aspects,
        };
        let prefixes: Vec<String> = (aspects.sources.iter())
            .filter(|source| crate::graph::text_without_number(&source.text).eq_ignore_ascii_case(&dataset.to_string()))
            .map(|source| format!("{}.{column}", source.text).to_lowercase())
            .collect();
        let uses = |text: &str| prefixes.iter().any(|prefix| mentions(&text.to_lowercase(), prefix));
        let columns: Vec<String> = aspects.outputs.iter().filter(|o| uses(&o.text)).map(|o| o.name.clone()).collect();
        let in_filters = aspects.filters.iter().any(|piece| uses(&piece.text))
            || aspects.joins.iter().any(|join| join.keys.iter().chain(&join.condition).any(|piece| uses(&piece.text)))
            || aspects.deduplicates.iter().any(|dedup| dedup.keys.iter().any(|piece| uses(&piece.text)))
            || aspects.aggregates.iter().any(|a| a.groupings.iter().any(|piece| uses(&piece.text)));
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

/// Whether a canonical text names a column: the whole name, not the start of a longer one.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '`';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|tail| tail.chars().next());
        before.is_none_or(|c| !word(c) && c != '.') && after.is_none_or(|c| !word(c))
    })
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
    use super::mentions;

    #[test]
    fn a_column_is_not_found_inside_a_longer_name() {
        assert!(mentions("upper(main.s.t.k)", "main.s.t.k"));
        assert!(!mentions("upper(main.s.t.key)", "main.s.t.k"));
        assert!(!mentions("x.main.s.t.k", "main.s.t.k"));
    }
}
