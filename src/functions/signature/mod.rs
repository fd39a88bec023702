//! Parameters of PySpark's functions, recorded from PySpark itself (`pyspark.tsv`, written by `.ci/record-pyspark.py`).
//!
//! Takes a function's Python or SQL name, gives its [`Signature`]: names, order, what a string stands for, and what is passed
//! in place of a parameter that is not given. Binding is generic over the values, so that Python's keywords and SQL's named
//! arguments are bound by the same code. A keyword that no parameter has, or a missing argument, is an error: never a guess.

use crate::model::{DataType, Expr, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a string given for a parameter stands for, or what else is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// The name of a column.
    Column,
    /// Itself.
    Literal,
    /// A function over columns.
    Lambda,
    /// A type or a schema, or its text.
    Schema,
    /// A dict of options.
    Options,
}

/// A constant that PySpark passes where nothing is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant {
    Null,
    Boolean(bool),
    Integer(i64),
    Text(&'static str),
}

impl Constant {
    pub fn expr(self) -> Expr {
        match self {
            Constant::Null => Expr::null(),
            Constant::Boolean(flag) => Expr::literal(Value::Boolean(flag), DataType::Boolean),
            Constant::Integer(number) => Expr::integer(number),
            Constant::Text(text) => Expr::string(text),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: ParameterKind,
    /// Takes all further positional arguments.
    pub rest: bool,
    pub optional: bool,
    /// Passed in its place where a later one is given.
    pub stand_in: Option<Constant>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// Name of the SQL function; nothing where PySpark builds something else than a call (`col`, `when`).
    pub sql: Option<&'static str>,
    pub distinct: bool,
    pub parameters: Vec<Parameter>,
    /// Parameters in the order of the SQL function's arguments.
    pub order: Vec<usize>,
}

/// Why arguments do not fit a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    UnknownKeyword(String),
    TooMany,
    Missing(&'static str),
}

/// Arguments by parameter; none where it was not given.
#[derive(Debug)]
pub struct Bound<'a, T> {
    values: Vec<Vec<&'a T>>,
}

impl<'a, T> Bound<'a, T> {
    /// The arguments of one parameter; several only of a rest.
    pub fn of(&self, index: usize) -> &[&'a T] {
        self.values.get(index).map_or(&[], Vec::as_slice)
    }
}

/// An argument of the SQL call.
#[derive(Debug)]
pub enum Arranged<'a, T> {
    Given(&'a Parameter, &'a T),
    StandIn(Constant),
}

impl Signature {
    /// Gives every argument to its parameter.
    pub fn bind<'a, T>(
        &self,
        positional: &'a [T],
        keywords: impl Iterator<Item = (&'a str, &'a T)>,
        same_name: fn(&str, &str) -> bool,
    ) -> Result<Bound<'a, T>, Mismatch> {
        let mut values: Vec<Vec<&T>> = vec![Vec::new(); self.parameters.len()];
        let mut rest = positional.iter();
        for (parameter, slot) in self.parameters.iter().zip(&mut values) {
            match parameter.rest {
                true => slot.extend(rest.by_ref()),
                false => slot.extend(rest.next()),
            }
        }
        if rest.next().is_some() {
            return Err(Mismatch::TooMany);
        }
        for (name, value) in keywords {
            let at = self.parameters.iter().position(|parameter| same_name(parameter.name, name) && !parameter.rest);
            match at.and_then(|at| values.get_mut(at)) {
                Some(slot) if slot.is_empty() => slot.push(value),
                Some(_) => return Err(Mismatch::TooMany),
                None => return Err(Mismatch::UnknownKeyword(name.to_owned())),
            }
        }
        let missing = self.parameters.iter().zip(&values).find(|(p, slot)| slot.is_empty() && !p.optional && !p.rest);
        if let Some((parameter, _)) = missing {
            return Err(Mismatch::Missing(parameter.name));
        }
        let bound = Bound { values };
        match self.gap(&bound) {
            Some(parameter) => Err(Mismatch::Missing(parameter.name)),
            None => Ok(bound),
        }
    }

    /// A parameter that nothing is passed for, before one that was given: which of the SQL function's forms is meant, only
    /// PySpark's code says (`make_timestamp(date=…, time=…)`).
    fn gap<T>(&self, bound: &Bound<'_, T>) -> Option<&Parameter> {
        let last = self.order.iter().rposition(|at| !bound.of(*at).is_empty())?;
        let before = self.order.iter().take(last).filter(|at| bound.of(**at).is_empty());
        before
            .filter_map(|at| self.parameters.get(*at))
            .find(|parameter| parameter.stand_in.is_none() && !parameter.rest)
    }

    /// Arguments of the SQL call, in its order; those after the last one given are left to SQL's own defaults.
    pub fn arrange<'a, T>(&'a self, bound: &Bound<'a, T>) -> Vec<Arranged<'a, T>> {
        let last = self.order.iter().rposition(|at| !bound.of(*at).is_empty()).map_or(0, |last| last + 1);
        let given = self.order.iter().take(last).filter_map(|at| Some((self.parameters.get(*at)?, bound.of(*at))));
        given
            .flat_map(|(parameter, values)| {
                let stand_in = parameter.stand_in.filter(|_| values.is_empty()).map(Arranged::StandIn);
                values.iter().map(|value| Arranged::Given(parameter, *value)).chain(stand_in).collect::<Vec<_>>()
            })
            .collect()
    }
}

