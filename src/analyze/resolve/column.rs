//! Names: what a column that the user wrote means where it stands.

use super::Resolver;
use super::relation::{Found, Open, Relation, find, is_suffix, same_name};
use crate::model::{Attribute, Call, ColumnName, DataType, Expr, Opaque, Place, SubqueryKind, WindowSpec};
use std::sync::Arc;

/// Where an expression stands: the columns it may name.
pub(super) struct Scope<'s> {
    pub relations: Vec<&'s Relation>,
    /// Names that come after the columns, with what they stand for: aliases further left in the same SELECT list (lateral column
    /// aliases), the time window grouped by.
    pub aliases: &'s [(Arc<str>, Expr)],
    /// The node it stands in, for messages.
    pub place: &'s Place,
}

/// Functions that may be written without parentheses (`LiteralFunctionResolution`).
const NILADIC: &[&str] = &[
    "current_date",
    "current_time",
    "current_timestamp",
    "localtimestamp",
    "current_user",
    "session_user",
    "user",
    "current_catalog",
    "current_database",
    "current_schema",
];

/// Columns that an expression names, in order; subqueries are not entered.
pub(super) fn columns_of(expr: &Expr) -> Vec<&ColumnName> {
    let mut columns = Vec::new();
    expr.walk(&mut |e| {
        if let Expr::Column(column) = e {
            columns.push(column);
        }
    });
    columns
}

