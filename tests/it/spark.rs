//! Real Apache Spark as an engine of the product. Needs `pyspark[pipelines]` and Java 17, so it runs only where
//! `PIPELINT_SPARK_TESTS` is 1; `PIPELINT_PYTHON` names the Python.

use serde_json::Value as Json;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Cases of `tests/cases/spark` with the effect and the error class that Spark shows.
const CASES: &[(&str, &str, Option<&str>)] = &[
    ("agg-filter-clause-added", "mixed", None),
    ("dedup-add-column", "refused", Some("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")),
];

const TOKEN: &str = "secret-of-the-tests";

/// One Spark at a time: each takes two cores. None where the tests are not asked for.
fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    if std::env::var("PIPELINT_SPARK_TESTS").as_deref() != Ok("1") {
        println!("skipped: PIPELINT_SPARK_TESTS is not 1");
        return None;
    }
    Some(TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spark").join(name)
}

/// pipelint in a case's folder, with a folder of its own for temporary files.
fn pipelint(name: &str, temporary: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pipelint"));
    command.current_dir(case(name)).env("TMPDIR", temporary).args(arguments);
    command
}

fn diff(name: &str, more: &[&str]) -> Output {
    let temporary = tempfile::tempdir().expect("a folder");
    let fixed =
        ["diff", "--before", "before", "--after", "after", "--data", "data", "--format", "json", "--fail-on", "never"];
    let arguments: Vec<&str> = fixed.iter().chain(more).copied().collect();
    let output = pipelint(name, temporary.path(), &arguments).env("PIPELINT_SPARK_TOKEN", TOKEN).output();
    assert_eq!(entries(temporary.path()), 0, "what was temporary is gone");
    output.expect("pipelint starts")
}

