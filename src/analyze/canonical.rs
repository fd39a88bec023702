//! Canonical text of expressions and plans: equal for what is equal up to harmless rewriting.
//!
//! Columns are written out down to the sources (`main.raw.events.amt`), so that aliases, CTEs and views in between leave no trace.
//! Operands of commutative operators are sorted, `a > b` is written `b < a`, lambda parameters are numbered. Texts that grow
//! too long (an alias that doubles itself twenty times) are cut to a hash, which compares as well.

use super::optimize::conjuncts;
use super::output::output;
use super::state::aggregate_calls;
use crate::functions;
use crate::model::{
    AttrId, Attribute, Call, DataType, Expr, Frame, FrameBound, GroupingSets, JoinKind, JoinOn, Node, Opaque, Plan,
    Read, SortKey, Source, SubqueryKind, Value, WindowSpec,
};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Longer texts become hashes.
const MAX_TEXT: usize = 4_000;

/// Texts of the columns of one plan.
pub(super) struct Canonical {
    columns: BTreeMap<AttrId, String>,
    /// Sources by text, with how often each was met.
    sources: BTreeMap<String, usize>,
    /// Marks the sources of subqueries, one prime a level, so that their numbers do not hang on the queries around them.
    primes: String,
}

impl Canonical {
    /// Texts for every column that a resolved or optimized plan defines.
    pub fn of(plan: &Plan) -> Self {
        let mut canonical = Canonical { columns: BTreeMap::new(), sources: BTreeMap::new(), primes: String::new() };
        canonical.define(plan);
        canonical
    }

    /// Defines the columns of a plan, leaves first.
    fn define(&mut self, plan: &Plan) {
        for expr in plan.expressions() {
            self.define_subqueries(expr);
        }
        for input in plan.inputs() {
            self.define(input);
        }
        match &plan.node {
            Node::Read(read) => {
                let name = self.source_name(read);
                for column in &read.output {
                    self.columns.insert(column.id, format!("{name}.{}", column.name.to_lowercase()));
                }
            }
            Node::Project { list, .. }
            | Node::Aggregate { outputs: list, .. }
            | Node::Window { functions: list, .. } => {
                self.define_aliases(list);
            }
            Node::Generate { generator, outer, output, .. } => {
                let text = self.generator(generator, *outer);
                for (index, column) in output.iter().enumerate() {
                    if let Expr::Attribute(a) = column {
                        self.columns.insert(a.id, format!("{text}[{index}]"));
                    }
                }
            }
            Node::Union { inputs, .. } => {
                let branches: Vec<Vec<String>> = inputs
                    .iter()
                    .map(|input| output(input).iter().map(|a| self.column(a.id, &a.name)).collect())
                    .collect();
                for (index, column) in plan.output.iter().enumerate() {
                    let texts: Vec<&str> = branches.iter().map(|b| b.get(index).map_or("", String::as_str)).collect();
                    self.columns.insert(column.id, bounded(format!("union({})", texts.join(", "))));
                }
            }
            Node::Values { .. } | Node::Range { .. } => {
                let text = self.plan(plan);
                for column in &plan.output {
                    self.columns.insert(column.id, format!("{text}.{}", column.name.to_lowercase()));
                }
            }
            Node::Opaque { function, .. } => self.define_made(plan, &opaque_name(function)),
            Node::StatefulMap { function, .. } => {
                let name = format!("{}:{}", function.operator, opaque_name(&function.function));
                self.define_made(plan, &name);
            }
            Node::Unpivot { .. } => self.define_made(plan, "unpivot"),
            _ => {}
        }
    }

    fn define_made(&mut self, plan: &Plan, name: &str) {
        for column in &plan.output {
            self.columns.insert(column.id, format!("{name}.{}", column.name.to_lowercase()));
        }
    }

    fn define_aliases(&mut self, list: &[Expr]) {
        for entry in list {
            if let Expr::Alias { expr, id, .. } = entry {
                let text = self.expr(expr);
                self.columns.insert(*id, text);
            }
        }
    }

