//! Expectations on Apache Spark, which has none: a filter over a query, behind which violating rows are not there or raise an error.
//!
//! No part of the filter may move below the query: what the query has seen, its state and its watermark hang on the rows that the
//! expectation drops, too. A filter that is not deterministic as a whole stays where it is (Catalyst's `PushDownPredicates`); a random
//! number compared with a bound would be folded away (`OptimizeRand`), a random text is not.

use crate::model::{Dataset, Expectation, Expr, OnViolation};

/// The condition that rows must hold to go into a dataset, as SQL; none where every row does.
///
/// # Errors
/// Why the condition of an expectation that acts is not known.
pub fn filter(dataset: &Dataset) -> Result<Option<String>, String> {
    let acting = |action: OnViolation| dataset.expectations.iter().filter(move |each| each.on_violation == action);
    // One that fails looks at rows that another drops, so that it comes first.
    let all = acting(OnViolation::FailUpdate).chain(acting(OnViolation::DropRow));
    let parts = all.map(|expectation| passes(dataset, expectation)).collect::<Result<Vec<_>, _>>()?;
    Ok((!parts.is_empty()).then(|| parts.join(" AND ")))
}

fn passes(dataset: &Dataset, expectation: &Expectation) -> Result<String, String> {
    let mut gap = None;
    expectation.predicate.walk(&mut |part| match part {
        Expr::Opaque(opaque) if !opaque.reason.is_empty() => gap = Some(opaque.reason.clone()),
        _ => {}
    });
    if let Some(reason) = gap {
        return Err(format!("the expectation `{}`: {reason}", expectation.name));
    }
    let condition = &expectation.condition;
    Ok(match expectation.on_violation {
        OnViolation::FailUpdate => {
            let message = format!("[{VIOLATION}] `{}` does not meet `{}`", dataset.name.name, expectation.name);
            format!("CASE WHEN ({condition}) THEN true WHEN uuid() <> '' THEN raise_error({}) END", text(&message))
        }
        _ => format!("CASE WHEN ({condition}) THEN true ELSE uuid() = '' END"),
    })
}

/// The platform's error class, which the driver finds in Spark's message.
const VIOLATION: &str = "EXPECTATION_VIOLATION";

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// What stands for an expectation, as the report lists it.
pub fn substitution(expectation: &Expectation) -> (&'static str, &'static str) {
    match expectation.on_violation {
        OnViolation::Warn => ("expectations that only count", "nothing"),
        OnViolation::DropRow => ("expectations that drop rows", "a filter over the query"),
        OnViolation::FailUpdate => {
            ("expectations that fail the update", "a filter over the query that raises an error")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DatasetKind, Place, QualifiedName};

    fn dataset(expectations: &[(&str, &str, OnViolation)]) -> Dataset {
        let mut dataset = Dataset::new(QualifiedName::bare("t"), DatasetKind::StreamingTable, Place::unknown());
        dataset.expectations = expectations
            .iter()
            .map(|(name, condition, on_violation)| Expectation {
                name: (*name).to_owned(),
                condition: (*condition).to_owned(),
                predicate: Expr::column("a"),
                on_violation: *on_violation,
                place: Place::unknown(),
            })
            .collect();
        dataset
    }

    #[test]
    fn the_one_that_fails_comes_first_and_counting_takes_nothing_away() {
        assert_eq!(filter(&dataset(&[("n", "a > 1", OnViolation::Warn)])), Ok(None));
        let both = dataset(&[("d", "a > 1", OnViolation::DropRow), ("it's", "a OR b", OnViolation::FailUpdate)]);
        assert_eq!(
            filter(&both).unwrap().unwrap(),
            "CASE WHEN (a OR b) THEN true WHEN uuid() <> '' THEN \
             raise_error('[EXPECTATION_VIOLATION] `t` does not meet `it\\'s`') END AND \
             CASE WHEN (a > 1) THEN true ELSE uuid() = '' END"
        );
    }
}
