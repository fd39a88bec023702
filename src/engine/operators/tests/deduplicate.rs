use super::*;

fn events() -> [Attribute; 2] {
    [attribute(1, "k", DataType::String), attribute(3, "ts", DataType::Timestamp)]
}

fn input(data: &[(&str, i64)]) -> Rows {
    rows(&events(), data.iter().map(|(k, ts)| vec![text(k), at(*ts)]).collect())
}

fn deduplicate(keys: &[&Attribute], within_watermark: bool, input: Plan) -> Plan {
    let keys = Some(keys.iter().map(|key| column(key)).collect());
    Plan::new(Node::Deduplicate { keys, within_watermark, input: Box::new(input) })
}

#[test]
fn keys_are_remembered_over_batches() {
    let [k, _] = events();
    let plan = deduplicate(&[&k], false, read("events", true, &events()));
    let mut query = Query::default();
    assert_eq!(
        query.run(&plan, OutputMode::Append, &[input(&[("a", 0), ("a", 1)])]).unwrap(),
        [vec![text("a"), at(0)]]
    );
    let second = query.run(&plan, OutputMode::Append, &[input(&[("a", 2), ("b", 2)])]).unwrap();
    assert_eq!(second, [vec![text("b"), at(2)]]);
}

#[test]
fn late_rows_are_dropped_and_keys_with_an_event_time_forgotten() {
    let [k, ts] = events();
    let plan = deduplicate(&[&k, &ts], false, watermark(&ts, 10, read("events", true, &events())));
    let mut query = Query::default();
    query.run(&plan, OutputMode::Append, &[input(&[("a", 0), ("a", 20)])]).unwrap();
    let left: Vec<_> = query.state.iter().flat_map(|(_, store)| store.iter().map(|(key, _)| key.to_vec())).collect();
    assert_eq!(left, [vec![text("a"), at(20)]]);
    let second = query.run(&plan, OutputMode::Append, &[input(&[("z", 9), ("z", 11)])]).unwrap();
    assert_eq!(second, [vec![text("z"), at(11)]]);
}

#[test]
fn within_the_watermark_a_key_expires() {
    let [k, ts] = events();
    let plan = deduplicate(&[&k], true, watermark(&ts, 10, read("events", true, &events())));
    let mut query = Query::default();
    query.run(&plan, OutputMode::Append, &[input(&[("a", 0), ("b", 15)])]).unwrap();
    // `a` expires at minute 10: the watermark stands at 5, then passes it.
    let second = query.run(&plan, OutputMode::Append, &[input(&[("a", 6), ("c", 21)])]).unwrap();
    assert_eq!(second, [vec![text("c"), at(21)]]);
    let third = query.run(&plan, OutputMode::Append, &[input(&[("a", 22), ("b", 22)])]).unwrap();
    assert_eq!(third, [vec![text("a"), at(22)]]);
}

#[test]
fn a_limit_counts_over_batches() {
    let plan = Plan::new(Node::Limit { count: Expr::integer(3), input: Box::new(read("events", true, &events())) });
    let mut query = Query::default();
    assert_eq!(query.run(&plan, OutputMode::Append, &[input(&[("a", 0), ("b", 1)])]).unwrap().len(), 2);
    assert_eq!(
        query.run(&plan, OutputMode::Append, &[input(&[("c", 0), ("d", 1)])]).unwrap(),
        [vec![text("c"), at(0)]]
    );
    assert!(query.run(&plan, OutputMode::Append, &[input(&[("e", 0)])]).unwrap().is_empty());
}
