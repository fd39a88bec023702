//! From sqlparser's syntax tree to [`Plan`]s: queries and set operations here, SELECT, relations and expressions beside it.

mod call;
mod expression;
mod grouping;
mod literal;
mod reader;
mod relation;
mod select;
mod window;

use super::relation_suffix::RelationSuffix;
use super::text::decode;
use super::tokens::pair;
use super::{Context, Problems};
use crate::model::{Expr, Node, Place, Plan, Platform, SetOperation, SortKey, Unresolved};
use sqlparser::ast::{self, Spanned};
use sqlparser::tokenizer::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Names that `USE` made the current catalog and schema, and the views that hide tables of it.
#[derive(Debug, Clone, Default)]
pub(super) struct CurrentNamespace {
    pub catalog: Option<String>,
    pub schema: Option<String>,
    /// Lower case.
    pub views: BTreeSet<String>,
}

/// Lowers one statement's query or expression, collecting what it meets on the way.
pub(super) struct Lowering<'a> {
    context: &'a Context<'a>,
    namespace: &'a CurrentNamespace,
    suffixes: Vec<RelationSuffix>,
    /// Names of the common table expressions in scope, lower case.
    ctes: Vec<String>,
    /// Parameters of the lambdas around the current expression.
    lambda_params: Vec<Arc<str>>,
    /// `WINDOW name AS (…)` of the current SELECT.
    windows: Vec<(String, ast::WindowSpec)>,
    pub problems: Problems,
}

impl<'a> Lowering<'a> {
    pub fn new(context: &'a Context<'a>, namespace: &'a CurrentNamespace, suffixes: Vec<RelationSuffix>) -> Self {
        Lowering {
            context,
            namespace,
            suffixes,
            ctes: Vec::new(),
            lambda_params: Vec::new(),
            windows: Vec::new(),
            problems: Problems::default(),
        }
    }

    fn place(&self, span: Span) -> Place {
        if span == Span::empty() {
            return Place::unknown();
        }
        self.context.origin.place(pair(span.start), pair(span.end))
    }

    /// Reports a construct that has no meaning here; what stands for it says so too.
    fn unsupported(&mut self, what: &str, span: Span) {
        let span = self.place(span).span().cloned();
        self.problems.warning("sql-unsupported", format!("{what} is not understood"), span);
    }

    /// Reports what open-source Spark's pipelines refuse.
    fn only_on_lakeflow(&mut self, what: &str, span: Span) {
        if self.context.platform() == Platform::Spark {
            let span = self.place(span).span().cloned();
            self.problems.error("not-on-platform", format!("{what} does not exist in Apache Spark"), span);
        }
    }

    /// An expression or relation whose text is all that is known.
    fn opaque_expression(&mut self, what: &str, text: &str, span: Span) -> Expr {
        self.unsupported(what, span);
        super::opaque_expression(what, text, self.place(span))
    }

    fn unresolved(&mut self, code: &str, what: String, why: &str, hint: Option<&str>, place: &Place) {
        self.problems.unresolved.push(Unresolved {
            code: code.to_owned(),
            what,
            why: why.to_owned(),
            hint: hint.map(str::to_owned),
            pipeline: None,
            dataset: None,
            span: place.span().cloned(),
        });
    }

    pub fn query(&mut self, query: &ast::Query) -> Plan {
        let scope = self.ctes.len();
        let ctes = query.with.as_ref().map(|with| self.ctes(with)).unwrap_or_default();
        let mut plan = self.set_expression(&query.body);
        if let Some(order_by) = &query.order_by {
            plan = self.order_by(order_by, &query.body, plan);
        }
        if let Some(limit) = &query.limit_clause {
            plan = self.limit(limit, plan);
        }
        if let Some(ast::Fetch { quantity: Some(quantity), .. }) = &query.fetch {
            let count = self.expression(quantity);
            plan = Plan::at(Node::Limit { count, input: Box::new(plan) }, self.place(quantity.span()));
        }
        for operator in &query.pipe_operators {
            plan = self.pipe(operator, plan);
        }
        if !query.locks.is_empty()
            || query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
        {
            self.unsupported("a clause after the query", query.span());
        }
        self.ctes.truncate(scope);
        if ctes.is_empty() {
            return plan;
        }
        let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
        let place = plan.place.clone();
        Plan::at(Node::With { ctes, recursive, body: Box::new(plan) }, place)
    }

