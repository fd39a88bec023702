//! Changes of declarative pipelines on real Spark: the product's own experiment, with one server for all cases.

use super::case::Case;
use super::checkpoints::{self, Keep};
use super::record::Record;
use super::steps;
use pipelint::analyze::Analysis;
use pipelint::confirm::spark::{RevisionCode, Server, Settings, Spark};
use pipelint::confirm::{
    Data, Deployment, Engine, Experiment, FlowObservation, Mini, NamedRow, NotRun, Observed, Outcome, TableRows,
    deployed, generated, observe, sources,
};
use pipelint::engine::{UpdateKind, json};
use pipelint::frontend::ParseCache;
use pipelint::model::{DataType, Effect, Platform, QualifiedName};
use pipelint::reading::{Options, Reading, read};
use pipelint::revision::{Tree, open_one};
use serde_json::{Map, Value as Json};
use serde_yaml::Value as Yaml;

/// Seeds of the rows that cases without rows of their own are given.
const SEED: u64 = 1;

/// A Spark that runs pipelines, as long as it lives.
pub struct Pipelines {
    settings: Settings,
    spark_version: (u32, u32),
    /// As records name it: Spark's version, and the format's.
    format_version: Option<String>,
    server: Option<Server>,
    keep: Option<Keep>,
}

pub struct Side {
    tree: Box<dyn Tree>,
    pub reading: Reading,
}

impl Pipelines {
    pub fn new(settings: Settings, spark_version: (u32, u32), format_version: Option<String>) -> Self {
        Pipelines { settings, spark_version, format_version, server: None, keep: None }
    }

    pub fn keeping(self, keep: Option<Keep>) -> Self {
        Pipelines { keep, ..self }
    }

    /// # Errors
    /// Why the case could not be run to its end.
    pub fn run(&mut self, case: &Case) -> Result<Record, String> {
        let (before, after) = (side(case, "before")?, side(case, "after")?);
        let analysis = |side: &Side| self.on_spark(case, &side.reading.analysis);
        let (on_before, on_after) = (analysis(&before), analysis(&after));
        let data = rows(case, &on_before, &on_after)?;
        let updates = updates(&case.yaml["experiment"]["update"], case.yaml["experiment"]["then_default"].as_bool());
        let experiment = Experiment {
            before: &on_before,
            after: &on_after,
            sources: &sources(&on_before, &on_after),
            updates: &updates,
        };
        let code = |side: &Side| side.reading.project.code.clone();
        let (code_before, code_after) = (code(&before), code(&after));
        let between = |hands: &mut pipelint::confirm::spark::Hands<'_>| {
            steps::apply(case, hands)?;
            match &self.keep {
                Some(keep) => checkpoints::copy_small_files(&hands.storage, &keep.of(case).join("checkpoints"))
                    .map_err(|reason| NotRun { reason }),
                None => Ok(()),
            }
        };
        let spark = Spark::new(
            self.settings.clone(),
            vec![
                RevisionCode { tree: before.tree.as_ref(), pipelines: &code_before },
                RevisionCode { tree: after.tree.as_ref(), pipelines: &code_after },
            ],
            &|_| {},
        );
        let spark = spark.map_err(|error| error.reason)?.on(self.server.take()).with_between(&between);
        let outcome = spark.run(&experiment, &data);
        let version = match &self.format_version {
            Some(format) => format!("{} with {format}", spark.installation.spark),
            None => spark.installation.spark.clone(),
        };
        let replaced = spark.substitutions();
        self.server = spark.into_server();
        let mut outcome = outcome.map_err(|error| error.reason)?;
        // What stood for a source of the code is not what the code reads.
        if let Some(keep) = self.keep.as_ref().filter(|_| replaced.is_empty()) {
            keep.write(case, &version, &checkpoints::met(&outcome))?;
        }
        outcome.attribute(&Mini::default().outcome(&experiment, &data));
        let observed = observe(experiment.before, experiment.after, &outcome);
        Ok(record_of(version, &observed, &outcome))
    }
}

impl Pipelines {
    /// A Lakeflow pipeline as Apache Spark has it.
    fn on_spark(&self, case: &Case, analysis: &Analysis) -> Analysis {
        if case.yaml["platform"].as_str() == Some("spark") {
            return analysis.clone();
        }
        let table_format = self.settings.table_format.clone().unwrap_or_else(|| "parquet".to_owned());
        deployed(analysis, &Deployment { spark_version: self.spark_version, table_format })
    }
}

/// What an experiment showed, as a record.
pub fn record_of(version: String, observed: &Observed, outcome: &Outcome) -> Record {
    Record { version, outcome: told(observed), rows: moments(observed, outcome) }
}

/// One revision of a case.
///
/// # Errors
/// It cannot be read.
pub fn side(case: &Case, name: &str) -> Result<Side, String> {
    let folder = case.folder.join(name);
    let tree = open_one(folder.to_str(), &folder).map_err(|error| error.to_string())?;
    let platform: Option<Platform> = case.yaml["platform"].as_str().and_then(|word| word.parse().ok());
    let reading = read(tree.as_ref(), &Options { platform, ..Options::default() }, &ParseCache::default());
    Ok(Side { tree, reading })
}

