//! Whole files through the interpreter.

mod frames;
mod hostile;
mod language;
mod measure;
mod registration;
mod support;
