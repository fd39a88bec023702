//! Streaming sources: how many, which, in which order, with which options.
//!
//! Structured Streaming matches sources with recorded offsets by position, unless the query uses source evolution, where names
//! match (`OffsetSeq`, `MicroBatchExecution`).

use super::change::Change;
use super::comparison::{Comparison, Side, surplus};
use super::configuration::source_evolution;
use super::dataset::table_format;
use super::text;
use crate::analyze::{SourceAspect, says_how_to_reach};
use crate::graph::text_without_number;
use crate::model::{DataType, QualifiedName, Schema, Source, SourceFacts, same_option};

/// File formats that Spark's file source reads.
const FILE_FORMATS: &[&str] = &["json", "csv", "parquet", "orc", "text", "avro", "xml", "binaryfile"];

/// Options that name what a connector reads.
const TOPICS: &[&str] = &[
    "subscribe",
    "subscribepattern",
    "assign",
    "topic",
    "topics",
    "topicspattern",
    "topicid",
    "subscriptionid",
    "streamname",
    "consumername",
    "eventhubs.name",
    "eventhubs.entitypath",
];

const SERVERS: &[&str] = &[
    "kafka.bootstrap.servers",
    "bootstrapservers",
    "service.url",
    "serviceurl",
    "projectid",
    "eventhubs.connectionstring",
];

/// Options by the change they make; names in lower case, without the prefix `cloudfiles.`.
const OPTIONS: &[(&str, &[&str])] = &[
    (
        "start-option-changed",
        &[
            "startingoffsets",
            "startingoffsetsbytimestamp",
            "startingoffsetsbytimestampstrategy",
            "startingtimestamp",
            "startingversion",
            "startingposition",
            "initialposition",
            "includeexistingfiles",
            "endingoffsets",
            "endingversion",
            "endingtimestamp",
            "stream-from-timestamp",
        ],
    ),
    (
        "rate-limit-changed",
        &[
            "maxoffsetspertrigger",
            "minoffsetspertrigger",
            "maxtriggerdelay",
            "maxfilespertrigger",
            "maxbytespertrigger",
            "minpartitions",
            "maxrecordsperfetch",
            "fetchbuffersize",
            "maxfetchrate",
            "maxfetchduration",
            "maxcachedfiles",
            "discardcachedinputratio",
            "fetchoffset.numretries",
            "fetchoffset.retryintervalms",
            "kafkaconsumer.polltimeoutms",
        ],
    ),
    ("change-feed-toggled", &["readchangefeed", "readchangedata"]),
    ("schema-evolution-changed", &["schemaevolutionmode", "schemahints", "infercolumntypes", "rescueddatacolumn"]),
    ("schema-location-changed", &["schemalocation", "schematrackinglocation"]),
    (
        "clean-source-changed",
        &["cleansource", "sourcearchivedir", "cleansource.movedestination", "cleansource.retentionduration"],
    ),
    ("data-loss-guard-changed", &["failondataloss", "ignoremissingfiles", "ignorecorruptfiles"]),
    ("event-time-order-changed", &["witheventtimeorder"]),
    (
        "file-selection-changed",
        &[
            "pathglobfilter",
            "recursivefilelookup",
            "modifiedafter",
            "modifiedbefore",
            "maxfileage",
            "latestfirst",
            "filenameonly",
        ],
    ),
    (
        "schema-change-permission-changed",
        &["allowsourcecolumnrename", "allowsourcecolumndrop", "allowsourcecolumntypechange"],
    ),
];

/// Options that skip or repeat change commits.
const SKIPPING: &[&str] = &["skipchangecommits", "ignorechanges", "ignoredeletes"];

