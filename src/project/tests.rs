//! Discovery on trees in memory.

use super::*;
use crate::model::{DiagnosticLevel, PipelineKind};
use crate::revision::{Entry, EntryKind, ReadError, Tree};
use std::collections::BTreeMap;

struct Files {
    entries: Vec<Entry>,
    texts: BTreeMap<String, Arc<[u8]>>,
}

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let texts: BTreeMap<String, Arc<[u8]>> =
            files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().into())).collect();
        let entry =
            |path: &String| Entry { path: path.as_str().into(), kind: EntryKind::File, content: ContentId([0; 20]) };
        Files { entries: texts.keys().map(entry).collect(), texts }
    }
}

impl Tree for Files {
    fn label(&self) -> &str {
        "test"
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        self.texts.get(path).map(Arc::clone).ok_or_else(|| ReadError {
            path: path.to_owned(),
            message: "no such file".to_owned(),
            help: None,
        })
    }
}

fn no_schema(_: &str) -> Result<Schema, String> {
    Err("none".to_owned())
}

fn found(files: &[(&str, &str)]) -> Project {
    found_with(files, |_| {})
}

fn found_with(files: &[(&str, &str)], set: impl Fn(&mut Options<'_>)) -> Project {
    let mut options = Options::new(&no_schema);
    set(&mut options);
    discover(&Files::new(files), &options)
}

fn unit<'a>(project: &'a Project, key: &str) -> &'a Unit {
    let known: Vec<_> = project.units.iter().map(|unit| &unit.pipeline.key).collect();
    project.units.iter().find(|unit| unit.pipeline.key == key).unwrap_or_else(|| panic!("no {key} in {known:?}"))
}

fn paths(unit: &Unit) -> Vec<&str> {
    unit.files.iter().map(|file| file.path.as_ref()).collect()
}

fn told(project: &Project) -> Vec<String> {
    let line = |d: &Diagnostic| d.span.as_ref().map_or(0, |span| span.line);
    project.diagnostics.iter().map(|d| format!("{} {}:{}", d.code, d.path.as_deref().unwrap_or("?"), line(d))).collect()
}

const TABLE: &str = "CREATE OR REFRESH STREAMING TABLE t AS SELECT 1";

#[test]
fn a_bundle_gives_each_pipeline_its_settings_files_and_places() {
    let bundle = "bundle: {name: shop}\ninclude:\n  - resources/*.yml\nvariables:\n  cat: {default: dev}\n\
                  targets:\n  dev:\n    default: true\n    mode: development\n  prod:\n    variables: {cat: live}\n\
                  \x20   resources:\n      pipelines:\n        etl:\n          storage: s3://live\n          libraries:\n            - file: {path: extra.sql}\n";
    let resource = "resources:\n  pipelines:\n    etl:\n      name: etl\n      catalog: ${var.cat}\n      schema: s\n      serverless: true\n\
                    \x20     root_path: ../src\n      configuration:\n        k: ${bundle.target}\n        src: ${workspace.file_path}/lib\n\
                    \x20     lifecycle: {prevent_destroy: true}\n      libraries:\n        - glob: {include: ../src/tables/**}\n        - notebook: {path: ../src/nb}\n        - pypi: {package: x}\n\
                    \x20 jobs:\n    nightly:\n      schedule: {quartz_cron_expression: x}\n      tasks:\n        - task_key: run\n          pipeline_task:\n            pipeline_id: ${resources.pipelines.etl.id}\n            full_refresh: true\n";
    let files = [
        ("databricks.yml", bundle),
        ("resources/etl.pipeline.yml", resource),
        ("src/tables/a.sql", TABLE),
        ("src/tables/deep/b.py", "import dlt"),
        ("src/nb.ipynb", "{}"),
        ("src/helpers.py", "import dlt"),
        ("src/left_out.sql", TABLE),
        ("extra.sql", TABLE),
    ];
    let project = found_with(&files, |options| options.target = Some("prod".into()));
    let etl = unit(&project, "etl");
    assert_eq!(etl.pipeline.kind, PipelineKind::Bundle);
    assert_eq!(etl.pipeline.catalog.as_deref(), Some("live"));
    assert_eq!(etl.pipeline.schema.as_deref(), Some("s"));
    assert_eq!(etl.pipeline.storage.as_deref(), Some("s3://live"));
    assert_eq!(etl.pipeline.configuration["k"], "prod");
    assert_eq!(etl.pipeline.settings["lifecycle.prevent_destroy"], "true");
    assert_eq!(etl.pipeline.settings["bundle.name"], "shop");
    assert_eq!(etl.pipeline.root, "src");
    assert_eq!(paths(etl), ["src/tables/a.sql", "src/tables/deep/b.py", "src/nb.ipynb", "extra.sql"]);
    assert_eq!(etl.python_roots, ["src", "lib", "", "src/tables/deep"]);
    let storage = &etl.pipeline.places["storage"];
    assert_eq!((storage.path.as_ref(), storage.line), ("databricks.yml", 15));
    assert_eq!(etl.pipeline.places["configuration.k"].line, 10);
    assert_eq!(told(&project), ["unclaimed-file src/left_out.sql:0"]);
    let job = &project.jobs[0];
    assert_eq!((job.job.as_str(), job.task.as_str(), job.pipeline.as_deref()), ("nightly", "run", Some("etl")));
    assert!(job.full_refresh && job.scheduled);
    assert_eq!(job.span.as_ref().unwrap().line, 24);

    let dev = found(&files);
    let etl = unit(&dev, "etl");
    assert_eq!(etl.pipeline.name, "[dev {workspace.current_user.short_name}] etl");
    assert_eq!(etl.pipeline.catalog.as_deref(), Some("dev"));
    assert_eq!(etl.pipeline.settings["development"], "true");
    assert_eq!(etl.pipeline.storage, None);
    assert_eq!(found_with(&files, |o| o.target = Some("x".into())).diagnostics[0].code, "unknown-target");
}

