//! Spark SQL's functions and operators: for each, its kind, result type and evaluation, in one place.
//!
//! Takes a lower-case name as [`crate::model::Call`] has it. A name that is not registered is *uninterpreted*: its result type
//! is unknown and its value a deterministic hash of name and arguments.