/// Changes, and exchanged sources as (text in AFTER, text in BEFORE).
pub fn compare(comparison: &Comparison) -> (Vec<Change>, Vec<(String, String)>) {
    let (before, after) = (comparison.before.streams(), comparison.after.streams());
    let pipeline = comparison.after.pipeline.key.as_str();
    if matched_by_name(comparison) {
        return (compare_named(comparison, &before, &after), Vec::new());
    }
    let old: Vec<String> = before.iter().map(|source| identity(comparison.before, source)).collect();
    let new: Vec<String> = after.iter().map(|source| identity(comparison.after, source)).collect();
    let (removed, added) = (surplus(&new, &old), surplus(&old, &new));
    if before.len() == after.len() && removed.is_empty() && old != new {
        let show = |sources: &[&SourceAspect]| sources.iter().map(|s| text::source(&s.text)).collect::<Vec<_>>();
        let formats: Vec<_> = before.iter().map(|source| format_of(comparison.before, source)).collect();
        let kinds: Vec<_> = before.iter().map(|source| kind(source)).collect();
        let change = Change::new("sources-reordered", pipeline)
            .values(show(&before), show(&after))
            .fact("kind_before", kinds.first().cloned().unwrap_or_default())
            .fact(
                "same_format",
                formats.windows(2).all(|w| w.first() == w.last()) && kinds.windows(2).all(|w| w.first() == w.last()),
            );
        return (vec![at(change, before.first().copied(), after.first().copied())], Vec::new());
    }
    if before.len() != after.len() {
        return (counted(comparison, (&before, &old, &removed), (&after, &new, &added)), Vec::new());
    }
    let mut changes = Vec::new();
    let mut exchanged = Vec::new();
    for (position, (b, a)) in before.iter().zip(&after).enumerate() {
        changes.extend(compare_source(comparison, b, a, position));
        // A source that still stands elsewhere in the query keeps its own columns.
        if b.text != a.text && !after.iter().any(|other| other.text == b.text) {
            exchanged.push((a.text.clone(), b.text.clone()));
        }
    }
    (changes, exchanged)
}

type Sources<'a> = (&'a [&'a SourceAspect], &'a [String], &'a [String]);

/// The number of sources changed.
fn counted(comparison: &Comparison, (before, old, removed): Sources, (after, new, added): Sources) -> Vec<Change> {
    let gone = concerned(comparison, "source-removed", (before, old, removed))
        .into_iter()
        .map(|(change, source)| at(change, Some(source), None));
    let came = concerned(comparison, "source-added", (after, new, added)).into_iter().map(|(change, source)| {
        let base = text_without_number(&source.text);
        let again = before.iter().any(|other| text_without_number(&other.text) == base);
        at(change.fact("self_union", again), None, Some(source))
    });
    gone.chain(came).collect()
}

/// One change for each of the wanted sources, by position.
fn concerned<'a>(
    comparison: &Comparison,
    kind: &'static str,
    (sources, ids, wanted): Sources<'a>,
) -> Vec<(Change, &'a SourceAspect)> {
    let joins: Vec<_> = comparison.before.analyzed.aspects.joins.iter().chain(&comparison.aspects.joins).collect();
    let mut left = wanted.to_vec();
    let mut changes = Vec::new();
    // From the end: of two reads of one source the later one is the new one.
    for (position, (source, id)) in sources.iter().zip(ids).enumerate().rev() {
        let Some(index) = left.iter().position(|other| other == id) else { continue };
        left.remove(index);
        let joined = joins
            .iter()
            .any(|join| join.stream_stream && join.left.iter().chain(&join.right).any(|side| *side == source.text));
        let change = Change::new(kind, &comparison.after.pipeline.key)
            .fact("source", text::source(&source.text))
            .fact("position", super::Fact::Number(i64::try_from(position).unwrap_or_default()))
            .fact("joined", joined);
        changes.push((change, *source));
    }
    changes.reverse();
    changes
}

fn at(change: Change, before: Option<&SourceAspect>, after: Option<&SourceAspect>) -> Change {
    let place = |source: Option<&SourceAspect>| source.map(|source| source.place.clone()).unwrap_or_default();
    change.places(&place(before), &place(after))
}

fn is_named(side: Side, sources: &[&SourceAspect]) -> bool {
    source_evolution(&side.configuration()) && !sources.is_empty() && sources.iter().all(|source| source.name.is_some())
}

/// Both sides match sources by name: their order carries no meaning.
pub fn matched_by_name(comparison: &Comparison) -> bool {
    [comparison.before, comparison.after].into_iter().all(|side| is_named(side, &side.streams()))
}

/// Sources that carry names may come and go; a new name starts anew.
fn compare_named(comparison: &Comparison, before: &[&SourceAspect], after: &[&SourceAspect]) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    let find = |list: &[&SourceAspect], name: &Option<String>| list.iter().position(|source| source.name == *name);
    let mut gone: Vec<&SourceAspect> = Vec::new();
    let mut changes = Vec::new();
    for (position, old) in before.iter().enumerate() {
        match find(after, &old.name).and_then(|index| after.get(index)) {
            Some(new) => changes.extend(compare_source(comparison, old, new, position)),
            None => gone.push(old),
        }
    }
    for new in after.iter().filter(|new| find(before, &new.name).is_none()) {
        let id = identity(comparison.after, new);
        let renamed = gone.iter().position(|old| identity(comparison.before, old) == id);
        if let Some(old) = renamed.map(|index| gone.remove(index)) {
            let name = |source: &SourceAspect| source.name.clone().unwrap_or_default();
            let change = Change::new("source-renamed", pipeline).values(name(old), name(new));
            changes.push(at(change, Some(old), Some(new)));
        } else {
            let change =
                Change::new("source-added", pipeline).fact("source", text::source(&new.text)).fact("named", true);
            changes.push(at(change, None, Some(new)));
        }
    }
    changes.extend(gone.into_iter().map(|old| {
        let change =
            Change::new("source-removed", pipeline).fact("source", text::source(&old.text)).fact("named", true);
        at(change, Some(old), None)
    }));
    changes
}

