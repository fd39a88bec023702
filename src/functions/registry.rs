//! All functions by name.

use super::function::Function;
use super::{
    aggregate, arithmetic, array, comparison, conditional, context, datetime, datetime_arithmetic, digest,
    extract_value, generator, hash, higher_order, interval, json, map, math, regexp, sequence, string, time_window,
    window_function,
};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// At which values a function differs from others of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitivity {
    /// At any: comparisons, choices, hashes.
    Any,
    /// Its values' sign and size: arithmetic. Operators differ at any.
    Whole,
    /// At the edges of what its arguments can be: blanks, case, ties, midnight.
    Edges,
}

/// Functions by subject, with what they are sensitive to.
static TABLES: &[(Sensitivity, &[Function])] = &[
    (Sensitivity::Whole, arithmetic::FUNCTIONS),
    (Sensitivity::Any, comparison::FUNCTIONS),
    (Sensitivity::Any, conditional::FUNCTIONS),
    (Sensitivity::Edges, math::FUNCTIONS),
    (Sensitivity::Edges, string::FUNCTIONS),
    (Sensitivity::Edges, regexp::FUNCTIONS),
    (Sensitivity::Any, digest::FUNCTIONS),
    (Sensitivity::Any, hash::FUNCTIONS),
    (Sensitivity::Edges, datetime::FUNCTIONS),
    (Sensitivity::Edges, datetime_arithmetic::FUNCTIONS),
    (Sensitivity::Edges, interval::FUNCTIONS),
    (Sensitivity::Any, time_window::FUNCTIONS),
    (Sensitivity::Edges, array::FUNCTIONS),
    (Sensitivity::Any, extract_value::FUNCTIONS),
    (Sensitivity::Edges, sequence::FUNCTIONS),
    (Sensitivity::Edges, map::FUNCTIONS),
    (Sensitivity::Edges, higher_order::FUNCTIONS),
    (Sensitivity::Edges, json::FUNCTIONS),
    (Sensitivity::Any, context::FUNCTIONS),
    (Sensitivity::Any, generator::FUNCTIONS),
    (Sensitivity::Any, window_function::FUNCTIONS),
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> =
    LazyLock::new(|| all().flat_map(|f| f.names.iter().map(move |name| (*name, f))).collect());

/// A function or operator by one of its names, in lower case.
pub fn lookup(name: &str) -> Option<&'static Function> {
    BY_NAME.get(name).copied()
}

/// Every registered function, by subject.
pub fn all() -> impl Iterator<Item = &'static Function> {
    TABLES.iter().map(|(_, table)| table).chain(aggregate::TABLES).flat_map(|table| table.iter())
}

static SENSITIVE: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let names = TABLES.iter().flat_map(|(sensitivity, table)| {
        let names = table.iter().flat_map(|function| function.names);
        names.filter(move |name| match sensitivity {
            Sensitivity::Any => false,
            Sensitivity::Whole => name.starts_with(char::is_alphabetic) || **name == "%",
            Sensitivity::Edges => true,
        })
    });
    names.copied().collect()
});

/// A change of the function may be seen at edge values of its arguments alone. Of one that is not known, nothing is seen anyway.
pub fn is_sensitive(name: &str) -> bool {
    SENSITIVE.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_registered_twice_and_all_are_lower_case() {
        let mut seen = std::collections::BTreeSet::new();
        for name in all().flat_map(|f| f.names) {
            assert!(seen.insert(*name), "{name} stands twice");
            assert_eq!(*name, name.to_lowercase());
        }
        assert!(seen.len() > 400, "{} names", seen.len());
    }
}