    fn ctes(&mut self, with: &ast::With) -> Vec<(Arc<str>, Plan)> {
        let mut ctes = Vec::new();
        for cte in &with.cte_tables {
            let name = decode(&cte.alias.name.value);
            if with.recursive {
                self.ctes.push(name.to_lowercase());
            }
            let mut plan = self.query(&cte.query);
            if !cte.alias.columns.is_empty() {
                let columns = cte.alias.columns.iter().map(|column| decode(&column.name.value).into()).collect();
                plan = Plan::at(
                    Node::SubqueryAlias { alias: name.as_str().into(), columns, input: Box::new(plan) },
                    self.place(cte.alias.name.span),
                );
            }
            if !with.recursive {
                self.ctes.push(name.to_lowercase());
            }
            ctes.push((name.into(), plan));
        }
        ctes
    }

    fn set_expression(&mut self, body: &ast::SetExpr) -> Plan {
        match body {
            ast::SetExpr::Select(select) => self.select(select),
            ast::SetExpr::Query(query) => self.query(query),
            ast::SetExpr::SetOperation { left, op, set_quantifier, right } => {
                self.set_operation(left, *op, *set_quantifier, right)
            }
            ast::SetExpr::Values(values) => self.values(values),
            ast::SetExpr::Table(table) => {
                let parts: Vec<String> =
                    table.schema_name.iter().chain(&table.table_name).map(|part| decode(&part.value)).collect();
                self.table(&parts, body.span())
            }
            ast::SetExpr::Insert(_) | ast::SetExpr::Update(_) | ast::SetExpr::Delete(_) | ast::SetExpr::Merge(_) => {
                self.unsupported("a statement inside a query", body.span());
                Plan::unresolved("query", "a statement stands where a query is expected", 0, self.place(body.span()))
            }
        }
    }

    /// `a UNION ALL b UNION ALL c` is one union of three, as Catalyst's `CombineUnions` makes it.
    fn set_operation(
        &mut self,
        left: &ast::SetExpr,
        operator: ast::SetOperator,
        quantifier: ast::SetQuantifier,
        right: &ast::SetExpr,
    ) -> Plan {
        use ast::SetQuantifier as Q;
        let by_name = matches!(quantifier, Q::ByName | Q::AllByName | Q::DistinctByName);
        let all = matches!(quantifier, Q::All | Q::AllByName);
        let place = self.place(right.span());
        let (left, right) = (self.set_expression(left), self.set_expression(right));
        let operation = match operator {
            ast::SetOperator::Union => {
                let mut inputs = match left {
                    Plan { node: Node::Union { inputs, by_name: other, .. }, .. }
                        if all && other == by_name && !by_name =>
                    {
                        inputs
                    }
                    left => vec![left],
                };
                inputs.push(right);
                let union = Plan::at(Node::Union { inputs, by_name, allow_missing: false }, place.clone());
                if all {
                    return union;
                }
                return Plan::at(Node::Distinct { input: Box::new(union) }, place);
            }
            ast::SetOperator::Intersect => SetOperation::Intersect,
            ast::SetOperator::Except | ast::SetOperator::Minus => SetOperation::Except,
        };
        Plan::at(Node::SetOperation { operation, all, left: Box::new(left), right: Box::new(right) }, place)
    }

