//! Whether rows that the user gives are rows of the sources that the code reads.

use super::Failure;
use crate::confirm::{Data, misfit, unmatched};
use crate::model::SourceFacts;
use crate::report::safe;

/// Rows that no flow reads, and values that are none of their column's type, are evidence of nothing.
///
/// # Errors
/// A file that is named as no source, or a value that does not fit.
pub fn check(data: &Data, sources: &[SourceFacts]) -> Result<(), Failure> {
    let unmatched = unmatched(data, sources);
    if !unmatched.is_empty() {
        let known: Vec<&str> = sources.iter().map(|facts| facts.name.as_str()).collect();
        return Err(Failure::with_help(
            format!("--data: no source is named {}", safe::inline(&unmatched.join(", "))),
            format!("the sources are {}", safe::inline(&known.join(", "))),
        ));
    }
    let Some(found) = misfit(data, sources) else { return Ok(()) };
    let message = format!(
        "--data: {} is no {}: column `{}` in row {} of `{}`, batch {}",
        found.value, found.data_type, found.column, found.row, found.source, found.batch
    );
    Err(Failure::with_help(safe::inline(&message), "write a value of that type, or null"))
}
