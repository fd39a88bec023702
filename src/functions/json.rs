use super::function::{EvalResult, Function};
use crate::model::{DataType, Value};
pub(super) static FUNCTIONS: &[Function] = &[];
pub(super) fn to_variant(value: &Value, _: &DataType, _: &jiff::tz::TimeZone) -> EvalResult {
    Ok(value.clone())
}
pub(super) fn from_variant(_: &str, _: &DataType, _: &jiff::tz::TimeZone, _: usize) -> Option<Value> {
    None
}
