//! One flow in both revisions: which comparisons apply to it, and in which order they explain what differs.

use super::change::{Change, Fact};
use super::pair::{FlowPair, FlowRef};
use super::text::{readable, rebase, source, surplus, texts};
use super::{cdc, column, configuration, source as sources, state, stream_job, watermark};
use crate::analyze::{Analysis, AnalysisError, AnalyzedFlow, Aspects, Piece};
use crate::model::{CodeUnit, Dataset, DatasetKind, Expr, Flow, FlowKind, Node, Opaque, Pipeline, Place, Plan};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A flow of one revision with all that belongs to it.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub analysis: &'a Analysis,
    pub pipeline: &'a Pipeline,
    pub dataset: Option<&'a Dataset>,
    pub flow: &'a Flow,
    pub analyzed: &'a AnalyzedFlow,
}

impl<'a> Side<'a> {
    pub fn new(analysis: &'a Analysis, reference: FlowRef) -> Option<Self> {
        let pipeline = analysis.workspace.pipelines.get(reference.pipeline)?;
        let flow = pipeline.flows.get(reference.flow)?;
        Some(Side {
            analysis,
            pipeline,
            dataset: analysis.own_dataset(reference.pipeline, &flow.target),
            flow,
            analyzed: analysis.flows.get(reference.analyzed)?,
        })
    }

    /// Streaming leaves in the order Spark zips them with offsets.
    pub fn streams(&self) -> Vec<&'a crate::analyze::SourceAspect> {
        self.analyzed.aspects.sources.iter().filter(|source| source.streaming && !source.in_subquery).collect()
    }

    pub fn is_stateful(&self) -> bool {
        !self.analyzed.signature.operators.is_empty()
    }

    /// Configuration in force for the flow.
    pub fn configuration(&self) -> BTreeMap<String, String> {
        let mut all = self.pipeline.configuration.clone();
        all.extend(self.dataset.map(|dataset| dataset.spark_conf.clone()).unwrap_or_default());
        all.extend(self.flow.spark_conf.clone());
        all
    }
}

/// Both sides of one flow. `aspects` are those of AFTER, written over BEFORE's sources where a source was exchanged.
pub struct Comparison<'a> {
    pub before: Side<'a>,
    pub after: Side<'a>,
    pub aspects: Cow<'a, Aspects>,
    /// Sources that were exchanged: canonical text in AFTER, and in BEFORE.
    pub exchanged: Vec<(String, String)>,
}

impl Comparison<'_> {
    /// A text of AFTER over BEFORE's sources.
    pub fn rebased(&self, text: &str) -> String {
        self.exchanged.iter().fold(text.to_owned(), |text, (new, old)| rebase(&text, new, old))
    }
}

/// Pieces of both queries that some change has already told of: what merely contains them needs no change of its own.
#[derive(Debug, Default)]
pub struct Explained {
    pieces: Vec<String>,
}

impl Explained {
    pub fn add(&mut self, pieces: impl IntoIterator<Item = String>) {
        self.pieces.extend(pieces.into_iter().filter(|piece| !piece.is_empty()));
    }

    pub fn covers(&self, before: &str, after: &str) -> bool {
        self.pieces.iter().any(|piece| before.contains(piece.as_str()) || after.contains(piece.as_str()))
    }
}

/// Everything that differs in one flow. `settled` says that nothing outside of queries differs for their sources: neither what
/// `pipelint.yaml` says of them nor the formats of tables.
pub fn compare(before: &Analysis, after: &Analysis, pair: &FlowPair, settled: bool) -> Vec<Change> {
    let old = pair.before.and_then(|reference| Side::new(before, reference));
    let new = pair.after.and_then(|reference| Side::new(after, reference));
    let mut changes = match (old, new) {
        (Some(old), Some(new)) => compare_sides(old, new, pair, settled),
        (None, Some(new)) => errors(&[], new).into_iter().chain(declared_mismatch(None, new)).collect(),
        _ => Vec::new(),
    };
    let names = source_names(old, new);
    for change in &mut changes {
        make_readable(change, &names);
        change.pipeline.clone_from(&pair.pipeline);
        change.dataset = Some(pair.dataset.clone());
        change.flow = Some(pair.flow.clone());
        let place = |side: Option<Side>| side.map(|side| side.flow.place.clone()).unwrap_or_default();
        change.before = change.before.or(&place(old));
        change.after = change.after.or(&place(new));
    }
    changes
}

