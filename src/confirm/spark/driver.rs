//! The Python process that drives Spark: started once for a run, one JSON line a message.
//!
//! It ends when its standard input closes, so it and its server outlive pipelint in no case; it removes the work folder then.

use super::installation::Installation;
use crate::confirm::NotRun;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The driver's modules.
const MODULES: [(&str, &str); 12] = [
    ("main.py", include_str!("driver/main.py")),
    ("server.py", include_str!("driver/server.py")),
    ("tables.py", include_str!("driver/tables.py")),
    ("update.py", include_str!("driver/update.py")),
    ("definitions.py", include_str!("driver/definitions.py")),
    ("frames.py", include_str!("driver/frames.py")),
    ("operations.py", include_str!("driver/operations.py")),
    ("beside.py", include_str!("driver/beside.py")),
    ("names.py", include_str!("driver/names.py")),
    ("readers.py", include_str!("driver/readers.py")),
    ("lakeflow.py", include_str!("driver/lakeflow.py")),
    ("failures.py", include_str!("driver/failures.py")),
];

/// Variable with the token for a remote server; never in an argument, never in a log.
pub const TOKEN_VARIABLE: &str = "PIPELINT_SPARK_TOKEN";

/// What a driver has to stop its server, or to drop its schemas on a remote one.
const GRACE: Duration = Duration::from_secs(20);

/// A longer answer is no answer.
const LONGEST_LINE: usize = 256 << 20;

/// Why a step gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepError {
    /// Spark refused the step.
    Failed {
        class: String,
        message: String,
    },
    TimeLimit,
    /// The process ended or said something that is no message.
    Broken(String),
}

impl StepError {
    pub fn reason(&self) -> String {
        match self {
            StepError::Failed { class, message } => {
                format!("{class}: {}", message.lines().next().unwrap_or_default())
            }
            StepError::TimeLimit => "time limit".to_owned(),
            StepError::Broken(why) => format!("Spark's driver stopped: {why}"),
        }
    }
}

impl From<StepError> for NotRun {
    fn from(error: StepError) -> Self {
        NotRun { reason: error.reason() }
    }
}

/// What the driver asks and tells between a request and its answer.
pub struct Conversation<'a> {
    /// Answers `ask`.
    pub answer: &'a mut dyn FnMut(&Json) -> Json,
    /// Hears what is being done.
    pub progress: &'a mut dyn FnMut(&str),
}

pub struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: PathBuf,
    /// How long it may take to end by itself.
    grace: Duration,
}

impl Driver {
    /// Writes the driver's modules below `folder` and starts them.
    ///
    /// # Errors
    /// A folder that cannot be written, or a Python that does not start.
    pub fn spawn(installation: &Installation, folder: &Path) -> Result<Driver, NotRun> {
        let failed = |error: std::io::Error| NotRun { reason: format!("cannot start Spark's driver: {error}") };
        let code = folder.join("driver");
        std::fs::create_dir_all(&code).map_err(failed)?;
        for (name, text) in MODULES {
            std::fs::write(code.join(name), text).map_err(failed)?;
        }
        let mut command = Command::new(&installation.python);
        command.arg("-u").arg(code.join("main.py"));
        Driver::start(command, folder, GRACE).map_err(failed)
    }

    fn start(mut command: Command, folder: &Path, grace: Duration) -> std::io::Result<Driver> {
        let log = folder.join("driver.log");
        command.env("TZ", "UTC").env("PYTHONDONTWRITEBYTECODE", "1").current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        // A Ctrl-C in the terminal is for pipelint; the driver sees its input close.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(output);
                let mut line = String::new();
                while matches!(reader.read_line(&mut line), Ok(length) if length > 0 && length < LONGEST_LINE) {
                    if sender.send(std::mem::take(&mut line)).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Driver { child, input, lines, log, grace })
    }