/// One source in its place.
fn compare_source(comparison: &Comparison, old: &SourceAspect, new: &SourceAspect, position: usize) -> Vec<Change> {
    let (before, after) = (comparison.before, comparison.after);
    let pipeline = after.pipeline.key.as_str();
    let (b, a) = (kind(old), kind(new));
    let (format_before, format_after) = (format_of(before, old), format_of(after, new));
    let is_file = |format: &Option<String>| format.as_deref().is_some_and(|format| FILE_FORMATS.contains(&format));
    let file_source = is_file(&format_before) && is_file(&format_after) && b != "auto-loader" && a != "auto-loader";
    let exchanged = |kind| {
        let change = Change::new(kind, pipeline)
            .fact("source", text::source(&new.text))
            .fact("source_before", text::source(&old.text))
            .fact("file_source", file_source);
        at(change, Some(old), Some(new))
    };
    let place = super::Fact::Number(i64::try_from(position).unwrap_or_default());
    if identity(before, old) != identity(after, new) {
        // Spark's file source reads tables and paths alike; elsewhere these are different sources.
        let kinds_differ = b != a && !file_source;
        if let (Source::Table(x), Source::ChangeFeed(y)) | (Source::ChangeFeed(x), Source::Table(y)) =
            (&old.source, &new.source)
            && x == y
        {
            let shown = |source: &SourceAspect| matches!(source.source, Source::ChangeFeed(_)).to_string();
            let change = Change::new("change-feed-toggled", pipeline)
                .fact("source", x.to_string())
                .fact("option", "readchangefeed")
                .values(shown(old), shown(new));
            return vec![at(change, Some(old), Some(new))];
        }
        let change = match (kinds_differ, &old.source, &new.source) {
            (true, ..) => {
                exchanged("source-kind-changed").fact("kind_before", b).fact("kind_after", a).fact("position", place)
            }
            (false, Source::Files { .. }, Source::Files { .. }) => exchanged("source-path-changed").fact("class", a),
            _ => exchanged("source-replaced")
                .fact("kind_before", b)
                .fact("kind_after", a)
                .fact("same_format", format_before.is_some() && format_before == format_after)
                .fact("position", place),
        };
        return vec![change];
    }
    let mut changes = Vec::new();
    if format_before != format_after && format_before.is_some() && format_after.is_some() {
        let change = exchanged("source-format-changed")
            .values(format_before.unwrap_or_default(), format_after.unwrap_or_default());
        changes.push(Change { facts: without(change.facts, "source_before"), ..change });
    }
    changes.extend(compare_facts(comparison, old, new));
    changes.extend(compare_options(comparison, old, new));
    changes
}

fn without(mut facts: super::Facts, name: &str) -> super::Facts {
    facts.remove(name);
    facts
}

pub fn kind(source: &SourceAspect) -> String {
    match &source.source {
        Source::Table(_) => "table".to_owned(),
        Source::Files { auto_loader: true, .. } => "auto-loader".to_owned(),
        Source::Files { .. } => "files".to_owned(),
        Source::Connector { format } => format.clone(),
        Source::ChangeFeed(_) => "change-feed".to_owned(),
    }
}

/// Names that somebody may know a source by.
pub fn names(source: &SourceAspect) -> Vec<String> {
    match &source.source {
        Source::Table(name) | Source::ChangeFeed(name) => vec![name.to_string(), name.key()],
        Source::Files { path, .. } => vec![path.clone()],
        Source::Connector { .. } => Vec::new(),
    }
}