/// Canonical names of everything that either side reads, longest first so that none is taken for the start of another.
fn source_names(old: Option<Side>, new: Option<Side>) -> Vec<String> {
    let of = |side: Side| side.analyzed.aspects.sources.iter().map(|source| source.text.clone()).collect::<Vec<_>>();
    let mut names: Vec<String> = [old, new].into_iter().flatten().flat_map(of).collect();
    names.sort_by(|x, y| y.len().cmp(&x.len()).then(x.cmp(y)));
    names.dedup();
    names
}

/// Writes facts that hold canonical text for people. Comparisons are done by now.
fn make_readable(change: &mut Change, names: &[String]) {
    for name in ["before", "after", "added", "removed"] {
        match change.facts.get_mut(name) {
            Some(Fact::Text(text)) => *text = readable(text, names),
            Some(Fact::List(items)) => items.iter_mut().for_each(|item| *item = readable(item, names)),
            _ => {}
        }
    }
}

fn compare_sides(old: Side, new: Side, pair: &FlowPair, settled: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    if pair.renamed {
        changes.push(renamed(old, new));
    }
    changes.extend(kind_changed(old, new));
    changes.extend(errors(&old.analyzed.errors, new));
    changes.extend(declared_mismatch(Some(old), new));
    let same_query = old.analyzed.aspects == new.analyzed.aspects
        && old.analyzed.signature.operators == new.analyzed.signature.operators;
    let comparison =
        Comparison { before: old, after: new, aspects: Cow::Borrowed(&new.analyzed.aspects), exchanged: Vec::new() };
    if old.flow.is_once() && new.flow.is_once() {
        let cdc = cdc::compare(&comparison);
        if !same_query || !cdc.is_empty() {
            let edited = edited(&old.analyzed.aspects, &new.analyzed.aspects);
            changes.push(Change::new("once-flow-edited", &new.pipeline.key).fact("edited", edited));
        }
        return changes;
    }
    changes.extend(flow_configuration(old, new));
    // A query that could not be understood may be a stream or not: its kind of dataset says nothing either.
    if let Some((reason, place)) = unresolved(old, new) {
        let change = Change::new("query-unresolved", &new.pipeline.key).fact("reason", reason);
        let edited = edited(&old.analyzed.aspects, &new.analyzed.aspects);
        changes.push(change.fact("edited", edited).places(&Place::unknown(), &place));
        return changes;
    }
    if new.dataset.is_some_and(|dataset| dataset.kind == DatasetKind::MaterializedView) {
        let code = compare_code(&comparison, &mut Explained::default());
        if old.dataset.is_some_and(|d| d.kind == DatasetKind::MaterializedView) && (!same_query || !code.is_empty()) {
            let edited = edited(&old.analyzed.aspects, &new.analyzed.aspects);
            changes.push(Change::new("materialized-view-changed", &new.pipeline.key).fact("edited", edited));
        }
        return changes;
    }
    if old.dataset.is_some_and(|dataset| dataset.kind == DatasetKind::MaterializedView) {
        return changes;
    }
    changes.extend(cdc::compare(&comparison));
    changes.extend(stream_job::compare(&comparison));
    if same_query {
        // The same text may read another source: what `pipelint.yaml` says of it counts.
        if !settled {
            changes.extend(sources::compare(&comparison).0);
        }
        changes.extend(compare_code(&comparison, &mut Explained::default()));
    } else {
        changes.extend(compare_queries(comparison));
    }
    changes
}

fn compare_queries(mut comparison: Comparison) -> Vec<Change> {
    let mut changes = Vec::new();
    let (found, exchanged) = sources::compare(&comparison);
    changes.extend(found);
    for (new, old) in &exchanged {
        rebase_aspects(comparison.aspects.to_mut(), new, old);
    }
    comparison.exchanged = exchanged;
    let mut explained = Explained::default();
    // What a source that came or went contributed differs for that reason alone.
    let counted = changes.iter().filter(|change| matches!(change.kind, "source-added" | "source-removed"));
    explained.add(counted.filter_map(|change| change.text("source").map(|source| format!("{source}."))));
    if sources::matched_by_name(&comparison) {
        explained.add(comparison.before.streams().iter().map(|source| format!("{}.", source.text)));
    }
    if let Some(change) = exchanged_table(&mut comparison) {
        changes.push(change);
    }
    changes.extend(compare_code(&comparison, &mut explained));
    changes.extend(watermark::compare(&comparison));
    changes.extend(state::compare(&comparison, &mut explained));
    changes.extend(compare_filters(&comparison, &mut explained));
    changes.extend(compare_generators(&comparison, &mut explained));
    changes.extend(compare_static_joins(&comparison, &mut explained));
    changes.extend(column::compare(&comparison, &mut explained));
    if changes.is_empty() {
        changes.extend(query_changed(&comparison));
    }
    changes
}

