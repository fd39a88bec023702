//! Whole files through the interpreter.

mod frames;
mod language;
mod measure;
mod registration;
mod support;
