use super::function::Function;
pub(super) static FUNCTIONS: &[Function] = &[];