/// Differences of a streaming query that no other comparison looks at. Order of columns, and watermarks that nothing uses, are none.
fn query_changed(comparison: &Comparison) -> Option<Change> {
    let (old, new) = (&comparison.before.analyzed.aspects, &comparison.aspects);
    let opaque = |aspects: &Aspects| {
        let mut names = texts(&aspects.opaque);
        names.sort();
        names
    };
    let whole = |aspects: &Aspects| aspects.aggregates.iter().filter(|a| !a.streaming).cloned().collect::<Vec<_>>();
    let parts = [
        ("window functions", old.windows != new.windows),
        ("order", old.sorts != new.sorts),
        ("limits", old.limits != new.limits),
        ("aggregation of tables read whole", whole(old) != whole(new)),
        ("code", opaque(old) != opaque(new)),
    ];
    let edited: Vec<String> =
        parts.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned()).collect();
    (!edited.is_empty()).then(|| Change::new("query-changed", &comparison.after.pipeline.key).fact("edited", edited))
}

fn renamed(old: Side, new: Side) -> Change {
    let is_default = |side: Side| matches!(side.flow.kind, FlowKind::Default);
    let new_name = new.flow.name.as_str();
    let used = old.pipeline.flows.iter().any(|flow| flow.name == new_name && flow.target != old.flow.target);
    Change::new("flow-renamed", &new.pipeline.key)
        .values(old.flow.name.as_str(), new_name)
        .fact("case_only", old.flow.name.eq_ignore_ascii_case(new_name))
        .fact("default_before", is_default(old))
        .fact("default_after", is_default(new))
        .fact("once", new.flow.is_once())
        .fact("name_used", used)
}

pub fn kind(kind: &FlowKind) -> &'static str {
    match kind {
        FlowKind::Default => "default",
        FlowKind::Append => "append",
        FlowKind::Once => "once",
        FlowKind::AutoCdc(_) => "auto-cdc",
        FlowKind::AutoCdcOnce(_) => "auto-cdc-once",
        FlowKind::ReplaceWhere(_) => "replace-where",
        FlowKind::ReplaceUsing { .. } => "replace-using",
        FlowKind::StreamJob(_) => "stream-job",
    }
}

fn kind_changed(old: Side, new: Side) -> Option<Change> {
    // A table's own query and an explicit flow append alike; only their names can differ.
    let class = |side: Side| match kind(&side.flow.kind) {
        "default" => "append",
        other => other,
    };
    let (b, a) = (class(old), class(new));
    (b != a).then(|| Change::new("flow-kind-changed", &new.pipeline.key).values(b, a))
}

fn flow_configuration(old: Side, new: Side) -> Vec<Change> {
    let own = |side: Side| {
        let mut all = side.dataset.map(|dataset| dataset.spark_conf.clone()).unwrap_or_default();
        all.extend(side.flow.spark_conf.clone());
        all
    };
    let (b, a) = (own(old), own(new));
    configuration::differences(&b, &a)
        .into_iter()
        .map(|(key, class, before, after)| {
            let change = Change::new("configuration-changed", &new.pipeline.key);
            change.fact("setting", key).fact("class", class).values(before, after)
        })
        .collect()
}

/// Errors that the analyzer of AFTER's query gives; those that stood there before are marked.
fn errors(known: &[AnalysisError], new: Side) -> Vec<Change> {
    let class = |error: &AnalysisError| error.class == "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE";
    (new.analyzed.errors.iter())
        .map(|error| {
            let was_broken = known.iter().any(|old| old.class == error.class);
            let change = if class(error) {
                Change::new("declared-schema-mismatch", &new.pipeline.key)
            } else {
                Change::new("flow-invalid", &new.pipeline.key).fact("error_class", error.class.as_str())
            };
            change
                .fact("error", error.message.as_str())
                .fact("was_broken", was_broken)
                .places(&Place::unknown(), &error.place)
        })
        .filter(|change| !change.flag("was_broken"))
        .collect()
}

