use super::*;

fn events() -> [Attribute; 3] {
    [attribute(1, "k", DataType::String), attribute(2, "amt", DataType::Long), attribute(3, "ts", DataType::Timestamp)]
}

fn windowed(function: &str, width: &str) -> Plan {
    let [k, amt, ts] = events();
    let window = Expr::call("window", vec![column(&ts), Expr::string(width)]);
    let start = Expr::call("getfield", vec![window.clone(), Expr::string("start")]);
    let value = Expr::call(function, vec![column(&amt)]);
    group_by(
        vec![window, column(&k)],
        vec![alias(start, 10, "ws"), column(&k), alias(value, 11, "s")],
        watermark(&ts, 10, read("events", true, &events())),
    )
}

fn input(data: &[(&str, i64, i64)]) -> Rows {
    rows(&events(), data.iter().map(|(k, amt, ts)| vec![text(k), Value::Long(*amt), at(*ts)]).collect())
}

#[test]
fn append_emits_a_window_when_the_watermark_passes_its_end_and_drops_late_rows() {
    let mut query = Query::default();
    let plan = windowed("sum", "10 minutes");
    let first =
        query.run(&plan, OutputMode::Append, &[input(&[("a", 5, 0), ("a", -3, 1), ("b", 7, 2), ("A", 12, 20)])]);
    assert_eq!(first.unwrap(), [vec![at(0), text("a"), Value::Long(2)], vec![at(0), text("b"), Value::Long(7)]]);
    // Minute 5 is late (the watermark stands at 10), minute 19 is not.
    let second =
        query.run(&plan, OutputMode::Append, &[input(&[("b", 20, 5), ("a", 5, 19), ("A", 12, 20), ("a", 1, 50)])]);
    assert_eq!(second.unwrap(), [vec![at(10), text("a"), Value::Long(5)], vec![at(20), text("A"), Value::Long(24)]]);
}

#[test]
fn another_aggregate_with_equal_buffer_types_takes_the_old_state_as_its_own() {
    let mut query = Query::default();
    query.run(&windowed("sum", "10 minutes"), OutputMode::Append, &[input(&[("a", 5, 20), ("a", 4, 21)])]).unwrap();
    let after = query.run(&windowed("max", "10 minutes"), OutputMode::Append, &[input(&[("a", 6, 22), ("z", 1, 50)])]);
    // The sum 9 of the first batch counts as a maximum.
    assert_eq!(after.unwrap(), [vec![at(20), text("a"), Value::Long(9)]]);
}

#[test]
fn a_buffer_of_another_layout_ends_early() {
    let mut query = Query::default();
    query.run(&windowed("collect_list", "10 minutes"), OutputMode::Append, &[input(&[("a", 5, 20)])]).unwrap();
    let after = query.run(&windowed("median", "10 minutes"), OutputMode::Append, &[input(&[("a", 6, 22)])]);
    assert_eq!(after.unwrap_err().class, "STREAM_FAILED/EOFException");
}

#[test]
fn sliding_windows_count_a_row_in_each() {
    let mut query = Query::default();
    let [k, amt, ts] = events();
    let window = Expr::call("window", vec![column(&ts), Expr::string("10 minutes"), Expr::string("5 minutes")]);
    let start = Expr::call("getfield", vec![window.clone(), Expr::string("start")]);
    let plan = group_by(
        vec![window],
        vec![alias(start, 10, "ws"), alias(Expr::call("sum", vec![column(&amt)]), 11, "s")],
        watermark(&ts, 10, read("events", true, &[k, amt, ts.clone()])),
    );
    let output = query.run(&plan, OutputMode::Append, &[input(&[("a", 1, 3), ("a", 2, 7), ("a", 0, 60)])]).unwrap();
    assert_eq!(output, [vec![at(-5), Value::Long(1)], vec![at(0), Value::Long(3)], vec![at(5), Value::Long(2)]]);
}

