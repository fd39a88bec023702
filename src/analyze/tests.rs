//! What the analysis makes of SQL queries over known sources.

use super::{AnalyzedFlow, analyze};
use crate::frontend::sql::{Context, parse_query, parse_schema_ddl};

use crate::model::{
    DataType, Dataset, DatasetKind, Flow, FlowKind, Pipeline, PipelineKind, Place, Platform, QualifiedName,
    SourceFacts, StateStoreSchema, Workspace,
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
        datasets: Vec::new(),
        flows: Vec::new(),
        sources: vec![facts("events", EVENTS), facts("clicks", CLICKS)],
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
    assert_eq!(pruned.aspects.text, plain.aspects.text);
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