/// Declared columns whose types are not those of the table's own query (Spark's `GraphValidations` compares them there only).
fn declared_mismatch(old: Option<Side>, new: Side) -> Option<Change> {
    let mismatches = |side: Side| -> Vec<String> {
        let declared = side.dataset.and_then(|dataset| dataset.declared.as_ref());
        let Some(declared) = declared.filter(|_| matches!(side.flow.kind, FlowKind::Default)) else {
            return Vec::new();
        };
        let differing = side.analyzed.aspects.outputs.iter().filter_map(|column| {
            let field = declared.field(&column.name)?;
            column::conversion(&field.data_type, &column.data_type)?;
            Some(format!("{} is declared {} and is {}", column.name, field.data_type, column.data_type))
        });
        differing.collect()
    };
    let (then, now) = (old.map(mismatches).unwrap_or_default(), mismatches(new));
    let told = new.analyzed.errors.iter().any(|error| error.class.starts_with("USER_SPECIFIED_AND_INFERRED"));
    if now.is_empty() || now == then || told {
        return None;
    }
    Some(Change::new("declared-schema-mismatch", &new.pipeline.key).fact("error", now.join("; ")))
}

/// Why a relation of one of the queries is not known, where the two queries differ in that.
fn unresolved(old: Side, new: Side) -> Option<(String, Place)> {
    let gaps = |side: Side| {
        let mut gaps: Vec<(String, Place)> = Vec::new();
        side.analyzed.plan.walk(&mut |plan| {
            if let Node::Opaque { function, inputs, .. } = &plan.node
                && inputs.is_empty()
            {
                gaps.push((format!("{}: {}", function.name, function.reason), function.place.or(&plan.place)));
            }
        });
        gaps
    };
    let (b, a) = (gaps(old), gaps(new));
    if b.iter().map(|gap| &gap.0).eq(a.iter().map(|gap| &gap.0)) && content(old) == content(new) {
        return None;
    }
    let only = |list: &[(String, Place)], other: &[(String, Place)]| {
        list.iter().find(|gap| !other.iter().any(|known| known.0 == gap.0)).or(list.first()).cloned()
    };
    only(&a, &b).or_else(|| only(&b, &a).map(|(reason, _)| (reason, Place::unknown())))
}

/// Hashes of relations that are not known.
fn content(side: Side) -> Vec<u64> {
    let mut hashes = Vec::new();
    side.analyzed.plan.walk(&mut |plan| {
        if let Node::Opaque { function, inputs, .. } = &plan.node
            && inputs.is_empty()
        {
            hashes.push(function.content);
        }
    });
    hashes
}

/// Names of the aspects that differ, for a message.
pub fn edited(old: &Aspects, new: &Aspects) -> Vec<String> {
    let parts = [
        ("columns", old.outputs != new.outputs),
        ("sources", old.sources != new.sources),
        ("filters", old.filters != new.filters),
        ("joins", old.joins != new.joins),
        ("aggregation", old.aggregates != new.aggregates),
        ("deduplication", old.deduplicates != new.deduplicates),
        ("watermarks", old.watermarks != new.watermarks),
        ("generators", old.generators != new.generators),
        ("window functions", old.windows != new.windows),
        ("stateful functions", old.stateful_maps != new.stateful_maps),
        ("limits", old.limits != new.limits),
        ("order", old.sorts != new.sorts),
        ("unions", old.unions != new.unions),
        ("code", old.opaque != new.opaque),
    ];
    parts.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned()).collect()
}

fn rebase_aspects(aspects: &mut Aspects, new: &str, old: &str) {
    let fix = |text: &mut String| *text = rebase(text, new, old);
    let fix_pieces = |pieces: &mut Vec<Piece>| pieces.iter_mut().for_each(|piece| fix(&mut piece.text));
    aspects.outputs.iter_mut().for_each(|column| fix(&mut column.text));
    fix_pieces(&mut aspects.filters);
    for join in &mut aspects.joins {
        fix_pieces(&mut join.keys);
        fix_pieces(&mut join.condition);
        for side in join.left.iter_mut().chain(&mut join.right).filter(|side| *side == new) {
            old.clone_into(side);
        }
    }
    for aggregate in &mut aspects.aggregates {
        fix_pieces(&mut aggregate.groupings);
        fix_pieces(&mut aggregate.aggregates);
    }
    aspects.deduplicates.iter_mut().for_each(|dedup| fix_pieces(&mut dedup.keys));
    for pieces in [
        &mut aspects.watermarks,
        &mut aspects.generators,
        &mut aspects.windows,
        &mut aspects.stateful_maps,
        &mut aspects.opaque,
    ] {
        fix_pieces(pieces);
    }
    // Conjuncts stand sorted by text.
    aspects.filters.sort_by(|x, y| x.text.cmp(&y.text));
}

