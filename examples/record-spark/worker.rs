//! `worker.py` in an environment of `.ci/spark`: one JVM for all cases of a vehicle.

use super::case::{Case, Vehicle};
use super::record::Record;
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Installs Spark where it is missing, and starts it.
    ///
    /// # Errors
    /// What could not be installed or started.
    pub fn start(root: &Path, vehicle: Vehicle) -> Result<Worker, String> {
        let (spark, catalog) = match vehicle {
            Vehicle::Files => ("4.3", "in-memory"),
            Vehicle::Hive => ("4.3", "hive"),
            Vehicle::Iceberg => ("3.5", "iceberg"),
        };
        let environment = PathBuf::from(installation(root, spark)?);
        let python = environment.join("bin/python");
        let packages = if vehicle == Vehicle::Iceberg { packages(root, "iceberg", spark)? } else { String::new() };
        let ivy = environment.with_file_name("ivy");
        let mut child = Command::new(&python)
            .arg(root.join("examples/record-spark/worker.py"))
            .args(["--catalog", catalog, "--packages", &packages, "--ivy"])
            .arg(&ivy)
            .env("PYSPARK_PYTHON", &python)
            .env("SPARK_LOCAL_IP", "127.0.0.1")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", python.display()))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().ok_or("the worker has no output")?);
        Ok(Worker { child, requests, answers })
    }

    /// # Errors
    /// Why the case could not be run to its end.
    pub fn run(&mut self, case: &Case) -> Result<Record, String> {
        let kind = if case.is_batch() { "batch" } else { "iceberg-stream" };
        let request = json!({ "kind": kind, "case": case.folder });
        let requests = self.requests.as_mut().ok_or("the worker has ended")?;
        writeln!(requests, "{request}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        let answer: Json = serde_json::from_str(&line).map_err(|_| "Spark did not start, or ended".to_owned())?;
        if let Some(failed) = answer.get("failed").and_then(Json::as_str) {
            return Err(failed.to_owned());
        }
        let version = answer.get("version").and_then(Json::as_str).unwrap_or_default().to_owned();
        let outcome = answer.get("spark").and_then(Json::as_object).cloned().unwrap_or_default();
        let rows = answer.get("rows").and_then(Json::as_array).cloned().unwrap_or_default();
        Ok(Record { version, outcome, rows })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None; // The end of its input ends it.
        let _ = self.child.wait();
    }
}

fn script(root: &Path, argument: &str) -> Result<String, String> {
    let run = Command::new(root.join(".ci/spark")).arg(argument).stderr(Stdio::inherit()).output();
    match run {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        Ok(_) => Err(format!("`.ci/spark {argument}` failed")),
        Err(error) => Err(format!("`.ci/spark {argument}`: {error}")),
    }
}

/// The folder of the Python environment with a version of Spark; it is installed where it is missing.
fn installation(root: &Path, spark: &str) -> Result<String, String> {
    script(root, spark)
}

/// Maven coordinates of a table format for a version of Spark.
fn packages(root: &Path, format: &str, spark: &str) -> Result<String, String> {
    let list = script(root, "packages")?;
    let of = |line: &str| line.strip_prefix(&format!("{format} {spark} ")).map(str::to_owned);
    list.lines().find_map(of).ok_or_else(|| format!("`.ci/spark packages` has no {format} for Spark {spark}"))
}
