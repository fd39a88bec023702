//! Rewrites that change no row: the laws by which two queries are proven equal, applied wherever they apply.

use pipelint::analyze::expressions_mut;
use pipelint::model::{Call, Expr, Node, Plan, Value};

/// A law of expressions: what stands in an expression's place, where it applies.
type ExprLaw = fn(&Expr) -> Option<Expr>;
/// A law of plans.
type PlanLaw = fn(&Plan) -> Option<Plan>;

pub enum Law {
    Expr(ExprLaw),
    Plan(PlanLaw),
}

/// The plan after a law, at every place that it applies to; none where there is no such place.
pub fn rewritten(plan: &Plan, law: &Law) -> Option<Plan> {
    let mut rewritten = plan.clone();
    let mut applied = false;
    apply(&mut rewritten, law, &mut applied);
    applied.then_some(rewritten)
}

fn apply(plan: &mut Plan, law: &Law, applied: &mut bool) {
    for input in plan.inputs_mut() {
        apply(input, law, applied);
    }
    match law {
        // The order of a join's keys is that of its state.
        Law::Expr(_) if matches!(plan.node, Node::Join { .. }) => {}
        Law::Expr(law) => expressions_mut(plan, &mut |expr| {
            let taken = std::mem::replace(expr, Expr::null());
            *expr = apply_to_expr(taken, *law, applied);
        }),
        Law::Plan(law) => {
            if let Some(other) = law(plan) {
                *plan = other;
                *applied = true;
            }
        }
    }
}

fn apply_to_expr(expr: Expr, law: ExprLaw, applied: &mut bool) -> Expr {
    let expr = expr.map_children(&mut |child| apply_to_expr(child, law, applied));
    match law(&expr) {
        Some(other) => {
            *applied = true;
            other
        }
        None => expr,
    }
}