#[test]
fn bundles_in_folders_have_keys_of_their_own() {
    let bundle = "resources: {pipelines: {p: {libraries: [{file: {path: a.sql}}, {file: {path: gone.sql}}, {file: {path: /Workspace/x/y.sql}}]}}}";
    let project = found(&[
        ("one/databricks.yml", bundle),
        ("one/a.sql", TABLE),
        ("two/bundle.yml", bundle),
        ("two/a.sql", TABLE),
    ]);
    assert_eq!(paths(unit(&project, "one/p")), ["one/a.sql"]);
    assert_eq!(paths(unit(&project, "two/p")), ["two/a.sql"]);
    assert_eq!(told(&project), ["missing-file one/databricks.yml:1", "missing-file two/bundle.yml:1"]);
    assert_eq!(project.unresolved.iter().map(|u| u.code.as_str()).collect::<Vec<_>>(), ["outside-repository"; 2]);
}

#[test]
fn a_bundle_that_synchronizes_more_than_its_folder_has_its_files_there() {
    let bundle = "sync: {paths: [../common, .]}\ninclude: [../common/*.yml]\nresources:\n  pipelines:\n    p:\n      root_path: ${workspace.file_path}/app/etl\n\
                  \x20     libraries:\n        - glob: {include: \"${workspace.file_path}/common/sinks/**\"}\n        - glob: {include: etl/**}\n";
    let project = found(&[
        ("app/databricks.yml", bundle),
        ("common/more.yml", "resources: {pipelines: {p: {catalog: c}}}"),
        ("common/sinks/s.py", "x"),
        ("app/etl/a.sql", TABLE),
    ]);
    let p = unit(&project, "app/p");
    assert_eq!(paths(p), ["common/sinks/s.py", "app/etl/a.sql"]);
    assert_eq!((p.pipeline.root.as_str(), p.pipeline.catalog.as_deref()), ("app/etl", Some("c")));
    assert_eq!(told(&project), Vec::<String>::new());
}

