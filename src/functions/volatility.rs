//! What an expression's value depends on besides its inputs: the one answer for folding, moving, comparing runs and linting.

use super::registry::lookup;
use crate::model::{Call, Expr};

/// From least to most; an expression is as volatile as its worst part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Volatility {
    /// Nothing: may be folded.
    Immutable,
    /// The session or its user: one value for a whole run, and the next.
    Session,
    /// The start of the query: one value for a whole batch.
    Clock,
    /// Nothing, but evaluating it may fail the query (`raise_error`): it is never moved or left out.
    Raises,
    /// The row's place among the rows that a task reads.
    Position,
    Chance,
}

impl Volatility {
    /// Spark's `deterministic`: equal arguments give equal results within one query.
    pub fn is_deterministic(self) -> bool {
        match self {
            Volatility::Immutable | Volatility::Session | Volatility::Clock => true,
            Volatility::Raises | Volatility::Position | Volatility::Chance => false,
        }
    }

    /// Two runs over the same rows give the same value.
    pub fn is_repeatable(self) -> bool {
        match self {
            Volatility::Immutable | Volatility::Session | Volatility::Raises => true,
            Volatility::Clock | Volatility::Position | Volatility::Chance => false,
        }
    }
}

/// Of an expression with everything in it but subqueries. A function that is not known is taken for a function of its arguments.
pub fn volatility(expr: &Expr) -> Volatility {
    let mut worst = Volatility::Immutable;
    expr.walk(&mut |part| {
        worst = worst.max(match part {
            Expr::Call(call) => of_call(call),
            Expr::Opaque(opaque) if !opaque.deterministic => Volatility::Chance,
            _ => Volatility::Immutable,
        });
    });
    worst
}

/// Of a call's function alone.
pub fn of_call(call: &Call) -> Volatility {
    // `unix_timestamp()` is the time of the query.
    if call.args.is_empty() && matches!(call.function.as_ref(), "unix_timestamp" | "to_unix_timestamp") {
        return Volatility::Clock;
    }
    lookup(&call.function).map_or(Volatility::Immutable, |function| function.volatility)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_part_decides() {
        let now = || Expr::call("current_timestamp", Vec::new());
        assert_eq!(volatility(&Expr::column("rand")), Volatility::Immutable);
        assert_eq!(volatility(&Expr::call("date_trunc", vec![Expr::string("day"), now()])), Volatility::Clock);
        let mixed = Expr::call("concat", vec![now(), Expr::call("uuid", Vec::new())]);
        assert_eq!(volatility(&mixed), Volatility::Chance);
        assert_eq!(volatility(&Expr::call("unix_timestamp", Vec::new())), Volatility::Clock);
        assert_eq!(volatility(&Expr::call("unix_timestamp", vec![Expr::column("a")])), Volatility::Immutable);
    }
}
