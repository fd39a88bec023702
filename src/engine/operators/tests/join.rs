use super::*;
use crate::model::{JoinKind, JoinOn};

fn events() -> [Attribute; 3] {
    [attribute(1, "id", DataType::Long), attribute(2, "v", DataType::String), attribute(3, "ts", DataType::Timestamp)]
}

fn clicks() -> [Attribute; 3] {
    [
        attribute(4, "id", DataType::Long),
        attribute(5, "url", DataType::String),
        attribute(6, "cts", DataType::Timestamp),
    ]
}

fn side(columns: &[Attribute], data: &[(i64, Option<&str>, i64)]) -> Rows {
    let cell = |v: &Option<&str>| v.map_or(Value::Null, text);
    rows(columns, data.iter().map(|(id, v, ts)| vec![Value::Long(*id), cell(v), at(*ts)]).collect())
}

/// `e JOIN c ON e.id = c.id AND cts BETWEEN ts AND ts + 15 minutes [AND …]`, both with a watermark of 10 minutes.
fn ranged(kind: JoinKind, extra: Option<Expr>) -> Plan {
    let ([id, _, ts], [cid, _, cts]) = (events(), clicks());
    let mut conjuncts = vec![
        Expr::call("=", vec![column(&id), column(&cid)]),
        Expr::call(">=", vec![column(&cts), column(&ts)]),
        Expr::call("<=", vec![column(&cts), Expr::call("+", vec![column(&ts), minutes(15)])]),
    ];
    conjuncts.extend(extra);
    let condition = conjuncts.into_iter().reduce(|a, b| Expr::call("and", vec![a, b])).unwrap();
    Plan::new(Node::Join {
        left: Box::new(watermark(&ts, 10, read("events", true, &events()))),
        right: Box::new(watermark(&cts, 10, read("clicks", true, &clicks()))),
        kind,
        on: JoinOn::Condition(condition),
        lateral: false,
    })
}

fn pick(rows: Vec<Vec<Value>>) -> Vec<(Value, Value)> {
    rows.into_iter().map(|row| (row[1].clone(), row[4].clone())).collect()
}

#[test]
fn partners_meet_over_batches_and_unmatched_rows_come_out_when_evicted() {
    let plan = ranged(JoinKind::LeftOuter, None);
    let mut query = Query::default();
    let first = query.run(
        &plan,
        OutputMode::Append,
        &[side(&events(), &[(1, Some("x"), 0), (2, Some("y"), 0)]), side(&clicks(), &[])],
    );
    assert!(first.unwrap().is_empty());
    let second = query.run(&plan, OutputMode::Append, &[side(&events(), &[]), side(&clicks(), &[(1, Some("u"), 5)])]);
    assert_eq!(pick(second.unwrap()), [(text("x"), text("u"))]);
    let third = query.run(
        &plan,
        OutputMode::Append,
        &[side(&events(), &[(9, Some("z"), 100)]), side(&clicks(), &[(9, None, 100)])],
    );
    assert_eq!(pick(third.unwrap()), [(text("y"), Value::Null), (text("z"), Value::Null)]);
}

#[test]
fn the_matched_flag_outlives_a_change_of_the_join_type() {
    let mut query = Query::default();
    let inner = ranged(JoinKind::Inner, None);
    query
        .run(
            &inner,
            OutputMode::Append,
            &[side(&events(), &[(1, Some("x"), 0), (2, Some("y"), 0)]), side(&clicks(), &[(1, Some("u"), 5)])],
        )
        .unwrap();
    let left = ranged(JoinKind::LeftOuter, None);
    let after = query.run(
        &left,
        OutputMode::Append,
        &[side(&events(), &[(8, Some("w"), 100)]), side(&clicks(), &[(7, Some("t"), 100)])],
    );
    assert_eq!(pick(after.unwrap()), [(text("y"), Value::Null)]);
}

#[test]
fn a_semi_join_gives_each_left_row_once() {
    let plan = ranged(JoinKind::LeftSemi, None);
    let mut query = Query::default();
    let first = query.run(
        &plan,
        OutputMode::Append,
        &[side(&events(), &[(1, Some("x"), 0)]), side(&clicks(), &[(1, Some("u"), 1), (1, Some("v"), 2)])],
    );
    assert_eq!(first.unwrap(), [vec![Value::Long(1), text("x"), at(0)]]);
    let second = query.run(&plan, OutputMode::Append, &[side(&events(), &[]), side(&clicks(), &[(1, Some("w"), 3)])]);
    assert!(second.unwrap().is_empty());
}

#[test]
fn a_predicate_that_trusts_a_column_fails_on_an_old_null() {
    let mut query = Query::default();
    let events_before = side(&events(), &[(1, None, 0)]);
    query.run(&ranged(JoinKind::Inner, None), OutputMode::Append, &[events_before, side(&clicks(), &[])]).unwrap();
    let ([_, v, _], [_, url, _]) = (events(), clicks());
    let stricter = ranged(JoinKind::Inner, Some(Expr::call("!=", vec![column(&v), column(&url)])));
    let inputs = [side(&events(), &[]), side(&clicks(), &[(1, Some("u"), 5)])];
    let after = query.run(&stricter, OutputMode::Append, &inputs);
    assert_eq!(after.unwrap_err().class, "STREAM_FAILED/NULL_POINTER_IN_STATE");
    // From nothing, the filter on the input keeps such rows out of the state.
    let fresh =
        Query::default().run(&stricter, OutputMode::Append, &[side(&events(), &[(1, None, 0)]), inputs[1].clone()]);
    assert!(fresh.unwrap().is_empty());
}

#[test]
fn a_stream_joins_a_table_without_state() {
    let ([id, ..], [cid, ..]) = (events(), clicks());
    let plan = Plan::new(Node::Join {
        left: Box::new(read("events", true, &events())),
        right: Box::new(read("clicks", false, &clicks())),
        kind: JoinKind::LeftOuter,
        on: JoinOn::Condition(Expr::call("=", vec![column(&id), column(&cid)])),
        lateral: false,
    });
    let mut query = Query::default();
    query.tables.0.insert("clicks".to_owned(), side(&clicks(), &[(1, Some("u"), 0)]));
    let output = query.run(&plan, OutputMode::Append, &[side(&events(), &[(1, Some("x"), 0), (2, Some("y"), 0)])]);
    assert_eq!(pick(output.unwrap()), [(text("x"), text("u")), (text("y"), Value::Null)]);
    assert!(query.state.iter().next().is_none());
}

#[test]
fn the_input_watermark_is_what_the_operators_below_let_through() {
    let ([id, ..], _) = (events(), clicks());
    // An aggregation without any watermark never asks for a batch without rows.
    let count = Expr::call("count", vec![Expr::integer(1)]);
    let plan = group_by(vec![column(&id)], vec![column(&id), alias(count, 9, "n")], read("events", true, &events()));
    assert!(!needs_no_data_batch(&plan, 0, 1_000, OutputMode::Update));
    assert!(needs_no_data_batch(&ranged(JoinKind::Inner, None), 0, 1_000, OutputMode::Append));
    assert!(!needs_no_data_batch(&ranged(JoinKind::Inner, None), 1_000, 1_000, OutputMode::Append));
}
