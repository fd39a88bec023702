//! Half-open ranges of days.

use jiff::civil::Date;

/// Days from `from` on, up to `to`, which is none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    pub from: Date,
    pub to: Date,
}

impl Range {
    /// None where no day lies between.
    pub fn new(from: Date, to: Date) -> Option<Self> {
        (from < to).then_some(Range { from, to })
    }

    /// The same days in pieces of `days` each; the last one may be shorter.
    pub fn chunks(self, days: u32) -> Vec<Range> {
        let step = jiff::Span::new().days(i64::from(days.max(1)));
        let mut chunks = Vec::new();
        let mut from = self.from;
        while from < self.to {
            let next = from.checked_add(step).unwrap_or(self.to).min(self.to);
            chunks.push(Range { from, to: next });
            from = next;
        }
        chunks
    }

    /// Both ends lie on the first of a month.
    pub fn is_whole_months(self) -> bool {
        self.from.day() == 1 && self.to.day() == 1
    }

    /// The same days, one month a piece.
    pub fn months(self) -> Vec<Range> {
        let mut chunks = Vec::new();
        let mut from = self.from;
        while from < self.to {
            let next = from.first_of_month().checked_add(jiff::Span::new().months(1)).unwrap_or(self.to).min(self.to);
            chunks.push(Range { from, to: next });
            from = next;
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn chunks_cover_every_day_once() {
        let range = Range::new(date(2024, 1, 30), date(2024, 2, 3)).unwrap();
        let ends = |chunks: Vec<Range>| chunks.iter().map(|c| format!("{}..{}", c.from, c.to)).collect::<Vec<_>>();
        assert_eq!(ends(range.chunks(3)), ["2024-01-30..2024-02-02", "2024-02-02..2024-02-03"]);
        assert_eq!(ends(range.months()), ["2024-01-30..2024-02-01", "2024-02-01..2024-02-03"]);
        assert!(Range::new(date(2024, 1, 1), date(2024, 1, 1)).is_none());
        assert!(!range.is_whole_months());
    }

    #[test]
    fn the_last_day_of_the_calendar_ends_the_range() {
        assert_eq!(Range { from: Date::MAX.yesterday().unwrap(), to: Date::MAX }.chunks(7).len(), 1);
    }
}