    fn order_by(&mut self, order_by: &ast::OrderBy, body: &ast::SetExpr, input: Plan) -> Plan {
        let keys = match &order_by.kind {
            ast::OrderByKind::Expressions(keys) => keys.iter().map(|key| self.sort_key(key, Some(body))).collect(),
            ast::OrderByKind::All(options) => {
                let star = Expr::Star {
                    qualifier: Vec::new(),
                    except: Vec::new(),
                    replace: Vec::new(),
                    place: Place::unknown(),
                };
                vec![sort_key(star, options)]
            }
        };
        sorted(input, keys, self.place(order_by.span()))
    }

    /// An ordinal stands for the item of the select list.
    fn sort_key(&mut self, key: &ast::OrderByExpr, body: Option<&ast::SetExpr>) -> SortKey {
        let ordinal = match (&key.expr, body) {
            (ast::Expr::Value(value), Some(ast::SetExpr::Select(select))) => ordinal_item(value, &select.projection),
            _ => None,
        };
        let expr = match ordinal {
            Some(item) => self.output_reference(item),
            None => self.expression(&key.expr),
        };
        sort_key(expr, &key.options)
    }

    /// A select item as what is above the SELECT names it.
    fn output_reference(&mut self, item: &ast::SelectItem) -> Expr {
        match item {
            ast::SelectItem::ExprWithAlias { alias, .. } => self.column(std::slice::from_ref(alias)),
            ast::SelectItem::UnnamedExpr(expr) => self.expression(expr),
            _ => Expr::null(),
        }
    }

    fn limit(&mut self, limit: &ast::LimitClause, mut plan: Plan) -> Plan {
        let (count, offset) = match limit {
            ast::LimitClause::LimitOffset { limit, offset, limit_by } => {
                if !limit_by.is_empty() {
                    self.unsupported("LIMIT BY", limit.as_ref().map_or(Span::empty(), Spanned::span));
                }
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            ast::LimitClause::OffsetCommaLimit { offset, limit } => (Some(limit), Some(offset)),
        };
        if let Some(offset) = offset {
            let count = self.expression(offset);
            plan = Plan::at(Node::Offset { count, input: Box::new(plan) }, self.place(offset.span()));
        }
        match count {
            Some(limit) => {
                let count = self.expression(limit);
                Plan::at(Node::Limit { count, input: Box::new(plan) }, self.place(limit.span()))
            }
            None => plan,
        }
    }
}

/// An aggregate in ORDER BY that the SELECT does not give is computed with the others and dropped after sorting.
fn sorted(mut input: Plan, mut keys: Vec<SortKey>, place: Place) -> Plan {
    let mut extra = Vec::new();
    if let Node::Aggregate { outputs, .. } = &mut input.node {
        for (index, key) in keys.iter_mut().enumerate().filter(|(_, key)| grouping::contains_aggregate(&key.expr)) {
            let name = format!("__order{index}");
            let expr = std::mem::replace(&mut key.expr, Expr::column(&name));
            outputs.push(expr.alias_at(name.as_str(), place.clone()));
            extra.push(name);
        }
    }
    let sort = Plan::at(Node::Sort { keys, global: true, input: Box::new(input) }, place.clone());
    extra.iter().fold(sort, |plan, name| select::without(name, plan, place.clone()))
}

fn sort_key(expr: Expr, options: &ast::OrderByOptions) -> SortKey {
    let descending = matches!(options.sort, Some(ast::OrderBySort::Desc));
    let mut key = SortKey::new(expr, descending);
    if let Some(nulls_first) = options.nulls_first {
        key.nulls_first = nulls_first;
    }
    key
}

/// The item that an integer literal in GROUP BY or ORDER BY stands for.
fn ordinal_item<'s>(value: &ast::ValueWithSpan, items: &'s [ast::SelectItem]) -> Option<&'s ast::SelectItem> {
    let ast::Value::Number(digits, _) = &value.value else { return None };
    items.get(digits.parse::<usize>().ok()?.checked_sub(1)?)
}