/// Kinds of offsets (`OffsetForm::kind`) that this source may have written; none where its format is not known.
pub fn offset_kinds(side: Side, source: &SourceAspect) -> Option<&'static [&'static str]> {
    match &source.source {
        Source::Files { auto_loader: true, .. } => Some(&["auto-loader", "files"]),
        Source::ChangeFeed(_) => Some(&["delta"]),
        Source::Connector { format } => match format.as_str() {
            "rate" | "socket" => Some(&["rate"]),
            "rate-micro-batch" => Some(&["rate-micro-batch"]),
            "kafka" => Some(&["kafka"]),
            _ => None,
        },
        Source::Table(_) | Source::Files { .. } => match format_of(side, source)?.as_str() {
            "delta" => Some(&["delta"]),
            "iceberg" => Some(&["iceberg"]),
            format if FILE_FORMATS.contains(&format) => Some(&["files"]),
            _ => None,
        },
    }
}

/// What makes two reads reads of one source: the folder where it is known, else the canonical text without the number of the
/// read; for a connector its format, whose topics and servers are compared as options.
fn identity(side: Side, source: &SourceAspect) -> String {
    match &source.source {
        Source::Connector { format } => format.clone(),
        Source::Files { path, .. } => folder(path),
        Source::Table(name) => match facts(side, name).and_then(|facts| facts.path.as_deref()) {
            Some(path) => folder(path),
            None => text_without_number(&source.text).to_lowercase(),
        },
        Source::ChangeFeed(name) => format!("changes of {}", name.key()),
    }
}

/// A path without what does not matter: trailing slashes and a last part that matches every file.
fn folder(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let path = match path.rsplit_once('/') {
        Some((head, last)) if last == "*" || last.starts_with("*.") => head,
        _ => path,
    };
    path.trim_end_matches('/').to_owned()
}

/// What `pipelint.yaml` says of a table.
fn facts<'a>(side: Side<'a>, name: &QualifiedName) -> Option<&'a SourceFacts> {
    let defaults = (side.pipeline.catalog.as_deref(), side.pipeline.schema.as_deref());
    side.pipeline.sources.iter().find(|facts| {
        let told = QualifiedName::parse(&facts.name);
        told == *name || told.qualified(defaults.0, defaults.1) == *name
    })
}

/// Format of a source's files or table, lower case; none where nobody tells.
fn format_of(side: Side, source: &SourceAspect) -> Option<String> {
    match &source.source {
        Source::Files { format, .. } => Some(format.to_lowercase()).filter(|format| !format.is_empty()),
        Source::Connector { .. } => None,
        Source::Table(name) | Source::ChangeFeed(name) => {
            let told = facts(side, name).and_then(|facts| facts.format.clone());
            let defined = || -> Option<String> {
                let (pipeline, dataset) = side.analysis.any_dataset(name)?;
                Some(table_format(dataset, pipeline))
            };
            told.or_else(defined).map(|format| format.to_lowercase())
        }
    }
}

/// What `pipelint.yaml` says differently of the same source: its columns, or that it was made anew.
fn compare_facts(comparison: &Comparison, old: &SourceAspect, new: &SourceAspect) -> Vec<Change> {
    let (Some(b), Some(a)) = (facts_of(comparison.before, old), facts_of(comparison.after, new)) else {
        return Vec::new();
    };
    let pipeline = comparison.after.pipeline.key.as_str();
    let table_format = comparison.after.pipeline.table_format.to_lowercase();
    let base = |kind| {
        let place = |facts: &SourceFacts| facts.span.clone().into();
        Change::new(kind, pipeline).fact("source", text::source(&new.text)).places(&place(b), &place(a))
    };
    let mut changes = Vec::new();
    for key in ["table_id", "id", "created", "recreated"] {
        let value = |facts: &SourceFacts| facts.other.get(key).cloned().unwrap_or_default();
        if value(b) != value(a) {
            changes.push(base("source-recreated").values(value(b), value(a)));
        }
    }
    if let (Some(b), Some(a)) = (&b.schema, &a.schema) {
        changes.extend(compare_schemas(comparison, old, b, a).into_iter().map(|(kind, facts)| {
            let format = format_of(comparison.after, new).unwrap_or_else(|| table_format.clone());
            let mut change = base(kind).fact("format", format);
            change.facts.extend(facts);
            change
        }));
    }
    changes
}

fn facts_of<'a>(side: Side<'a>, source: &SourceAspect) -> Option<&'a SourceFacts> {
    match &source.source {
        Source::Table(name) | Source::ChangeFeed(name) => facts(side, name),
        Source::Files { path, .. } => side.pipeline.sources.iter().find(|facts| {
            folder(&facts.name) == folder(path) || facts.path.as_deref().is_some_and(|p| folder(p) == folder(path))
        }),
        Source::Connector { .. } => {
            let topics = source.options.get("subscribe")?;
            side.pipeline.sources.iter().find(|facts| facts.name == *topics)
        }
    }
}