#[test]
fn sessions_merge_over_batches() {
    let mut query = Query::default();
    let [k, amt, ts] = events();
    let session = Expr::call("session_window", vec![column(&ts), Expr::string("5 minutes")]);
    let bound = |name: &str| Expr::call("getfield", vec![session.clone(), Expr::string(name)]);
    let plan = group_by(
        vec![session.clone(), column(&k)],
        vec![
            alias(bound("start"), 10, "from"),
            alias(bound("end"), 11, "to"),
            alias(Expr::call("sum", vec![column(&amt)]), 12, "s"),
        ],
        watermark(&ts, 10, read("events", true, &events())),
    );
    let first = query.run(&plan, OutputMode::Append, &[input(&[("a", 1, 20), ("a", 2, 30)])]).unwrap();
    assert!(first.is_empty());
    // Minute 25 touches the session that ends there and reaches into the one that begins at 30.
    let second = query.run(&plan, OutputMode::Append, &[input(&[("a", 4, 25), ("a", 8, 90)])]).unwrap();
    assert_eq!(second, [vec![at(20), at(35), Value::Long(7)]]);
}

#[test]
fn update_gives_changed_groups_and_complete_gives_all() {
    let [k, amt, _] = events();
    let plan = group_by(
        vec![column(&k)],
        vec![column(&k), alias(Expr::call("count", vec![column(&amt)]), 10, "n")],
        read("events", true, &events()),
    );
    let mut update = Query::default();
    update.run(&plan, OutputMode::Update, &[input(&[("a", 1, 0), ("b", 1, 0)])]).unwrap();
    let changed = update.run(&plan, OutputMode::Update, &[input(&[("a", 1, 0)])]).unwrap();
    assert_eq!(changed, [vec![text("a"), Value::Long(2)]]);
    let mut complete = Query::default();
    complete.run(&plan, OutputMode::Complete, &[input(&[("a", 1, 0), ("b", 1, 0)])]).unwrap();
    let all = complete.run(&plan, OutputMode::Complete, &[input(&[("a", 1, 0)])]).unwrap();
    assert_eq!(all, [vec![text("a"), Value::Long(2)], vec![text("b"), Value::Long(1)]]);
    let append = Query::default().run(&plan, OutputMode::Append, &[input(&[])]);
    assert_eq!(append.unwrap_err().class, "_LEGACY_ERROR_TEMP_3102");
}

#[test]
fn rollup_adds_totals() {
    let [k, amt, ts] = events();
    let rollup = Plan::new(Node::Aggregate {
        groupings: vec![column(&k)],
        sets: GroupingSets::Rollup,
        outputs: vec![
            column(&k),
            alias(Expr::call("grouping", vec![column(&k)]), 10, "g"),
            alias(Expr::call("sum", vec![column(&amt)]), 11, "s"),
        ],
        having: None,
        input: Box::new(read("events", false, &[k, amt, ts])),
    });
    let tables = Fixed([("events".to_owned(), input(&[("a", 1, 0), ("b", 2, 0), ("a", 4, 0)]))].into());
    assert_eq!(
        batch(&rollup, &tables).unwrap(),
        [
            vec![Value::Null, Value::Byte(1), Value::Long(7)],
            vec![text("a"), Value::Byte(0), Value::Long(5)],
            vec![text("b"), Value::Byte(0), Value::Long(2)],
        ]
    );
}

#[test]
fn a_global_aggregate_of_nothing_has_one_row() {
    let [k, amt, ts] = events();
    let count = Expr::call("count", vec![Expr::integer(1)]);
    let plan = group_by(vec![], vec![alias(count, 10, "n")], read("events", false, &[k, amt, ts]));
    let tables = Fixed([("events".to_owned(), input(&[]))].into());
    assert_eq!(batch(&plan, &tables).unwrap(), [vec![Value::Long(0)]]);
}
