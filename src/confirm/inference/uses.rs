//! What one query tells of the columns it reads: every use of a column of unknown type is evidence of its type.

use super::variables::{Variable, Variables, Weight};
use crate::functions::{self, Function, Param, parse_data_type};
use crate::model::{AttrId, Call, DataType, Expr, JoinOn, Node, Plan, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The type of an expression, as far as it is known.
pub(super) enum Term {
    Known(DataType),
    Open(Variable),
    /// Computed from what is not known.
    Other,
}

/// Reads one query. Ids of columns are unique in it.
pub(super) struct Uses<'v> {
    pub variables: &'v mut Variables,
    pub columns: HashMap<AttrId, Variable>,
    /// Parameters of the lambdas around, outermost first, with what they stand for.
    parameters: Vec<(Arc<str>, Variable)>,
}

/// Functions of an array; a lambda after it is given its elements.
const OF_ARRAYS: &[&str] = &[
    "aggregate",
    "any_match",
    "array_contains",
    "array_distinct",
    "array_join",
    "array_max",
    "array_min",
    "array_size",
    "exists",
    "explode",
    "filter",
    "flatten",
    "forall",
    "inline",
    "posexplode",
    "reduce",
    "slice",
    "sort_array",
    "transform",
];

/// Functions that take text and would take anything else as well.
const OF_ANYTHING_AS_TEXT: &[&str] =
    &["base64", "concat_ws", "encode", "format_string", "md5", "printf", "sha", "sha1", "sha2"];

/// Parsers of text: what they are given is text, of a form of its own.
const PARSERS: &[&str] = &["from_csv", "from_json", "get_json_object", "json_tuple", "parse_json", "try_parse_json"];

const ARITHMETIC: &[&str] = &[
    "%",
    "*",
    "+",
    "-",
    "/",
    "abs",
    "div",
    "mod",
    "negative",
    "pmod",
    "positive",
    "try_add",
    "try_divide",
    "try_multiply",
    "try_subtract",
];

const COMPARISONS: &[&str] = &["!=", "<", "<=", "<=>", "<>", "=", "==", ">", ">=", "in", "nullif"];

impl<'v> Uses<'v> {
    pub fn new(variables: &'v mut Variables) -> Self {
        Uses { variables, columns: HashMap::new(), parameters: Vec::new() }
    }

    pub fn column(&mut self, id: AttrId) -> Variable {
        *self.columns.entry(id).or_insert_with(|| self.variables.fresh())
    }

    /// Takes the evidence of a query, subqueries included.
    pub fn query(&mut self, plan: &Plan) {
        plan.walk(&mut |part| self.node(part));
    }

    fn node(&mut self, plan: &Plan) {
        match &plan.node {
            Node::Filter { condition, .. } | Node::Join { on: JoinOn::Condition(condition), .. } => {
                self.condition(condition);
            }
            Node::Watermark { event_time, .. } => self.needs(event_time, DataType::Timestamp),
            Node::Union { inputs, .. } => {
                for input in inputs {
                    for (column, below) in plan.output.iter().zip(crate::analyze::output(input)) {
                        let (a, b) = (self.column(column.id), self.column(below.id));
                        self.variables.unite(a, b);
                    }
                }
            }
            Node::SetOperation { left, right, .. } => {
                for (a, b) in crate::analyze::output(left).iter().zip(crate::analyze::output(right)) {
                    let (a, b) = (self.column(a.id), self.column(b.id));
                    self.variables.unite(a, b);
                }
            }
            Node::Generate { generator, output, .. } => self.generator(generator, output),
            _ => {
                for expr in plan.expressions() {
                    self.term(expr);
                }
            }
        }
    }

    fn generator(&mut self, generator: &Expr, output: &[Expr]) {
        self.term(generator);
        let Expr::Call(call) = generator else { return };
        let Some(Term::Open(array)) = call.args.first().map(|array| self.term(array)) else { return };
        let columns: Vec<(Arc<str>, AttrId)> = output
            .iter()
            .filter_map(|column| match column {
                Expr::Attribute(column) => Some((column.name.clone(), column.id)),
                _ => None,
            })
            .collect();
        let element = self.variables.element(array);
        match (call.function.as_ref(), columns.as_slice()) {
            ("explode", [(_, column)]) | ("posexplode", [_, (_, column)]) => {
                let column = self.column(*column);
                self.variables.unite(column, element);
            }
            ("inline", columns) => {
                for (name, column) in columns {
                    let (column, field) = (self.column(*column), self.variables.field(element, name));
                    self.variables.unite(column, field);
                }
            }
            _ => {}
        }
    }