    fn define_subqueries(&mut self, expr: &Expr) {
        let mut plans = Vec::new();
        expr.walk(&mut |e| {
            if let Expr::Subquery { plan, .. } = e {
                plans.push(plan.as_ref());
            }
        });
        for plan in plans {
            let around = std::mem::take(&mut self.sources);
            self.primes.push('\'');
            self.define(plan);
            self.primes.pop();
            self.sources = around;
        }
    }

    fn source_name(&mut self, read: &Read) -> String {
        let text = source_text(&read.source, read) + &self.primes;
        let count = self.sources.entry(text.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { text } else { format!("{text}#{count}") }
    }

    fn column(&self, id: AttrId, name: &str) -> String {
        self.columns.get(&id).cloned().unwrap_or_else(|| name.to_lowercase())
    }

    /// Text of an expression.
    pub fn expr(&self, expr: &Expr) -> String {
        bounded(self.text(expr, &[]))
    }

    fn text(&self, expr: &Expr, lambda: &[&str]) -> String {
        match expr {
            Expr::Attribute(a) => self.column(a.id, &a.name),
            Expr::Column(column) => format!("?{}", column.parts.join(".").to_lowercase()),
            Expr::Literal { value, data_type } => literal(value, data_type),
            Expr::Alias { expr, .. } | Expr::MultiAlias { expr, .. } => self.text(expr, lambda),
            Expr::Call(call) => bounded(self.call(call, lambda)),
            Expr::Cast { expr, to, try_cast } => {
                format!("{}({} as {to})", if *try_cast { "try_cast" } else { "cast" }, self.text(expr, lambda))
            }
            Expr::Case { branches, otherwise } => {
                let mut text = "case".to_owned();
                for (when, then) in branches {
                    text.push_str(&format!(" when {} then {}", self.text(when, lambda), self.text(then, lambda)));
                }
                if let Some(otherwise) = otherwise {
                    text.push_str(&format!(" else {}", self.text(otherwise, lambda)));
                }
                bounded(text + " end")
            }
            Expr::Lambda { params, body } => {
                let mut inner = lambda.to_vec();
                inner.extend(params.iter().map(AsRef::as_ref));
                format!("lambda{}({})", params.len(), self.text(body, &inner))
            }
            Expr::LambdaVariable { name, .. } => match lambda.iter().rposition(|p| *p == name.as_ref()) {
                Some(index) => format!("${index}"),
                None => name.to_string(),
            },
            Expr::Window { call, spec } => {
                bounded(format!("{} over ({})", self.text(call, lambda), self.spec(spec, lambda)))
            }
            Expr::Subquery { kind, plan } => self.subquery(kind, plan, lambda),
            Expr::Opaque(opaque) => {
                let args: Vec<String> = opaque.args.iter().map(|a| self.text(a, lambda)).collect();
                format!("{}({})", opaque_name(opaque), args.join(", "))
            }
            Expr::Star { .. } => "*".to_owned(),
            Expr::ColumnRegex(pattern) => format!("`{pattern}`"),
        }
    }

    fn call(&self, call: &Call, lambda: &[&str]) -> String {
        let name: &str = match functions::lookup(&call.function) {
            Some(function) => function.name(),
            None => &call.function,
        };
        let texts = || call.args.iter().map(|a| self.text(a, lambda)).collect::<Vec<_>>();
        match (name, call.args.as_slice()) {
            ("and" | "or", _) => {
                let mut parts: Vec<String> = Vec::new();
                flatten(call, name, &mut |arg| parts.push(self.text(arg, lambda)));
                parts.sort();
                parts.dedup();
                format!("({})", parts.join(&format!(" {name} ")))
            }
            ("=" | "<=>" | "!=" | "+" | "*" | "&" | "|" | "^", [a, b]) => {
                format!("({})", self.commuted(a, b, lambda).join(&format!(" {name} ")))
            }
            ("<" | "<=" | ">" | ">=", [a, b]) => self.ordering(name, a, b, lambda),
            ("-" | "/" | "%" | "div", [a, b]) => {
                format!("({} {name} {})", self.text(a, lambda), self.text(b, lambda))
            }
            ("not", [inner]) => self.negation(inner, lambda),
            ("isnull", [a]) => format!("({} is null)", self.text(a, lambda)),
            ("isnotnull", [a]) => format!("({} is not null)", self.text(a, lambda)),
            ("getfield", [base, Expr::Literal { value: Value::String(field), .. }]) => {
                format!("{}.{}", self.text(base, lambda), field.to_lowercase())
            }
            ("getitem", [base, index]) => format!("{}[{}]", self.text(base, lambda), self.text(index, lambda)),
            ("in", [value, list @ ..]) => {
                let mut items: Vec<String> = list.iter().map(|e| self.text(e, lambda)).collect();
                items.sort();
                items.dedup();
                match list {
                    [only, ..] if items.len() == 1 => {
                        format!("({})", self.commuted(value, only, lambda).join(" = "))
                    }
                    _ => format!("({} in ({}))", self.text(value, lambda), items.join(", ")),
                }
            }
            ("if", [condition, then, otherwise]) => format!(
                "case when {} then {} else {} end",
                self.text(condition, lambda),
                self.text(then, lambda),
                self.text(otherwise, lambda)
            ),
            ("struct" | "named_struct", _) => format!("struct({})", self.struct_fields(call, lambda)),
            _ => self.plain_call(call, name, &texts(), lambda),
        }
    }

    /// Both operands in an order of their own, a literal last, as people write it.
    fn commuted(&self, a: &Expr, b: &Expr, lambda: &[&str]) -> [String; 2] {
        let mut operands = [(is_literal(a), self.text(a, lambda)), (is_literal(b), self.text(b, lambda))];
        operands.sort();
        operands.map(|(_, text)| text)
    }

    /// `a > b` as `b < a`, and `1 < a` as `a > 1`.
    fn ordering(&self, operator: &str, a: &Expr, b: &Expr, lambda: &[&str]) -> String {
        let turned = match operator {
            "<" => ">",
            "<=" => ">=",
            ">" => "<",
            _ => "<=",
        };
        let turns = match (is_literal(a), is_literal(b)) {
            (true, false) => true,
            (false, true) => false,
            _ => operator.starts_with('>'),
        };
        let (left, operator, right) = if turns { (b, turned, a) } else { (a, operator, b) };
        format!("({} {operator} {})", self.text(left, lambda), self.text(right, lambda))
    }

    fn plain_call(&self, call: &Call, name: &str, args: &[String], lambda: &[&str]) -> String {
        let distinct = if call.distinct { "distinct " } else { "" };
        let mut text = format!("{name}({distinct}{})", args.join(", "));
        if call.ignore_nulls {
            text.push_str(" ignore nulls");
        }
        if !call.order_by.is_empty() {
            text.push_str(&format!(" within group (order by {})", self.keys(&call.order_by, lambda)));
        }
        if let Some(filter) = &call.filter {
            text.push_str(&format!(" filter (where {})", self.text(filter, lambda)));
        }
        text
    }

    fn struct_fields(&self, call: &Call, lambda: &[&str]) -> String {
        let fields: Vec<String> = if call.function.as_ref() == "named_struct" {
            call.args
                .chunks(2)
                .map(|pair| match pair {
                    [Expr::Literal { value: Value::String(name), .. }, value] => {
                        format!("{name}: {}", self.text(value, lambda))
                    }
                    other => other.iter().map(|e| self.text(e, lambda)).collect::<Vec<_>>().join(", "),
                })
                .collect()
        } else {
            call.args
                .iter()
                .enumerate()
                .map(|(index, arg)| {
                    let name = match arg {
                        Expr::Alias { name, .. } => name.to_string(),
                        Expr::Attribute(a) => a.name.to_string(),
                        _ => format!("col{}", index + 1),
                    };
                    format!("{name}: {}", self.text(arg, lambda))
                })
                .collect()
        };
        fields.join(", ")
    }

    /// `not (a = b)` is `a != b`, `not (a < b)` is `b <= a`.
    fn negation(&self, inner: &Expr, lambda: &[&str]) -> String {
        if let Expr::Call(call) = inner {
            let other = match call.function.as_ref() {
                "=" => "!=",
                "!=" => "=",
                "<" => ">=",
                "<=" => ">",
                ">" => "<=",
                ">=" => "<",
                "isnull" => "isnotnull",
                "isnotnull" => "isnull",
                _ => return format!("(not {})", self.text(inner, lambda)),
            };
            return self.call(&Call { function: other.into(), ..call.clone() }, lambda);
        }
        format!("(not {})", self.text(inner, lambda))
    }

    fn subquery(&self, kind: &SubqueryKind, plan: &Plan, lambda: &[&str]) -> String {
        let text = self.query(plan);
        bounded(match kind {
            SubqueryKind::Scalar => format!("({text})"),
            SubqueryKind::Exists { negated } => format!("({}exists ({text}))", if *negated { "not " } else { "" }),
            SubqueryKind::In { operands, negated } => {
                let operands: Vec<String> = operands.iter().map(|o| self.text(o, lambda)).collect();
                format!("({} {}in ({text}))", operands.join(", "), if *negated { "not " } else { "" })
            }
        })
    }

    fn keys(&self, keys: &[SortKey], lambda: &[&str]) -> String {
        let texts: Vec<String> = keys
            .iter()
            .map(|key| {
                let direction = if key.descending { " desc" } else { "" };
                let nulls = match (key.descending, key.nulls_first) {
                    (false, false) => " nulls last",
                    (true, true) => " nulls first",
                    _ => "",
                };
                format!("{}{direction}{nulls}", self.text(&key.expr, lambda))
            })
            .collect();
        texts.join(", ")
    }

    fn spec(&self, spec: &WindowSpec, lambda: &[&str]) -> String {
        let mut partitions: Vec<String> = spec.partition_by.iter().map(|e| self.text(e, lambda)).collect();
        partitions.sort();
        let frame = spec.frame.as_ref().map(|f| self.frame(f, lambda)).unwrap_or_default();
        format!("partition by {} order by {}{frame}", partitions.join(", "), self.keys(&spec.order_by, lambda))
    }

    fn frame(&self, frame: &Frame, lambda: &[&str]) -> String {
        let bound = |bound: &FrameBound| match bound {
            FrameBound::UnboundedPreceding => "unbounded preceding".to_owned(),
            FrameBound::Preceding(e) => format!("{} preceding", self.text(e, lambda)),
            FrameBound::CurrentRow => "current row".to_owned(),
            FrameBound::Following(e) => format!("{} following", self.text(e, lambda)),
            FrameBound::UnboundedFollowing => "unbounded following".to_owned(),
        };
        let unit = if frame.rows { "rows" } else { "range" };
        format!(" {unit} between {} and {}", bound(&frame.start), bound(&frame.end))
    }

    /// A generator with its input; `explode_outer` is an outer `explode`.
    pub fn generator(&self, generator: &Expr, outer: bool) -> String {
        format!("{}{}", if outer { "outer " } else { "" }, self.expr(generator))
    }

    /// The conjuncts of a condition, sorted.
    pub fn conjuncts(&self, condition: &Expr) -> Vec<String> {
        let mut parts: Vec<String> = conjuncts(condition.clone()).iter().map(|e| self.expr(e)).collect();
        parts.sort();
        parts.dedup();
        parts
    }

    /// The whole query: its columns by name, and how its rows come about.
    pub fn query(&self, plan: &Plan) -> String {
        let columns = self.named_columns(plan);
        bounded(format!("select {} from {}", columns.join(", "), self.plan(plan)))
    }

    /// The same, with the columns in order of name.
    pub fn query_by_name(&self, plan: &Plan) -> String {
        let mut columns: Vec<String> = self.named_columns(plan);
        columns.sort();
        bounded(format!("select {} from {}", columns.join(", "), self.plan(plan)))
    }

    fn named_columns(&self, plan: &Plan) -> Vec<String> {
        let text = |a: &Attribute| format!("{}: {}", a.name.to_lowercase(), self.column(a.id, &a.name));
        output(plan).iter().map(text).collect()
    }

    /// How the rows of a plan come about. Projections leave no trace: they are in the texts of the columns.
    pub fn plan(&self, plan: &Plan) -> String {
        bounded(self.node(plan))
    }

    fn node(&self, plan: &Plan) -> String {
        match &plan.node {
            Node::Read(read) => {
                let stream = if read.streaming { "stream " } else { "" };
                format!("{stream}{}", source_text(&read.source, read))
            }
            Node::Values { rows, .. } => {
                let rows: Vec<String> = rows
                    .iter()
                    .map(|row| format!("({})", row.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")))
                    .collect();
                bounded(format!("values {}", rows.join(", ")))
            }
            Node::Range { start, end, step } => {
                format!("range({}, {}, {})", self.expr(start), self.expr(end), self.expr(step))
            }
            Node::Project { input, .. } | Node::SubqueryAlias { input, .. } => self.node(input),
            Node::Window { functions, input } => {
                let functions: Vec<String> = functions.iter().map(|f| self.expr(f)).collect();
                format!("window [{}] {}", functions.join(", "), self.node(input))
            }
            Node::Filter { condition, input } => {
                format!("filter [{}] {}", self.conjuncts(condition).join(" and "), self.node(input))
            }
            Node::Join { left, right, kind, on, .. } => {
                let on = match on {
                    JoinOn::Condition(condition) => self.conjuncts(condition).join(" and "),
                    _ => String::new(),
                };
                format!("{} join [{on}] ({}) ({})", join_kind(*kind), self.node(left), self.node(right))
            }
            Node::Aggregate { groupings, sets, outputs, input, .. } => {
                let mut keys: Vec<String> = groupings.iter().map(|g| self.expr(g)).collect();
                let mut calls: Vec<String> =
                    aggregate_calls(outputs).into_iter().map(|c| self.expr(&Expr::Call(c.clone()))).collect();
                if !input.is_streaming() {
                    // Order matters to state alone.
                    keys.sort();
                    calls.sort();
                }
                calls.dedup();
                let sets = grouping_sets(sets).unwrap_or_default();
                format!("aggregate {sets}[{}] [{}] {}", keys.join(", "), calls.join(", "), self.node(input))
            }
            Node::Distinct { input } => format!("distinct {}", self.node(input)),
            Node::Deduplicate { keys, within_watermark, input } => {
                let keys: Vec<String> = keys.iter().flatten().map(|k| self.expr(k)).collect();
                let within = if *within_watermark { " within watermark" } else { "" };
                format!("deduplicate{within} [{}] {}", keys.join(", "), self.node(input))
            }
            Node::Watermark { event_time, delay, input } => {
                format!("watermark [{} delay {}] {}", self.expr(event_time), self.expr(delay), self.node(input))
            }
            Node::Union { inputs, .. } => {
                let branches: Vec<String> = inputs
                    .iter()
                    .map(|input| {
                        let columns: Vec<String> = output(input).iter().map(|a| self.column(a.id, &a.name)).collect();
                        bounded(format!("(select {} from {})", columns.join(", "), self.node(input)))
                    })
                    .collect();
                format!("union {}", branches.join(" "))
            }
            Node::SetOperation { operation, all, left, right } => {
                let all = if *all { " all" } else { "" };
                format!("{operation:?}{all} ({}) ({})", self.query(left), self.query(right)).to_lowercase()
            }
            Node::Sort { keys, global, input } => {
                let scope = if *global { "" } else { " within partitions" };
                format!("sort{scope} [{}] {}", self.keys(keys, &[]), self.node(input))
            }
            Node::Limit { count, input } => format!("limit {} {}", self.expr(count), self.node(input)),
            Node::Offset { count, input } => format!("offset {} {}", self.expr(count), self.node(input)),
            Node::Sample { description, input } => format!("sample {description} {}", self.node(input)),
            Node::Generate { generator, outer, input, .. } => {
                format!("generate [{}] {}", self.generator(generator, *outer), self.node(input))
            }
            Node::StatefulMap { function, keys, input } => {
                let keys: Vec<String> = keys.iter().map(|k| self.expr(k)).collect();
                format!(
                    "{} {} [{}] {}",
                    function.operator,
                    opaque_name(&function.function),
                    keys.join(", "),
                    self.query(input)
                )
            }
            Node::Opaque { function, keys, inputs, .. } => {
                let keys: Vec<String> = keys.iter().map(|k| self.expr(k)).collect();
                let args: Vec<String> = function.args.iter().map(|a| self.expr(a)).collect();
                let inputs: Vec<String> = inputs.iter().map(|i| format!("({})", self.query(i))).collect();
                format!("{}({}) [{}] {}", opaque_name(function), args.join(", "), keys.join(", "), inputs.join(" "))
            }
            Node::Unpivot { ids, values, input, .. } => {
                let list = |exprs: &[Expr]| exprs.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ");
                format!("unpivot [{}] [{}] {}", list(ids), list(values), self.node(input))
            }
            Node::With { body, .. } => self.node(body),
            Node::Pivot { input, .. }
            | Node::WithColumns { input, .. }
            | Node::DropColumns { input, .. }
            | Node::RenameColumns { input, .. }
            | Node::ToDf { input, .. }
            | Node::NaFill { input, .. }
            | Node::NaDrop { input, .. } => self.node(input),
        }
    }
}

/// Arguments of nested calls of one operator, left to right.
fn flatten<'e>(call: &'e Call, name: &str, visit: &mut impl FnMut(&'e Expr)) {
    let mut pending: Vec<&Expr> = call.args.iter().rev().collect();
    while let Some(expr) = pending.pop() {
        match expr {
            Expr::Call(inner) if inner.function.as_ref() == name => pending.extend(inner.args.iter().rev()),
            other => visit(other),
        }
    }
}

pub(super) fn join_kind(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner",
        JoinKind::Cross => "cross",
        JoinKind::LeftOuter => "left outer",
        JoinKind::RightOuter => "right outer",
        JoinKind::FullOuter => "full outer",
        JoinKind::LeftSemi => "left semi",
        JoinKind::LeftAnti => "left anti",
    }
}

pub(super) fn grouping_sets(sets: &GroupingSets) -> Option<String> {
    match sets {
        GroupingSets::Simple => None,
        GroupingSets::Rollup => Some("rollup".to_owned()),
        GroupingSets::Cube => Some("cube".to_owned()),
        GroupingSets::Sets(sets) => Some(format!("sets {sets:?}")),
    }
}

/// What an opaque thing is known by: its name and its content.
pub(super) fn opaque_name(opaque: &Opaque) -> String {
    format!("{}@{:016x}", opaque.name, opaque.content)
}

/// Identity of a source: the prefix of its columns.
pub(super) fn source_text(source: &Source, read: &Read) -> String {
    match source {
        Source::Table(name) => name.key(),
        Source::ChangeFeed(name) => format!("changes({})", name.key()),
        Source::Files { format, path, .. } => format!("{format}:{}", path.trim_end_matches('/')),
        Source::Connector { format } => {
            let topic = ["subscribe", "subscribepattern", "assign", "topic", "streamname", "subscriptionid"];
            let named: Vec<&str> = topic.iter().filter_map(|option| read.option(option)).collect();
            if named.is_empty() { format.clone() } else { format!("{format}:{}", named.join(",")) }
        }
    }
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Literal { .. } => true,
        Expr::Cast { expr, .. } => is_literal(expr),
        _ => false,
    }
}

fn literal(value: &Value, data_type: &DataType) -> String {
    if value.is_null() {
        return "null".to_owned();
    }
    let text = functions::display(value, &functions::EvalContext::default().zone);
    match data_type {
        DataType::String => format!("'{}'", text.replace('\'', "''")),
        DataType::Boolean | DataType::Byte | DataType::Short | DataType::Int | DataType::Long => text,
        DataType::Double | DataType::Float | DataType::Decimal { .. } => text,
        DataType::DayTimeInterval | DataType::YearMonthInterval => text.to_lowercase(),
        other => format!("{other} '{text}'"),
    }
}

/// The text, or a hash of it where it is too long.
fn bounded(text: String) -> String {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let cut = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= 80).last().unwrap_or(0);
    format!("{}…#{:016x}", text.get(..cut).unwrap_or_default(), fingerprint(&text))
}

/// FNV-1a: the same on every platform and in every release of the standard library.
fn fingerprint(text: &str) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    text.hash(&mut hasher);
    hasher.finish()
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
