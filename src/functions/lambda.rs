//! Types of the parameters of lambdas.

use super::function::Argument;
use crate::model::DataType;

/// Types and nullability of the parameters that the lambda at argument `index` of a higher-order function may take; a lambda
/// may name fewer. `args` holds the other arguments' types (anything at the lambdas' own positions). None where the function
/// takes no lambda there.
pub fn lambda_parameters(function: &str, args: &[Argument], index: usize) -> Option<Vec<(DataType, bool)>> {
    let element = |at: usize| match args.get(at).map(|a| &a.data_type) {
        Some(DataType::Array { element, contains_null }) => (element.as_ref().clone(), *contains_null),
        _ => (DataType::Unknown, true),
    };
    let entry = |at: usize| match args.get(at).map(|a| &a.data_type) {
        Some(DataType::Map { key, value, value_contains_null }) => {
            [(key.as_ref().clone(), false), (value.as_ref().clone(), *value_contains_null)]
        }
        _ => [(DataType::Unknown, false), (DataType::Unknown, true)],
    };
    let position = (DataType::Int, false);
    match (function, index) {
        ("transform" | "filter", 1) => Some(vec![element(0), position]),
        ("exists" | "any_match" | "forall" | "all_match", 1) => Some(vec![element(0)]),
        ("array_sort", 1) => Some(vec![element(0), element(0)]),
        ("aggregate" | "reduce", 2) => Some(vec![accumulator(args), element(0)]),
        ("aggregate" | "reduce", 3) => Some(vec![accumulator(args)]),
        ("zip_with", 2) => Some(vec![(element(0).0, true), (element(1).0, true)]),
        ("map_filter" | "transform_keys" | "transform_values", 1) => Some(entry(0).to_vec()),
        ("map_zip_with", 2) => {
            let [key, left] = entry(0);
            let [_, right] = entry(1);
            Some(vec![key, (left.0, true), (right.0, true)])
        }
        _ => None,
    }
}

fn accumulator(args: &[Argument]) -> (DataType, bool) {
    (args.get(1).map_or(DataType::Unknown, |a| a.data_type.clone()), true)
}