fn report(output: &Output) -> Json {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

fn wait_until(what: &str, limit: u64, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(limit);
    while !holds() {
        assert!(Instant::now() < deadline, "waited {limit} s in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn spark_and_the_mini_engine_see_the_same() {
    let Some(_turn) = turn() else { return };
    for (name, effect, class) in CASES {
        let output = diff(name, &["--engine", "both"]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("will be executed"), "{name}");
        confirmed(name, &report(&output), effect, *class);
    }
}

fn confirmed(name: &str, report: &Json, effect: &str, class: Option<&str>) {
    let flow = &report["flows"][0];
    assert_eq!(flow["engines_agree"], true, "{name}: {flow:#}");
    let spark = &flow["confirmations"][1];
    assert_eq!(spark["engine"], "spark", "{name}");
    assert_eq!(spark["observed"], effect, "{name}: {spark:#}");
    assert_eq!(spark["error_class"].as_str(), class, "{name}: {spark:#}");
}

/// A filter on a group's key that Catalyst moved below the aggregation would hold the watermark back: `wrong-rows`.
fn rows_that_an_expectation_drops_are_filtered_behind_the_query() {
    let Some(_turn) = turn() else { return };
    let temporary = tempfile::tempdir().expect("a folder");
    let arguments = ["diff", "--before", "before", "--after", "after", "--engine", "both", "--format", "json"];
    let mut command = pipelint("../expectation/drop-on-group-key", temporary.path(), &arguments);
    let report = report(&command.output().expect("pipelint starts"));
    confirmed("drop-on-group-key", &report, "mixed", None);
    let substitution = serde_json::json!({ "what": "expectations that drop rows", "by": "a filter over the query" });
    assert_eq!(report["spark"]["substitutions"], serde_json::json!([substitution]));
}

fn a_run_goes_on_from_the_old_code_s_checkpoints() {
    let Some(_turn) = turn() else { return };
    let temporary = tempfile::tempdir().expect("a folder");
    let arguments = ["run", "before", "--data", "data", "--then", "after", "--engine", "spark", "--format", "json"];
    let output = pipelint("join-added", temporary.path(), &arguments).output().expect("pipelint starts");
    assert_eq!(output.status.code(), Some(1), "a flow fails");
    let report = report(&output);
    assert_eq!(report["engine"], "spark");
    let flow = |update: usize| &report["updates"][update]["flows"][0];
    assert_eq!(flow(0)["status"], "completed");
    assert_eq!(flow(0)["table_rows"], serde_json::json!({ "before": 0, "after": 8 }));
    assert_eq!(flow(1)["status"], "failed");
    assert_eq!(flow(1)["error_class"], "STREAM_FAILED/ASSERT_SOURCE_COUNT");
    assert_eq!(report["tables"][0]["rows"].as_array().map(Vec::len), Some(8), "what was written stays");
}

/// A server on loopback that somebody else has set up; stopped when it goes out of use.
struct Server {
    process: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let python = std::env::var("PIPELINT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let home = Command::new(&python).args(["-c", "import pyspark; print(pyspark.__path__[0])"]).output();
        let home = String::from_utf8(home.expect("Python starts").stdout).expect("a path").trim().to_owned();
        let mut command = Command::new(Path::new(&home).join("bin/spark-submit"));
        command.env("SPARK_HOME", &home).env("SPARK_LOCAL_IP", "127.0.0.1").env("PYSPARK_PYTHON", &python);
        command.args(["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"]);
        for property in [
            "spark.connect.grpc.binding.address=127.0.0.1".to_owned(),
            format!("spark.connect.grpc.binding.port={port}"),
            format!("spark.connect.authenticate.token={TOKEN}"),
            "spark.driver.host=127.0.0.1".to_owned(),
            "spark.driver.bindAddress=127.0.0.1".to_owned(),
            "spark.ui.enabled=false".to_owned(),
            format!("spark.sql.warehouse.dir={}", folder.path().join("warehouse").display()),
        ] {
            command.arg("--conf").arg(property);
        }
        command.arg("spark-internal").current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("spark-submit starts");
        wait_until("the server listens", 180, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Server { process, folder, port }
    }

    fn url(&self) -> String {
        format!("sc://localhost:{}", self.port)
    }

    /// Schemas that lie there.
    fn schemas(&self) -> usize {
        entries(&self.folder.path().join("warehouse"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn a_remote_server_is_left_as_it_was() {
    let Some(_turn) = turn() else { return };
    let server = Server::start();
    let (name, effect, class) = CASES[1];
    let output = diff(name, &["--engine", "both", "--remote", &server.url()]);
    confirmed(name, &report(&output), effect, class);
    assert_eq!(server.schemas(), 0, "the run's schema is dropped");

    let temporary = tempfile::tempdir().expect("a folder");
    let arguments = ["run", "before", "--data", "data", "--engine", "spark", "--remote", &server.url()];
    let mut refused = pipelint(name, temporary.path(), &arguments);
    let refused = refused.env("PIPELINT_SPARK_TOKEN", "another").output().expect("pipelint starts");
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(errors.contains("UNAUTHENTICATED") && !errors.contains("another"), "{errors}");

    let mut running = pipelint(name, temporary.path(), &arguments);
    interrupted(running.env("PIPELINT_SPARK_TOKEN", TOKEN), || server.schemas() > 0);
    wait_until("the schema is dropped", 60, || server.schemas() == 0);
    wait_until("what was temporary is gone", 60, || entries(temporary.path()) == 0);
}

fn an_interrupted_run_leaves_nothing() {
    let Some(_turn) = turn() else { return };
    let temporary = tempfile::tempdir().expect("a folder");
    let arguments = ["run", "before", "--data", "data", "--engine", "spark"];
    let made = || folders(temporary.path()).any(|run| run.join("warehouse").is_dir() && run.join("local").is_dir());
    interrupted(&mut pipelint(CASES[1].0, temporary.path(), &arguments), made);
    wait_until("what was temporary is gone", 60, || entries(temporary.path()) == 0);
    let of_run = |command: &str| command.contains(&*temporary.path().to_string_lossy());
    wait_until("its processes have ended", 60, || !commands().iter().any(|command| of_run(command)));
}

fn folders(parent: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Starts pipelint and sends it what Ctrl-C sends once `holds`.
fn interrupted(command: &mut Command, holds: impl FnMut() -> bool) {
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("pipelint starts");
    wait_until("the run is under way", 180, holds);
    let sent = Command::new("kill").args(["-INT", &process.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
    let ended = process.wait().expect("it ends");
    assert!(!ended.success());
}

/// Command lines of all processes.
fn commands() -> Vec<String> {
    let read = |process: PathBuf| std::fs::read(process.join("cmdline")).ok();
    folders(Path::new("/proc")).filter_map(read).map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

/// What Lakeflow's runtime allows beside and inside query functions and Apache Spark does not.
fn code_that_only_lakeflow_runs_is_run_without_what_it_does_beside_its_definitions() {
    let Some(_turn) = turn() else { return };
    const CODE: &str = r#"
import sys
import geopy.geocoders
import dlt
from pyspark.sql import functions as F

sys.path.append("/Workspace/Repos/me/project/shared")
from naming import prefixed

landing = spark.conf.get("landing.path")
spark.sql("CREATE SCHEMA IF NOT EXISTS audit")
spark.createDataFrame([(1,)], "id INT").write.saveAsTable("audit.runs")
spark.table("main.raw.users").display()
dbutils.fs.mkdirs("/Volumes/main/raw/checkpoints")


@dlt.table
def events():
    reader = spark.readStream.format("cloudFiles").option("cloudFiles.format", "csv").option("header", "true")
    return reader.schema("id STRING, kind STRING, note STRING").load(f"{landing}/events")


@dlt.table
def located():
    geocoder = geopy.geocoders.Nominatim(user_agent="me")
    return spark.read.table("events").withColumn("place", F.lit(str(geocoder)))


@dlt.table
def cleaned():
    frame = spark.read.table("events").drop("note").fillna("none")
    print(frame.columns)
    return frame.select("id", prefixed(F.col("kind"), "kind"))


@dlt.table
def totals():
    spark.read.table("cleaned").createOrReplaceTempView("rows")
    counted = spark.sql("SELECT x_kind, count(*) AS n FROM rows GROUP BY x_kind")
    return counted.withColumn("label", F.lit("none"))
"#;
    let folder = tempfile::tempdir().expect("it is there");
    for (side, kind) in [("before", "\"none\""), ("after", "\"other\"")] {
        let root = folder.path().join(side);
        std::fs::create_dir_all(root.join("shared")).expect("it is there");
        std::fs::create_dir_all(root.join("pipeline")).expect("it is there");
        std::fs::write(
            root.join("shared/naming.py"),
            "def prefixed(column, name):\n    return column.alias('x_' + name)\n",
        )
        .expect("it is there");
        std::fs::write(root.join("pipeline/flows.py"), CODE.replace("\"none\"", kind)).expect("it is there");
        let pipelines = "pipelines:\n  - name: main\n    root: pipeline\n";
        std::fs::write(root.join("pipelint.yaml"), pipelines).expect("it is there");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_pipelint"))
        .current_dir(folder.path())
        .args(["diff", "--before", "before", "--after", "after"])
        .args(["--engine", "both", "--format", "json", "--fail-on", "never"])
        .output()
        .expect("pipelint starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let report: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"));
    let flow = |name: &str| {
        report["flows"]
            .as_array()
            .expect("it is there")
            .iter()
            .find(|flow| flow["flow"] == name)
            .cloned()
            .expect("it is there")
    };
    for name in ["cleaned", "totals"] {
        assert_eq!(flow(name)["confirmations"][1]["observed"], "recomputed", "{:#}", flow(name));
        assert_eq!(flow(name)["engines_agree"], true, "{:#}", flow(name));
    }
    let replaced: Vec<(&str, &str)> = report["spark"]["substitutions"]
        .as_array()
        .expect("it is there")
        .iter()
        .map(|entry| (entry["what"].as_str().expect("it is there"), entry["by"].as_str().expect("it is there")))
        .collect();
    for expected in [
        ("the configuration landing.path", "the text {landing.path}"),
        ("the command CREATE SCHEMA", "nothing: only definitions are run"),
        ("the write by saveAsTable()", "nothing: only definitions are run"),
        ("dbutils.fs.mkdirs", "nothing: only definitions are run"),
        ("the session's view rows", "a view of the pipeline"),
        ("drop() on a dataset of the pipeline", "a selection"),
        ("the module geopy", "nothing: it is not installed"),
    ] {
        assert!(replaced.contains(&expected), "{expected:?} is not in {replaced:#?}");
    }
}

/// Spark 4.3 takes `withColumn` on a table of the pipeline and computes it, at a later update of a materialized view, on the rows of
/// the first; on Lakeflow every update sees them all.
fn a_materialized_view_with_added_columns_sees_the_rows_of_every_update() {
    let Some(_turn) = turn() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let at = folder.path().join(path);
        std::fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        std::fs::write(at, text).expect("a file");
    };
    let source = "platform: lakeflow\nsources:\n- name: main.raw.events\n  schema: 'id BIGINT, k STRING'\n";
    write("code/pipelint.yaml", source);
    write(
        "code/pipeline.py",
        "import dlt\nfrom pyspark.sql import functions as F\n\n@dlt.table\ndef bronze():\n    return spark.readStream.table('main.raw.events')\n\n\
         @dlt.table\ndef added():\n    return dlt.read('bronze').withColumn('k', F.trim('k')).withColumn(colName='n', col=F.lit(1))\n\n\
         @dlt.table\ndef renamed():\n    return dlt.read('bronze').withColumnRenamed('k', 'kind')\n",
    );
    write("data/batch1/main.raw.events.json", "{\"id\": 1, \"k\": \"a\"}\n");
    write("data/batch2/main.raw.events.json", "{\"id\": 2, \"k\": \" b\"}\n{\"id\": 3, \"k\": \"c\"}\n");
    let output = Command::new(env!("CARGO_BIN_EXE_pipelint"))
        .current_dir(folder.path())
        .args(["run", "code", "--data", "data", "--engine", "spark", "--format", "json"])
        .output()
        .expect("pipelint starts");
    let report = report(&output);
    let flows = report["updates"][1]["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), 3, "{report:#}");
    for flow in flows {
        assert_eq!(flow["table_rows"], serde_json::json!({ "before": 1, "after": 3 }), "{flow:#}");
    }
}

crate::tests![
    spark_and_the_mini_engine_see_the_same,
    rows_that_an_expectation_drops_are_filtered_behind_the_query,
    a_run_goes_on_from_the_old_code_s_checkpoints,
    a_remote_server_is_left_as_it_was,
    an_interrupted_run_leaves_nothing,
    code_that_only_lakeflow_runs_is_run_without_what_it_does_beside_its_definitions,
    a_materialized_view_with_added_columns_sees_the_rows_of_every_update
];
