//! The proleptic Gregorian calendar and time zones: days, microseconds, local fields.
//!
//! Civil arithmetic is done here on the whole range of Spark's values; the zone database answers only for offsets.

use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Local date and time. Microseconds are those of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Local {
    pub days: i64,
    pub micros: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ymd {
    pub year: i64,
    pub month: i64,
    pub day: i64,
}

impl Local {
    /// Splits microseconds since the local epoch.
    pub fn from_micros(micros: i64) -> Self {
        Local { days: micros.div_euclid(MICROS_PER_DAY), micros: micros.rem_euclid(MICROS_PER_DAY) }
    }

    pub fn to_micros(self) -> Option<i64> {
        self.days.checked_mul(MICROS_PER_DAY)?.checked_add(self.micros)
    }

    pub fn date(self) -> Ymd {
        Ymd::from_days(self.days)
    }

    pub fn hour(self) -> i64 {
        self.micros / (3600 * MICROS_PER_SECOND)
    }

    pub fn minute(self) -> i64 {
        self.micros / (60 * MICROS_PER_SECOND) % 60
    }

    pub fn second(self) -> i64 {
        self.micros / MICROS_PER_SECOND % 60
    }

    pub fn fraction(self) -> i64 {
        self.micros % MICROS_PER_SECOND
    }
}

/// Years beyond this are taken for it: no 64 bits of microseconds reach as far, and the arithmetic of days stays exact.
const YEAR_LIMIT: i64 = 1_000_000_000_000;

impl Ymd {
    /// Days since 1970-01-01 as a date (era arithmetic on years of 400).
    pub fn from_days(days: i64) -> Self {
        let shifted = days.clamp(-YEAR_LIMIT * 366, YEAR_LIMIT * 366) + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Ymd { year: year_of_era + era * 400 + i64::from(month <= 2), month, day }
    }

    /// None where month or day do not exist.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        valid.then_some(Ymd { year, month, day })
    }

    pub fn to_days(self) -> i64 {
        let year = self.year.clamp(-YEAR_LIMIT, YEAR_LIMIT) - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let march_month = if self.month > 2 { self.month - 3 } else { self.month + 9 };
        let day_of_year = (153 * march_month + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// Same day some months later; the last day of the month where that day does not exist.
    pub fn plus_months(self, months: i64) -> Self {
        let year = self.year.clamp(-YEAR_LIMIT, YEAR_LIMIT);
        let index = (year * 12 + (self.month - 1)).saturating_add(months);
        let (year, month) = (index.div_euclid(12), index.rem_euclid(12) + 1);
        Ymd { year, month, day: self.day.min(days_in_month(year, month)) }
    }

    pub fn day_of_year(self) -> i64 {
        self.to_days() - Ymd { year: self.year, month: 1, day: 1 }.to_days() + 1
    }

    pub fn quarter(self) -> i64 {
        (self.month - 1) / 3 + 1
    }

    /// ISO 8601 week-based year and week.
    pub fn iso_week(self) -> (i64, i64) {
        let days = self.to_days();
        let thursday = Ymd::from_days(days - (weekday(days) - 3));
        (thursday.year, (thursday.day_of_year() - 1) / 7 + 1)
    }
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// 0 for Monday to 6 for Sunday.
pub(super) fn weekday(days: i64) -> i64 {
    (days.rem_euclid(7) + 3) % 7
}

/// Offset of the zone at an instant, in microseconds east of UTC.
pub(super) fn offset_at(zone: &TimeZone, micros: i64) -> i64 {
    let nearest = jiff::Timestamp::from_microsecond(micros).unwrap_or(if micros < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    });
    seconds(zone.to_offset(nearest))
}

fn seconds(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * MICROS_PER_SECOND
}

pub(super) fn to_local(zone: &TimeZone, micros: i64) -> Local {
    Local::from_micros(micros.saturating_add(offset_at(zone, micros)))
}

/// The instant of a local time. In a gap the time moves forward by the gap, in an overlap the earlier offset counts, as
/// `java.time.LocalDateTime.atZone`. None beyond 64 bits of microseconds.
pub(super) fn to_instant(zone: &TimeZone, local: Local) -> Option<i64> {
    let micros = local.to_micros()?;
    micros.checked_sub(local_offset(zone, local, micros))
}

fn local_offset(zone: &TimeZone, local: Local, micros: i64) -> i64 {
    let date = local.date();
    let civil = (|| {
        jiff::civil::DateTime::new(
            i16::try_from(date.year).ok()?,
            i8::try_from(date.month).ok()?,
            i8::try_from(date.day).ok()?,
            i8::try_from(local.hour()).ok()?,
            i8::try_from(local.minute()).ok()?,
            i8::try_from(local.second()).ok()?,
            0,
        )
        .ok()
    })();
    match civil {
        Some(civil) => match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => seconds(offset),
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => seconds(before),
        },
        None => offset_at(zone, micros),
    }
}

/// A zone by Spark's spellings: an IANA name, `UTC`, `Z`, `UTC+2`, `GMT-03:00`, `+01:30`.
pub(super) fn parse_zone(text: &str) -> Option<TimeZone> {
    let name = text.trim();
    if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("gmt") || name == "Z" || name == "UT" {
        return Some(TimeZone::UTC);
    }
    let offset = ["UTC", "GMT", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    if offset.starts_with(['+', '-']) {
        return parse_offset(offset).and_then(|s| Offset::from_seconds(s).ok()).map(TimeZone::fixed);
    }
    TimeZone::get(name).ok()
}

/// `+h`, `+hh`, `+hh:mm`, `+hhmm`, `+hh:mm:ss`, in seconds, up to 18 hours.
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, body) = match text.split_at_checked(1)? {
        ("+", body) => (1, body),
        ("-", body) => (-1, body),
        _ => return None,
    };
    if !body.is_ascii() {
        return None;
    }
    let parts: Vec<&str> = if body.contains(':') {
        body.split(':').collect()
    } else {
        [body.get(..2).unwrap_or(body), body.get(2..4).unwrap_or(""), body.get(4..).unwrap_or("")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect()
    };
    let mut total = 0i32;
    for (part, (unit, limit)) in parts.iter().zip([(3600, 18), (60, 59), (1, 59)]) {
        let digits = !part.is_empty() && part.len() <= 2 && part.bytes().all(|b| b.is_ascii_digit());
        let value: i32 = if digits { part.parse().ok()? } else { return None };
        if value > limit {
            return None;
        }
        total += value * unit;
    }
    (parts.len() <= 3 && !parts.is_empty() && total <= 18 * 3600).then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_years_beyond_all_time_do_not_overflow() {
        for days in [i64::MIN, i64::MAX] {
            let date = Ymd::from_days(days);
            assert!((1..=12).contains(&date.month));
            assert!((0..7).contains(&weekday(days)));
        }
        let far = Ymd { year: i64::MAX, month: 12, day: 31 };
        assert_eq!(far.plus_months(i64::MAX).day, 31);
        assert_eq!(far.to_days(), Ymd { year: YEAR_LIMIT, ..far }.to_days());
    }

    #[test]
    fn days_and_dates_are_inverse_over_all_of_sparks_years() {
        for days in (-800_000..3_000_000).step_by(997) {
            assert_eq!(Ymd::from_days(days).to_days(), days);
        }
        assert_eq!(Ymd::from_days(0), Ymd { year: 1970, month: 1, day: 1 });
        assert_eq!(Ymd::new(2023, 2, 29), None);
        assert_eq!(Ymd { year: 2024, month: 1, day: 31 }.plus_months(1), Ymd { year: 2024, month: 2, day: 29 });
    }

    #[test]
    fn gaps_move_forward_and_overlaps_take_the_earlier_offset() {
        let zone = parse_zone("Europe/Berlin").unwrap();
        let at = |year, month, day, hour: i64| Local {
            days: Ymd { year, month, day }.to_days(),
            micros: (hour * 3600 + 1800) * MICROS_PER_SECOND,
        };
        let gap = to_instant(&zone, at(2024, 3, 31, 2)).unwrap();
        assert_eq!(to_local(&zone, gap).hour(), 3);
        let overlap = to_instant(&zone, at(2024, 10, 27, 2)).unwrap();
        assert_eq!(offset_at(&zone, overlap), 7200 * MICROS_PER_SECOND);
    }

    #[test]
    fn zones_are_read_in_sparks_spellings() {
        assert_eq!(offset_at(&parse_zone("UTC+2").unwrap(), 0), 7200 * MICROS_PER_SECOND);
        assert_eq!(offset_at(&parse_zone("-01:30").unwrap(), 0), -5400 * MICROS_PER_SECOND);
        assert!(parse_zone("+19:00").is_none());
        assert!(parse_zone("Nowhere/City").is_none());
    }

    #[test]
    fn weeks_belong_to_the_year_of_their_thursday() {
        assert_eq!(Ymd { year: 2021, month: 1, day: 3 }.iso_week(), (2020, 53));
        assert_eq!(Ymd { year: 2024, month: 12, day: 30 }.iso_week(), (2025, 1));
        assert_eq!(weekday(0), 3);
    }
}