/// Everything that `pyspark.tsv` holds.
struct Recorded {
    functions: HashMap<&'static str, Signature>,
    by_sql_name: HashMap<&'static str, &'static str>,
    column_methods: HashMap<&'static str, Vec<&'static str>>,
    modules: HashMap<&'static str, Vec<&'static str>>,
}

static RECORDED: LazyLock<Recorded> = LazyLock::new(|| read(include_str!("pyspark.tsv")));

/// A function of `pyspark.sql.functions` by its Python name.
pub fn of_pyspark(name: &str) -> Option<&'static Signature> {
    RECORDED.functions.get(name)
}

/// The same by its SQL name, in lower case.
pub fn of_sql(name: &str) -> Option<&'static Signature> {
    RECORDED.by_sql_name.get(name).and_then(|name| RECORDED.functions.get(name))
}

/// Parameters of a method of Column.
pub fn column_method(name: &str) -> Option<&'static [&'static str]> {
    RECORDED.column_methods.get(name).map(Vec::as_slice)
}

/// The public names of a module: what `from module import *` brings.
pub fn module(name: &str) -> Option<&'static [&'static str]> {
    RECORDED.modules.get(name).map(Vec::as_slice)
}

/// How many arguments at the end of a SQL call say what is so anyway (`split(x, ',', -1)`).
pub fn trailing_defaults(sql: &str, args: &[Expr]) -> usize {
    let Some(signature) = of_sql(sql) else { return 0 };
    let is_default = |at: usize, arg: &Expr| {
        let parameter = signature.order.get(at).and_then(|index| signature.parameters.get(*index));
        let stand_in = parameter.filter(|parameter| parameter.optional && !parameter.rest).and_then(|p| p.stand_in);
        stand_in.is_some_and(|constant| match (arg, constant.expr()) {
            (Expr::Literal { value, .. }, Expr::Literal { value: default, .. }) => *value == default,
            _ => false,
        })
    };
    args.iter().enumerate().rev().take_while(|(at, arg)| is_default(*at, arg)).count()
}

fn read(table: &'static str) -> Recorded {
    let mut functions = HashMap::new();
    let mut by_sql_name = HashMap::new();
    let mut column_methods = HashMap::new();
    let mut modules = HashMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let (Some(subject), Some(name)) = (cells.next(), cells.next()) else { continue };
        match subject {
            "function" => {
                let signature = signature(cells);
                if let Some(sql) = signature.sql {
                    // The function of the same name knows it best (`length` of `char_length` and `length`).
                    if sql == name || !by_sql_name.contains_key(sql) {
                        by_sql_name.insert(sql, name);
                    }
                }
                functions.insert(name, signature);
            }
            "column-method" => drop(column_methods.insert(name, cells.collect())),
            _ => drop(modules.insert(name, cells.collect())),
        }
    }
    Recorded { functions, by_sql_name, column_methods, modules }
}