/// The rows of the case; where it has none, generated ones, which are written beside it.
fn rows(case: &Case, before: &Analysis, after: &Analysis) -> Result<Data, String> {
    let folder = case.folder.join("data");
    if folder.is_dir() {
        return Data::read(&folder).map_err(|error| error.to_string());
    }
    let data = generated(before, after, SEED);
    for (number, batch) in data.batches.iter().enumerate() {
        let at = folder.join(format!("batch{}", number + 1));
        std::fs::create_dir_all(&at).map_err(|error| format!("{}: {error}", at.display()))?;
        for (source, rows) in &batch.sources {
            let lines: String = rows.iter().map(|row| format!("{}\n", Json::Object(row.clone()))).collect();
            let path = at.join(format!("{}.json", source.trim_matches('/').replace('/', "_")));
            std::fs::write(&path, lines).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(data)
}

fn updates(update: &Yaml, then_default: Option<bool>) -> Vec<UpdateKind> {
    let names = |key: &str| -> Option<Vec<QualifiedName>> {
        let list = update.get(key)?.as_sequence()?;
        Some(list.iter().filter_map(Yaml::as_str).map(QualifiedName::bare).collect())
    };
    let full = names("full_refresh").map(UpdateKind::FullRefresh);
    let some = names("refresh").map(UpdateKind::Refresh);
    let all = (then_default == Some(true)).then_some(UpdateKind::Incremental);
    full.into_iter().chain(some).chain(all).collect()
}

/// `outcome`, `error_class`, and the effect on each table; `not_run` where nothing was seen.
fn told(observed: &Observed) -> Map<String, Json> {
    let mut told = Map::new();
    // A flow that AFTER lacks did nothing in it.
    let ran = observed.flows.iter().filter_map(|flow| Some((flow, flow.effect.filter(|e| *e != Effect::Orphaned)?)));
    let seen: Vec<(&FlowObservation, Effect)> = ran.collect();
    let reason = observed.flows.iter().find_map(|flow| flow.reason.clone());
    let broken = reason.as_ref().is_some_and(|reason| reason.starts_with("before the change"));
    let count = |effect: Effect| seen.iter().filter(|(_, seen)| *seen == effect).count();
    let refused = count(Effect::Refused);
    let outcome = match () {
        () if broken => "before-broken",
        () if seen.is_empty() && reason.is_some() => "not-run",
        () if count(Effect::Invalid) > 0 => "invalid-after",
        () if refused > 0 && refused < seen.len() => "mixed",
        () if refused > 0 => "refused",
        () if observed.tables.iter().any(|table| table.effect.is_some_and(differs)) => "diverged",
        () => "equal",
    };
    told.insert("outcome".to_owned(), Json::from(outcome));
    let error = observed.flows.iter().find_map(|flow| flow.error.as_ref());
    told.insert("error_class".to_owned(), error.map_or(Json::Null, |error| Json::from(error.class.clone())));
    if let Some(reason) = reason {
        told.insert("reason".to_owned(), Json::from(reason));
    }
    if outcome == "not-run" {
        return told;
    }
    // Of two tables of one name the one that is written comes first.
    let mut effects: Map<String, Json> = Map::new();
    for table in &observed.tables {
        let effect = table.effect.map_or(Json::Null, |effect| Json::from(word(effect)));
        effects.entry(table.name.clone()).or_insert(effect);
    }
    told.insert("effects".to_owned(), Json::Object(effects));
    told
}

fn differs(effect: Effect) -> bool {
    !matches!(effect, Effect::None | Effect::Ignored | Effect::Recomputed | Effect::Orphaned)
}

/// Whether equal rows were kept or computed anew, rows do not tell.
fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Ignored | Effect::Recomputed => "none",
        other => other.as_str(),
    }
}

/// The tables at the moments that are compared; those after BEFORE only where they have changed since.
fn moments(observed: &Observed, outcome: &Outcome) -> Vec<Json> {
    let mut moments = Vec::new();
    for table in &observed.tables {
        let first = outcome.resumed_batch_1.get(&table.location);
        let (resumed, control) = (outcome.resumed.get(&table.location), outcome.control_end.get(&table.location));
        let first = first.filter(|rows| resumed.is_none_or(|resumed| resumed.rows != rows.rows));
        for (at, table_rows) in [("before_batch1", first), ("resumed", resumed), ("control", control)] {
            let Some(table_rows) = table_rows else { continue };
            let rows = table_rows.all();
            let rows = rows.iter().flat_map(|(row, count)| std::iter::repeat_n(record(row, table_rows), *count));
            let moment = [
                ("at".to_owned(), Json::from(at)),
                ("table".to_owned(), Json::from(table.name.clone())),
                ("rows".to_owned(), rows.collect()),
            ];
            moments.push(Json::Object(moment.into_iter().collect()));
        }
    }
    moments
}

fn record(row: &NamedRow, table: &TableRows) -> Json {
    let data_type = |name: &str| {
        let column = table.columns.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
        column.map_or(&DataType::Unknown, |(_, data_type)| data_type)
    };
    Json::Object(row.iter().map(|(name, value)| (name.clone(), json(value, data_type(name)))).collect())
}
