use super::*;
use crate::frontend::origin::Origin;

struct Files;

impl Replacements for Files {
    fn table(&self, parts: &[String]) -> Option<String> {
        match parts.join(".").as_str() {
            "main.raw.events" | "raw.events" => Some("events".to_owned()),
            "orders" => Some("silver__orders".to_owned()),
            _ => None,
        }
    }
    fn filter(&self, parts: &[String]) -> Result<Option<String>, String> {
        match parts.join(".").as_str() {
            "kept" => Ok(Some("a > 0".to_owned())),
            "odd" => Err("it is not known".to_owned()),
            _ => Ok(None),
        }
    }
    fn files(&self, path: &str) -> Option<String> {
        path.starts_with("/Volumes").then(|| "landing".to_owned())
    }
    fn topic(&self, topic: &str) -> Option<String> {
        (topic == "clicks").then(|| "clicks".to_owned())
    }
    fn has_format(&self, format: &str) -> bool {
        format == "parquet"
    }
    fn is_lakeflow(&self) -> bool {
        true
    }
    fn can_merge(&self) -> bool {
        false
    }
}

fn one(text: &str) -> Definition {
    let context = Context::new(Origin::default());
    match portable_statements(text, &context, &Files).remove(0) {
        Portable::Definition(definition) => definition,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_lakeflow_s_own_is_cut_out_of_a_definition() {
    let text = "CREATE OR REFRESH STREAMING TABLE main.raw.events (\n  id BIGINT NOT NULL COMMENT 'k', m MAP<INT, INT>,\n  CONSTRAINT ok EXPECT (id > 0) ON VIOLATION DROP ROW\n) USING DELTA CLUSTER BY AUTO COMMENT 'c' TBLPROPERTIES ('a' = 'b')\nAS SELECT * FROM STREAM(LIVE.x)";
    let ported = one(text);
    assert_eq!(
        ported.sql,
        "CREATE STREAMING TABLE events (id BIGINT COMMENT 'k', m MAP<INT, INT>)   COMMENT 'c' TBLPROPERTIES ('a' = 'b')\nAS SELECT * FROM STREAM(x)"
    );
    assert_eq!(ported.target, "events");
    let told: Vec<&str> = ported.replaced.iter().map(|(what, _)| what.as_str()).collect();
    assert_eq!(told, ["CREATE OR REFRESH", "constraints of columns", "USING delta", "CLUSTER BY AUTO", "LIVE."]);
}

#[test]
fn readers_become_tables_and_names_those_of_the_run() {
    assert_eq!(
        one(
            "CREATE STREAMING LIVE TABLE t (CONSTRAINT c EXPECT (a)) AS SELECT * FROM cloud_files('/Volumes/a', 'json')"
        )
        .sql,
        "CREATE STREAMING TABLE t  AS SELECT * FROM STREAM(landing)"
    );
    assert_eq!(
        one("CREATE LIVE VIEW v AS SELECT raw.events.id, o.id FROM raw.events JOIN orders o WHERE orders > 1").sql,
        "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT events.id, o.id FROM events JOIN silver__orders o WHERE orders > 1"
    );
    assert_eq!(
        one("CREATE STREAMING TABLE t AS SELECT * FROM STREAM read_kafka(bootstrapServers => 'h', subscribe => 'clicks')").sql,
        "CREATE STREAMING TABLE t AS SELECT * FROM STREAM clicks"
    );
    assert_eq!(
        one("CREATE FLOW f AS INSERT INTO orders SELECT 'from raw.events' AS a FROM STREAM(main.raw.events)").sql,
        "CREATE FLOW f AS INSERT INTO silver__orders BY NAME SELECT 'from raw.events' AS a FROM STREAM(events)"
    );
}

#[test]
fn rows_that_an_expectation_drops_are_filtered_behind_the_query() {
    for (text, ported) in [
        (
            "CREATE STREAMING TABLE kept (CONSTRAINT c EXPECT (a > 0) ON VIOLATION DROP ROW) AS SELECT a FROM STREAM(x) -- all",
            "CREATE STREAMING TABLE kept  AS SELECT * FROM (SELECT a FROM STREAM(x)) WHERE a > 0",
        ),
        (
            "CREATE LIVE VIEW kept AS WITH y AS (SELECT 1 AS a) SELECT * FROM y",
            "CREATE OR REPLACE TEMPORARY VIEW kept AS SELECT * FROM (WITH y AS (SELECT 1 AS a) SELECT * FROM y) WHERE a > 0",
        ),
        (
            "CREATE FLOW f AS INSERT INTO kept SELECT a FROM STREAM(main.raw.events)",
            "CREATE FLOW f AS INSERT INTO kept BY NAME SELECT * FROM (SELECT a FROM STREAM(events)) WHERE a > 0",
        ),
        ("CREATE STREAMING TABLE kept (CONSTRAINT c EXPECT (a > 0))", "CREATE STREAMING TABLE kept "),
    ] {
        assert_eq!(one(text).sql, ported);
    }
}

#[test]
fn what_has_no_equivalent_is_refused_with_its_target() {
    let context = Context::new(Origin::default());
    let refused = |text: &str| match portable_statements(text, &context, &Files).remove(0) {
        Portable::Refused { target, reason } => (target, reason),
        other => panic!("{other:?}"),
    };
    let (target, reason) = refused("APPLY CHANGES INTO LIVE.t FROM STREAM(x) KEYS (id) SEQUENCE BY ts");
    assert_eq!(target, "t");
    assert!(reason.contains("MERGE"));
    assert!(refused("CREATE STREAMING TABLE t AS SELECT * FROM STREAM read_files('s3://x')").1.contains("s3://x"));
    assert!(refused("CREATE FLOW f AS INSERT INTO ONCE t BY NAME SELECT 1").1.contains("once"));
    assert_eq!(refused("CREATE STREAMING TABLE odd AS SELECT 1").1, "it is not known");
}

#[test]
fn queries_at_run_time_lose_only_what_must_go() {
    let context = Context::new(Origin::default());
    let text = "SELECT id -- LIVE.x\n FROM LIVE.a JOIN main.raw.events e ON a.id = e.id";
    let query = "SELECT id -- LIVE.x\n FROM a JOIN events e ON a.id = e.id".to_owned();
    assert_eq!(portable_query(text, &context, &Files), Ok(PortableQuery::Query(query)));
}

#[test]
fn commands_define_nothing_and_settings_hold() {
    let context = Context::new(Origin::default());
    let of = |text: &str| portable_query(text, &context, &Files);
    assert_eq!(of("create schema if not exists a.b"), Ok(PortableQuery::Command("CREATE SCHEMA".to_owned())));
    assert_eq!(of("USE CATALOG main;"), Ok(PortableQuery::Command("USE CATALOG".to_owned())));
    assert_eq!(of("SET a.b = 1"), Ok(PortableQuery::Query("SET a.b = 1".to_owned())));
    assert_eq!(of("(SELECT 1)"), Ok(PortableQuery::Query("(SELECT 1)".to_owned())));
    assert!(of("SHOW TABLES IN a").is_err_and(|reason| reason.starts_with("`SHOW TABLES …` is no query")));
}
