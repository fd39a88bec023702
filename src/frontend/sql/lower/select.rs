//! SELECT: FROM, WHERE, aggregation, projection, QUALIFY and DISTINCT, in Spark's order.

use super::Lowering;
use super::grouping::contains_aggregate;
use crate::frontend::sql::rewrite::PART_MARK;
use crate::frontend::sql::text::decode;
use crate::model::{DataType, Expr, Field, GroupingSets, Node, Place, Plan, Schema, SortKey};
use sqlparser::ast::{self, Spanned};
use sqlparser::tokenizer::Span;
use std::sync::Arc;

/// One row without columns: what a SELECT without FROM reads.
pub(super) fn one_row() -> Plan {
    Plan::new(Node::Values { rows: vec![Vec::new()], schema: Schema::new(Vec::new()) })
}

impl Lowering<'_> {
    pub(super) fn select(&mut self, select: &ast::Select) -> Plan {
        let outer_windows = std::mem::take(&mut self.windows);
        self.named_windows(&select.named_window);
        let mut plan = self.from(&select.from);
        for view in &select.lateral_views {
            plan = self.lateral_view(view, plan);
        }
        if let Some(condition) = &select.selection {
            plan = self.filter(condition, plan);
        }
        plan = self.projection(select, plan);
        if let Some(condition) = &select.qualify {
            plan = self.qualify(condition, plan);
        }
        match &select.distinct {
            Some(ast::Distinct::Distinct) => {
                let place = self.place(select.select_token.0.span);
                plan = Plan::at(Node::Distinct { input: Box::new(plan) }, place);
            }
            Some(ast::Distinct::On(_)) => self.unsupported("DISTINCT ON", select.span()),
            Some(ast::Distinct::All) | None => {}
        }
        plan = self.local_order(select, plan);
        self.refuse_foreign_clauses(select);
        self.windows = outer_windows;
        plan
    }

    fn refuse_foreign_clauses(&mut self, select: &ast::Select) {
        let foreign = select.top.is_some()
            || select.into.is_some()
            || select.prewhere.is_some()
            || select.exclude.is_some()
            || select.value_table_mode.is_some()
            || select.select_modifiers.is_some()
            || !select.connect_by.is_empty();
        if foreign {
            self.unsupported("a clause of this SELECT", select.select_token.0.span);
        }
    }

    fn filter(&mut self, condition: &ast::Expr, input: Plan) -> Plan {
        let place = self.place(condition.span());
        let condition = self.expression(condition);
        Plan::at(Node::Filter { condition, input: Box::new(input) }, place)
    }

    /// QUALIFY filters what the SELECT gives, by its columns or by more than it gives: then the condition is computed as one
    /// more column of the SELECT, which is dropped afterwards.
    fn qualify(&mut self, condition: &ast::Expr, mut plan: Plan) -> Plan {
        const NAME: &str = "__qualify";
        let place = self.place(condition.span());
        let condition = self.expression(condition);
        let list = match &mut plan.node {
            Node::Project { list, .. } | Node::Aggregate { outputs: list, .. }
                if !reads_only_aliases(&condition, list) =>
            {
                list
            }
            _ => return Plan::at(Node::Filter { condition, input: Box::new(plan) }, place),
        };
        list.push(condition.alias_at(NAME, place.clone()));
        let filter = Plan::at(Node::Filter { condition: Expr::column(NAME), input: Box::new(plan) }, place.clone());
        without(NAME, filter, place)
    }

    /// SORT BY and CLUSTER BY order each partition; DISTRIBUTE BY alone changes no row, so it leaves no trace in the plan.
    fn local_order(&mut self, select: &ast::Select, input: Plan) -> Plan {
        let mut keys: Vec<SortKey> = select.sort_by.iter().map(|key| self.sort_key(key, None)).collect();
        keys.extend(select.cluster_by.iter().map(|expr| SortKey::new(self.expression(expr), false)));
        if keys.is_empty() {
            return input;
        }
        Plan::new(Node::Sort { keys, global: false, input: Box::new(input) })
    }

    fn lateral_view(&mut self, view: &ast::LateralView, input: Plan) -> Plan {
        let place = self.place(view.lateral_view.span());
        let generator = self.expression(&view.lateral_view);
        let qualifier =
            view.lateral_view_name.0.last().and_then(|part| part.as_ident()).map(|i| decode(&i.value).into());
        let names = view.lateral_col_alias.iter().map(|ident| decode(&ident.value).into()).collect();
        let node = Node::Generate {
            generator,
            outer: view.outer,
            qualifier,
            names,
            output: Vec::new(),
            input: Box::new(input),
        };
        Plan::at(node, place)
    }

    /// The select list over its input: an `Aggregate` where there is a GROUP BY, HAVING or an aggregate function.
    fn projection(&mut self, select: &ast::Select, input: Plan) -> Plan {
        let list = self.select_list(&select.projection);
        let grouped = !matches!(&select.group_by, ast::GroupByExpr::Expressions(keys, modifiers) if keys.is_empty() && modifiers.is_empty());
        let having = select.having.as_ref().map(|having| self.expression(having));
        if !grouped && having.is_none() && !list.iter().any(contains_aggregate) {
            let place = self.place(list_span(&select.projection));
            return Plan::at(Node::Project { list, input: Box::new(input) }, place);
        }
        let (groupings, sets) = if grouped {
            self.groupings(&select.group_by, &select.projection, &list)
        } else {
            (Vec::new(), GroupingSets::Simple)
        };
        let span = if grouped { select.group_by.span() } else { list_span(&select.projection) };
        let span = if span == Span::empty() { list_span(&select.projection) } else { span };
        let place = self.place(span);
        Plan::at(Node::Aggregate { groupings, sets, outputs: list, having, input: Box::new(input) }, place)
    }

    pub fn select_list(&mut self, items: &[ast::SelectItem]) -> Vec<Expr> {
        items.iter().map(|item| self.select_item(item)).collect()
    }

    fn select_item(&mut self, item: &ast::SelectItem) -> Expr {
        match item {
            ast::SelectItem::UnnamedExpr(expr) => self.expression(expr),
            ast::SelectItem::ExprWithAlias { expr, alias } => {
                let place = self.place(item.span());
                self.expression(expr).alias_at(decode(&alias.value), place)
            }
            ast::SelectItem::ExprWithAliases { expr, aliases } => Expr::MultiAlias {
                expr: Box::new(self.expression(expr)),
                names: aliases.iter().map(|alias| decode(&alias.value).into()).collect(),
            },
            ast::SelectItem::Wildcard(options) => self.star(Vec::new(), options, item.span()),
            ast::SelectItem::QualifiedWildcard(kind, options) => match kind {
                ast::SelectItemQualifiedWildcardKind::ObjectName(name) => {
                    self.star(super::relation::name_parts(name), options, item.span())
                }
                ast::SelectItemQualifiedWildcardKind::Expr(_) => {
                    self.opaque_expression("`.*` after an expression", &item.to_string(), item.span())
                }
            },
        }
    }

    pub(super) fn star(
        &mut self,
        qualifier: Vec<String>,
        options: &ast::WildcardAdditionalOptions,
        span: Span,
    ) -> Expr {
        let except = match &options.opt_except {
            Some(except) => std::iter::once(&except.first_element)
                .chain(&except.additional_elements)
                .map(|ident| decode(&ident.value).replace(PART_MARK, "."))
                .collect(),
            None => Vec::new(),
        };
        let replace = match &options.opt_replace {
            Some(replace) => replace
                .items
                .iter()
                .map(|item| {
                    let place = self.place(item.span());
                    self.expression(&item.expr).alias_at(decode(&item.column_name.value), place)
                })
                .collect(),
            None => Vec::new(),
        };
        if options.opt_ilike.is_some()
            || options.opt_exclude.is_some()
            || options.opt_rename.is_some()
            || options.opt_alias.is_some()
        {
            self.unsupported("a clause after `*`", span);
        }
        Expr::Star { qualifier, except, replace, place: self.place(span) }
    }

    /// `VALUES (1, 'a'), (2, 'b')`: columns `col1`, `col2`, … of the types that analysis finds.
    pub(super) fn values(&mut self, values: &ast::Values) -> Plan {
        let rows: Vec<Vec<Expr>> =
            values.rows.iter().map(|row| row.content.iter().map(|value| self.expression(value)).collect()).collect();
        let width = rows.first().map_or(0, Vec::len);
        let fields = (1..=width).map(|n| Field::new(format!("col{n}"), DataType::Unknown)).collect();
        Plan::at(Node::Values { rows, schema: Schema::new(fields) }, self.place(values.span()))
    }

    fn named_windows(&mut self, windows: &[ast::NamedWindowDefinition]) {
        for ast::NamedWindowDefinition(name, window) in windows {
            let spec = match window {
                ast::NamedWindowExpr::WindowSpec(spec) => Some(spec.clone()),
                ast::NamedWindowExpr::NamedWindow(other) => self.named_window(&other.value).cloned(),
            };
            if let Some(spec) = spec {
                self.windows.push((name.value.to_lowercase(), spec));
            }
        }
    }

    /// One `|>` step over the plan so far.
    pub(super) fn pipe(&mut self, operator: &ast::PipeOperator, input: Plan) -> Plan {
        let boxed = Box::new(input);
        let node = match operator {
            ast::PipeOperator::Where { expr } => return self.filter(expr, *boxed),
            ast::PipeOperator::Select { exprs } => Node::Project { list: self.select_list(exprs), input: boxed },
            ast::PipeOperator::Extend { exprs } => {
                let star = Expr::Star {
                    qualifier: Vec::new(),
                    except: Vec::new(),
                    replace: Vec::new(),
                    place: Place::unknown(),
                };
                let list = std::iter::once(star).chain(self.select_list(exprs)).collect();
                Node::Project { list, input: boxed }
            }
            ast::PipeOperator::Drop { columns } => {
                let columns = columns.iter().map(|ident| self.column(std::slice::from_ref(ident))).collect();
                Node::DropColumns { columns, input: boxed }
            }
            ast::PipeOperator::As { alias } => {
                let alias: Arc<str> = decode(&alias.value).into();
                Node::SubqueryAlias { alias, columns: Vec::new(), input: boxed }
            }
            ast::PipeOperator::OrderBy { exprs } => {
                let keys = exprs.iter().map(|key| self.sort_key(key, None)).collect();
                Node::Sort { keys, global: true, input: boxed }
            }
            ast::PipeOperator::Limit { expr, offset: None } => {
                Node::Limit { count: self.expression(expr), input: boxed }
            }
            ast::PipeOperator::Aggregate { full_table_exprs, group_by_expr } => {
                let mut item = |item: &ast::ExprWithAliasAndOrderBy| {
                    let expr = self.expression(&item.expr.expr);
                    let named = match &item.expr.alias {
                        Some(alias) => expr.clone().alias(decode(&alias.value)),
                        None => expr.clone(),
                    };
                    (expr, named)
                };
                let keys: Vec<(Expr, Expr)> = group_by_expr.iter().map(&mut item).collect();
                let aggregates: Vec<(Expr, Expr)> = full_table_exprs.iter().map(&mut item).collect();
                Node::Aggregate {
                    groupings: keys.iter().map(|(expr, _)| expr.clone()).collect(),
                    sets: GroupingSets::Simple,
                    outputs: keys.into_iter().chain(aggregates).map(|(_, named)| named).collect(),
                    having: None,
                    input: boxed,
                }
            }
            other => {
                let text = other.to_string();
                self.unsupported("this step of the pipe", Span::empty());
                return super::super::opaque_relation("pipe operator", &text, boxed.place.clone(), vec![*boxed]);
            }
        };
        Plan::new(node)
    }
}

/// True where an expression computes no window and names only aliases of the list.
fn reads_only_aliases(expr: &Expr, list: &[Expr]) -> bool {
    let mut only = true;
    expr.walk(&mut |part| match part {
        Expr::Window { .. } | Expr::Subquery { .. } => only = false,
        Expr::Column(column) => {
            only &= list.iter().any(|item| match (item, column.parts.as_slice()) {
                (Expr::Alias { name, .. }, [part]) => name.eq_ignore_ascii_case(part),
                _ => false,
            });
        }
        _ => {}
    });
    only && !contains_aggregate(expr)
}

/// All columns of the input but one.
pub(super) fn without(name: &str, input: Plan, place: Place) -> Plan {
    let star =
        Expr::Star { qualifier: Vec::new(), except: vec![name.to_owned()], replace: Vec::new(), place: place.clone() };
    Plan::at(Node::Project { list: vec![star], input: Box::new(input) }, place)
}

fn list_span(items: &[ast::SelectItem]) -> Span {
    Span::union_iter(items.iter().map(Spanned::span))
}