    fn condition(&mut self, expr: &Expr) {
        self.needs(expr, DataType::Boolean);
    }

    fn needs(&mut self, expr: &Expr, data_type: DataType) {
        if let Term::Open(variable) = self.term(expr) {
            self.variables.tell(variable, Weight::Needed, data_type);
        }
    }

    pub fn term(&mut self, expr: &Expr) -> Term {
        match expr {
            Expr::Attribute(column) if !column.data_type.is_unknown() => Term::Known(column.data_type.clone()),
            Expr::Attribute(column) => Term::Open(self.column(column.id)),
            Expr::Literal { data_type, .. } => Term::Known(data_type.clone()),
            Expr::Alias { expr, id, .. } => {
                let term = self.term(expr);
                if let Term::Open(inner) = term {
                    let column = self.column(*id);
                    self.variables.unite(column, inner);
                }
                term
            }
            Expr::Cast { expr, to, .. } => {
                if let (Term::Open(inner), DataType::String) = (self.term(expr), to) {
                    self.variables.show(inner);
                }
                Term::Known(to.clone())
            }
            Expr::Case { branches, otherwise } => {
                branches.iter().for_each(|(when, _)| self.condition(when));
                let results: Vec<&Expr> = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).collect();
                self.alike(&results)
            }
            Expr::Call(call) => self.call(call),
            Expr::Window { call, spec } => {
                spec.partition_by.iter().chain(spec.order_by.iter().map(|key| &key.expr)).for_each(|expr| {
                    self.term(expr);
                });
                self.term(call)
            }
            Expr::LambdaVariable { name, data_type, .. } => {
                let parameter = self.parameters.iter().rev().find(|(known, _)| known == name);
                match parameter {
                    Some((_, variable)) if data_type.is_unknown() => Term::Open(*variable),
                    _ => Term::Known(data_type.clone()),
                }
            }
            Expr::Subquery { plan, .. } => {
                self.query(plan);
                self.children(expr);
                Term::Other
            }
            Expr::Lambda { .. }
            | Expr::MultiAlias { .. }
            | Expr::Opaque(_)
            | Expr::Column(_)
            | Expr::ColumnRegex(_)
            | Expr::Star { .. } => {
                self.children(expr);
                Term::Other
            }
        }
    }

    fn children(&mut self, expr: &Expr) {
        for child in expr.children() {
            self.term(child);
        }
    }

    fn call(&mut self, call: &Call) -> Term {
        if let Some(filter) = &call.filter {
            self.condition(filter);
        }
        let name = call.function.as_ref();
        match (name, call.args.as_slice()) {
            ("and" | "or" | "not" | "!", operands) => {
                operands.iter().for_each(|operand| self.condition(operand));
                Term::Known(DataType::Boolean)
            }
            (name, operands) if COMPARISONS.contains(&name) => {
                let ordered = matches!(name, "<" | "<=" | ">" | ">=");
                self.compared(operands, ordered)
            }
            (name, operands) if ARITHMETIC.contains(&name) => self.arithmetic(name, operands),
            ("getfield", [base, Expr::Literal { value: Value::String(field), .. }]) => match self.term(base) {
                Term::Open(base) => Term::Open(self.variables.field(base, field)),
                _ => Term::Other,
            },
            ("getitem" | "element_at", [base, key]) => self.item(base, key),
            ("window" | "session_window", [time, ..]) => {
                self.needs(time, DataType::Timestamp);
                Term::Other
            }
            ("if" | "iff", [when, results @ ..]) => {
                self.condition(when);
                self.alike(&results.iter().collect::<Vec<_>>())
            }
            (name, [array, rest @ ..]) if OF_ARRAYS.contains(&name) => self.of_array(name, array, rest),
            (name, [text, rest @ ..]) if PARSERS.contains(&name) => {
                self.needs(text, DataType::String);
                rest.iter().for_each(|arg| {
                    self.term(arg);
                });
                result_of_parser(name, rest)
            }
            (name, [text, format]) if is_parser_by_pattern(name) => {
                self.tell(text, Weight::Use, DataType::String);
                self.term(format);
                Term::Other
            }
            (name, [text]) if is_parser_by_pattern(name) => {
                self.tell(text, Weight::Hint, DataType::String);
                Term::Other
            }
            (name, args) => match functions::lookup(name) {
                Some(function) => self.registered(function, args),
                None => {
                    args.iter().for_each(|arg| {
                        self.term(arg);
                    });
                    Term::Other
                }
            },
        }
    }

    fn tell(&mut self, expr: &Expr, weight: Weight, data_type: DataType) {
        if let Term::Open(variable) = self.term(expr) {
            self.variables.tell(variable, weight, data_type);
        }
    }

    /// Expressions whose types are widened to one: the branches of a CASE, the arguments of `coalesce`.
    fn alike(&mut self, exprs: &[&Expr]) -> Term {
        let terms: Vec<Term> = exprs.iter().map(|expr| self.term(expr)).collect();
        let open: Vec<Variable> = terms.iter().filter_map(Term::open).collect();
        for known in terms.iter().filter_map(Term::known) {
            open.iter().for_each(|variable| self.variables.tell(*variable, Weight::Use, known.clone()));
        }
        for (a, b) in open.iter().zip(open.iter().skip(1)) {
            self.variables.compare(*a, *b);
        }
        open.first().map_or(Term::Other, |variable| Term::Open(*variable))
    }

    fn compared(&mut self, operands: &[Expr], ordered: bool) -> Term {
        let terms: Vec<Term> = operands.iter().map(|expr| self.term(expr)).collect();
        let open: Vec<Variable> = terms.iter().filter_map(Term::open).collect();
        for (a, b) in open.iter().zip(open.iter().skip(1)) {
            self.variables.compare(*a, *b);
        }
        for (operand, term) in operands.iter().zip(&terms) {
            let Some(known) = term.known() else { continue };
            let (weight, data_type) = match operand {
                Expr::Literal { value: Value::String(text), .. } => beside_text(text, ordered),
                Expr::Literal { .. } => (Weight::Use, plain_number(known)),
                _ => (Weight::Partner, known.clone()),
            };
            open.iter().for_each(|variable| self.variables.tell(*variable, weight, data_type.clone()));
        }
        Term::Known(DataType::Boolean)
    }

    fn arithmetic(&mut self, name: &str, operands: &[Expr]) -> Term {
        let terms: Vec<Term> = operands.iter().map(|expr| self.term(expr)).collect();
        let beside = |wanted: fn(&DataType) -> bool| terms.iter().filter_map(Term::known).any(wanted);
        let whole = matches!(name, "%" | "mod" | "pmod" | "div") || (name != "/" && beside(DataType::is_integral));
        let data_type = if beside(is_interval) || (name == "-" && beside(DataType::is_datetime)) {
            DataType::Timestamp
        } else if whole {
            DataType::Long
        } else {
            DataType::Double
        };
        for variable in terms.iter().filter_map(Term::open) {
            self.variables.tell(variable, Weight::Use, data_type.clone());
        }
        Term::Other
    }

    fn item(&mut self, base: &Expr, key: &Expr) -> Term {
        let (base, key) = (self.term(base), self.term(key));
        match (base, key) {
            (Term::Open(base), Term::Known(DataType::String)) => Term::Open(self.variables.value(base)),
            (Term::Open(base), Term::Known(key)) if key.is_integral() => Term::Open(self.variables.element(base)),
            _ => Term::Other,
        }
    }

    fn of_array(&mut self, name: &str, array: &Expr, rest: &[Expr]) -> Term {
        let Term::Open(base) = self.term(array) else {
            rest.iter().for_each(|arg| {
                self.term(arg);
            });
            return Term::Other;
        };
        let element = self.variables.element(base);
        for arg in rest {
            match arg {
                Expr::Lambda { params, body } => {
                    let outside = self.parameters.len();
                    let parameter = match (name, params.as_slice()) {
                        ("aggregate" | "reduce", [_, element]) => Some(element),
                        ("aggregate" | "reduce", _) => None,
                        (_, params) => params.first(),
                    };
                    self.parameters.extend(parameter.map(|name| (name.clone(), element)));
                    self.term(body);
                    self.parameters.truncate(outside);
                }
                other => {
                    if let (Term::Known(known), "array_contains") = (self.term(other), name) {
                        self.variables.tell(element, Weight::Use, known);
                    }
                }
            }
        }
        match name {
            "array_distinct" | "filter" | "slice" | "sort_array" => Term::Open(base),
            "array_max" | "array_min" => Term::Open(element),
            _ => Term::Other,
        }
    }

    fn registered(&mut self, function: &Function, args: &[Expr]) -> Term {
        if let Some(from) = function.widens_from() {
            let (before, alike) = args.split_at(from.min(args.len()));
            before.iter().for_each(|arg| {
                self.term(arg);
            });
            let term = self.alike(&alike.iter().collect::<Vec<_>>());
            return if function.passes_type_of().is_some() { term } else { Term::Other };
        }
        let terms: Vec<Term> = args.iter().map(|arg| self.term(arg)).collect();
        for (index, term) in terms.iter().enumerate() {
            let evidence = function.parameter(index).and_then(|param| asked_for(function, param));
            if let (Some(variable), Some((weight, data_type))) = (term.open(), evidence) {
                self.variables.tell(variable, weight, data_type);
            }
        }
        let passed = function.passes_type_of().and_then(|index| terms.into_iter().nth(index));
        passed.unwrap_or(Term::Other)
    }
}

