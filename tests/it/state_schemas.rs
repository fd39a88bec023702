//! Operators and state schemas that the analysis computes, against those that Apache Spark 4.3.0 wrote into its checkpoints.
//!
//! `tests/state/spark-4.3.tsv` holds what was found in the checkpoints of the cases under `tests/cases/spark`, for BEFORE after
//! its run, and for AFTER where it resumed (types alone count: a resumed checkpoint keeps the names of BEFORE). Where AFTER was
//! refused for its state, the row holds the error class instead, and what is computed for AFTER must differ accordingly.

use pipelint::analyze::{Analysis, analyze};
use pipelint::frontend::{ParseCache, load};
use pipelint::model::{DataType, Schema, StatefulOperator};
use pipelint::project::{Options, discover};
use pipelint::revision::{Selection, Tree, open};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One state store: key and value, as the types of their fields.
type Store = (String, String, String);

/// Operators by id: name and stores, sorted.
type Operators = BTreeMap<u32, (String, Vec<Store>)>;

struct Recorded {
    case: String,
    side: String,
    flow: String,
    outcome: String,
    operators: Operators,
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spark")
}

fn recorded() -> Vec<Recorded> {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/state/spark-4.3.tsv")).unwrap();
    let mut rows: Vec<Recorded> = Vec::new();
    for line in text.lines().skip(1) {
        let [case, side, flow, outcome, operator, name, store, key, value] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let same = rows.last().is_some_and(|r| r.case == case && r.side == side && r.flow == flow);
        if !same {
            rows.push(Recorded {
                case: case.to_owned(),
                side: side.to_owned(),
                flow: flow.to_owned(),
                outcome: outcome.to_owned(),
                operators: Operators::new(),
            });
        }
        if let (Some(last), Ok(id)) = (rows.last_mut(), operator.parse()) {
            let entry = last.operators.entry(id).or_insert_with(|| (name.to_owned(), Vec::new()));
            if store != "-" {
                entry.1.push((store.to_owned(), types_only(key), types_only(value)));
            }
            entry.1.sort();
        }
    }
    rows
}

/// `struct<k:string,n:struct<a:long>>` without field names: `struct<string,struct<long>>`.
fn types_only(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.replace(" NOT NULL", "").chars() {
        match c {
            ':' => word.clear(),
            '<' | '>' | ',' | '(' | ')' => {
                out.push_str(&word);
                word.clear();
                out.push(c);
            }
            c => word.push(c),
        }
    }
    out + &word
}

/// Spark's `DataType.typeName` spelling, as the state's JSON has it.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Byte => "byte".to_owned(),
        DataType::Short => "short".to_owned(),
        DataType::Int => "integer".to_owned(),
        DataType::Long => "long".to_owned(),
        DataType::Struct(fields) => {
            format!("struct<{}>", fields.iter().map(|f| type_name(&f.data_type)).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

fn schema(schema: &Schema) -> String {
    type_name(&DataType::Struct(schema.fields.clone()))
}

fn computed(operators: &[StatefulOperator]) -> Operators {
    operators
        .iter()
        .map(|operator| {
            let variables = operator.name.starts_with("transformWithState");
            let mut stores: Vec<Store> = operator
                .stores
                .iter()
                .map(|store| {
                    let name = if variables { "variable" } else { store.store.as_ref() };
                    (name.to_owned(), schema(&store.key), schema(&store.value))
                })
                .collect();
            stores.sort();
            (operator.id, (operator.name.to_string(), stores))
        })
        .collect()
}

/// Both sides of a case.
fn analyses(case: &str) -> [Analysis; 2] {
    let folder = cases().join(case);
    let folders = Selection::Folders { before: folder.join("before"), after: folder.join("after") };
    let comparison = open(&folders, &folder).unwrap();
    let cache = ParseCache::default();
    [comparison.before, comparison.after].map(|tree| analysis(tree.as_ref(), &cache))
}

fn analysis(tree: &dyn Tree, cache: &ParseCache) -> Analysis {
    let parse_schema = pipelint::frontend::sql::parse_schema_ddl;
    let project = discover(tree, &Options::new(&parse_schema));
    analyze(load(tree, project, cache))
}

/// The operators of a flow by `table/flow`, or by the query's name.
fn of_flow(analysis: &Analysis, name: &str) -> Option<Operators> {
    let (table, flow_name) = name.split_once('/').unwrap_or((name, name));
    analysis
        .flows
        .iter()
        .find(|flow| {
            let Some(definition) = analysis.workspace.pipelines.get(flow.pipeline).and_then(|p| p.flows.get(flow.flow))
            else {
                return false;
            };
            definition.name == flow_name && (definition.target.name == table || !name.contains('/'))
        })
        .map(|flow| computed(&flow.signature.operators))
}

fn names(operators: &Operators) -> Vec<&str> {
    operators.values().map(|(name, _)| name.as_str()).collect()
}

fn parts(operators: &Operators, part: fn(&Store) -> &String) -> Vec<String> {
    operators.values().flat_map(|(_, stores)| stores.iter().map(part)).cloned().collect()
}

/// What is wrong with the operators computed for a refused AFTER, if anything.
fn contradicts(class: &str, before: &Operators, after: &Operators) -> bool {
    let same_names = names(before) == names(after);
    let same_keys = parts(before, |s| &s.1) == parts(after, |s| &s.1);
    let same_values = parts(before, |s| &s.2) == parts(after, |s| &s.2);
    match class {
        "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE" => !same_names || same_keys,
        "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE" => !same_names || same_values,
        "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA" => same_names,
        "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY" => after.is_empty(),
        _ => false,
    }
}

fn state_is_what_spark_wrote() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    let mut cases: BTreeMap<String, [Analysis; 2]> = BTreeMap::new();
    for row in recorded() {
        let [before, after] = cases.entry(row.case.clone()).or_insert_with(|| analyses(&row.case));
        let side = if row.side == "before" { &*before } else { &*after };
        let Some(found) = of_flow(side, &row.flow) else {
            wrong.push(format!("{} {} {}: no such flow", row.case, row.side, row.flow));
            continue;
        };
        compared += 1;
        let is_refusal = row.side == "after" && row.outcome != "resumed";
        if is_refusal {
            let before = of_flow(before, &row.flow).unwrap_or_default();
            if contradicts(&row.outcome, &before, &found) {
                wrong.push(format!("{} {}: {} but {found:?} after {before:?}", row.case, row.flow, row.outcome));
            }
        } else if found != row.operators {
            wrong.push(format!(
                "{} {} {}:\n  computed {found:?}\n  recorded {:?}",
                row.case, row.side, row.flow, row.operators
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} compared flows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

crate::tests![state_is_what_spark_wrote];
