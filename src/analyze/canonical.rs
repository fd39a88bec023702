//! Canonical terms of expressions and plans: equal for what is equal up to harmless rewriting.
//!
//! Columns are written out down to the sources (`main.raw.events.amt`), so that aliases, CTEs and views in between leave no trace.
//! Operands of commutative operators stand in an order of their own, `a > b` is written `b < a`, lambda parameters are numbered.
//! Everything else that the model holds of a query counts: a plan's term differs wherever its meaning can.

use super::optimize::conjuncts;
use super::output::output;
use super::sources::says_how_to_reach;
use super::state::aggregate_calls;
use super::term::{Term, TermBuilder, TermKind};
use crate::functions::{self, signature};
use crate::model::{
    AttrId, Attribute, Call, DataType, Expr, Frame, FrameBound, GroupingSets, JoinKind, JoinOn, Node, Opaque, Plan,
    Read, Schema, SetOperation, SortKey, Source, StatefulFunction, SubqueryKind, Value, WindowSpec,
};
use std::collections::BTreeMap;

/// Terms of the columns of one plan.
pub(super) struct Canonical {
    columns: BTreeMap<AttrId, Term>,
    /// Sources by text, with how often each was met.
    sources: BTreeMap<String, usize>,
    /// Marks the sources of subqueries, one prime a level, so that their numbers do not depend on the queries around them.
    primes: String,
}