fn compare_filters(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let (old, new) = (&comparison.before.analyzed.aspects, &comparison.aspects);
    let (mut gone, mut came) = (differing(&new.filters, &old.filters), differing(&old.filters, &new.filters));
    if gone.len() == came.len() {
        // Conjuncts that only contain what another change has told of.
        let told: Vec<bool> = gone.iter().zip(&came).map(|(b, a)| explained.covers(&b.text, &a.text)).collect();
        for pieces in [&mut gone, &mut came] {
            let mut told = told.iter();
            pieces.retain(|_| !told.next().copied().unwrap_or(false));
        }
    }
    if gone.is_empty() && came.is_empty() {
        return Vec::new();
    }
    let aggregates: Vec<&Piece> = old.aggregates.iter().chain(&new.aggregates).flat_map(|a| &a.aggregates).collect();
    let having = |piece: &&Piece| aggregates.iter().any(|aggregate| piece.text.contains(&aggregate.text));
    let all: Vec<&Piece> = gone.iter().chain(&came).copied().collect();
    // The same conjunct on the other side of a stateful operator: say on which.
    let moved = gone.iter().any(|piece| came.iter().any(|other| other.text == piece.text));
    let shown = |pieces: &[&Piece]| -> Vec<String> {
        let place = |piece: &Piece| match (moved, piece.feeds) {
            (false, _) => piece.text.clone(),
            (true, Some(operator)) => format!("{} (before {operator})", piece.text),
            (true, None) => format!("{} (at the end)", piece.text),
        };
        pieces.iter().map(|piece| place(piece)).collect()
    };
    explained.add(all.iter().map(|piece| piece.text.clone()));
    let place = |pieces: &[&Piece]| pieces.first().map(|piece| piece.place.clone()).unwrap_or_default();
    vec![
        Change::new("filter-changed", &comparison.after.pipeline.key)
            .values(shown(&gone), shown(&came))
            .fact("added", shown(&came))
            .fact("removed", shown(&gone))
            .fact("upstream_of_state", all.iter().any(|piece| piece.feeds.is_some()))
            .fact("after_state", all.iter().any(having))
            .places(&place(&gone), &place(&came)),
    ]
}

/// Pieces of `after` that are not in `before`, as a multiset; where a piece stands in regard to state is part of it.
fn differing<'a>(before: &[Piece], after: &'a [Piece]) -> Vec<&'a Piece> {
    let mut rest: Vec<&Piece> = before.iter().collect();
    let mut surplus = Vec::new();
    for piece in after {
        match rest.iter().position(|other| other.text == piece.text && other.feeds == piece.feeds) {
            Some(index) => {
                rest.remove(index);
            }
            None => surplus.push(piece),
        }
    }
    surplus
}

fn compare_generators(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let (old, new) = (&comparison.before.analyzed.aspects.generators, &comparison.aspects.generators);
    let (before, after) = (texts(old), texts(new));
    if before == after || explained.covers(&before.join(" "), &after.join(" ")) {
        return Vec::new();
    }
    explained.add(before.iter().chain(&after).cloned());
    let place = |pieces: &[Piece]| pieces.first().map(|piece| piece.place.clone()).unwrap_or_default();
    let change = Change::new("generator-changed", &comparison.after.pipeline.key);
    vec![change.values(before, after).places(&place(old), &place(new))]
}

