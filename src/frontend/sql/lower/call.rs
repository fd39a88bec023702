//! Function calls, and the functions that SQL writes with keywords.

use super::expression::not;
use super::{Lowering, literal};
use crate::frontend::sql::dialect::{INTERVAL_FUNCTION, TYPED_STRING_FUNCTION};
use crate::frontend::sql::text::decode;
use crate::functions;
use crate::functions::signature::{self, Arranged};
use crate::model::{Call, DataType, Expr, Value};
use sqlparser::ast::{self, Spanned};

impl Lowering<'_> {
    pub(super) fn function(&mut self, call: &ast::Function, whole: &ast::Expr) -> Expr {
        let name = super::relation::name_parts(&call.name).join(".").to_lowercase();
        let list = match &call.args {
            ast::FunctionArguments::List(list) => Some(list),
            ast::FunctionArguments::None => None,
            ast::FunctionArguments::Subquery(query) => {
                let plan = Box::new(self.query(query));
                let argument = Expr::Subquery { kind: crate::model::SubqueryKind::Scalar, plan };
                return Expr::call(&name, vec![argument]);
            }
        };
        let args = list.map(|list| list.args.as_slice()).unwrap_or_default();
        match name.as_str() {
            INTERVAL_FUNCTION => return self.interval(args, whole),
            TYPED_STRING_FUNCTION => return self.keyword_timestamp(args, whole),
            _ => {}
        }
        let mut lowered = match self.call_parts(&name, args) {
            Expr::Call(lowered) => lowered,
            // A cast in the form of a function: nothing else can belong to it.
            other => return other,
        };
        self.call_clauses(&mut lowered, call, list, whole);
        let lowered = Expr::Call(lowered);
        match &call.over {
            Some(window) => self.over(lowered, window),
            None => lowered,
        }
    }

    fn call_clauses(
        &mut self,
        lowered: &mut Call,
        call: &ast::Function,
        list: Option<&ast::FunctionArgumentList>,
        whole: &ast::Expr,
    ) {
        lowered.distinct =
            list.is_some_and(|list| matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct)));
        lowered.filter = call.filter.as_ref().map(|filter| Box::new(self.expression(filter)));
        lowered.order_by = call.within_group.iter().map(|key| self.sort_key(key, None)).collect();
        lowered.ignore_nulls = matches!(call.null_treatment, Some(ast::NullTreatment::IgnoreNulls));
        for clause in list.map(|list| list.clauses.as_slice()).unwrap_or_default() {
            match clause {
                ast::FunctionArgumentClause::IgnoreOrRespectNulls(treatment) => {
                    lowered.ignore_nulls = matches!(treatment, ast::NullTreatment::IgnoreNulls);
                }
                ast::FunctionArgumentClause::OrderBy(keys) => {
                    lowered.order_by.extend(keys.iter().map(|key| self.sort_key(key, None)).collect::<Vec<_>>());
                }
                _ => self.unsupported("a clause inside this call", whole.span()),
            }
        }
        if !matches!(call.parameters, ast::FunctionArguments::None) {
            self.unsupported("a second list of arguments", whole.span());
        }
    }

    /// A call from its lower-case name and its arguments, with Spark's spelling of special forms.
    pub(super) fn call_parts(&mut self, name: &str, args: &[ast::FunctionArg]) -> Expr {
        if let Some(to) = cast_function(name)
            && let [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(operand))] = args
        {
            return Expr::Cast { expr: Box::new(self.expression(operand)), to, try_cast: false };
        }
        let mut lowered = match self.named_arguments(name, args) {
            Some(bound) => bound,
            None => args.iter().map(|arg| self.argument(arg)).collect(),
        };
        if name == "count" {
            // `count(*)` counts rows; Spark writes it count(1).
            if let [Expr::Star { qualifier, except, .. }] = lowered.as_slice()
                && qualifier.is_empty()
                && except.is_empty()
            {
                lowered = vec![Expr::integer(1)];
            }
        }
        if takes_unit(name, args.len())
            && let Some(Expr::Column(column)) = lowered.first()
        {
            let unit = column.parts.join(".").to_uppercase();
            if let Some(first) = lowered.first_mut() {
                *first = Expr::string(&unit);
            }
        }
        Expr::call(name, lowered)
    }

    /// Arguments given by name (`mask(x, digitChar => 'd')`), each at its place; nothing where none is, or they do not fit.
    /// Those of a function that is not known keep their names, in the order of the names.
    fn named_arguments(&mut self, name: &str, args: &[ast::FunctionArg]) -> Option<Vec<Expr>> {
        let is_named = |arg: &ast::FunctionArg| !matches!(arg, ast::FunctionArg::Unnamed(_));
        let count = args.iter().take_while(|arg| !is_named(arg)).count();
        let (unnamed, named) = args.split_at_checked(count).filter(|(_, named)| !named.is_empty())?;
        let signature = signature::of_sql(name);
        if signature.is_none() && functions::lookup(name).is_some() {
            return None;
        }
        let mut positional: Vec<Expr> = unnamed.iter().map(|arg| self.argument(arg)).collect();
        let mut by_name: Vec<(String, Expr)> = Vec::new();
        for arg in named {
            match self.argument(arg) {
                Expr::Alias { expr, name, .. } => by_name.push((name.to_lowercase(), *expr)),
                _ => return None,
            }
        }
        let Some(signature) = signature else {
            by_name.sort_by(|(a, _), (b, _)| a.cmp(b));
            positional
                .extend(by_name.into_iter().map(|(name, value)| Expr::call("=>", vec![Expr::string(&name), value])));
            return Some(positional);
        };
        let keywords = by_name.iter().map(|(name, value)| (name.as_str(), value));
        let bound = signature.bind(&positional, keywords, str::eq_ignore_ascii_case).ok()?;
        let arranged = signature.arrange(&bound).into_iter().map(|argument| match argument {
            Arranged::Given(_, value) => value.clone(),
            Arranged::StandIn(constant) => constant.expr(),
        });
        Some(arranged.collect())
    }

    fn argument(&mut self, arg: &ast::FunctionArg) -> Expr {
        let (name, value) = match arg {
            ast::FunctionArg::Named { name, arg, .. } => (Some(decode(&name.value)), arg),
            ast::FunctionArg::ExprNamed { name, arg, .. } => (Some(decode(&name.to_string())), arg),
            ast::FunctionArg::Unnamed(arg) => (None, arg),
        };
        let lowered = match value {
            ast::FunctionArgExpr::Expr(expr) => self.expression(expr),
            ast::FunctionArgExpr::Wildcard => {
                self.star(Vec::new(), &ast::WildcardAdditionalOptions::default(), arg.span())
            }
            ast::FunctionArgExpr::WildcardWithOptions(options) => self.star(Vec::new(), options, arg.span()),
            ast::FunctionArgExpr::QualifiedWildcard(qualifier) => self.star(
                super::relation::name_parts(qualifier),
                &ast::WildcardAdditionalOptions::default(),
                arg.span(),
            ),
        };
        match name {
            Some(name) => {
                let place = self.place(arg.span());
                lowered.alias_at(name, place)
            }
            None => lowered,
        }
    }

    /// EXTRACT, CEIL, FLOOR, POSITION, SUBSTRING, TRIM and OVERLAY.
    pub(super) fn keyword_function(&mut self, expr: &ast::Expr) -> Expr {
        use ast::Expr as E;
        match expr {
            E::Extract { field, expr: inner, .. } => {
                let operand = self.expression(inner);
                let field = field.to_string().trim_matches('\'').to_lowercase();
                match extract_function(&field) {
                    Some(function) => Expr::call(function, vec![operand]),
                    None => Expr::call("date_part", vec![Expr::string(&field), operand]),
                }
            }
            E::Ceil { expr: inner, field } => self.rounding("ceil", inner, field),
            E::Floor { expr: inner, field } => self.rounding("floor", inner, field),
            E::Position { expr: needle, r#in: text } => {
                Expr::call("locate", vec![self.expression(needle), self.expression(text)])
            }
            E::Substring { expr: inner, substring_from, substring_for, .. } => {
                let mut args = vec![self.expression(inner)];
                match (substring_from, substring_for) {
                    (None, Some(length)) => args.extend([Expr::integer(1), self.expression(length)]),
                    (from, length) => {
                        args.extend(from.iter().chain(length).map(|part| self.expression(part)).collect::<Vec<_>>());
                    }
                }
                Expr::call("substring", args)
            }
            E::Trim { trim_where, trim_what, expr: inner, trim_characters } => {
                self.trim(*trim_where, trim_what.as_deref(), inner, trim_characters.as_deref())
            }
            E::Overlay { expr: inner, overlay_what, overlay_from, overlay_for } => {
                let mut args =
                    vec![self.expression(inner), self.expression(overlay_what), self.expression(overlay_from)];
                args.extend(overlay_for.as_ref().map(|length| self.expression(length)));
                Expr::call("overlay", args)
            }
            other => not(false, self.opaque_expression("this expression", &other.to_string(), other.span())),
        }
    }

    fn rounding(&mut self, function: &str, inner: &ast::Expr, field: &ast::CeilFloorKind) -> Expr {
        let operand = self.expression(inner);
        match field {
            ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) => Expr::call(function, vec![operand]),
            ast::CeilFloorKind::DateTimeField(_) => {
                self.opaque_expression("this rounding", &inner.to_string(), inner.span())
            }
            ast::CeilFloorKind::Scale(scale) => {
                let scale = self.expression(&ast::Expr::Value(scale.clone()));
                Expr::call(function, vec![operand, scale])
            }
        }
    }

    /// `trim(BOTH x FROM s)` is `btrim(s, x)`; the one-sided forms take the characters first, as Spark's functions do.
    fn trim(
        &mut self,
        side: Option<ast::TrimWhereField>,
        what: Option<&ast::Expr>,
        inner: &ast::Expr,
        characters: Option<&[ast::Expr]>,
    ) -> Expr {
        let text = self.expression(inner);
        let what = what.map(|what| self.expression(what));
        let function = match side {
            Some(ast::TrimWhereField::Leading) => "ltrim",
            Some(ast::TrimWhereField::Trailing) => "rtrim",
            Some(ast::TrimWhereField::Both) | None => "trim",
        };
        if let Some(characters) = characters {
            // `trim(x, s)`: sqlparser reads the first argument as the text.
            let mut args = vec![text];
            args.extend(characters.iter().map(|expr| self.expression(expr)).collect::<Vec<_>>());
            return Expr::call(function, args);
        }
        match what {
            Some(what) if function == "trim" => Expr::call("btrim", vec![text, what]),
            Some(what) => Expr::call(function, vec![what, text]),
            None => Expr::call(function, vec![text]),
        }
    }

    /// The pseudo call that the dialect makes of an interval literal.
    fn interval(&mut self, args: &[ast::FunctionArg], whole: &ast::Expr) -> Expr {
        let lowered: Vec<Expr> = args.iter().map(|arg| self.argument(arg)).collect();
        let texts: Vec<Option<String>> = lowered
            .iter()
            .map(|expr| match expr {
                Expr::Literal { value: Value::String(text), .. } => Some(text.to_string()),
                _ => None,
            })
            .collect();
        let known: Option<Vec<String>> = texts.iter().cloned().collect();
        let made = match (known.as_deref(), lowered.as_slice()) {
            (Some([text]), _) => literal::interval_text(text),
            (Some([text, from, to]), _) => literal::interval_range(text, from, to),
            (Some(pairs), _) => {
                let units: Vec<(String, String)> = pairs
                    .chunks_exact(2)
                    .filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())))
                    .collect();
                literal::interval(&units)
            }
            (None, [value, Expr::Literal { value: Value::String(unit), .. }]) => {
                let unit = unit.to_lowercase();
                let one = literal::interval(&[("1".to_owned(), unit.trim_end_matches('s').to_owned())]);
                one.map(|one| Expr::call("*", vec![one, value.clone()]))
            }
            _ => None,
        };
        self.literal_or_opaque(made, "this interval", whole)
    }

    fn keyword_timestamp(&mut self, args: &[ast::FunctionArg], whole: &ast::Expr) -> Expr {
        let lowered: Vec<Expr> = args.iter().map(|arg| self.argument(arg)).collect();
        let made = match lowered.as_slice() {
            [kind, text] => {
                let (kind, text) = (self.constant_text(kind), self.constant_text(text).unwrap_or_default());
                if kind.as_deref() == Some("timestamp_ntz") {
                    literal::timestamp_ntz(&text)
                } else {
                    literal::timestamp(&text)
                }
            }
            _ => None,
        };
        self.literal_or_opaque(made, "this timestamp", whole)
    }
}