impl Term {
    pub fn open(&self) -> Option<Variable> {
        match self {
            Term::Open(variable) => Some(*variable),
            _ => None,
        }
    }

    fn known(&self) -> Option<&DataType> {
        match self {
            Term::Known(data_type) => Some(data_type),
            _ => None,
        }
    }
}

/// What a parameter says of a column that is passed to it.
fn asked_for(function: &Function, param: Param) -> Option<(Weight, DataType)> {
    let data_type = match param {
        Param::Any | Param::Lambda => return None,
        Param::Is(simple) => simple.data_type(),
        Param::StringOrBinary => DataType::String,
        Param::Numeric | Param::DoubleOrDecimal | Param::NumericOrInterval => DataType::Double,
        Param::Integral => DataType::Long,
        Param::AnyTimestamp => DataType::Timestamp,
    };
    let vague = data_type == DataType::String && OF_ANYTHING_AS_TEXT.contains(&function.name());
    Some((if vague { Weight::Hint } else { Weight::Use }, data_type))
}

/// Text that reads as a date may stand for one where order counts; other text is text.
fn beside_text(text: &str, ordered: bool) -> (Weight, DataType) {
    let is_date = text.get(..10).is_some_and(|date| date.parse::<jiff::civil::Date>().is_ok());
    match (is_date, ordered) {
        (false, _) => (Weight::Use, DataType::String),
        (true, false) => (Weight::Hint, DataType::String),
        (true, true) if text.len() > 10 => (Weight::Hint, DataType::Timestamp),
        (true, true) => (Weight::Hint, DataType::Date),
    }
}

/// The type that a column beside a literal has in data: JSON's numbers are bigint or double.
fn plain_number(data_type: &DataType) -> DataType {
    match data_type {
        integral if integral.is_integral() => DataType::Long,
        number if number.is_numeric() => DataType::Double,
        other => other.clone(),
    }
}

fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::CalendarInterval | DataType::DayTimeInterval | DataType::YearMonthInterval)
}

fn is_parser_by_pattern(name: &str) -> bool {
    let name = name.strip_prefix("try_").unwrap_or(name);
    matches!(
        name,
        "to_date" | "to_timestamp" | "to_timestamp_ltz" | "to_timestamp_ntz" | "to_unix_timestamp" | "unix_timestamp"
    )
}

fn result_of_parser(name: &str, rest: &[Expr]) -> Term {
    let schema = match rest.first() {
        Some(Expr::Literal { value: Value::String(text), .. }) if name == "from_json" => parse_data_type(text),
        _ => None,
    };
    schema.map_or(Term::Other, Term::Known)
}
