//! `worker.py` in an environment of `.ci/spark`: cases as requests, what Spark did as answers.

use super::case::Case;
use super::checkpoints::{Keep, copy_small_files};
use super::record::Record;
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// # Errors
    /// A Python that does not start.
    pub fn start(root: &Path, environment: &Path, arguments: &[(&str, String)]) -> Result<Worker, String> {
        let python = environment.join("bin/python");
        let mut command = Command::new(&python);
        command.arg(root.join("examples/record-spark/worker.py"));
        for (name, value) in arguments {
            command.arg(name).arg(value);
        }
        let mut child = command
            .arg("--ivy")
            .arg(environment.with_file_name("ivy"))
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
    pub fn run(&mut self, case: &Case, keep: Option<&Keep>) -> Result<Record, String> {
        let kind = if case.is_batch() { "batch" } else { "iceberg-stream" };
        let answer = self.ask(kind, case, keep)?;
        let version = answer.get("version").and_then(Json::as_str).unwrap_or_default().to_owned();
        let outcome = answer.get("spark").and_then(Json::as_object).cloned().unwrap_or_default();
        if let Some(keep) = keep {
            keep.write(case, &version, &Json::Object(outcome.clone()))?;
        }
        let rows = answer.get("rows").and_then(Json::as_array).cloned().unwrap_or_default();
        Ok(Record { version, outcome, rows })
    }

    /// # Errors
    /// Why the case could not be run to its end.
    pub fn ask(&mut self, kind: &str, case: &Case, keep: Option<&Keep>) -> Result<Json, String> {
        let request =
            json!({ "kind": kind, "case": case.folder, "keep": keep.map(|keep| keep.of(case).join("whole")) });
        let requests = self.requests.as_mut().ok_or("the worker has ended")?;
        writeln!(requests, "{request}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        let answer: Json = serde_json::from_str(&line).map_err(|_| "Spark did not start, or ended".to_owned())?;
        if let Some(failed) = answer.get("failed").and_then(Json::as_str) {
            return Err(failed.to_owned());
        }
        if let Some(kept) = keep.map(|keep| keep.of(case)) {
            copy_small_files(&kept.join("whole"), &kept.join("checkpoints"))?;
            std::fs::remove_dir_all(kept.join("whole")).map_err(|error| error.to_string())?;
        }
        Ok(answer)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None; // The end of its input ends it.
        let _ = self.child.wait();
    }
}

/// What `.ci/spark` says.
///
/// # Errors
/// It failed.
pub fn script(root: &Path, argument: &str) -> Result<String, String> {
    let run = Command::new(root.join(".ci/spark")).arg(argument).stderr(Stdio::inherit()).output();
    match run {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        Ok(_) => Err(format!("`.ci/spark {argument}` failed")),
        Err(error) => Err(format!("`.ci/spark {argument}`: {error}")),
    }
}
