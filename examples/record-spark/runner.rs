//! What runs the cases of a vehicle: one JVM, started with the first case.

use super::case::{Case, Vehicle};
use super::checkpoints::Keep;
use super::jobs;
use super::pipelines::Pipelines;
use super::record::Record;
use super::worker::{Worker, script};
use pipelint::confirm::spark::Settings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub enum Runner {
    /// Batch writes, and jobs on Iceberg.
    Cases(Worker, Option<Keep>),
    Jobs(Worker, Option<Keep>),
    Pipelines(Box<Pipelines>),
}

/// Pinned for speed. (Interpreted expressions would be faster still, but they forgive rows of old state that generated code does
/// not.)
const QUICK: [(&str, &str); 2] =
    [("spark.driver.memory", "2g"), ("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")];

impl Runner {
    /// Installs Spark where it is missing; its JVM starts now or with the first case.
    ///
    /// # Errors
    /// What could not be installed or started.
    pub fn start(
        root: &Path,
        vehicle: Vehicle,
        spark: Option<&str>,
        checkpoints: Option<&Path>,
    ) -> Result<Runner, String> {
        let keep = |own: &str| checkpoints.map(|folder| Keep { folder: folder.to_owned(), spark: own.to_owned() });
        let worker = |spark: &str, arguments: &[(&str, String)]| {
            let environment = environment(root, spark)?;
            Worker::start(root, &environment, arguments)
        };
        let memory_catalog = || script(root, "memory-catalog");
        let catalog = |name: &str| ("--catalog", name.to_owned());
        Ok(match vehicle {
            Vehicle::Files => Runner::Cases(worker("4.3", &[catalog("in-memory")])?, None),
            Vehicle::Hive => Runner::Cases(worker("4.3", &[catalog("hive")])?, None),
            Vehicle::Iceberg => {
                let version = spark.unwrap_or("3.5");
                let packages = packages(root, "iceberg", version)?;
                Runner::Cases(worker(version, &[catalog("iceberg"), ("--packages", packages)])?, keep(version))
            }
            Vehicle::Jobs => {
                let version = spark.unwrap_or("4.3");
                // The catalog is built for the newest Spark.
                let jar = if version == "4.3" { memory_catalog()? } else { String::new() };
                Runner::Jobs(worker(version, &[catalog("in-memory"), ("--memory-catalog", jar)])?, keep(version))
            }
            Vehicle::Pipelines => Runner::Pipelines(Box::new(pipelines(root, "4.3", &[], None)?.keeping(keep("4.3")))),
            Vehicle::InMemory => {
                let conf = [
                    ("spark.jars", memory_catalog()?),
                    ("spark.sql.catalog.spark_catalog", "pipelint.SessionCatalog".to_owned()),
                    ("spark.sql.sources.default", "delta".to_owned()),
                ];
                Runner::Pipelines(Box::new(pipelines(root, "4.3", &conf, None)?.keeping(keep("4.3"))))
            }
            Vehicle::Delta => {
                let packages = packages(root, "delta", "4.1")?;
                let version = packages.rsplit(':').next().map(|version| format!("Delta Lake {version}"));
                let ivy = environment(root, "4.1")?.with_file_name("ivy").display().to_string();
                let conf = [
                    ("spark.jars.packages", packages),
                    ("spark.jars.ivy", ivy),
                    // Of a table's log, which is short here.
                    ("spark.databricks.delta.snapshotPartitions", "1".to_owned()),
                    ("spark.databricks.delta.stats.collect", "false".to_owned()),
                ];
                Runner::Pipelines(Box::new(pipelines(root, "4.1", &conf, version)?.keeping(keep("4.1"))))
            }
        })
    }

    /// # Errors
    /// Why the case could not be run to its end.
    pub fn run(&mut self, case: &Case) -> Result<Record, String> {
        match self {
            Runner::Cases(worker, keep) => worker.run(case, keep.as_ref()),
            Runner::Jobs(worker, keep) => jobs::run(worker, case, keep.as_ref()),
            Runner::Pipelines(pipelines) => pipelines.run(case),
        }
    }
}

fn pipelines(
    root: &Path,
    spark: &str,
    conf: &[(&str, String)],
    format_version: Option<String>,
) -> Result<Pipelines, String> {
    let quick = QUICK.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let own = conf.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    let conf: BTreeMap<String, String> = quick.chain(own).collect();
    let in_delta = conf.contains_key("spark.jars") || conf.contains_key("spark.jars.packages");
    let settings = Settings {
        python: Some(environment(root, spark)?.join("bin/python")),
        table_format: in_delta.then(|| "delta".to_owned()),
        conf,
        time_limit: Duration::from_secs(120),
        ..Settings::default()
    };
    let version = if spark == "4.1" { (4, 1) } else { (4, 3) };
    Ok(Pipelines::new(settings, version, format_version))
}

/// The folder of the Python environment with a version of Spark; it is installed where it is missing.
fn environment(root: &Path, spark: &str) -> Result<PathBuf, String> {
    script(root, spark).map(PathBuf::from)
}

/// Maven coordinates of a table format for a version of Spark.
fn packages(root: &Path, format: &str, spark: &str) -> Result<String, String> {
    let list = script(root, "packages")?;
    let of = |line: &str| line.strip_prefix(&format!("{format} {spark} ")).map(str::to_owned);
    list.lines().find_map(of).ok_or_else(|| format!("`.ci/spark packages` has no {format} for Spark {spark}"))
}