/// Joins with a side that is read whole: they keep no state, so an edit shows in new rows only.
fn compare_static_joins(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    type Join = crate::analyze::JoinAspect;
    let statics =
        |aspects: &Aspects| -> Vec<Join> { aspects.joins.iter().filter(|join| !join.stream_stream).cloned().collect() };
    let (old, new) = (statics(&comparison.before.analyzed.aspects), statics(&comparison.aspects));
    let show = |join: &Join| {
        let keys = texts(&join.keys).into_iter().chain(texts(&join.condition)).collect::<Vec<_>>().join(" and ");
        let side = |texts: &[String]| texts.iter().map(|text| source(text)).collect::<Vec<_>>().join(", ");
        format!("{} {} join {} on {keys}", side(&join.left), join.kind, side(&join.right))
    };
    let (before, after): (Vec<String>, Vec<String>) = (old.iter().map(show).collect(), new.iter().map(show).collect());
    let pipeline = &comparison.after.pipeline.key;
    if before != after {
        let aspect = match new.len().cmp(&old.len()) {
            std::cmp::Ordering::Greater => "added",
            std::cmp::Ordering::Less => "removed",
            std::cmp::Ordering::Equal => "changed",
        };
        let place = |joins: &[Join]| joins.first().map(|join| join.place.clone()).unwrap_or_default();
        explained.add(surplus(&before, &after).into_iter().chain(surplus(&after, &before)));
        let change = Change::new("static-join-changed", pipeline).values(before, after).fact("aspect", aspect);
        return vec![change.places(&place(&old), &place(&new))];
    }
    Vec::new()
}

/// One table that is read whole in place of another. The rest of the query is compared as if it were the same.
fn exchanged_table(comparison: &mut Comparison) -> Option<Change> {
    let tables = |aspects: &Aspects| -> Vec<String> {
        aspects.sources.iter().filter(|s| !s.streaming).map(|s| s.text.clone()).collect()
    };
    let (before, after) = (tables(&comparison.before.analyzed.aspects), tables(&comparison.aspects));
    let (added, removed) = (surplus(&before, &after), surplus(&after, &before));
    let ([new], [old]) = (added.as_slice(), removed.as_slice()) else { return None };
    rebase_aspects(comparison.aspects.to_mut(), new, old);
    let place = |aspects: &Aspects, text: &str| {
        aspects.sources.iter().find(|source| source.text == text).map(|source| source.place.clone()).unwrap_or_default()
    };
    let places = (place(&comparison.before.analyzed.aspects, old), place(&comparison.aspects, new));
    let change = Change::new("static-source-changed", &comparison.after.pipeline.key).values(before, after);
    Some(change.fact("added", added.clone()).fact("removed", removed.clone()).places(&places.0, &places.1))
}

/// Code behind equal names whose text changed.
fn compare_code(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let (old, new) = (opaques(&comparison.before.analyzed.plan), opaques(&comparison.after.analyzed.plan));
    let mut changes = Vec::new();
    for (name, before) in &old {
        let Some(after) = new.get(name).filter(|after| after.content != before.content) else { continue };
        let unit = changed_unit(&before.code, &after.code);
        let place = unit.map_or(&after.place, |unit| &unit.place);
        let path = place.span().map(|span| span.path.to_string()).unwrap_or_default();
        let here = comparison.after.flow.place.span().is_some_and(|span| *span.path == *path);
        let pieces = comparison.aspects.opaque.iter().chain(&comparison.before.analyzed.aspects.opaque);
        let touched: Vec<&Piece> = pieces.filter(|piece| piece.text.contains(name.as_str())).collect();
        explained.add(touched.iter().map(|piece| piece.text.clone()));
        explained.add([name.clone()]);
        changes.push(
            Change::new("code-changed", &comparison.after.pipeline.key)
                .fact("code", unit.map_or(name.as_str(), |unit| unit.name.as_ref()))
                .fact("far", !path.is_empty() && !here)
                .fact("code_path", path)
                .fact("upstream_of_state", touched.iter().any(|piece| piece.feeds.is_some()))
                .fact("resolved", after.reason.is_empty())
                .places(&before.place, place),
        );
    }
    changes
}

/// The nearest repository function whose own text changed.
fn changed_unit<'a>(before: &[CodeUnit], after: &'a [CodeUnit]) -> Option<&'a CodeUnit> {
    after.iter().find(|unit| before.iter().any(|old| old.name == unit.name && old.content != unit.content))
}

/// Opaque content of a plan by name, functions with state of their own left out.
fn opaques(plan: &Plan) -> BTreeMap<String, &Opaque> {
    let mut found = BTreeMap::new();
    plan.walk(&mut |plan| {
        if let Node::Opaque { function, inputs, .. } = &plan.node
            && !inputs.is_empty()
        {
            found.insert(function.name.to_string(), function);
        }
        for expr in plan.expressions() {
            expr.walk(&mut |e| {
                if let Expr::Opaque(opaque) = e {
                    found.insert(opaque.name.to_string(), opaque);
                }
            });
        }
    });
    found
}