    /// One step, and what comes of it.
    ///
    /// # Errors
    /// See [`StepError`]; after a time limit or a broken conversation the driver is gone.
    pub fn step(&mut self, request: &Json, limit: Duration, talk: &mut Conversation<'_>) -> Result<Json, StepError> {
        let deadline = Instant::now() + limit;
        self.send(request)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    return Err(StepError::TimeLimit);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(StepError::Broken(self.last_words())),
            };
            let Ok(Json::Object(message)) = serde_json::from_str::<Json>(&line) else {
                self.kill();
                return Err(StepError::Broken("it said something that is no message".to_owned()));
            };
            if let Some(reply) = message.get("ok") {
                return Ok(reply.clone());
            } else if let Some(error) = message.get("error") {
                let text = |key: &str| error.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
                return Err(StepError::Failed { class: text("class"), message: text("message") });
            } else if let Some(question) = message.get("ask") {
                let answer = (talk.answer)(question);
                self.send(&answer)?;
            } else if let Some(text) = message.get("progress").and_then(Json::as_str) {
                (talk.progress)(text);
            }
        }
    }

    fn send(&mut self, message: &Json) -> Result<(), StepError> {
        let Some(input) = &mut self.input else { return Err(StepError::Broken("it was stopped".to_owned())) };
        let sent = writeln!(input, "{message}").and_then(|()| input.flush());
        sent.map_err(|_| StepError::Broken(self.last_words()))
    }

    /// The end of what the process wrote on standard error.
    fn last_words(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.unwrap_or("it gave no reason").chars().take(300).collect()
    }

    /// Ends the driver, whatever it is doing. It sees its input close and stops the server, or drops its schemas on a remote one;
    /// where that takes too long it is killed.
    fn kill(&mut self) {
        self.input = None;
        if !self.ends_within(self.grace) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    fn stop(&mut self) {
        let mut silent = Conversation { answer: &mut |_| Json::Null, progress: &mut |_| {} };
        let _ = self.step(&json!({ "step": "stop" }), Duration::from_secs(10), &mut silent);
        self.kill();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.input.is_some() {
            self.stop();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A driver that is a shell script.
    fn driver(script: &str) -> (tempfile::TempDir, Driver) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let driver = Driver::start(command, folder.path(), Duration::from_millis(200)).unwrap();
        (folder, driver)
    }

    fn step(driver: &mut Driver, limit: u64) -> (Result<Json, StepError>, Vec<String>) {
        let mut told = Vec::new();
        let mut talk = Conversation {
            answer: &mut |question| json!({ "sql": format!("{}!", question["sql"].as_str().unwrap_or_default()) }),
            progress: &mut |text| told.push(text.to_owned()),
        };
        let reply = driver.step(&json!({ "step": "update" }), Duration::from_millis(limit), &mut talk);
        (reply, told)
    }

    #[test]
    fn questions_and_progress_come_before_the_answer() {
        let script = r#"read r; echo '{"progress":"t"}'; echo '{"ask":{"sql":"SELECT 1"}}'; read a; echo "{\"ok\":$a}"; read s; echo '{"ok":{}}'"#;
        let (_folder, mut driver) = driver(script);
        let (reply, told) = step(&mut driver, 20_000);
        assert_eq!(reply, Ok(json!({ "sql": "SELECT 1!" })));
        assert_eq!(told, ["t"]);
    }

    #[test]
    fn errors_carry_spark_s_class() {
        let (_folder, mut driver) = driver(r#"read r; echo '{"error":{"class":"A_B","message":"m"}}'; read s"#);
        let (reply, _) = step(&mut driver, 20_000);
        assert_eq!(reply, Err(StepError::Failed { class: "A_B".to_owned(), message: "m".to_owned() }));
    }

    #[test]
    fn a_driver_that_dies_is_quoted_and_one_that_hangs_is_killed() {
        let (_folder, mut dying) = driver("read r; echo 'no memory' >&2; exit 3");
        assert_eq!(step(&mut dying, 20_000).0, Err(StepError::Broken("no memory".to_owned())));
        let (_folder, mut hanging) = driver("read r; exec sleep 1000");
        assert_eq!(step(&mut hanging, 50).0, Err(StepError::TimeLimit));
        assert!(matches!(step(&mut hanging, 50).0, Err(StepError::Broken(_))));
        let (_folder, mut babbling) = driver("read r; echo hello; read s");
        assert!(matches!(step(&mut babbling, 20_000).0, Err(StepError::Broken(_))));
    }
}