impl Resolver<'_> {
    /// Resolves an expression over one relation: names, then types.
    pub(super) fn scalar(&mut self, expr: &Expr, input: &Relation, place: &Place) -> Expr {
        let scope = Scope { relations: vec![input], aliases: &[], place };
        self.in_scope(expr, &scope)
    }

    pub(super) fn in_scope(&mut self, expr: &Expr, scope: &Scope<'_>) -> Expr {
        let named = self.names(expr, scope);
        self.types(named)
    }

    /// True where a column can be found without error in a relation.
    pub(super) fn can_resolve(&self, column: &ColumnName, input: &Relation) -> bool {
        !matches!(find(input.output.iter().chain(&input.hidden), &column.parts), Found::Nothing)
            || input.open.iter().any(|open| !open.excluded.iter().any(|e| column.parts.iter().any(|p| same_name(e, p))))
    }

    /// Every column becomes an attribute, every subquery a resolved plan. Types are for [`Resolver::types`].
    pub(super) fn names(&mut self, expr: &Expr, scope: &Scope<'_>) -> Expr {
        if depth(expr) > super::MAX_DEPTH {
            return self.too_deep(scope.place);
        }
        self.names_within(expr, scope, &mut Vec::new())
    }

    fn names_within(&mut self, expr: &Expr, scope: &Scope<'_>, lambda: &mut Vec<Arc<str>>) -> Expr {
        match expr {
            Expr::Column(column) => self.column(column, scope, lambda),
            Expr::Alias { expr, name, place, .. } => Expr::Alias {
                expr: Box::new(self.names_within(expr, scope, lambda)),
                name: name.clone(),
                id: self.fresh(),
                place: place.clone(),
            },
            Expr::Lambda { params, body } => {
                let before = lambda.len();
                lambda.extend(params.iter().cloned());
                let body = Box::new(self.names_within(body, scope, lambda));
                lambda.truncate(before);
                Expr::Lambda { params: params.clone(), body }
            }
            Expr::Call(call) => self.call_names(call, scope, lambda),
            Expr::Window { call, spec } => Expr::Window {
                call: Box::new(self.names_within(call, scope, lambda)),
                spec: WindowSpec {
                    partition_by: spec.partition_by.iter().map(|e| self.names_within(e, scope, lambda)).collect(),
                    order_by: spec
                        .order_by
                        .iter()
                        .map(|k| crate::model::SortKey { expr: self.names_within(&k.expr, scope, lambda), ..k.clone() })
                        .collect(),
                    frame: spec.frame.clone(),
                },
            },
            Expr::Subquery { kind, plan } => self.subquery(kind, plan, scope, lambda),
            Expr::Star { .. } => self.star(expr, scope).into_iter().next().unwrap_or_else(Expr::null),
            other => other.clone().map_children(&mut |child| self.names_within(&child, scope, lambda)),
        }
    }

    fn call_names(&mut self, call: &Call, scope: &Scope<'_>, lambda: &mut Vec<Arc<str>>) -> Expr {
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            match arg {
                Expr::Star { .. } => args.extend(self.star(arg, scope)),
                other => args.push(self.names_within(other, scope, lambda)),
            }
        }
        Expr::Call(Call {
            args,
            filter: call.filter.as_ref().map(|f| Box::new(self.names_within(f, scope, lambda))),
            order_by: call
                .order_by
                .iter()
                .map(|k| crate::model::SortKey { expr: self.names_within(&k.expr, scope, lambda), ..k.clone() })
                .collect(),
            ..call.clone()
        })
    }

    fn subquery(
        &mut self,
        kind: &SubqueryKind,
        plan: &crate::model::Plan,
        scope: &Scope<'_>,
        lambda: &mut Vec<Arc<str>>,
    ) -> Expr {
        let kind = match kind {
            SubqueryKind::In { operands, negated } => SubqueryKind::In {
                operands: operands.iter().map(|e| self.names_within(e, scope, lambda)).collect(),
                negated: *negated,
            },
            other => other.clone(),
        };
        let around: Vec<Relation> = scope.relations.iter().map(|r| (*r).clone()).collect();
        let count = around.len();
        self.outer.extend(around);
        let plan = Box::new(self.plan(plan).tight().plan);
        self.outer.truncate(self.outer.len().saturating_sub(count));
        Expr::Subquery { kind, plan }
    }

    fn column(&mut self, column: &ColumnName, scope: &Scope<'_>, lambda: &[Arc<str>]) -> Expr {
        if let Some((first, fields)) = column.parts.split_first()
            && let Some(name) = lambda.iter().rev().find(|p| same_name(p, first))
        {
            let variable = Expr::LambdaVariable { name: name.clone(), data_type: DataType::Unknown, nullable: true };
            return with_fields(variable, fields);
        }
        if let Some(frame) = column.frame
            && let Some(found) = self.frame_column(frame, column, scope)
        {
            return found;
        }
        let place = column.place.or(scope.place);
        if let Some(found) = self.among(&scope.relations, &column.parts, &place) {
            return found;
        }
        if let Some(found) = self.named_before(&scope.relations, &column.parts) {
            return found;
        }
        if let [name] = column.parts.as_slice()
            && let Some((_, expr)) = scope.aliases.iter().rev().find(|(alias, _)| same_name(alias, name))
        {
            return expr.clone();
        }
        if let Some((first, fields)) = column.parts.split_first()
            && let Some((_, expr)) = scope.aliases.iter().rev().find(|(alias, _)| same_name(alias, first))
        {
            return with_fields(expr.clone(), fields);
        }
        if let [name] = column.parts.as_slice()
            && NILADIC.iter().any(|f| f.eq_ignore_ascii_case(name))
        {
            return Expr::call(&name.to_lowercase(), Vec::new());
        }
        if let Some(found) = self.on_demand(&scope.relations, &column.parts) {
            return found;
        }
        if let Some(found) = self.outer_column(&column.parts, &place) {
            return found;
        }
        self.missing_column(column, scope, &place)
    }

    fn missing_column(&mut self, column: &ColumnName, scope: &Scope<'_>, place: &Place) -> Expr {
        let name = column.parts.join(".");
        // A column whose name is a symbol may be any of those that are there.
        if crate::model::symbol::holds_symbol(&name) {
            return Expr::Opaque(Opaque {
                name: name.into(),
                reason: "which column it is is known only at run time".into(),
                content: 0,
                args: Vec::new(),
                data_type: DataType::Unknown,
                deterministic: true,
                code: Vec::new(),
                place: place.clone(),
            });
        }
        let known: Vec<&str> =
            scope.relations.iter().flat_map(|r| r.output.iter()).map(|a| a.name.as_ref()).take(8).collect();
        let (class, message) = if known.is_empty() {
            ("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", format!("there is no column `{name}` here"))
        } else {
            let list = known.join("`, `");
            ("UNRESOLVED_COLUMN.WITH_SUGGESTION", format!("there is no column `{name}` here; there are `{list}`"))
        };
        self.error(class, message, place);
        let last = column.parts.last().map_or("", String::as_str);
        Expr::Attribute(self.attribute(last, DataType::Unknown, true))
    }

    /// `df["x"]`: the frame's column, where it still comes through.
    fn frame_column(&mut self, frame: u32, column: &ColumnName, scope: &Scope<'_>) -> Option<Expr> {
        for relation in &scope.relations {
            for columns in relation.frames.iter().filter(|f| f.frame == frame) {
                if let Found::Column(attribute, fields) = find(columns.columns.iter(), &column.parts) {
                    let here = relation.output.iter().chain(&relation.hidden).find(|a| a.id == attribute.id);
                    if let Some(here) = here {
                        return Some(with_fields(Expr::Attribute(here.clone()), &fields));
                    }
                }
                let opens: Vec<Open> =
                    columns.open.iter().filter(|open| relation.open.iter().any(|o| o.id == open.id)).cloned().collect();
                let hides = find(relation.output.iter(), &column.parts);
                if matches!(hides, Found::Nothing | Found::Ambiguous(_))
                    && let Some((first, fields)) = column.parts.split_first()
                    && let Some(found) = opens.iter().find_map(|open| self.open_column(open, first))
                {
                    return Some(with_fields(Expr::Attribute(found), fields));
                }
            }
        }
        None
    }

    fn among(&mut self, relations: &[&Relation], parts: &[String], place: &Place) -> Option<Expr> {
        match find(relations.iter().flat_map(|r| r.output.iter()), parts) {
            Found::Column(attribute, fields) => {
                self.check_fields(&attribute, &fields, place);
                return Some(with_fields(Expr::Attribute(attribute), &fields));
            }
            Found::Ambiguous(candidates) => return Some(self.ambiguous(&candidates, parts, place)),
            Found::Nothing => {}
        }
        if let Found::Column(attribute, fields) = find(relations.iter().flat_map(|r| r.hidden.iter()), parts) {
            return Some(with_fields(Expr::Attribute(attribute), &fields));
        }
        None
    }

    /// Spark's FIELD_NOT_FOUND: a path of fields that leaves a struct whose fields are known.
    fn check_fields(&mut self, attribute: &Attribute, fields: &[String], place: &Place) {
        let mut data_type = &attribute.data_type;
        for field in fields {
            let DataType::Struct(known) = data_type else { return };
            match known.iter().find(|candidate| same_name(&candidate.name, field)) {
                Some(found) => data_type = &found.data_type,
                None => {
                    let names: Vec<&str> = known.iter().take(8).map(|field| field.name.as_str()).collect();
                    let (column, names) = (attribute.name.as_ref(), names.join("`, `"));
                    let message = format!("there is no field `{field}` in `{column}`; there are `{names}`");
                    return self.error("FIELD_NOT_FOUND", message, place);
                }
            }
        }
    }

    /// A column of an open relation that was named before: as good as a known one.
    fn named_before(&self, relations: &[&Relation], parts: &[String]) -> Option<Expr> {
        let (first, fields) = parts.split_first()?;
        let opens = relations.iter().flat_map(|r| r.open.iter());
        let column = opens
            .filter(|open| !open.excluded.iter().any(|e| same_name(e, first)))
            .filter_map(|open| self.open.get(open.id))
            .find_map(|open| open.columns.iter().find(|c| same_name(&c.name, first)))?;
        Some(with_fields(Expr::Attribute(column.clone()), fields))
    }

    fn ambiguous(&mut self, candidates: &[Attribute], parts: &[String], place: &Place) -> Expr {
        let owners: Vec<String> = candidates
            .iter()
            .map(|a| a.qualifier.iter().map(AsRef::as_ref).chain([a.name.as_ref()]).collect::<Vec<_>>().join("."))
            .collect();
        let message = format!("`{}` may be any of {}; qualify it", parts.join("."), owners.join(", "));
        self.error("AMBIGUOUS_REFERENCE", message, place);
        match candidates.first() {
            Some(first) => Expr::Attribute(first.clone()),
            None => Expr::null(),
        }
    }

    /// A column of a relation that is not known in full. A qualifier decides which; a qualifier of a known relation rules it out.
    fn on_demand(&mut self, relations: &[&Relation], parts: &[String]) -> Option<Expr> {
        let metadata = parts.iter().any(|p| same_name(p, "_metadata"));
        let opens: Vec<Open> = relations
            .iter()
            .flat_map(|r| r.open.iter().chain(if metadata { r.metadata.iter() } else { [].iter() }))
            .cloned()
            .collect();
        if opens.is_empty() {
            return None;
        }
        for qualifiers in (1..parts.len().min(4)).rev() {
            let (qualifier, rest) = parts.split_at(qualifiers);
            let Some((name, fields)) = rest.split_first() else { continue };
            let owner = opens.iter().find(|open| is_suffix(&open.qualifier, qualifier));
            if let Some(found) = owner.and_then(|open| self.open_column(open, name)) {
                return Some(with_fields(Expr::Attribute(found), fields));
            }
        }
        let (first, fields) = parts.split_first()?;
        let qualifies = |a: &Attribute| !fields.is_empty() && is_suffix(&a.qualifier, std::slice::from_ref(first));
        if relations.iter().flat_map(|r| r.output.iter()).any(qualifies) {
            return None;
        }
        let named = opens
            .iter()
            .find(|open| self.open.get(open.id).is_some_and(|o| o.columns.iter().any(|c| same_name(&c.name, first))));
        let candidates: Vec<Open> = named.into_iter().chain(&opens).cloned().collect();
        let found = candidates.iter().find_map(|open| self.open_column(open, first))?;
        Some(with_fields(Expr::Attribute(found), fields))
    }

    /// A column of the query around a correlated subquery.
    fn outer_column(&mut self, parts: &[String], place: &Place) -> Option<Expr> {
        let outer = self.outer.clone();
        outer
            .iter()
            .rev()
            .find_map(|relation| self.among(&[relation], parts, place).or_else(|| self.on_demand(&[relation], parts)))
    }

    /// Expands a star to what it stands for; markers stand for columns that are not known.
    pub(super) fn star(&mut self, star: &Expr, scope: &Scope<'_>) -> Vec<Expr> {
        let Expr::Star { qualifier, except, replace, place } = star else { return Vec::new() };
        let place = place.or(scope.place);
        let matches = |names: &[Arc<str>]| qualifier.is_empty() || is_suffix(names, qualifier);
        let mut columns: Vec<Expr> = Vec::new();
        self.left_out_on_demand(except, scope);
        for relation in &scope.relations {
            for column in relation.output.iter().filter(|c| matches(&c.qualifier)) {
                if !left_out(except, &column.qualifier).any(|name| same_name(name, &column.name)) {
                    columns.push(Expr::Attribute(column.clone()));
                }
            }
            for open in relation.open.iter().filter(|open| matches(&open.qualifier)) {
                let mut open = open.clone();
                open.excluded.extend(left_out(except, &open.qualifier).map(str::to_owned));
                columns.push(super::relation::rest_of(&open));
            }
        }
        if columns.is_empty() && !qualifier.is_empty() {
            columns = self.struct_star(qualifier, except, scope, &place);
        }
        for replacement in replace {
            let Expr::Alias { name, .. } = replacement else { continue };
            let resolved = self.names(replacement, scope);
            match columns.iter_mut().find(|c| matches!(c, Expr::Attribute(a) if same_name(&a.name, name))) {
                Some(column) => *column = resolved,
                None => columns.push(resolved),
            }
        }
        columns
    }

    /// What is left out of a star must be there: Spark refuses `EXCEPT` of a column that it does not find. So a name that no known
    /// column has is a column of the open relation, where there is only one.
    fn left_out_on_demand(&mut self, except: &[String], scope: &Scope<'_>) {
        let opens: Vec<Open> = scope.relations.iter().flat_map(|relation| relation.open.iter().cloned()).collect();
        let [open] = opens.as_slice() else { return };
        for name in except {
            let parts: Vec<String> = name.split('.').map(str::to_owned).collect();
            let column = parts.last().filter(|_| parts.len() <= open.qualifier.len() + 1);
            let columns = || scope.relations.iter().flat_map(|relation| relation.output.iter());
            if let (Some(column), Found::Nothing) = (column, find(columns(), &parts)) {
                self.open_column(open, column);
            }
        }
    }

    /// `s.*` over a struct column.
    fn struct_star(&mut self, path: &[String], except: &[String], scope: &Scope<'_>, place: &Place) -> Vec<Expr> {
        let column = ColumnName { parts: path.to_vec(), frame: None, place: place.clone() };
        let named = self.column(&column, scope, &[]);
        let base = self.types(named);
        match super::expression::data_type(&base) {
            DataType::Struct(fields) => fields
                .iter()
                .filter(|field| !except.iter().any(|name| same_name(name, &field.name)))
                .map(|field| {
                    let access = with_fields(base.clone(), std::slice::from_ref(&field.name));
                    Expr::Alias {
                        expr: Box::new(access),
                        name: field.name.as_str().into(),
                        id: self.fresh(),
                        place: place.clone(),
                    }
                })
                .collect(),
            _ => {
                self.note_unresolved(
                    "unknown-schema",
                    &format!("{}.*", path.join(".")),
                    "the fields of the struct are not known",
                    place,
                );
                vec![super::relation::rest_of(&self.new_open(super::OpenKind::Leaf, false, &[]))]
            }
        }
    }

    fn too_deep(&mut self, place: &Place) -> Expr {
        self.note_unresolved("too-deep", "expression", "it is nested too deep to be analysed", place);
        Expr::Attribute(self.attribute("too_deep", DataType::Unknown, true))
    }
}

/// Field accesses on an expression.
pub(super) fn with_fields(expr: Expr, fields: &[String]) -> Expr {
    fields.iter().fold(expr, |base, field| Expr::call("getfield", vec![base, Expr::string(field)]))
}

/// Levels of nesting, measured without recursion.
fn depth(expr: &Expr) -> usize {
    let mut deepest = 0;
    let mut pending = vec![(expr, 1usize)];
    while let Some((expr, level)) = pending.pop() {
        deepest = deepest.max(level);
        pending.extend(expr.children().into_iter().map(|child| (child, level + 1)));
    }
    deepest
}

/// Names that `* EXCEPT (a, t.b)` leaves out of columns with this qualifier.
fn left_out<'e>(except: &'e [String], qualifier: &'e [Arc<str>]) -> impl Iterator<Item = &'e str> {
    except.iter().map(move |name| match name.rsplit_once('.') {
        Some((table, column)) => {
            let table: Vec<String> = table.split('.').map(str::to_owned).collect();
            if is_suffix(qualifier, &table) { column } else { name.as_str() }
        }
        None => name.as_str(),
    })
}
