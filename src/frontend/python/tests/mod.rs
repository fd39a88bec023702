//! Whole files through the interpreter.

mod measure;
mod registration;
mod support;