#[test]
fn a_spark_pipeline_is_what_spark_reads() {
    let spec = "name: p\nstorage: file:///x\ncatalog: c\ndatabase: d\nconfiguration: {k: \"1\"}\nlibraries:\n  - glob: {include: transformations/**}\n";
    let files = [
        ("etl/spark-pipeline.yml", spec),
        ("etl/transformations/b.py", "from pyspark import pipelines"),
        ("etl/transformations/sub/a.sql", "CREATE MATERIALIZED VIEW v AS SELECT 1"),
        ("etl/transformations/n.ipynb", "{}"),
    ];
    let project = found(&files);
    let p = unit(&project, "etl");
    assert_eq!((p.pipeline.platform, p.pipeline.table_format.as_str()), (Platform::Spark, "parquet"));
    assert_eq!(
        (p.pipeline.catalog.as_deref(), p.pipeline.schema.as_deref(), p.pipeline.storage.as_deref()),
        (Some("c"), Some("d"), Some("file:///x"))
    );
    assert_eq!(paths(p), ["etl/transformations/b.py", "etl/transformations/sub/a.sql"]);
    // It is no notebook either: what cannot be read is named as a file that no pipeline claims.
    let place = "etl/transformations/n.ipynb:0";
    let notes = ["PIPELINE_UNSUPPORTED_DEFINITIONS_FILE_EXTENSION", "unclaimed-file"];
    assert_eq!(told(&project), notes.map(|note| format!("{note} {place}")));
    let forced = found_with(&files, |options| options.platform = Some(Platform::Lakeflow));
    assert_eq!(unit(&forced, "etl").pipeline.platform, Platform::Lakeflow);

    let broken = "name: p\nschema: s\nconfiguration: {k: 1}\nclusters: []\nlibraries:\n  - glob: {include: \"a/**/*.sql\"}\n  - file: {path: a.sql}\n";
    let project = found(&[("spark-pipeline.yml", broken)]);
    assert_eq!(unit(&project, "spark-pipeline").pipeline.schema.as_deref(), Some("s"));
    assert_eq!(
        told(&project),
        [
            "PIPELINE_SPEC_UNEXPECTED_FIELD spark-pipeline.yml:4",
            "PIPELINE_SPEC_MISSING_REQUIRED_FIELD spark-pipeline.yml:1",
            "PIPELINE_SPEC_DICT_VALUE_NOT_STRING spark-pipeline.yml:3",
            "PIPELINE_SPEC_INVALID_GLOB_PATTERN spark-pipeline.yml:6",
            "wrong-type spark-pipeline.yml:7",
        ]
    );
    let preview =
        found(&[("pipeline.yml", "name: p\nstorage: x\ndefinitions:\n  - glob: {include: a.sql}\n"), ("a.sql", TABLE)]);
    assert_eq!(paths(unit(&preview, "spark-pipeline")), ["a.sql"]);
    assert_eq!(preview.diagnostics[0].level, DiagnosticLevel::Warning);
    assert!(found(&[("pipeline.yml", "stages: [build]\n")]).units.is_empty());
    let two = found(&[
        ("p/pipeline.yml", "stages: [build]\n"),
        ("p/spark-pipeline.yaml", "name: a\nstorage: x\n"),
        ("p/spark-pipeline.yml", "name: b\nstorage: x\n"),
    ]);
    assert_eq!(told(&two), ["MULTIPLE_PIPELINE_SPEC_FILES_FOUND p/spark-pipeline.yml:0"]);
    assert_eq!(unit(&two, "p").pipeline.name, "a");
}

