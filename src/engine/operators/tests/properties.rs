use super::*;
use crate::model::{JoinKind, JoinOn, SetOperation, SortKey};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

/// Builds plans from bytes: any bytes give a plan, not always one that Spark would accept.
struct Builder<'a> {
    bytes: std::slice::Iter<'a, u8>,
    next_id: u32,
    streaming: bool,
    stateless: bool,
}

impl Builder<'_> {
    fn pick(&mut self, choices: u8) -> u8 {
        self.bytes.next().copied().unwrap_or(0) % choices
    }

    fn fresh(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    fn leaf(&mut self) -> (Plan, Vec<Attribute>) {
        let mut fresh = |name, data_type| attribute(self.fresh(), name, data_type);
        let columns = vec![fresh("id", DataType::Long), fresh("k", DataType::String), fresh("ts", DataType::Timestamp)];
        (read("events", self.streaming, &columns), columns)
    }

    fn expr(&mut self, columns: &[Attribute], depth: u8) -> Expr {
        let attribute = |builder: &mut Self| {
            let at = usize::from(builder.pick(8)) % columns.len().max(1);
            columns.get(at).map_or_else(Expr::null, column)
        };
        if depth == 0 {
            return attribute(self);
        }
        match self.pick(9) {
            0 => Expr::integer(i64::from(self.pick(20))),
            1 => Expr::string("a"),
            2 => Expr::null(),
            3 => {
                let function = ["+", "=", "<", "and", "concat", "coalesce", "nosuch"][usize::from(self.pick(7))];
                Expr::call(function, vec![self.expr(columns, depth - 1), self.expr(columns, depth - 1)])
            }
            4 => {
                let function = ["upper", "isnull", "not", "abs", "explode", "sum", "year"][usize::from(self.pick(7))];
                Expr::call(function, vec![self.expr(columns, depth - 1)])
            }
            5 => Expr::Cast {
                expr: Box::new(self.expr(columns, depth - 1)),
                to: [DataType::Int, DataType::String, DataType::Date, DataType::Unknown][usize::from(self.pick(4))]
                    .clone(),
                try_cast: self.pick(2) == 0,
            },
            6 => Expr::Case {
                branches: vec![(self.expr(columns, depth - 1), self.expr(columns, depth - 1))],
                otherwise: None,
            },
            _ => attribute(self),
        }
    }

    fn plan(&mut self, depth: u8) -> (Plan, Vec<Attribute>) {
        if depth == 0 {
            return self.leaf();
        }
        let (input, columns) = self.plan(depth - 1);
        let boxed = Box::new(input.clone());
        match self.pick(if self.stateless { 4 } else { 14 }) {
            0 => (input, columns),
            1 => {
                let expr = self.expr(&columns, 3);
                let id = self.fresh();
                let made = attribute(id, "x", DataType::Unknown);
                let mut list: Vec<Expr> = columns.iter().map(column).collect();
                list.push(alias(expr, id, "x"));
                (project(list, input), columns.into_iter().chain([made]).collect())
            }
            2 => (filter(self.expr(&columns, 3), input), columns),
            3 => {
                let many = columns.len();
                let twin = Plan::new(Node::Union {
                    inputs: vec![input.clone(), input],
                    by_name: false,
                    allow_missing: many == 0,
                });
                (twin, columns)
            }
            4 => (Plan::new(Node::Distinct { input: boxed }), columns),
            5 => (
                Plan::new(Node::Deduplicate { keys: None, within_watermark: self.pick(2) == 0, input: boxed }),
                columns,
            ),
            6 => match columns.get(2).cloned() {
                Some(ts) => (watermark(&ts, 10, input), columns),
                None => (input, columns),
            },
            7 => {
                let (right, more) = self.plan(depth - 1);
                let kinds =
                    [JoinKind::Inner, JoinKind::LeftOuter, JoinKind::FullOuter, JoinKind::LeftSemi, JoinKind::Cross];
                let kind = kinds[usize::from(self.pick(5))];
                let all: Vec<Attribute> = columns.iter().chain(&more).cloned().collect();
                let keys = match (columns.first(), more.first()) {
                    (Some(a), Some(b)) => Expr::call("=", vec![column(a), column(b)]),
                    _ => Expr::null(),
                };
                let condition = Expr::call("and", vec![keys, self.expr(&all, 2)]);
                let on = if kind == JoinKind::Cross { JoinOn::None } else { JoinOn::Condition(condition) };
                let joined = Node::Join { left: boxed, right: Box::new(right), kind, on, lateral: self.pick(9) == 0 };
                (Plan::new(joined), if kind == JoinKind::LeftSemi { columns } else { all })
            }
            8 => {
                let key = self.expr(&columns, 1);
                let (key_id, id) = (self.fresh(), self.fresh());
                let function = ["sum", "max", "collect_set", "count", "avg"][usize::from(self.pick(5))];
                let call = Expr::call(function, vec![self.expr(&columns, 1)]);
                let made = vec![attribute(key_id, "key", DataType::Unknown), attribute(id, "s", DataType::Unknown)];
                (group_by(vec![alias(key, key_id, "key")], vec![column(&made[0]), alias(call, id, "s")], input), made)
            }
            9 => (Plan::new(Node::Limit { count: self.expr(&[], 1), input: boxed }), columns),
            10 => {
                let keys = vec![SortKey::new(self.expr(&columns, 1), true)];
                (Plan::new(Node::Sort { keys, global: true, input: boxed }), columns)
            }
            11 => {
                let right = Box::new(input);
                let operation = if self.pick(2) == 0 { SetOperation::Except } else { SetOperation::Intersect };
                (Plan::new(Node::SetOperation { operation, all: self.pick(2) == 0, left: boxed, right }), columns)
            }
            12 => (Plan::new(Node::Sample { description: "10%".into(), input: boxed }), columns),
            _ => (Plan::new(Node::Offset { count: Expr::integer(1), input: boxed }), columns),
        }
    }
}