fn compare_schemas(
    comparison: &Comparison,
    source: &SourceAspect,
    before: &Schema,
    after: &Schema,
) -> Vec<(&'static str, super::Facts)> {
    let show = |data_type: &DataType| super::Fact::Text(data_type.to_string());
    let used = |column: &str| {
        let query = &comparison.before.analyzed.aspects.query;
        super::Fact::Flag(query.any(&mut |term| {
            term.column().is_some_and(|(of, name)| {
                of.source_name() == Some(source.text.as_str()) && name.eq_ignore_ascii_case(column)
            })
        }))
    };
    let mut found = Vec::new();
    for field in &before.fields {
        let column = super::Fact::Text(field.name.clone());
        match after.field(&field.name) {
            None => found.push((
                "source-column-dropped",
                super::Facts::from([
                    ("column", column),
                    ("type_before", show(&field.data_type)),
                    ("used", used(&field.name)),
                ]),
            )),
            Some(other) => {
                if let Some(conversion) = super::column::conversion(&field.data_type, &other.data_type) {
                    let facts = super::Facts::from([
                        ("column", column),
                        ("type_before", show(&field.data_type)),
                        ("type_after", show(&other.data_type)),
                        ("conversion", super::Fact::Text(conversion.to_owned())),
                        ("used", used(&field.name)),
                    ]);
                    found.push(("source-column-retyped", facts));
                }
            }
        }
    }
    for field in after.fields.iter().filter(|field| before.field(&field.name).is_none()) {
        let column = super::Fact::Text(field.name.clone());
        found.push((
            "source-column-added",
            super::Facts::from([("column", column), ("type_after", show(&field.data_type))]),
        ));
    }
    found
}

fn compare_options(comparison: &Comparison, old: &SourceAspect, new: &SourceAspect) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    let names: std::collections::BTreeSet<&String> = old.options.keys().chain(new.options.keys()).collect();
    let mut changes = Vec::new();
    for name in names {
        let value = |source: &SourceAspect| source.options.get(name).cloned().unwrap_or_default();
        let (b, a) = (value(old), value(new));
        let same = same_option(Some(&b), Some(&a));
        let Some(kind) = (!same).then(|| option_kind(name, &b, &a)).flatten() else { continue };
        let mut change = Change::new(kind, pipeline)
            .fact("source", text::source(&new.text))
            .fact("option", name.as_str())
            .values(b.as_str(), a.as_str());
        if kind == "source-topics-changed" {
            let list = |text: &str| {
                text.split(',').map(|item| item.trim().to_owned()).filter(|i| !i.is_empty()).collect::<Vec<_>>()
            };
            let (b, a) = (list(&b), list(&a));
            change = change.fact("added", surplus(&b, &a)).fact("removed", surplus(&a, &b));
            if change.list("added").is_empty() && change.list("removed").is_empty() {
                continue;
            }
        }
        if kind == "skip-change-commits-removed" {
            let producer = change_producer(comparison.after, new);
            change = change.fact("cdc_target", producer.is_some()).fact("producer", producer.unwrap_or_default());
        }
        changes.push(at(change, Some(old), Some(new)));
    }
    changes
}

fn option_kind(name: &str, before: &str, after: &str) -> Option<&'static str> {
    if TOPICS.contains(&name) {
        return Some("source-topics-changed");
    }
    if SERVERS.contains(&name) {
        return Some("source-server-changed");
    }
    let short = name.strip_prefix("cloudfiles.").unwrap_or(name);
    let on = |value: &str| value.eq_ignore_ascii_case("true");
    if SKIPPING.contains(&short) {
        return match (on(before), on(after)) {
            (false, true) => Some("skip-change-commits-added"),
            (true, false) => Some("skip-change-commits-removed"),
            _ => None,
        };
    }
    if let Some((kind, _)) = OPTIONS.iter().find(|(_, names)| names.contains(&short)) {
        return Some(kind);
    }
    // Settings of clients reach the source; one of them chooses among its records.
    let silent = says_how_to_reach(name)
        || (name.starts_with("kafka.") && name != "kafka.isolation.level")
        || short.starts_with("aws")
        || short.starts_with("client");
    (!silent).then_some("reader-option-changed")
}

/// What writes updates or deletes into a source table of the repository.
fn change_producer(side: Side, source: &SourceAspect) -> Option<String> {
    let (Source::Table(name) | Source::ChangeFeed(name)) = &source.source else { return None };
    let flows = side.analysis.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.flows);
    flows
        .filter(|flow| flow.target == *name && flow.cdc().is_some())
        .map(|flow| format!("AUTO CDC flow {}", flow.name))
        .next()
}
