use super::*;
use crate::model::{JoinKind, JoinOn, SetOperation, SortKey, SubqueryKind, WindowSpec};

fn left() -> [Attribute; 2] {
    [attribute(1, "k", DataType::Int), attribute(2, "v", DataType::String)]
}

fn right() -> [Attribute; 2] {
    [attribute(3, "k", DataType::Int), attribute(4, "w", DataType::String)]
}

fn table(columns: &[Attribute], data: &[(Option<i32>, &str)]) -> Rows {
    rows(columns, data.iter().map(|(k, v)| vec![k.map_or(Value::Null, Value::Int), text(v)]).collect())
}

fn tables() -> Fixed {
    Fixed(
        [
            ("l".to_owned(), table(&left(), &[(Some(1), "a"), (Some(2), "b"), (None, "c"), (Some(1), "a")])),
            ("r".to_owned(), table(&right(), &[(Some(1), "x"), (Some(3), "y"), (None, "z")])),
        ]
        .into(),
    )
}

fn join(kind: JoinKind, null_safe: bool) -> Plan {
    let operator = if null_safe { "<=>" } else { "=" };
    Plan::new(Node::Join {
        left: Box::new(read("l", false, &left())),
        right: Box::new(read("r", false, &right())),
        kind,
        on: JoinOn::Condition(Expr::call(operator, vec![column(&left()[0]), column(&right()[0])])),
        lateral: false,
    })
}

#[test]
fn joins_of_all_kinds_count_as_in_sql() {
    for (kind, null_safe, count) in [
        (JoinKind::Inner, false, 2),
        (JoinKind::Inner, true, 3),
        (JoinKind::LeftOuter, false, 4),
        (JoinKind::RightOuter, false, 4),
        (JoinKind::FullOuter, false, 6),
        (JoinKind::LeftSemi, false, 2),
        (JoinKind::LeftAnti, false, 2),
    ] {
        assert_eq!(batch(&join(kind, null_safe), &tables()).unwrap().len(), count, "{kind:?} {null_safe}");
    }
}

#[test]
fn a_correlated_subquery_sees_the_row_around_it() {
    let inner = filter(Expr::call("=", vec![column(&right()[0]), column(&left()[0])]), read("r", false, &right()));
    let scalar = Expr::Subquery {
        kind: SubqueryKind::Scalar,
        plan: Box::new(group_by(vec![], vec![alias(Expr::call("max", vec![column(&right()[1])]), 9, "m")], inner)),
    };
    let plan = project(vec![column(&left()[1]), alias(scalar, 10, "m")], read("l", false, &left()));
    assert_eq!(
        batch(&plan, &tables()).unwrap(),
        [
            vec![text("a"), text("x")],
            vec![text("a"), text("x")],
            vec![text("b"), Value::Null],
            vec![text("c"), Value::Null]
        ]
    );
}

#[test]
fn not_in_a_list_with_null_holds_for_nothing() {
    let not_in = Expr::Subquery {
        kind: SubqueryKind::In { operands: vec![column(&left()[0])], negated: true },
        plan: Box::new(project(vec![column(&right()[0])], read("r", false, &right()))),
    };
    assert!(batch(&filter(not_in, read("l", false, &left())), &tables()).unwrap().is_empty());
}

#[test]
fn set_operations_keep_multiplicity_only_with_all() {
    let operation = |operation, all| {
        let keys = |columns: &[Attribute; 2], name| project(vec![column(&columns[0])], read(name, false, columns));
        let plan = Plan::new(Node::SetOperation {
            operation,
            all,
            left: Box::new(keys(&left(), "l")),
            right: Box::new(keys(&right(), "r")),
        });
        batch(&plan, &tables()).unwrap()
    };
    let one = vec![Value::Int(1)];
    let two = vec![Value::Int(2)];
    let null = vec![Value::Null];
    assert_eq!(operation(SetOperation::Intersect, false), [null.clone(), one.clone()]);
    assert_eq!(operation(SetOperation::Except, false), std::slice::from_ref(&two));
    assert_eq!(operation(SetOperation::Except, true), [one, two]);
    assert_eq!(operation(SetOperation::Intersect, true), [null, vec![Value::Int(1)]]);
}

#[test]
fn window_functions_see_their_partition_in_order() {
    let [k, v] = left();
    let spec =
        WindowSpec { partition_by: vec![column(&k)], order_by: vec![SortKey::new(column(&v), false)], frame: None };
    let over = |call: Expr, id, name| alias(Expr::Window { call: Box::new(call), spec: spec.clone() }, id, name);
    let plan = Plan::new(Node::Window {
        functions: vec![
            over(Expr::call("row_number", vec![]), 10, "n"),
            over(Expr::call("count", vec![Expr::integer(1)]), 11, "c"),
        ],
        input: Box::new(read("l", false, &left())),
    });
    let output = batch(&plan, &tables()).unwrap();
    // Both rows of key 1 are peers: the running count has both at once.
    assert_eq!(output[1], vec![Value::Int(1), text("a"), Value::Int(1), Value::Long(2)]);
    assert_eq!(output[2], vec![Value::Int(1), text("a"), Value::Int(2), Value::Long(2)]);
}

#[test]
fn explode_outer_keeps_rows_without_items() {
    let [k, v] = left();
    let split = Expr::call("split", vec![column(&v), Expr::string("a")]);
    let made = attribute(9, "item", DataType::String);
    let empty =
        Expr::Case { branches: vec![(Expr::call("=", vec![column(&k), Expr::integer(1)]), split)], otherwise: None };
    let plan = |outer| {
        Plan::new(Node::Generate {
            generator: Expr::call("explode", vec![empty.clone()]),
            outer,
            qualifier: None,
            names: vec!["item".into()],
            output: vec![column(&made)],
            input: Box::new(read("l", false, &left())),
        })
    };
    assert_eq!(batch(&plan(false), &tables()).unwrap().len(), 4);
    assert_eq!(batch(&plan(true), &tables()).unwrap().len(), 6);
}

#[test]
fn errors_carry_sparks_class() {
    let divide = Expr::call("/", vec![column(&left()[0]), Expr::integer(0)]);
    let plan = project(vec![alias(divide, 9, "x")], read("l", false, &left()));
    assert_eq!(batch(&plan, &tables()).unwrap_err().class, "DIVIDE_BY_ZERO");
    let missing = read("nowhere", false, &left());
    assert_eq!(batch(&missing, &tables()).unwrap_err().class, "TABLE_OR_VIEW_NOT_FOUND");
}

#[test]
fn deep_plans_and_expressions_are_executed_or_refused_and_never_overflow() {
    let deep = |levels: usize| {
        let mut condition = Expr::call("isnull", vec![column(&left()[0])]);
        for _ in 0..levels {
            condition = Expr::call("not", vec![condition]);
        }
        condition
    };
    let nested = |levels: usize, condition: &Expr| {
        let mut plan = read("l", false, &left());
        for _ in 0..levels {
            plan = filter(condition.clone(), plan);
        }
        plan
    };
    assert_eq!(batch(&nested(120, &deep(250)), &tables()).unwrap().len(), 1);
    assert!(batch(&nested(1, &deep(400)), &tables()).unwrap_err().is_unsupported());
    assert!(batch(&nested(400, &deep(1)), &tables()).unwrap_err().is_unsupported());
}