fn binary<'e>(expr: &'e Expr, operator: &str) -> Option<(&'e Expr, &'e Expr)> {
    match expr {
        Expr::Call(Call { function, args, distinct: false, filter: None, .. }) if function.as_ref() == operator => {
            match args.as_slice() {
                [a, b] => Some((a, b)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn unary<'e>(expr: &'e Expr, function: &str) -> Option<&'e Expr> {
    match expr {
        Expr::Call(call) if call.function.as_ref() == function => match call.args.as_slice() {
            [only] => Some(only),
            _ => None,
        },
        _ => None,
    }
}

fn call(function: &str, args: &[&Expr]) -> Expr {
    Expr::call(function, args.iter().map(|arg| (*arg).clone()).collect())
}

fn turned(expr: &Expr, operator: &str, other: &str) -> Option<Expr> {
    binary(expr, operator).map(|(a, b)| call(other, &[b, a]))
}

fn negated(expr: &Expr, operator: &str, opposite: &str) -> Option<Expr> {
    binary(expr, operator).map(|(a, b)| call("not", &[&call(opposite, &[a, b])]))
}

/// `(a · b) · c` as `a · (b · c)`.
fn associated(expr: &Expr, operator: &str) -> Option<Expr> {
    let (left, c) = binary(expr, operator)?;
    let (a, b) = binary(left, operator)?;
    Some(call(operator, &[a, &call(operator, &[b, c])]))
}

fn in_list(expr: &Expr, rearrange: fn(&mut Vec<Expr>)) -> Option<Expr> {
    let Expr::Call(found) = expr else { return None };
    if found.function.as_ref() != "in" || found.args.len() < 3 {
        return None;
    }
    let mut args = found.args.clone();
    let mut list = args.split_off(1);
    rearrange(&mut list);
    args.extend(list);
    Some(Expr::Call(Call { args, ..found.clone() }))
}

fn filter(plan: &Plan) -> Option<(&Expr, &Plan)> {
    match &plan.node {
        Node::Filter { condition, input } => Some((condition, input)),
        _ => None,
    }
}

fn with_condition(plan: &Plan, condition: Expr, input: Plan) -> Plan {
    Plan { node: Node::Filter { condition, input: Box::new(input) }, ..plan.clone() }
}

/// A query below an alias that nothing refers to.
fn aliased(plan: &Plan) -> Option<Plan> {
    let Node::Project { input, list } = &plan.node else { return None };
    let below = Node::SubqueryAlias { alias: "only_here".into(), columns: Vec::new(), input: input.clone() };
    let plain = !matches!(input.node, Node::Join { .. } | Node::SubqueryAlias { .. } | Node::With { .. });
    let named = list.iter().all(|column| !qualified(column));
    (plain && named)
        .then(|| Plan { node: Node::Project { list: list.clone(), input: Box::new(Plan::new(below)) }, ..plan.clone() })
}

fn qualified(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| match inner {
        Expr::Column(column) => found |= column.parts.len() > 1 || column.frame.is_some(),
        Expr::Star { qualifier, .. } => found |= !qualifier.is_empty(),
        Expr::Subquery { .. } => found = true,
        _ => {}
    });
    found
}

/// Every law, by name.
pub fn laws() -> Vec<(&'static str, Law)> {
    let expr = |name, law: ExprLaw| (name, Law::Expr(law));
    let plan = |name, law: PlanLaw| (name, Law::Plan(law));
    vec![
        expr("a = b as b = a", |e| turned(e, "=", "=")),
        expr("a <=> b as b <=> a", |e| turned(e, "<=>", "<=>")),
        expr("a != b as b != a", |e| turned(e, "!=", "!=")),
        expr("a + b as b + a", |e| turned(e, "+", "+")),
        expr("a * b as b * a", |e| turned(e, "*", "*")),
        expr("a & b as b & a", |e| turned(e, "&", "&")),
        expr("a | b as b | a", |e| turned(e, "|", "|")),
        expr("a ^ b as b ^ a", |e| turned(e, "^", "^")),
        expr("a and b as b and a", |e| turned(e, "and", "and")),
        expr("a or b as b or a", |e| turned(e, "or", "or")),
        expr("a > b as b < a", |e| turned(e, ">", "<")),
        expr("a >= b as b <= a", |e| turned(e, ">=", "<=")),
        expr("a < b as b > a", |e| turned(e, "<", ">")),
        expr("a <= b as b >= a", |e| turned(e, "<=", ">=")),
        expr("a = b as not a != b", |e| negated(e, "=", "!=")),
        expr("a != b as not a = b", |e| negated(e, "!=", "=")),
        expr("a > b as not a <= b", |e| negated(e, ">", "<=")),
        expr("a >= b as not a < b", |e| negated(e, ">=", "<")),
        expr("a < b as not a >= b", |e| negated(e, "<", ">=")),
        expr("a <= b as not a > b", |e| negated(e, "<=", ">")),
        expr("a is null as not a is not null", |e| Some(call("not", &[&call("isnotnull", &[unary(e, "isnull")?])]))),
        expr("a is not null as not a is null", |e| Some(call("not", &[&call("isnull", &[unary(e, "isnotnull")?])]))),
        expr("(a and b) and c as a and (b and c)", |e| associated(e, "and")),
        expr("(a or b) or c as a or (b or c)", |e| associated(e, "or")),
        expr("a and b as a and b and b", |e| binary(e, "and").map(|(_, b)| call("and", &[e, b]))),
        expr("a or b as a or b or b", |e| binary(e, "or").map(|(_, b)| call("or", &[e, b]))),
        expr("a list of values in another order", |e| in_list(e, |list| list.reverse())),
        expr("a value of a list twice", |e| in_list(e, |list| list.extend(list.first().cloned()))),
        expr("if as case", |e| {
            let Expr::Call(call) = e else { return None };
            match call.args.as_slice() {
                [when, then, otherwise] if call.function.as_ref() == "if" => Some(Expr::Case {
                    branches: vec![(when.clone(), then.clone())],
                    otherwise: Some(Box::new(otherwise.clone())),
                }),
                _ => None,
            }
        }),
        expr("case of one branch as if", |e| match e {
            Expr::Case { branches, otherwise: Some(otherwise) } => match branches.as_slice() {
                [(when, then)] => Some(call("if", &[when, then, otherwise])),
                _ => None,
            },
            _ => None,
        }),
        expr("a = 'x' as a in ('x')", |e| {
            let (a, b) = binary(e, "=")?;
            matches!(b, Expr::Literal { value: Value::String(_), .. }).then(|| call("in", &[a, b]))
        }),
        // Not in the place of an output column, which would have another name.
        expr("columns in capital letters", |e| {
            let Expr::Call(call) = e else { return None };
            let capital = |arg: &Expr| match arg {
                Expr::Column(column) if column.frame.is_none() => {
                    let parts = column.parts.iter().map(|part| part.to_uppercase()).collect();
                    Expr::Column(pipelint::model::ColumnName { parts, ..column.clone() })
                }
                other => other.clone(),
            };
            let named = call.function.as_ref() == "struct";
            (!named && call.args.iter().any(|arg| matches!(arg, Expr::Column(_))))
                .then(|| Expr::Call(Call { args: call.args.iter().map(capital).collect(), ..call.clone() }))
        }),
        expr("functions by another of their names", |e| {
            let Expr::Call(call) = e else { return None };
            let names = pipelint::functions::lookup(&call.function)?.names;
            let other = names.iter().find(|name| **name != call.function.as_ref())?;
            Some(Expr::Call(Call { function: (*other).into(), ..call.clone() }))
        }),
        expr("partitions of a window in another order", |e| match e {
            Expr::Window { call, spec } if spec.partition_by.len() > 1 => {
                let mut spec = spec.clone();
                spec.partition_by.reverse();
                Some(Expr::Window { call: call.clone(), spec })
            }
            _ => None,
        }),
        plan("one filter as two", |p| {
            let (condition, input) = filter(p)?;
            let (a, b) = binary(condition, "and")?;
            Some(with_condition(p, a.clone(), with_condition(p, b.clone(), input.clone())))
        }),
        plan("two filters as one", |p| {
            let (a, below) = filter(p)?;
            let (b, input) = filter(below)?;
            Some(with_condition(p, call("and", &[a, b]), input.clone()))
        }),
        plan("two filters exchanged", |p| {
            let (a, below) = filter(p)?;
            let (b, input) = filter(below)?;
            Some(with_condition(p, b.clone(), with_condition(p, a.clone(), input.clone())))
        }),
        // A filter right above a select may name columns that the select leaves out.
        plan("a filter twice", |p| {
            let (condition, _) = filter(p).filter(|(_, input)| !matches!(input.node, Node::Project { .. }))?;
            Some(with_condition(p, condition.clone(), p.clone()))
        }),
        plan("a filter and true", |p| {
            let (condition, input) = filter(p)?;
            let always = Expr::literal(Value::Boolean(true), pipelint::model::DataType::Boolean);
            Some(with_condition(p, call("and", &[condition, &always]), input.clone()))
        }),
        plan("an alias around what is selected from", aliased),
        plan("truth values of options in capital letters", |p| {
            let Node::Read(read) = &p.node else { return None };
            let mut read = read.clone();
            let truths = read.options.values_mut().filter(|value| matches!(value.as_str(), "true" | "false"));
            let changed = truths.map(|value| *value = value.to_uppercase()).count();
            (changed > 0).then(|| Plan { node: Node::Read(read), ..p.clone() })
        }),
        plan("options that only say how to reach a source", |p| {
            let Node::Read(read) = &p.node else { return None };
            let mut read = read.clone();
            read.options.insert("validateoptions".to_owned(), "true".to_owned());
            Some(Plan { node: Node::Read(read), ..p.clone() })
        }),
    ]
}