impl Canonical {
    /// Terms for every column that a resolved or optimized plan defines.
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
                let source = self.source(read);
                for column in &read.output {
                    self.columns.insert(column.id, member(TermKind::Column, source.clone(), &column.name));
                }
            }
            Node::Project { list, .. }
            | Node::Aggregate { outputs: list, .. }
            | Node::Window { functions: list, .. } => {
                self.define_aliases(list);
            }
            Node::Generate { generator, outer, output, .. } => {
                let term = self.generator(generator, *outer);
                for (index, column) in output.iter().enumerate() {
                    if let Expr::Attribute(a) = column {
                        let column = plain().term(term.clone()).text(format!("[{index}]"));
                        self.columns.insert(a.id, column.build());
                    }
                }
            }
            Node::Union { inputs, .. } => {
                let branches: Vec<Vec<Term>> = inputs.iter().map(|input| self.columns_of(input)).collect();
                for (index, column) in plan.output.iter().enumerate() {
                    let values = branches.iter().map(|b| b.get(index).cloned().unwrap_or_default());
                    let term = TermBuilder::new(TermKind::Union).text("union(").list(values, ", ").text(")");
                    self.columns.insert(column.id, term.build());
                }
            }
            Node::SetOperation { .. } => {
                // The columns are the left side's own: what they are of is in the plan's term.
            }
            Node::Values { .. } | Node::Range { .. } => {
                let term = self.plan(plan);
                self.define_made(plan, &term);
            }
            Node::Opaque { function, .. } => self.define_made(plan, &code(function)),
            Node::StatefulMap { function, .. } => {
                let operator = plain().text(format!("{}:", function.operator)).term(code(&function.function));
                self.define_made(plan, &operator.build());
            }
            Node::Unpivot { .. } => self.define_made(plan, &Term::plain("unpivot")),
            Node::Filter { .. }
            | Node::Join { .. }
            | Node::Distinct { .. }
            | Node::Deduplicate { .. }
            | Node::Watermark { .. }
            | Node::Sort { .. }
            | Node::Limit { .. }
            | Node::Offset { .. }
            | Node::Sample { .. }
            | Node::SubqueryAlias { .. }
            | Node::With { .. }
            | Node::Pivot { .. }
            | Node::WithColumns { .. }
            | Node::DropColumns { .. }
            | Node::RenameColumns { .. }
            | Node::ToDf { .. }
            | Node::NaFill { .. }
            | Node::NaDrop { .. } => {}
        }
    }

    fn define_made(&mut self, plan: &Plan, maker: &Term) {
        for column in &plan.output {
            self.columns.insert(column.id, member(TermKind::Field, maker.clone(), &column.name));
        }
    }

    fn define_aliases(&mut self, list: &[Expr]) {
        for entry in list {
            if let Expr::Alias { expr, id, .. } = entry {
                let term = self.expr(expr);
                self.columns.insert(*id, term);
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

    fn source(&mut self, read: &Read) -> Term {
        let text = source_text(&read.source, read);
        let key = format!("{text}{}", self.primes);
        let count = self.sources.entry(key).or_insert(0);
        *count += 1;
        let number = if *count == 1 { String::new() } else { format!("#{count}") };
        TermBuilder::new(TermKind::Source).text(text).text(format!("{}{number}", self.primes)).build()
    }

    fn column(&self, id: AttrId, name: &str) -> Term {
        self.columns.get(&id).cloned().unwrap_or_else(|| Term::plain(name.to_lowercase()))
    }

    fn columns_of(&self, plan: &Plan) -> Vec<Term> {
        output(plan).iter().map(|a| self.column(a.id, &a.name)).collect()
    }

    /// Term of an expression over columns that no plan defines, by their names.
    pub fn of_names(expr: &Expr) -> Term {
        Canonical { columns: BTreeMap::new(), sources: BTreeMap::new(), primes: String::new() }.expr(expr)
    }

    /// Term of an expression.
    pub fn expr(&self, expr: &Expr) -> Term {
        self.term(expr, &[])
    }

    fn exprs<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Term> {
        exprs.into_iter().map(|e| self.expr(e)).collect()
    }

    fn term(&self, expr: &Expr, lambda: &[&str]) -> Term {
        match expr {
            Expr::Attribute(a) => self.column(a.id, &a.name),
            Expr::Column(column) => plain().hidden("column").text(column.parts.join(".").to_lowercase()).build(),
            Expr::Literal { value, data_type } => literal(value, data_type),
            Expr::Alias { expr, .. } | Expr::MultiAlias { expr, .. } => self.term(expr, lambda),
            Expr::Call(call) => self.call(call, lambda),
            Expr::Cast { expr, to, try_cast } => {
                let inner = self.term(expr, lambda);
                // A cast of a literal is written where a literal is: last among operands.
                let kind = if inner.kind() == TermKind::Literal { TermKind::Literal } else { TermKind::Plain };
                let name = if *try_cast { "try_cast(" } else { "cast(" };
                TermBuilder::new(kind).text(name).term(inner).text(format!(" as {to})")).build()
            }
            Expr::Case { branches, otherwise } => {
                let mut term = plain().text("case");
                for (when, then) in branches {
                    term = term.text(" when ").term(self.term(when, lambda));
                    term = term.text(" then ").term(self.term(then, lambda));
                }
                if let Some(otherwise) = otherwise {
                    term = term.text(" else ").term(self.term(otherwise, lambda));
                }
                term.text(" end").build()
            }
            Expr::Lambda { params, body } => {
                let mut inner = lambda.to_vec();
                inner.extend(params.iter().map(AsRef::as_ref));
                let head = format!("lambda{}(", params.len());
                plain().text(head).term(self.term(body, &inner)).text(")").build()
            }
            Expr::LambdaVariable { name, .. } => match lambda.iter().rposition(|p| *p == name.as_ref()) {
                Some(index) => Term::plain(format!("${index}")),
                None => Term::plain(name.to_string()),
            },
            Expr::Window { call, spec } => {
                let call = self.term(call, lambda);
                plain().term(call).text(" over (").term(self.spec(spec, lambda)).text(")").build()
            }
            Expr::Subquery { kind, plan } => self.subquery(kind, plan, lambda),
            Expr::Opaque(opaque) => {
                let args: Vec<Term> = opaque.args.iter().map(|a| self.term(a, lambda)).collect();
                plain().term(code(opaque)).text("(").list(args, ", ").text(")").build()
            }
            Expr::Star { .. } => Term::plain("*"),
            Expr::ColumnRegex(pattern) => Term::plain(format!("`{pattern}`")),
        }
    }

    fn call(&self, call: &Call, lambda: &[&str]) -> Term {
        let name: &str = match functions::lookup(&call.function) {
            Some(function) => function.name(),
            None => &call.function,
        };
        match (name, call.args.as_slice()) {
            ("and" | "or", _) => {
                let mut parts: Vec<Term> = Vec::new();
                flatten(call, name, &mut |arg| parts.push(self.term(arg, lambda)));
                Term::unordered("(", once_each(parts), &format!(" {name} "), ")")
            }
            ("=" | "<=>" | "!=" | "+" | "*" | "&" | "|" | "^", [a, b]) => self.commuted(name, a, b, lambda),
            ("<" | "<=" | ">" | ">=", [a, b]) => self.ordering(name, a, b, lambda),
            ("-" | "/" | "%" | "div", [a, b]) => self.infix(name, a, b, lambda),
            ("not", [inner]) => self.negation(inner, lambda),
            ("isnull", [a]) => plain().text("(").term(self.term(a, lambda)).text(" is null)").build(),
            ("isnotnull", [a]) => plain().text("(").term(self.term(a, lambda)).text(" is not null)").build(),
            ("getfield", [base, Expr::Literal { value: Value::String(field), .. }]) => {
                member(TermKind::Field, self.term(base, lambda), field)
            }
            ("getitem", [base, index]) => {
                plain().term(self.term(base, lambda)).text("[").term(self.term(index, lambda)).text("]").build()
            }
            ("in", [value, list @ ..]) => {
                let items = once_each(list.iter().map(|e| self.term(e, lambda)).collect());
                match list {
                    [only, ..] if items.len() == 1 => self.commuted("=", value, only, lambda),
                    _ => {
                        let value = self.term(value, lambda);
                        let items = Term::unordered("(", items, ", ", ")");
                        plain().text("(").term(value).text(" in ").term(items).text(")").build()
                    }
                }
            }
            ("if", [condition, then, otherwise]) => plain()
                .text("case")
                .text(" when ")
                .term(self.term(condition, lambda))
                .text(" then ")
                .term(self.term(then, lambda))
                .text(" else ")
                .term(self.term(otherwise, lambda))
                .text(" end")
                .build(),
            ("struct" | "named_struct", _) => {
                plain().text("struct(").term(self.struct_fields(call, lambda)).text(")").build()
            }
            _ => self.plain_call(call, name, lambda),
        }
    }

    /// Both operands in an order of their own.
    fn commuted(&self, operator: &str, a: &Expr, b: &Expr, lambda: &[&str]) -> Term {
        let operands = vec![self.term(a, lambda), self.term(b, lambda)];
        Term::unordered("(", operands, &format!(" {operator} "), ")")
    }

    fn infix(&self, operator: &str, left: &Expr, right: &Expr, lambda: &[&str]) -> Term {
        let (left, right) = (self.term(left, lambda), self.term(right, lambda));
        plain().text("(").term(left).text(format!(" {operator} ")).term(right).text(")").build()
    }

    /// `a > b` as `b < a`, and `1 < a` as `a > 1`.
    fn ordering(&self, operator: &str, a: &Expr, b: &Expr, lambda: &[&str]) -> Term {
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
        self.infix(operator, left, right, lambda)
    }

    fn plain_call(&self, call: &Call, name: &str, lambda: &[&str]) -> Term {
        let Call { function: _, args, distinct, filter, order_by, ignore_nulls } = call;
        let kind = match (name, args.len()) {
            ("window", 4) => TermKind::TimeWindow,
            ("session_window", 2) => TermKind::SessionWindow,
            _ if functions::call_volatility(call) != functions::Volatility::Immutable => TermKind::Volatile,
            _ => TermKind::Plain,
        };
        let mut term = TermBuilder::new(kind).text(format!("{name}(")).text(if *distinct { "distinct " } else { "" });
        let said = args.len() - signature::trailing_defaults(&call.function, args);
        term = term.list(args.iter().take(said).map(|a| self.term(a, lambda)), ", ").text(")");
        if *ignore_nulls {
            term = term.text(" ignore nulls");
        }
        if !order_by.is_empty() {
            term = term.text(" within group (order by ").term(self.keys(order_by, lambda)).text(")");
        }
        if let Some(filter) = filter {
            term = term.text(" filter (where ").term(self.term(filter, lambda)).text(")");
        }
        term.build()
    }

    fn struct_fields(&self, call: &Call, lambda: &[&str]) -> Term {
        let field = |name: &str, value: &Expr| plain().text(format!("{name}: ")).term(self.term(value, lambda)).build();
        let fields: Vec<Term> = if call.function.as_ref() == "named_struct" {
            call.args
                .chunks(2)
                .map(|pair| match pair {
                    [Expr::Literal { value: Value::String(name), .. }, value] => field(name, value),
                    other => plain().list(other.iter().map(|e| self.term(e, lambda)), ", ").build(),
                })
                .collect()
        } else {
            let named = |(index, arg): (usize, &Expr)| match arg {
                Expr::Alias { name, .. } => field(name, arg),
                Expr::Attribute(a) => field(&a.name, arg),
                _ => field(&format!("col{}", index + 1), arg),
            };
            call.args.iter().enumerate().map(named).collect()
        };
        plain().list(fields, ", ").build()
    }

    /// `not (a = b)` is `a != b`, `not (a < b)` is `b <= a`.
    fn negation(&self, inner: &Expr, lambda: &[&str]) -> Term {
        if let Expr::Call(call) = inner {
            let opposite = match call.function.as_ref() {
                "=" => Some("!="),
                "!=" => Some("="),
                "<" => Some(">="),
                "<=" => Some(">"),
                ">" => Some("<="),
                ">=" => Some("<"),
                "isnull" => Some("isnotnull"),
                "isnotnull" => Some("isnull"),
                _ => None,
            };
            if let Some(opposite) = opposite {
                return self.call(&Call { function: opposite.into(), ..call.clone() }, lambda);
            }
        }
        plain().text("(not ").term(self.term(inner, lambda)).text(")").build()
    }

    fn subquery(&self, kind: &SubqueryKind, plan: &Plan, lambda: &[&str]) -> Term {
        let query = self.query(plan);
        match kind {
            SubqueryKind::Scalar => plain().text("(").term(query).text(")").build(),
            SubqueryKind::Exists { negated } => {
                let not = if *negated { "not " } else { "" };
                plain().text(format!("({not}exists (")).term(query).text("))").build()
            }
            SubqueryKind::In { operands, negated } => {
                let operands = operands.iter().map(|o| self.term(o, lambda));
                let not = if *negated { "not " } else { "" };
                let head = plain().text("(").list(operands, ", ");
                head.text(format!(" {not}in (")).term(query).text("))").build()
            }
        }
    }

    fn keys(&self, keys: &[SortKey], lambda: &[&str]) -> Term {
        let key = |key: &SortKey| {
            let SortKey { expr, descending, nulls_first } = key;
            let direction = if *descending { " desc" } else { "" };
            let nulls = match (*descending, *nulls_first) {
                (false, false) => " nulls last",
                (true, true) => " nulls first",
                (false, true) | (true, false) => "",
            };
            plain().term(self.term(expr, lambda)).text(format!("{direction}{nulls}")).build()
        };
        plain().list(keys.iter().map(key), ", ").build()
    }

    /// A sort key, as a sort of its own.
    pub fn sort_key(&self, key: &SortKey) -> Term {
        self.keys(std::slice::from_ref(key), &[])
    }

    fn spec(&self, spec: &WindowSpec, lambda: &[&str]) -> Term {
        let WindowSpec { partition_by, order_by, frame } = spec;
        let partitions = partition_by.iter().map(|e| self.term(e, lambda)).collect();
        let term = plain().text("partition by ").term(Term::unordered("", partitions, ", ", ""));
        let term = term.text(" order by ").term(self.keys(order_by, lambda));
        match frame {
            Some(frame) => term.term(self.frame(frame, lambda)).build(),
            None => term.build(),
        }
    }

    fn frame(&self, frame: &Frame, lambda: &[&str]) -> Term {
        let bound = |bound: &FrameBound| match bound {
            FrameBound::UnboundedPreceding => Term::plain("unbounded preceding"),
            FrameBound::Preceding(e) => plain().term(self.term(e, lambda)).text(" preceding").build(),
            FrameBound::CurrentRow => Term::plain("current row"),
            FrameBound::Following(e) => plain().term(self.term(e, lambda)).text(" following").build(),
            FrameBound::UnboundedFollowing => Term::plain("unbounded following"),
        };
        let Frame { rows, start, end } = frame;
        let unit = if *rows { " rows between " } else { " range between " };
        plain().text(unit).term(bound(start)).text(" and ").term(bound(end)).build()
    }

    /// A generator with its input; `explode_outer` is an outer `explode`.
    pub fn generator(&self, generator: &Expr, outer: bool) -> Term {
        plain().text(if outer { "outer " } else { "" }).term(self.expr(generator)).build()
    }

    /// The conjuncts of a condition.
    fn condition(&self, condition: &Expr) -> Term {
        let parts: Vec<Term> = conjuncts(condition.clone()).iter().map(|e| self.expr(e)).collect();
        Term::unordered("", once_each(parts), " and ", "")
    }

    /// The whole query: its columns by name, and how its rows come about.
    pub fn query(&self, plan: &Plan) -> Term {
        let columns = self.named_columns(plan);
        plain().text("select ").list(columns, ", ").text(" from ").term(self.plan(plan)).build()
    }

    /// The same, with the columns in order of name.
    pub fn query_by_name(&self, plan: &Plan) -> Term {
        let columns = Term::unordered("", self.named_columns(plan), ", ", "");
        plain().text("select ").term(columns).text(" from ").term(self.plan(plan)).build()
    }

    fn named_columns(&self, plan: &Plan) -> Vec<Term> {
        let named =
            |a: &Attribute| plain().text(format!("{}: ", a.name.to_lowercase())).term(self.column(a.id, &a.name));
        output(plan).iter().map(|a| named(a).build()).collect()
    }

    /// How the rows of a plan come about. Projections leave no trace: they are in the terms of the columns.
    pub fn plan(&self, plan: &Plan) -> Term {
        self.node(plan, false)
    }

    /// `heard`: some stateful operator above takes the watermark into account; no other one changes a row.
    fn node(&self, plan: &Plan, heard: bool) -> Term {
        let stateful = |input: &Plan| heard || input.is_streaming();
        match &plan.node {
            Node::Read(read) => read_term(read),
            Node::Values { rows, schema } => {
                let rows = rows.iter().map(|row| plain().text("(").list(self.exprs(row), ", ").text(")").build());
                let types: Vec<String> = schema.fields.iter().map(|field| field.data_type.to_string()).collect();
                plain().text("values ").list(rows, ", ").hidden(types.join(",")).build()
            }
            Node::Range { start, end, step } => {
                plain().text("range(").list(self.exprs([&**start, &**end, &**step]), ", ").text(")").build()
            }
            Node::Project { input, .. } | Node::SubqueryAlias { input, .. } => self.node(input, heard),
            Node::Window { functions, input } => {
                let functions = self.exprs(functions);
                plain().text("window [").list(functions, ", ").text("] ").term(self.node(input, heard)).build()
            }
            Node::Filter { condition, input } => {
                let condition = self.condition(condition);
                plain().text("filter [").term(condition).text("] ").term(self.node(input, heard)).build()
            }
            Node::Join { left, right, kind, on, lateral } => {
                let both = left.is_streaming() && right.is_streaming();
                let kind = format!("{}{} join [", if *lateral { "lateral " } else { "" }, join_kind(*kind));
                let condition = match on {
                    JoinOn::Condition(condition) => self.condition(condition),
                    // Analysis writes these as conditions.
                    JoinOn::None | JoinOn::Using(_) | JoinOn::Natural => Term::default(),
                };
                let (left, right) = (self.node(left, heard || both), self.node(right, heard || both));
                plain().text(kind).term(condition).text("] (").term(left).text(") (").term(right).text(")").build()
            }
            Node::Aggregate { groupings, sets, outputs, having: _, input } => {
                let keys = self.exprs(groupings);
                let calls: Vec<Term> = aggregate_calls(outputs).into_iter().map(|c| self.call(c, &[])).collect();
                let calls = once_each(calls);
                // Order matters to state alone.
                let [keys, calls] = [keys, calls].map(|terms| {
                    if input.is_streaming() {
                        plain().list(terms, ", ").build()
                    } else {
                        Term::unordered("", terms, ", ", "")
                    }
                });
                let sets = grouping_sets(sets).map(|sets| format!("{sets} ")).unwrap_or_default();
                let term = plain().text(format!("aggregate {sets}[")).term(keys).text("] [").term(calls).text("] ");
                term.term(self.node(input, stateful(input))).build()
            }
            Node::Distinct { input } => plain().text("distinct ").term(self.node(input, stateful(input))).build(),
            Node::Deduplicate { keys, within_watermark, input } => {
                let within = if *within_watermark { " within watermark" } else { "" };
                let keys = match keys {
                    Some(keys) => self.exprs(keys),
                    None => vec![Term::plain("*")],
                };
                let term = plain().text(format!("deduplicate{within} [")).list(keys, ", ").text("] ");
                term.term(self.node(input, stateful(input))).build()
            }
            Node::Watermark { input, .. } if !heard => self.node(input, heard),
            Node::Watermark { event_time, delay, input } => plain()
                .text("watermark [")
                .term(self.expr(event_time))
                .text(" delay ")
                .term(self.expr(delay))
                .text("] ")
                .term(self.node(input, heard))
                .build(),
            Node::Union { inputs, by_name: _, allow_missing: _ } => {
                let branches = inputs.iter().map(|input| {
                    let columns = plain().text("(select ").list(self.columns_of(input), ", ").text(" from ");
                    columns.term(self.node(input, heard)).text(")").build()
                });
                TermBuilder::new(TermKind::Union).text("union ").list(branches, " ").build()
            }
            Node::SetOperation { operation, all, left, right } => {
                let name = match operation {
                    SetOperation::Intersect => "intersect",
                    SetOperation::Except => "except",
                };
                let head = format!("{name}{} (", if *all { " all" } else { "" });
                plain().text(head).term(self.query(left)).text(") (").term(self.query(right)).text(")").build()
            }
            Node::Sort { keys, global, input } => {
                let scope = if *global { "" } else { " within partitions" };
                let head = plain().text(format!("sort{scope} [")).term(self.keys(keys, &[])).text("] ");
                head.term(self.node(input, heard)).build()
            }
            Node::Limit { count, input } => {
                let below = self.node(input, stateful(input));
                plain().text("limit ").term(self.expr(count)).text(" ").term(below).build()
            }
            Node::Offset { count, input } => {
                plain().text("offset ").term(self.expr(count)).text(" ").term(self.node(input, heard)).build()
            }
            Node::Sample { description, input } => {
                plain().text(format!("sample {description} ")).term(self.node(input, heard)).build()
            }
            Node::Generate { generator, outer, qualifier: _, names: _, output: _, input } => {
                let generator = self.generator(generator, *outer);
                plain().text("generate [").term(generator).text("] ").term(self.node(input, heard)).build()
            }
            Node::StatefulMap { function, keys, input } => {
                let head = plain().text(format!("{} ", function.operator)).term(self.stateful_function(function));
                head.text(" [").list(self.exprs(keys), ", ").text("] ").term(self.query_below(input)).build()
            }
            Node::Opaque { function, keys, output, inputs } => {
                let inputs = inputs.iter().map(|i| plain().text("(").term(self.query_below(i)).text(")").build());
                let columns: Vec<String> =
                    output.fields.iter().map(|field| format!("{} {}", field.name, field.data_type)).collect();
                let head = plain().term(code(function)).text("(").list(self.exprs(&function.args), ", ").text(") [");
                head.list(self.exprs(keys), ", ").text("] ").list(inputs, " ").hidden(columns.join(",")).build()
            }
            Node::Unpivot { description, ids, values, variable, value, input } => {
                let head = plain().text("unpivot [").list(self.exprs(ids), ", ").text("] [");
                let head = head.list(self.exprs(values), ", ").text("] ");
                head.term(self.node(input, heard)).hidden(format!("{description}|{variable}|{value}")).build()
            }
            Node::With { body, .. } => self.node(body, heard),
            Node::Pivot { input, .. }
            | Node::WithColumns { input, .. }
            | Node::DropColumns { input, .. }
            | Node::RenameColumns { input, .. }
            | Node::ToDf { input, .. }
            | Node::NaFill { input, .. }
            | Node::NaDrop { input, .. } => self.node(input, heard),
        }
    }

    /// A query whose rows a function with state or code of its own takes: what is unheard elsewhere counts here.
    fn query_below(&self, plan: &Plan) -> Term {
        let columns = self.named_columns(plan);
        plain().text("select ").list(columns, ", ").text(" from ").term(self.node(plan, true)).build()
    }

    /// A function with state: its code, and what it declares of its state.
    fn stateful_function(&self, function: &StatefulFunction) -> Term {
        let StatefulFunction { operator: _, function, output, state, variables, output_mode, time_mode } = function;
        // Fields of a state that is one row are read by position.
        let types = |schema: &Schema| schema.fields.iter().map(|f| f.data_type.to_string()).collect::<Vec<_>>();
        let state = state.as_ref().map(types);
        let declared = format!("{output:?}|{state:?}|{variables:?}|{}|{time_mode}", output_mode.to_lowercase());
        plain().term(code(function)).hidden(declared).build()
    }
}

fn plain() -> TermBuilder {
    TermBuilder::new(TermKind::Plain)
}

/// `base.name`, the name in lower case.
fn member(kind: TermKind, base: Term, name: &str) -> Term {
    TermBuilder::new(kind).term(base).text(".").text(name.to_lowercase()).build()
}

/// What opaque code is known by: its content, and its name where that says more.
pub(super) fn code(opaque: &Opaque) -> Term {
    let named = TermBuilder::new(TermKind::Code);
    // Where its text is known, another name is no other code.
    let named = if opaque.code.is_empty() { named.text(opaque.name.clone()) } else { named.label(opaque.name.clone()) };
    named.hidden(format!("{:016x}", opaque.content)).build()
}

/// Terms without repetitions, in order of first appearance.
fn once_each(terms: Vec<Term>) -> Vec<Term> {
    let mut seen = std::collections::HashSet::new();
    terms.into_iter().filter(|term| seen.insert(term.id())).collect()
}

/// A leaf: what is read, and how. The options of a stream are compared one by one, with what a checkpoint makes of them; those
/// that only say how to reach a source change no row.
fn read_term(read: &Read) -> Term {
    let Read { source, streaming, options, schema, name: _, output: _, complete: _, place: _ } = read;
    let named = TermBuilder::new(TermKind::Source).text(source_text(source, read)).build();
    let mut how: Vec<String> = options
        .iter()
        .filter(|(option, _)| !*streaming && !says_how_to_reach(option))
        .map(|(option, value)| format!("{option}={}", crate::model::option_value(value)))
        .collect();
    how.extend(schema.as_ref().map(|schema| format!("{schema:?}")));
    if let Source::Files { auto_loader: true, .. } = source {
        how.push("auto loader".to_owned());
    }
    plain().text(if *streaming { "stream " } else { "" }).term(named).hidden(how.join("\n")).build()
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

fn literal(value: &Value, data_type: &DataType) -> Term {
    if value.is_null() {
        return TermBuilder::new(TermKind::Literal).text("null").build();
    }
    let text = functions::display(value, &functions::EvalContext::default().zone);
    if let Value::DayTimeInterval(micros) = value {
        return TermBuilder::new(TermKind::Interval(*micros)).text(text.to_lowercase()).build();
    }
    let text = match data_type {
        DataType::String => format!("'{}'", text.replace('\'', "''")),
        DataType::Boolean | DataType::Byte | DataType::Short | DataType::Int | DataType::Long => text,
        DataType::Double | DataType::Float | DataType::Decimal { .. } => text,
        DataType::YearMonthInterval => text.to_lowercase(),
        other => format!("{other} '{text}'"),
    };
    TermBuilder::new(TermKind::Literal).text(text).build()
}
