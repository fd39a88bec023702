//! What the analysis makes of SQL queries over known sources.

use super::{AnalyzedFlow, analyze};
use crate::frontend::sql::{Context, parse_query, parse_schema_ddl};

use crate::model::{
    DataType, Dataset, DatasetKind, Expr, Flow, FlowKind, Node, Pipeline, PipelineKind, Place, Plan, Platform,
    QualifiedName, SourceFacts, StateStoreSchema, Workspace,
};
use std::collections::BTreeMap;

const EVENTS: &str = "id bigint, k string, v string, amt bigint, price decimal(10,2), ts timestamp";
const CLICKS: &str = "id bigint, cid bigint, url string, k string, cts timestamp";

fn facts(name: &str, schema: &str) -> SourceFacts {
    SourceFacts {
        name: name.to_owned(),
        format: None,
        schema: parse_schema_ddl(schema).ok(),
        partitioned_by: Vec::new(),
        retention: None,
        path: None,
        other: BTreeMap::new(),
        span: None,
    }
}

pub(super) fn pipeline(queries: &[(&str, DatasetKind, &str)]) -> Pipeline {
    let mut pipeline = empty_pipeline();
    for (name, kind, sql) in queries {
        let name = QualifiedName::bare(*name);
        pipeline.datasets.push(Dataset::new(name.clone(), *kind, Place::unknown()));
        pipeline.flows.push(Flow {
            name: name.name.clone(),
            target: name,
            kind: FlowKind::Default,
            plan: parse_query(sql, &Context::default()).value,
            spark_conf: BTreeMap::new(),
            comment: None,
            code: Vec::new(),
            open_code: None,
            place: Place::unknown(),
        });
    }
    pipeline
}

fn empty_pipeline() -> Pipeline {
    Pipeline {
        key: "p".to_owned(),
        name: "p".to_owned(),
        kind: PipelineKind::SparkPipeline,
        root: String::new(),
        platform: Platform::Spark,
        spark_version: (4, 3),
        catalog: None,
        schema: None,
        storage: None,
        table_format: "parquet".to_owned(),
        configuration: BTreeMap::new(),
        settings: BTreeMap::new(),
        datasets: Vec::new().into(),
        collisions: Vec::new(),
        flows: Vec::new().into(),
        sources: vec![facts("events", EVENTS), facts("clicks", CLICKS)].into(),
        span: None,
        places: BTreeMap::new(),
    }
}

/// The last of several streaming tables, analysed.
fn flow(sql: &str) -> AnalyzedFlow {
    let pipeline = pipeline(&[("t", DatasetKind::StreamingTable, sql)]);
    let analysis = analyze(Workspace { pipelines: vec![pipeline], ..Workspace::default() });
    analysis.flows.into_iter().last().unwrap()
}

fn schema_text(flow: &AnalyzedFlow) -> String {
    let fields = flow.schema.fields.clone();
    DataType::Struct(fields).to_string()
}

fn stores(flow: &AnalyzedFlow) -> Vec<String> {
    let text = |store: &StateStoreSchema| {
        let of = |schema: &crate::model::Schema| DataType::Struct(schema.fields.clone()).to_string();
        format!("{} {} -> {}", store.store, of(&store.key), of(&store.value))
    };
    flow.signature
        .operators
        .iter()
        .flat_map(|op| op.stores.iter().map(move |s| format!("{} {} {}", op.id, op.name, text(s))))
        .collect()
}

fn classes(flow: &AnalyzedFlow) -> Vec<&str> {
    flow.errors.iter().map(|e| e.class.as_str()).collect()
}

const WINDOWED: &str = "SELECT window.start AS ws, k, sum(amt) AS s FROM STREAM(events) \
     WATERMARK ts DELAY OF INTERVAL 10 MINUTES GROUP BY window(ts, '10 minutes'), k";

#[test]
fn what_is_left_out_of_a_star_is_a_column_of_the_one_open_source() {
    let columns = |sql: &str| -> Vec<String> {
        let flow = flow(sql);
        let reads = flow.plan.reads().into_iter().flat_map(|read| read.output.iter());
        reads.map(|column| column.name.to_string()).collect()
    };
    assert_eq!(columns("SELECT * EXCEPT (a, o.b) FROM STREAM(outside) o"), ["a", "b"]);
    assert_eq!(columns("SELECT * EXCEPT (k) FROM STREAM(events)").len(), 6);
}

#[test]
fn a_windowed_sum_keeps_window_and_key() {
    let flow = flow(WINDOWED);
    assert_eq!(classes(&flow), Vec::<&str>::new());
    assert_eq!(schema_text(&flow), "struct<ws:timestamp,k:string,s:bigint>");
    assert_eq!(
        stores(&flow),
        [
            "0 stateStoreSave default struct<window:struct<start:timestamp,end:timestamp>,k:string> -> struct<sum:bigint>"
        ]
    );
}