fn build(bytes: &[u8], streaming: bool, stateless: bool) -> Plan {
    let mut builder = Builder { bytes: bytes.iter(), next_id: 0, streaming, stateless };
    let depth = 1 + builder.pick(5);
    builder.plan(depth).0
}

fn data(cells: &[(i8, u8)]) -> Rows {
    let columns = [
        attribute(0, "id", DataType::Long),
        attribute(0, "k", DataType::String),
        attribute(0, "ts", DataType::Timestamp),
    ];
    let row = |(id, k): &(i8, u8)| {
        let key = if k % 5 == 0 { Value::Null } else { text(["a", "b", "é", "12"][usize::from(k % 4)]) };
        vec![Value::Long(i64::from(*id)), key, at(i64::from(*k))]
    };
    rows(&columns, cells.iter().map(row).collect())
}

fn inputs(plan: &Plan, rows: &Rows) -> Vec<Rows> {
    plan.reads().iter().filter(|read| read.streaming).map(|_| rows.clone()).collect()
}

proptest! {
    #[test]
    fn no_plan_panics_and_each_gives_the_same_twice(
        bytes in vec(any::<u8>(), 0..80),
        first in vec(any::<(i8, u8)>(), 0..8),
        second in vec(any::<(i8, u8)>(), 0..8),
        mode in 0..3usize,
    ) {
        let plan = build(&bytes, true, false);
        let mode = [OutputMode::Append, OutputMode::Update, OutputMode::Complete][mode];
        let run = || {
            let mut query = Query::default();
            let one = query.run(&plan, mode, &inputs(&plan, &data(&first)));
            let two = one.is_ok().then(|| query.run(&plan, mode, &inputs(&plan, &data(&second))));
            (one, two, query.state)
        };
        prop_assert_eq!(run(), run());
        let tables = Fixed([("events".to_owned(), data(&first))].into());
        let batch_plan = build(&bytes, false, false);
        prop_assert_eq!(batch(&batch_plan, &tables), batch(&batch_plan, &tables));
    }

    #[test]
    fn splitting_a_batch_never_changes_a_stateless_result(
        bytes in vec(any::<u8>(), 0..40),
        cells in vec(any::<(i8, u8)>(), 0..10),
        split in 0..10usize,
    ) {
        let plan = build(&bytes, true, true);
        let (first, second) = cells.split_at(split.min(cells.len()));
        let whole = Query::default().run(&plan, OutputMode::Append, &inputs(&plan, &data(&cells)));
        let mut query = Query::default();
        let one = query.run(&plan, OutputMode::Append, &inputs(&plan, &data(first)));
        let two = query.run(&plan, OutputMode::Append, &inputs(&plan, &data(second)));
        prop_assert!(query.state.iter().next().is_none());
        if let (Ok(whole), Ok(mut one), Ok(two)) = (whole, one, two) {
            one.extend(two);
            one.sort();
            prop_assert_eq!(whole, one);
        }
    }
}