#[test]
fn settings_json_finds_its_files_by_the_tail_of_workspace_paths() {
    let json = r#"{"pipeline_id": "1", "spec": {"name": "p", "target": "s", "libraries": [{"notebook": {"path": "/Repos/me/shop/etl/load"}}], "continuous": true}}"#;
    let project =
        found(&[("conf/p.json", json), ("etl/load.sql", TABLE), ("conf/job.json", r#"{"libraries": [{"jar": "x"}]}"#)]);
    let p = unit(&project, "conf/p.json");
    assert_eq!(project.units.len(), 1);
    assert_eq!(paths(p), ["etl/load.sql"]);
    assert_eq!(p.pipeline.schema.as_deref(), Some("s"));
    assert_eq!(
        (p.pipeline.settings["continuous"].as_str(), p.pipeline.settings["pipeline_id"].as_str()),
        ("true", "1")
    );
}

#[test]
fn files_without_specification_are_pipelines_jobs_or_batch() {
    let project = found(&[
        ("demo/bronze/a.sql", TABLE),
        ("demo/silver/b.py", "import dlt"),
        ("jobs/stream.py", "df.writeStream.start()"),
        ("jobs/test_stream.py", "import pytest\ndf.writeStream.start()"),
        ("demo/explorations/e.py", "import dlt"),
        ("dbt/dbt_project.yml", "name: d"),
        ("dbt/models/m.sql", "{{ config(materialized='view') }} -- no materialized view"),
        ("jobs/backfill.py", "df.write.mode('overwrite').save()"),
        ("lib/plain.py", "print(1)"),
        (".venv/x.py", "import dlt"),
    ]);
    assert_eq!(paths(unit(&project, "demo")), ["demo/bronze/a.sql", "demo/silver/b.py"]);
    assert_eq!(unit(&project, "demo").pipeline.kind, PipelineKind::Folder);
    let job = unit(&project, "jobs/stream.py");
    assert_eq!(job.pipeline.kind, PipelineKind::Jobs);
    assert_eq!(job.python_roots, ["jobs", ""]);
    assert_eq!(project.units.len(), 2);
    assert_eq!(told(&project), ["dbt-project dbt/dbt_project.yml:0"]);
    assert_eq!(project.batch_files.iter().map(|f| f.path.as_ref()).collect::<Vec<_>>(), ["jobs/backfill.py"]);
    assert_eq!(unit(&found(&[("a.sql", TABLE)]), ".").pipeline.root, "");
}

#[test]
fn pipelint_yaml_speaks_for_its_folder() {
    let project = found(&[
        (
            "pipelint.yaml",
            "table_format: iceberg\nsources: [{name: t, format: json}, {name: u}]\npipelines:\n  - {name: named, root: x, catalog: c}\n",
        ),
        ("etl/pipelint.yaml", "platform: spark\nspark_version: 3.5\nsources: [{name: t, format: csv}]\n"),
        ("etl/raw/a.sql", TABLE),
        ("x/q.sql", "SELECT 1"),
    ]);
    let etl = unit(&project, "etl");
    assert_eq!((etl.pipeline.platform, etl.pipeline.spark_version), (Platform::Spark, (3, 5)));
    assert_eq!(etl.pipeline.table_format, "iceberg");
    let formats: Vec<_> = etl.pipeline.sources.iter().map(|s| (s.name.as_str(), s.format.as_deref())).collect();
    assert_eq!(formats, [("u", None), ("t", Some("csv"))]);
    let named = unit(&project, "named");
    assert_eq!((paths(named), named.pipeline.catalog.as_deref()), (vec!["x/q.sql"], Some("c")));
    assert_eq!(named.pipeline.places["catalog"].line, 4);
    assert_eq!(project.configs_for("etl").count(), 2);
    let given = ConfigFile { path: "other.yaml".into(), text: "table_format: csv\nwrong: 1\n".into() };
    let project = found_with(&[("pipelint.yaml", "table_format: iceberg\n"), ("a.sql", TABLE)], |options| {
        options.config = Some(given.clone());
    });
    assert_eq!(unit(&project, ".").pipeline.table_format, "csv");
    assert_eq!(told(&project), ["unknown-key other.yaml:2"]);
}

#[test]
fn broken_specifications_do_not_hide_the_rest() {
    let project = found(&[
        ("databricks.yml", "resources: [\n"),
        ("p/spark-pipeline.yml", "a: b: c\n"),
        ("conf.json", "{\"libraries\": "),
        ("pipelint.yaml", "\t- x\n"),
        ("demo/a.sql", TABLE),
    ]);
    assert_eq!(paths(unit(&project, "demo")), ["demo/a.sql"]);
    let codes: Vec<_> = project.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["yaml-syntax"; 3]);
    let unknown: Vec<_> = project.unresolved.iter().map(|u| (u.code.as_str(), u.what.as_str())).collect();
    assert_eq!(
        unknown,
        [("unreadable-specification", "databricks.yml"), ("unreadable-specification", "p/spark-pipeline.yml")]
    );
}