#[test]
fn a_join_keeps_the_columns_read_above_and_in_the_condition() {
    let flow = flow(
        "SELECT e.id AS eid, e.k AS ek, c.url FROM STREAM(events) e JOIN STREAM(clicks) c ON e.id = c.id \
         WHERE e.amt > 0",
    );
    assert_eq!(
        stores(&flow),
        [
            "0 symmetricHashJoin left-keyToNumValues struct<field0:bigint> -> struct<value:bigint>",
            "0 symmetricHashJoin left-keyWithIndexToValue struct<field0:bigint,index:bigint> -> struct<id:bigint,k:string,matched:boolean>",
            "0 symmetricHashJoin right-keyToNumValues struct<field0:bigint> -> struct<value:bigint>",
            "0 symmetricHashJoin right-keyWithIndexToValue struct<field0:bigint,index:bigint> -> struct<id:bigint,url:string,matched:boolean>",
        ]
    );
}

#[test]
fn unused_aggregates_and_constant_keys_leave_no_state() {
    let plain = flow(WINDOWED);
    let pruned = flow(
        "SELECT ws, k, s FROM (SELECT window.start AS ws, k, 'c' AS c, sum(amt) AS s, max(amt) AS m FROM STREAM(events) \
         WATERMARK ts DELAY OF INTERVAL 10 MINUTES GROUP BY window(ts, '10 minutes'), k, 'c')",
    );
    assert_eq!(stores(&pruned), stores(&plain));
    assert_eq!(pruned.aspects.query, plain.aspects.query);
}

#[test]
fn having_keeps_its_aggregate() {
    let flow = flow(&format!("{WINDOWED} HAVING sum(amt) > 0"));
    assert_eq!(
        stores(&flow),
        [
            "0 stateStoreSave default struct<window:struct<start:timestamp,end:timestamp>,k:string> -> struct<sum:bigint>"
        ]
    );
}

/// Schema, completeness and error classes of a query.
fn described(sql: &str) -> (String, bool, Vec<String>) {
    let pipeline = pipeline(&[("t", DatasetKind::MaterializedView, sql)]);
    let analysis = analyze(Workspace { pipelines: vec![pipeline], ..Workspace::default() });
    let flow = analysis.flows.into_iter().last().unwrap();
    let classes = flow.errors.iter().map(|e| e.class.clone()).collect();
    (schema_text(&flow), flow.schema.complete, classes)
}

#[test]
fn columns_are_named_and_typed_as_by_spark() {
    let expected = [
        ("SELECT e.id, c.id, id FROM events e JOIN clicks c USING (id)", "struct<id:bigint,id:bigint,id:bigint>"),
        ("SELECT id FROM events e FULL JOIN clicks c USING (id)", "struct<id:bigint>"),
        (
            "SELECT amt * 2 AS x, x + 1 AS y, price + amt AS z, price * price, amt / 2 FROM events",
            "struct<x:bigint,y:bigint,z:decimal(23,2),(price * price):decimal(21,4),(amt / 2):double>",
        ),
        (
            "SELECT lower(k), max(amt) - min(amt) AS d FROM events GROUP BY ALL HAVING d > 3",
            "struct<lower(k):string,d:bigint>",
        ),
        (
            "SELECT k AS kk, count(*), sum(amt) FROM events GROUP BY kk",
            "struct<kk:string,count(1):bigint,sum(amt):bigint>",
        ),
        ("SELECT id FROM events QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts) = 1", "struct<id:bigint>"),
        (
            "SELECT id, posexplode(split(v, ',')) AS (i, p), t.q FROM events LATERAL VIEW OUTER explode(split(k, ',')) t AS q",
            "struct<id:bigint,i:int,p:string,q:string>",
        ),
        (
            "SELECT s.*, transform(arr, x -> x + id) AS t FROM (SELECT id, struct(1 AS a, v) AS s, array(id, 2) AS arr FROM events)",
            "struct<a:int,v:string,t:array<bigint>>",
        ),
        (
            "SELECT * FROM events PIVOT (sum(amt) FOR k IN ('a', 'b' AS bb))",
            "struct<id:bigint,v:string,price:decimal(10,2),ts:timestamp,a:bigint,bb:bigint>",
        ),
        (
            "SELECT CAST(id AS STRING), e.K, date_trunc('day', ts) FROM events e",
            "struct<id:string,K:string,date_trunc(day, ts):timestamp>",
        ),
        ("SELECT 1 AS a UNION SELECT 2.5", "struct<a:decimal(11,1)>"),
    ];
    for (sql, schema) in expected {
        assert_eq!(described(sql), (schema.to_owned(), true, Vec::new()), "{sql}");
    }
}

