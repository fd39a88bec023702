//! FROM: tables, streams, joins, subqueries, table functions, PIVOT, and the clauses that follow a relation.

use super::Lowering;
use super::reader::{GENERATORS, is_file_format};
use super::select::one_row;
use crate::frontend::sql::opaque_relation;
use crate::frontend::sql::relation_suffix::{RelationSuffix, WatermarkClause, attached};
use crate::frontend::sql::text::decode;
use crate::model::{Expr, JoinKind, JoinOn, Node, Place, Plan, QualifiedName, Read, Source};
use sqlparser::ast::{self, Spanned};
use sqlparser::tokenizer::Span;
use std::sync::Arc;

/// A relation's name as its parts, unquoted.
pub(super) fn name_parts(name: &ast::ObjectName) -> Vec<String> {
    name.0.iter().map(|part| part.as_ident().map_or_else(|| part.to_string(), |ident| decode(&ident.value))).collect()
}

impl Lowering<'_> {
    pub(super) fn from(&mut self, relations: &[ast::TableWithJoins]) -> Plan {
        let mut plan: Option<Plan> = None;
        for relation in relations {
            let lateral = is_lateral(&relation.relation);
            let mut right = self.relation(&relation.relation);
            for join in &relation.joins {
                right = self.join(right, join);
            }
            plan = Some(match plan {
                None => right,
                Some(left) => {
                    let place = right.place.clone();
                    let kind = if lateral { JoinKind::Inner } else { JoinKind::Cross };
                    join_node(left, right, kind, JoinOn::None, lateral, place)
                }
            });
        }
        plan.unwrap_or_else(one_row)
    }

    fn join(&mut self, left: Plan, join: &ast::Join) -> Plan {
        use ast::JoinOperator as Op;
        let lateral = is_lateral(&join.relation);
        let right = self.relation(&join.relation);
        let (kind, constraint) = match &join.join_operator {
            Op::Join(c) | Op::Inner(c) => (JoinKind::Inner, c),
            Op::Left(c) | Op::LeftOuter(c) => (JoinKind::LeftOuter, c),
            Op::Right(c) | Op::RightOuter(c) => (JoinKind::RightOuter, c),
            Op::FullOuter(c) => (JoinKind::FullOuter, c),
            Op::CrossJoin(c) => (JoinKind::Cross, c),
            Op::Semi(c) | Op::LeftSemi(c) => (JoinKind::LeftSemi, c),
            Op::Anti(c) | Op::LeftAnti(c) => (JoinKind::LeftAnti, c),
            other => {
                let span = join.span();
                self.unsupported("this kind of join", span);
                let text = format!("{other:?}");
                return opaque_relation("join", &text, self.place(span), vec![left, right]);
            }
        };
        let (on, span) = match constraint {
            ast::JoinConstraint::On(condition) => (JoinOn::Condition(self.expression(condition)), condition.span()),
            ast::JoinConstraint::Using(columns) | ast::JoinConstraint::UsingAlias(columns, _) => {
                let names = columns.iter().map(|column| name_parts(column).join(".")).collect();
                (JoinOn::Using(names), Span::union_iter(columns.iter().map(Spanned::span)))
            }
            ast::JoinConstraint::Natural => (JoinOn::Natural, join.relation.span()),
            ast::JoinConstraint::None => (JoinOn::None, join.relation.span()),
        };
        let place = self.place(span).or(&right.place);
        join_node(left, right, kind, on, lateral, place)
    }

    fn relation(&mut self, factor: &ast::TableFactor) -> Plan {
        match factor {
            ast::TableFactor::Table { name, alias, args, version, sample, .. } => {
                self.refuse_table_clauses(factor);
                let mut plan = match args {
                    Some(args) => self.table_function(name, &args.args, alias.as_ref(), name.span()),
                    None => self.table(&name_parts(name), name.span()),
                };
                if let Some(version) = version {
                    self.time_travel(version, &mut plan);
                }
                let plan = self.sample(sample.as_ref(), plan);
                self.aliased(plan, alias.as_ref())
            }
            ast::TableFactor::Derived { subquery, alias, sample, .. } => {
                let plan = self.query(subquery);
                let plan = self.sample(sample.as_ref(), plan);
                self.aliased(plan, alias.as_ref())
            }
            ast::TableFactor::Function { name, args, alias, .. } => {
                let plan = self.table_function(name, args, alias.as_ref(), name.span());
                self.aliased(plan, alias.as_ref())
            }
            ast::TableFactor::NestedJoin { table_with_joins, alias } => {
                let plan = self.from(std::slice::from_ref(table_with_joins));
                self.aliased(plan, alias.as_ref())
            }
            ast::TableFactor::Pivot { table, aggregate_functions, value_column, value_source, alias, .. } => {
                let input = self.relation(table);
                let plan = self.pivot(input, aggregate_functions, value_column, value_source, factor.span());
                self.aliased(plan, alias.as_ref())
            }
            ast::TableFactor::Unpivot { table, value, name, columns, null_inclusion, alias } => {
                let input = self.relation(table);
                let values = columns.iter().map(|column| self.expression(&column.expr)).collect();
                let node = Node::Unpivot {
                    description: format!("{null_inclusion:?}").into(),
                    ids: Vec::new(),
                    values,
                    variable: decode(&name.value).into(),
                    value: decode(&value.to_string()).into(),
                    input: Box::new(input),
                };
                let plan = Plan::at(node, self.place(name.span));
                self.aliased(plan, alias.as_ref())
            }
            other => {
                self.unsupported("this relation", other.span());
                opaque_relation("relation", &other.to_string(), self.place(other.span()), Vec::new())
            }
        }
    }

    fn refuse_table_clauses(&mut self, factor: &ast::TableFactor) {
        let ast::TableFactor::Table {
            name, with_hints, with_ordinality, partitions, json_path, index_directives, ..
        } = factor
        else {
            return;
        };
        if !with_hints.is_empty()
            || *with_ordinality
            || !partitions.is_empty()
            || json_path.is_some()
            || !index_directives.is_empty()
        {
            self.unsupported("a clause after the table's name", name.span());
        }
    }

    /// A table, a file path (``json.`/data` ``), or a common table expression.
    pub(super) fn table(&mut self, parts: &[String], span: Span) -> Plan {
        let place = self.place(span);
        let source = match parts {
            [format, path] if is_file_format(format) && (path.contains('/') || path.contains(':')) => {
                Source::Files { format: format.to_lowercase(), path: path.clone(), auto_loader: false }
            }
            parts => Source::Table(self.qualified(parts)),
        };
        read_at(source, false, place)
    }

    /// A name as `USE` completes it; `LIVE.t` is the pipeline's own `t`, and common table expressions and views hide tables.
    pub(super) fn qualified(&self, parts: &[String]) -> QualifiedName {
        if let [live, rest @ ..] = parts
            && live.eq_ignore_ascii_case("live")
            && !rest.is_empty()
        {
            return QualifiedName::from_parts(rest);
        }
        if let [name] = parts {
            let key = name.to_lowercase();
            if self.ctes.contains(&key) || self.namespace.views.contains(&key) {
                return QualifiedName::bare(name.clone());
            }
        }
        let name = QualifiedName::from_parts(parts);
        name.qualified(self.namespace.catalog.as_deref(), self.namespace.schema.as_deref())
    }

    fn time_travel(&mut self, version: &ast::TableVersion, plan: &mut Plan) {
        let (key, expr) = match version {
            ast::TableVersion::VersionAsOf(expr) => ("versionasof", expr),
            ast::TableVersion::TimestampAsOf(expr) | ast::TableVersion::ForSystemTimeAsOf(expr) => {
                ("timestampasof", expr)
            }
            ast::TableVersion::Function(expr) | ast::TableVersion::Changes { changes: expr, .. } => {
                self.unsupported("a clause after the table's name", expr.span());
                return;
            }
        };
        let lowered = self.expression(expr);
        let value = self.constant_text(&lowered).unwrap_or_else(|| format!("{{{expr}}}"));
        if let Node::Read(read) = &mut plan.node {
            read.options.insert(key.to_owned(), value);
        }
    }

    fn sample(&mut self, sample: Option<&ast::TableSampleKind>, input: Plan) -> Plan {
        let (Some(ast::TableSampleKind::BeforeTableAlias(sample))
        | Some(ast::TableSampleKind::AfterTableAlias(sample))) = sample
        else {
            return input;
        };
        let place = input.place.clone();
        Plan::at(Node::Sample { description: sample.to_string().to_lowercase().into(), input: Box::new(input) }, place)
    }

    /// The relation under its alias, with the clauses that the alias carries (see [`RelationSuffix`]) below it.
    fn aliased(&mut self, plan: Plan, alias: Option<&ast::TableAlias>) -> Plan {
        let Some(alias) = alias else { return plan };
        let (suffix, name) = match attached(&alias.name.value) {
            Some((index, name)) => (self.suffixes.get(index).cloned(), decode(name)),
            None => (None, decode(&alias.name.value)),
        };
        let plan = match suffix {
            Some(suffix) => self.suffixed(plan, suffix),
            None => plan,
        };
        let columns: Vec<Arc<str>> = alias.columns.iter().map(|column| decode(&column.name.value).into()).collect();
        // A generator's Generate node takes the names itself.
        let named = matches!(&plan.node, Node::Generate { qualifier: Some(_), .. });
        if name.is_empty() || named {
            return plan;
        }
        let place = plan.place.clone();
        Plan::at(Node::SubqueryAlias { alias: name.into(), columns, input: Box::new(plan) }, place)
    }

    fn suffixed(&mut self, mut plan: Plan, suffix: RelationSuffix) -> Plan {
        let RelationSuffix { options, name, changes, watermark } = suffix;
        let reads_nothing = !options.is_empty() || name.is_some() || changes.is_some();
        if let Node::Read(read) = &mut plan.node {
            read.options.extend(options);
            if name.is_some() {
                read.name = name;
            }
            if let Some(bounds) = changes {
                if let Source::Table(table) = &read.source {
                    read.source = Source::ChangeFeed(table.clone());
                }
                read.options.extend(bounds.into_iter().map(|(key, value)| (key.to_owned(), value)));
            }
        } else if reads_nothing {
            let span = plan.place.span().cloned();
            let message = "read options stand after something that is not a table or a stream".to_owned();
            self.problems.warning("sql-unsupported", message, span);
        }
        match watermark {
            Some(watermark) => self.watermark(plan, watermark),
            None => plan,
        }
    }

    fn watermark(&mut self, input: Plan, clause: WatermarkClause) -> Plan {
        let place = self.place(clause.span);
        let event_time = self.expression(&clause.event_time);
        let event_time = match clause.alias {
            Some(alias) => event_time.alias_at(alias, place.clone()),
            None => event_time,
        };
        let delay = self.expression(&clause.delay);
        let delay = match self.constant_text(&delay).as_deref().and_then(super::literal::interval_text) {
            Some(interval) if matches!(delay, Expr::Literal { data_type: crate::model::DataType::String, .. }) => {
                interval
            }
            _ => delay,
        };
        Plan::at(Node::Watermark { event_time, delay, input: Box::new(input) }, place)
    }

    fn pivot(
        &mut self,
        input: Plan,
        aggregates: &[ast::ExprWithAlias],
        columns: &[ast::Expr],
        values: &ast::PivotValueSource,
        span: Span,
    ) -> Plan {
        let ast::PivotValueSource::List(values) = values else {
            self.unsupported("PIVOT over values that are not listed", span);
            return opaque_relation("pivot", "values", self.place(span), vec![input]);
        };
        let mut aliased = |item: &ast::ExprWithAlias| {
            let expr = self.expression(&item.expr);
            match &item.alias {
                Some(alias) => expr.alias_at(decode(&alias.value), self.place(alias.span)),
                None => expr,
            }
        };
        let aggregates = aggregates.iter().map(&mut aliased).collect();
        let values = values.iter().map(&mut aliased).collect();
        let mut columns: Vec<Expr> = columns.iter().map(|column| self.expression(column)).collect();
        let column = if columns.len() == 1 { columns.remove(0) } else { Expr::call("struct", columns) };
        // Spark groups by all columns that the clause does not name; which they are is for analysis to say.
        let node =
            Node::Pivot { groupings: Vec::new(), column: Box::new(column), values, aggregates, input: Box::new(input) };
        Plan::at(node, self.place(span))
    }

    /// `STREAM(x)`, `IDENTIFIER(x)`, generators and table-valued functions.
    fn table_function(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::FunctionArg],
        alias: Option<&ast::TableAlias>,
        span: Span,
    ) -> Plan {
        let parts = name_parts(name);
        let function = parts.join(".").to_lowercase();
        match (function.as_str(), args) {
            ("stream", [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(inner))]) => self.stream(inner, span),
            ("identifier", [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(inner))]) => {
                let parts = self.identifier(inner);
                self.table(&parts, span)
            }
            (generator, _) if GENERATORS.contains(&generator) => {
                let call = self.call_parts(&function, args);
                let qualifier = alias.map(|alias| decode(&alias.name.value).into());
                let names = alias
                    .map(|alias| alias.columns.iter().map(|column| decode(&column.name.value).into()).collect())
                    .unwrap_or_default();
                let node = Node::Generate {
                    generator: call,
                    outer: false,
                    qualifier: qualifier.filter(|name: &Arc<str>| attached(name).is_none()),
                    names,
                    output: Vec::new(),
                    input: Box::new(one_row()),
                };
                Plan::at(node, self.place(span))
            }
            _ => self.reader(&function, args, false, span),
        }
    }

    /// What `STREAM` reads: a table, a path, or a reader function.
    fn stream(&mut self, inner: &ast::Expr, span: Span) -> Plan {
        let span = span.union(&inner.span());
        let mut plan = match inner {
            ast::Expr::Identifier(ident) => self.table(&[decode(&ident.value)], span),
            ast::Expr::CompoundIdentifier(idents) => {
                let parts: Vec<String> = idents.iter().map(|ident| decode(&ident.value)).collect();
                self.table(&parts, span)
            }
            ast::Expr::Function(call) => {
                let function = name_parts(&call.name).join(".").to_lowercase();
                let args = match &call.args {
                    ast::FunctionArguments::List(list) => list.args.as_slice(),
                    _ => &[],
                };
                match (function.as_str(), args) {
                    ("identifier", [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(inner))]) => {
                        let parts = self.identifier(inner);
                        self.table(&parts, span)
                    }
                    ("stream", [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(inner))]) => {
                        self.stream(inner, span)
                    }
                    _ => self.reader(&function, args, true, span),
                }
            }
            ast::Expr::Subquery(query) => self.query(query),
            ast::Expr::Value(_) => {
                let lowered = self.expression(inner);
                let text = self.constant_text(&lowered).unwrap_or_default();
                let name = QualifiedName::parse(&text);
                let parts: Vec<String> = name.parts().map(str::to_owned).collect();
                self.table(&parts, span)
            }
            other => {
                self.unsupported("what STREAM reads", other.span());
                opaque_relation("stream", &other.to_string(), self.place(span), Vec::new())
            }
        };
        if let Node::Read(read) = &mut plan.node {
            read.streaming = true;
            if matches!(read.source, Source::Files { auto_loader: false, .. }) {
                self.only_on_lakeflow("STREAM over a path", span);
            }
        }
        plan
    }

    /// The name that `IDENTIFIER(expression)` gives; a placeholder where the expression is not constant.
    pub fn identifier(&mut self, inner: &ast::Expr) -> Vec<String> {
        let lowered = self.expression(inner);
        if let Some(text) = self.constant_text(&lowered) {
            return QualifiedName::parse(&text).parts().map(str::to_owned).collect();
        }
        let place = self.place(inner.span());
        let why = "the argument of IDENTIFIER is not a constant";
        self.unresolved(
            "unknown-name",
            format!("IDENTIFIER({inner})"),
            why,
            Some("give the parameter a value"),
            &place,
        );
        vec![format!("{{{inner}}}")]
    }
}

pub(super) fn read_at(source: Source, streaming: bool, place: Place) -> Plan {
    let read = Read { place: place.clone(), ..Read::new(source, streaming) };
    Plan::at(Node::Read(read), place)
}

fn join_node(left: Plan, right: Plan, kind: JoinKind, on: JoinOn, lateral: bool, place: Place) -> Plan {
    Plan::at(Node::Join { left: Box::new(left), right: Box::new(right), kind, on, lateral }, place)
}

fn is_lateral(factor: &ast::TableFactor) -> bool {
    matches!(factor, ast::TableFactor::Derived { lateral: true, .. } | ast::TableFactor::Function { lateral: true, .. })
}