fn signature(mut cells: std::str::Split<'static, char>) -> Signature {
    let sql = cells.next().filter(|sql| *sql != "-");
    let distinct = cells.next() == Some("distinct");
    let moved = cells.next().unwrap_or_default();
    let parameters: Vec<Parameter> = cells.map(parameter).collect();
    let order = match moved {
        "" => (0..parameters.len()).collect(),
        moved => moved.split(' ').filter_map(|name| parameters.iter().position(|p| p.name == name)).collect(),
    };
    Signature { sql, distinct, parameters, order }
}

fn parameter(cell: &'static str) -> Parameter {
    let (name, rest_of_cell) = cell.split_once(':').unwrap_or((cell, "column"));
    let (kind, stand_in) = match rest_of_cell.split_once('=') {
        Some((kind, stand_in)) => (kind, Some(stand_in)),
        None => (rest_of_cell, None),
    };
    Parameter {
        name: name.trim_start_matches('*'),
        kind: match kind {
            "literal" => ParameterKind::Literal,
            "lambda" => ParameterKind::Lambda,
            "schema" => ParameterKind::Schema,
            "options" => ParameterKind::Options,
            _ => ParameterKind::Column,
        },
        rest: name.starts_with('*'),
        optional: stand_in.is_some(),
        stand_in: stand_in.and_then(constant),
    }
}

fn constant(json: &'static str) -> Option<Constant> {
    match json {
        "null" => Some(Constant::Null),
        "true" => Some(Constant::Boolean(true)),
        "false" => Some(Constant::Boolean(false)),
        text => match text.parse() {
            Ok(number) => Some(Constant::Integer(number)),
            Err(_) => Some(Constant::Text(text.strip_prefix('"')?.strip_suffix('"')?)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, positional: &[i64], keywords: &[(&str, i64)]) -> Result<Vec<Option<i64>>, Mismatch> {
        let Some(signature) = of_pyspark(name) else { return Err(Mismatch::TooMany) };
        let bound = signature.bind(positional, keywords.iter().map(|(k, v)| (*k, v)), |a, b| a == b)?;
        let arranged = signature.arrange(&bound);
        Ok(arranged
            .iter()
            .map(|argument| match argument {
                Arranged::Given(_, value) => Some(**value),
                Arranged::StandIn(Constant::Integer(number)) => Some(*number),
                Arranged::StandIn(_) => None,
            })
            .collect())
    }

    #[test]
    fn arguments_are_bound_by_name_and_gaps_are_filled() {
        assert_eq!(call("lag", &[7, 0], &[]), Ok(vec![Some(7), Some(0)]));
        assert_eq!(call("lag", &[7], &[("default", 0)]), Ok(vec![Some(7), Some(1), Some(0)]));
        let days = call("make_interval", &[], &[("days", 7)]);
        assert_eq!(days, Ok([0, 0, 0, 7].map(Some).to_vec()));
        assert_eq!(call("trim", &[1, 2], &[]), Ok(vec![Some(2), Some(1)]));
        assert_eq!(call("coalesce", &[1, 2, 3], &[]), Ok([1, 2, 3].map(Some).to_vec()));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        assert_eq!(call("round", &[1], &[("digits", 2)]), Err(Mismatch::UnknownKeyword("digits".into())));
        assert_eq!(call("upper", &[1, 2], &[]), Err(Mismatch::TooMany));
        assert_eq!(call("regexp_replace", &[1, 2], &[]), Err(Mismatch::Missing("replacement")));
        assert_eq!(call("make_timestamp", &[], &[("months", 1)]), Err(Mismatch::Missing("years")));
    }

    #[test]
    fn the_whole_library_is_there() {
        let functions = module("pyspark.sql.functions").unwrap_or_default();
        let known = functions.iter().filter(|name| of_pyspark(name).is_some()).count();
        assert!(known > 540, "{known}");
        for signature in RECORDED.functions.values() {
            assert!(signature.order.len() <= signature.parameters.len());
            assert!(signature.sql.is_some() || signature.order.len() == signature.parameters.len());
        }
    }
}
