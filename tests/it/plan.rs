//! `pipelint plan` through the library: what the runbook of a change says, and that a change without consequences has none.

use pipelint::reading::Options;
use pipelint::report::plan;
use pipelint::review::examine;
use pipelint::revision::{Selection, open};
use pipelint::runbook::{Runbook, runbook};
use std::path::Path;

const CONFIG: &str = "
sources:
  - { name: main.raw.orders, schema: 'id BIGINT, amount INT', retention: 7 days }
  - { name: main.raw.returns, schema: 'id BIGINT, amount INT' }
  - { name: clicks, format: kafka }
";

fn book(before: &str, after: &str) -> Runbook {
    let folder = tempfile::tempdir().expect("a folder");
    for (side, text) in [("before", before), ("after", after)] {
        let at = folder.path().join(side);
        std::fs::create_dir_all(&at).expect("a folder");
        std::fs::write(at.join("pipelint.yaml"), CONFIG).expect("a file");
        std::fs::write(at.join("pipeline.sql"), text).expect("a file");
    }
    let selection = Selection::Folders { before: folder.path().join("before"), after: folder.path().join("after") };
    let comparison = open(&selection, Path::new(".")).expect("both folders are there");
    runbook(&examine(comparison.before.as_ref(), comparison.after.as_ref(), &Options::default()))
}

const ORDERS: &str = "CREATE STREAMING TABLE orders TBLPROPERTIES ('pipelines.reset.allowed' = 'false') AS
SELECT id, amount FROM STREAM(main.raw.orders)";

fn another_layout_of_the_same_text_needs_nothing() {
    let book = book(&format!("{ORDERS};"), &format!("-- orders\n{ORDERS} ;"));
    assert!(book.is_empty());
    assert!(plan::markdown(&book).contains("Nothing to do"));
    let json: serde_json::Value = serde_json::from_str(&plan::json(&book)).expect("JSON");
    assert_eq!(json["nothing_to_do"], true);
}

fn a_source_added_to_a_protected_table_is_planned_from_warning_to_verification() {
    let after = format!(
        "{ORDERS} UNION ALL SELECT id, amount FROM STREAM(main.raw.returns)
         UNION ALL SELECT id, amount FROM STREAM read_kafka(bootstrapServers => 'k', subscribe => 'clicks');
         CREATE FLOW history AS INSERT INTO ONCE orders BY NAME SELECT id, amount FROM main.raw.returns;
         CREATE MATERIALIZED VIEW totals AS SELECT sum(amount) AS total FROM orders;"
    )
    .replace(
        "SELECT id, amount FROM STREAM read_kafka",
        "SELECT CAST(offset AS BIGINT) AS id, CAST(partition AS INT) AS amount FROM STREAM read_kafka",
    );
    let before = format!("{ORDERS};\nCREATE MATERIALIZED VIEW totals AS SELECT sum(amount) AS total FROM orders;");
    let book = book(&before, &after);
    let selected: Vec<&String> = book.selection.iter().flat_map(|refresh| &refresh.datasets).collect();
    assert_eq!(selected, ["orders"]);
    assert_eq!(book.protected.len(), 1);
    assert!(book.lossy.iter().any(|lossy| lossy.retention == "7 days"));
    assert_eq!(book.copies, ["CREATE TABLE orders_before_refresh AS SELECT * FROM orders;"]);
    assert!(book.once.iter().any(|once| once.flow == "history" && once.refreshed));
    assert!(book.consumers.iter().any(|consumer| consumer.dataset == "totals"));
    let kafka = book.starts.iter().find(|start| start.source.contains("clicks")).expect("the topic's start");
    assert_eq!(kafka.option, Some("startingOffsets"));
    assert!(kafka.starts.contains("latest"), "{}", kafka.starts);
    let code: Vec<&str> = book.alternatives.iter().filter_map(|a| Some(a.code.as_ref()?.code.as_str())).collect();
    let flow = "CREATE FLOW orders_from_returns AS\nINSERT INTO orders BY NAME\nSELECT id, amount FROM STREAM(main.raw.returns);";
    let kafka = "INSERT INTO orders BY NAME\nSELECT CAST(offset AS BIGINT) AS id";
    assert!(code.iter().any(|code| code.contains(flow) && code.contains(kafka)), "{code:?}");
    let text = plan::markdown(&book);
    for part in
        ["Lift the protection", "Protect `orders` again", "full_refresh_selection", "runs again after the refresh"]
    {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

crate::tests![
    another_layout_of_the_same_text_needs_nothing,
    a_source_added_to_a_protected_table_is_planned_from_warning_to_verification
];