#[test]
fn refusals_carry_sparks_classes() {
    let expected = [
        ("SELECT nope FROM events", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("SELECT id FROM events a JOIN events b ON a.id = b.id", "AMBIGUOUS_REFERENCE"),
        ("SELECT k, amt FROM events GROUP BY k", "MISSING_AGGREGATION"),
        ("SELECT id, k FROM events UNION ALL SELECT id FROM clicks", "NUM_COLUMNS_MISMATCH"),
    ];
    for (sql, class) in expected {
        assert_eq!(described(sql).2, [class], "{sql}");
    }
    let streaming = [
        ("SELECT k, sum(amt) FROM STREAM(events) GROUP BY k", "UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK"),
        ("SELECT id FROM STREAM(events) UNION ALL SELECT id FROM clicks", "UNSUPPORTED_UNION_STREAM_BATCH"),
        ("SELECT id FROM STREAM(events) ORDER BY id", "_LEGACY_ERROR_TEMP_3102"),
        ("SELECT e.id FROM STREAM(events) e LEFT JOIN STREAM(clicks) c ON e.id = c.id", "_LEGACY_ERROR_TEMP_3102"),
        ("SELECT e.id FROM STREAM(events) e CROSS JOIN STREAM(clicks) c", "_LEGACY_ERROR_TEMP_1181"),
        ("SELECT row_number() OVER (ORDER BY id) FROM STREAM(events)", "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"),
        ("SELECT id FROM events", "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE"),
    ];
    for (sql, class) in streaming {
        assert_eq!(classes(&flow(sql)), [class], "{sql}");
    }
}

#[test]
fn columns_of_unknown_sources_are_made_on_demand() {
    let star = flow("SELECT *, a + 1 AS b FROM STREAM(other)");
    assert_eq!((schema_text(&star).as_str(), star.schema.complete), ("struct<a:unknown,b:unknown>", false));
    assert_eq!(classes(&star), Vec::<&str>::new());
    let union = described("SELECT a, b FROM (SELECT * FROM other UNION ALL SELECT * FROM third) WHERE c > 1");
    assert_eq!(union, ("struct<a:unknown,b:unknown>".to_owned(), true, Vec::new()));
    let join = flow("SELECT o.x, p.y FROM STREAM(other) o JOIN STREAM(third) p ON o.id = p.id WHERE o.f.g = 1");
    assert_eq!(
        join.aspects.query.to_string(),
        "select x: other.x, y: third.y from inner join [(other.id = third.id)] (filter [(other.f.g = 1)] stream other) (stream third)"
    );
}

#[test]
fn harmless_rewrites_have_one_text() {
    let text = |sql: &str| flow(sql).aspects.query.to_string();
    let plain = text("SELECT id, amt FROM STREAM(events) WHERE amt > 0 AND k IN ('a') AND id BETWEEN 1 AND 9");
    let others = [
        "SELECT e.AMT, e.id FROM STREAM(events) AS e WHERE (e.id >= 1) AND e.id <= 9 AND 'a' = e.k AND 0 < e.amt",
        "WITH c AS (SELECT *, amt AS z FROM STREAM(events) WHERE NOT (amt <= 0)) SELECT id, z AS amt FROM c WHERE k = 'a' AND id >= 1 AND 9 >= id",
    ];
    for other in others {
        assert_eq!(text(other), plain, "{other}");
    }
    assert_ne!(text("SELECT id, amt FROM STREAM(events) WHERE amt > 1 AND k IN ('a') AND id BETWEEN 1 AND 9"), plain);
}

#[test]
fn a_reader_of_itself_is_refused_unless_a_cte_hides_the_name() {
    let tables = [
        ("a", "SELECT * FROM STREAM(b)"),
        ("b", "SELECT * FROM STREAM(a)"),
        ("events", "WITH events AS (SELECT id FROM STREAM(clicks)) SELECT * FROM events"),
    ];
    let pipeline = pipeline(&tables.map(|(name, sql)| (name, DatasetKind::StreamingTable, sql)));
    let analysis = analyze(Workspace { pipelines: vec![pipeline], ..Workspace::default() });
    let found: Vec<Vec<&str>> = analysis.flows.iter().map(classes).collect();
    let cycle = "PIPELINE_GRAPH_NOT_TOPOLOGICALLY_SORTABLE";
    assert_eq!(found, [vec![cycle], vec![cycle], vec![]]);
}

/// A chain of `withColumn("id", id + id)`.
fn doubled(levels: usize) -> AnalyzedFlow {
    let mut plan = parse_query("SELECT id, k FROM STREAM(events)", &Context::default()).value;
    for _ in 0..levels {
        let sum = Expr::call("+", vec![Expr::column("id"), Expr::column("id")]);
        plan = Plan::new(Node::WithColumns { columns: vec![sum.alias("id")], input: Box::new(plan) });
    }
    let mut pipeline = pipeline(&[("t", DatasetKind::StreamingTable, "SELECT 1")]);
    pipeline.flows[0].plan = plan;
    let analysis = analyze(Workspace { pipelines: vec![pipeline], ..Workspace::default() });
    analysis.flows.into_iter().last().unwrap()
}

#[test]
fn text_that_grows_without_end_is_bounded() {
    let doubled_often = doubled(60);
    assert!(doubled_often.aspects.query.to_string().len() < 10_000);
    assert_eq!(classes(&doubled_often), Vec::<&str>::new());
    let nested = doubled(3_000);
    assert_eq!(nested.unresolved[0].why, "it is too large or nested too deep to be analysed");
}
