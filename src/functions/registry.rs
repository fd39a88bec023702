//! All functions by name.

use super::function::Function;
use super::{
    aggregate, arithmetic, array, comparison, conditional, context, datetime, datetime_arithmetic, digest,
    extract_value, generator, hash, higher_order, interval, json, map, math, regexp, sequence, string, time_window,
    window_function,
};
use std::collections::HashMap;
use std::sync::LazyLock;

static TABLES: &[&[Function]] = &[
    arithmetic::FUNCTIONS,
    comparison::FUNCTIONS,
    conditional::FUNCTIONS,
    math::FUNCTIONS,
    string::FUNCTIONS,
    regexp::FUNCTIONS,
    digest::FUNCTIONS,
    hash::FUNCTIONS,
    datetime::FUNCTIONS,
    datetime_arithmetic::FUNCTIONS,
    interval::FUNCTIONS,
    time_window::FUNCTIONS,
    array::FUNCTIONS,
    extract_value::FUNCTIONS,
    sequence::FUNCTIONS,
    map::FUNCTIONS,
    higher_order::FUNCTIONS,
    json::FUNCTIONS,
    context::FUNCTIONS,
    generator::FUNCTIONS,
    window_function::FUNCTIONS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> =
    LazyLock::new(|| all().flat_map(|f| f.names.iter().map(move |name| (*name, f))).collect());

/// A function or operator by one of its names, in lower case.
pub fn lookup(name: &str) -> Option<&'static Function> {
    BY_NAME.get(name).copied()
}

/// Every registered function, by subject.
pub fn all() -> impl Iterator<Item = &'static Function> {
    TABLES.iter().chain(aggregate::TABLES).flat_map(|table| table.iter())
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