/// `date_add(DAY, 1, d)`, `timestampdiff(HOUR, a, b)`: the first argument is a unit, not a column.
fn takes_unit(name: &str, count: usize) -> bool {
    matches!(name, "timestampadd" | "timestampdiff")
        || count == 3 && matches!(name, "date_add" | "dateadd" | "date_diff" | "datediff")
}

/// Types whose name is also a function that casts.
fn cast_function(name: &str) -> Option<DataType> {
    Some(match name {
        "boolean" => DataType::Boolean,
        "tinyint" => DataType::Byte,
        "smallint" => DataType::Short,
        "int" => DataType::Int,
        "bigint" => DataType::Long,
        "float" => DataType::Float,
        "double" => DataType::Double,
        "decimal" => DataType::decimal(10, 0),
        "date" => DataType::Date,
        "timestamp" => DataType::Timestamp,
        "binary" => DataType::Binary,
        "string" => DataType::String,
        _ => return None,
    })
}

/// The function that Spark's parser makes of `EXTRACT(field FROM …)` where there is one of that name.
fn extract_function(field: &str) -> Option<&'static str> {
    Some(match field {
        "year" | "y" | "years" | "yr" | "yrs" => "year",
        "quarter" | "qtr" => "quarter",
        "month" | "mon" | "mons" | "months" => "month",
        "week" | "w" | "weeks" => "weekofyear",
        "day" | "d" | "days" => "day",
        "dayofweek" | "dow" => "dayofweek",
        "doy" | "dayofyear" => "dayofyear",
        "hour" | "h" | "hours" | "hr" | "hrs" => "hour",
        "minute" | "m" | "min" | "mins" | "minutes" => "minute",
        _ => return None,
    })
}
