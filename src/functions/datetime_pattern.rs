//! Java `DateTimeFormatter` patterns, as far as Spark allows them: formatting and parsing.

use super::calendar::{Local, MICROS_PER_SECOND, Ymd, offset_at, parse_zone, weekday};
use super::function::EvalError;
use jiff::tz::TimeZone;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// One piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A letter and how often it stands.
    Field(char, usize),
    /// `[` and `]`: what stands between may be missing when parsing.
    OptionalStart,
    OptionalEnd,
}

pub(super) fn month_name(month: i64, full: bool) -> &'static str {
    let name = usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or_default();
    if full { name } else { name.get(..3).unwrap_or(name) }
}

pub(super) fn day_name(weekday: i64, full: bool) -> &'static str {
    let name = usize::try_from(weekday).ok().and_then(|at| DAYS.get(at)).copied().unwrap_or_default();
    if full { name } else { name.get(..3).unwrap_or(name) }
}

/// A day of the week by the start of its English name: 0 for Monday.
pub(super) fn weekday_by_name(name: &str) -> Option<i64> {
    let lower = name.trim().to_lowercase();
    let at = DAYS.iter().position(|day| {
        let day = day.to_lowercase();
        lower == day || (matches!(lower.len(), 2 | 3) && day.starts_with(&lower))
    })?;
    i64::try_from(at).ok()
}

fn parse_pattern(pattern: &str) -> Result<Vec<Piece>, EvalError> {
    let wrong = || {
        EvalError::new(
            "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
            format!("the pattern `{pattern}` is not a datetime pattern that Spark knows"),
        )
    };
    let mut pieces: Vec<Piece> = Vec::new();
    let push_text = |pieces: &mut Vec<Piece>, c: char| match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push(c),
        _ => pieces.push(Piece::Text(c.to_string())),
    };
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if chars.peek() == Some(&'\'') => {
                chars.next();
                push_text(&mut pieces, '\'');
            }
            '\'' => loop {
                match chars.next() {
                    Some('\'') if chars.peek() == Some(&'\'') => {
                        chars.next();
                        push_text(&mut pieces, '\'');
                    }
                    Some('\'') => break,
                    Some(other) => push_text(&mut pieces, other),
                    None => return Err(wrong()),
                }
            },
            '[' => pieces.push(Piece::OptionalStart),
            ']' => pieces.push(Piece::OptionalEnd),
            'a'..='z' | 'A'..='Z' => {
                let mut count = 1;
                while chars.peek() == Some(&c) {
                    chars.next();
                    count += 1;
                }
                // Letters of other calendars and week-based fields were dropped in Spark 3.
                if !"yMLdDEahHkKmsSQqVzZXxO".contains(c) || count > 9 {
                    return Err(wrong());
                }
                pieces.push(Piece::Field(c, count));
            }
            other => push_text(&mut pieces, other),
        }
    }
    Ok(pieces)
}

/// A local time in a pattern; `instant` and `zone` serve the zone letters.
pub(super) fn format(local: Local, instant: i64, zone: &TimeZone, pattern: &str) -> Result<String, EvalError> {
    let mut out = String::new();
    for piece in parse_pattern(pattern)? {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Field(letter, count) => out.push_str(&field_text(letter, count, local, instant, zone)),
            Piece::OptionalStart | Piece::OptionalEnd => {}
        }
    }
    Ok(out)
}

fn field_text(letter: char, count: usize, local: Local, instant: i64, zone: &TimeZone) -> String {
    let date = local.date();
    let number = |value: i64| format!("{value:0count$}");
    match letter {
        'y' if count == 2 => format!("{:02}", date.year.rem_euclid(100)),
        'y' => number(date.year),
        'M' | 'L' if count >= 3 => month_name(date.month, count > 3).to_owned(),
        'M' | 'L' => number(date.month),
        'd' => number(date.day),
        'D' => number(date.day_of_year()),
        'Q' | 'q' if count <= 2 => number(date.quarter()),
        'Q' | 'q' if count == 3 => format!("Q{}", date.quarter()),
        'Q' | 'q' => format!("{} quarter", ordinal(date.quarter())),
        'E' => day_name(weekday(local.days), count > 3).to_owned(),
        'a' => if local.hour() < 12 { "AM" } else { "PM" }.to_owned(),
        'H' => number(local.hour()),
        'k' => number(if local.hour() == 0 { 24 } else { local.hour() }),
        'K' => number(local.hour() % 12),
        'h' => number(if local.hour() % 12 == 0 { 12 } else { local.hour() % 12 }),
        'm' => number(local.minute()),
        's' => number(local.second()),
        'S' => format!("{:06}000", local.fraction()).chars().take(count).collect(),
        'V' => zone.iana_name().unwrap_or("UTC").to_owned(),
        'X' if offset_at(zone, instant) == 0 => "Z".to_owned(),
        'X' | 'x' => offset_text(offset_at(zone, instant), count),
        'Z' if count == 5 && offset_at(zone, instant) == 0 => "Z".to_owned(),
        'Z' if count == 5 => offset_text(offset_at(zone, instant), 3),
        'Z' if count == 4 => format!("GMT{}", offset_text(offset_at(zone, instant), 3)),
        'Z' => offset_text(offset_at(zone, instant), 2),
        'O' => match offset_at(zone, instant) {
            0 => "GMT".to_owned(),
            offset => format!("GMT{}", offset_text(offset, 3)),
        },
        _ => zone.iana_name().unwrap_or("UTC").to_owned(),
    }
}

fn ordinal(quarter: i64) -> &'static str {
    match quarter {
        1 => "1st",
        2 => "2nd",
        3 => "3rd",
        _ => "4th",
    }
}

/// `+hh`, `+hhmm` or `+hh:mm` for one, two or three letters.
fn offset_text(offset: i64, count: usize) -> String {
    let minutes = offset.abs() / (60 * MICROS_PER_SECOND);
    let sign = if offset < 0 { '-' } else { '+' };
    match count {
        1 if minutes % 60 == 0 => format!("{sign}{:02}", minutes / 60),
        1 | 2 | 4 => format!("{sign}{:02}{:02}", minutes / 60, minutes % 60),
        _ => format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60),
    }
}

/// What a text said.
#[derive(Debug, Clone, Default)]
struct Parsed {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: Option<i64>,
    half_hour: Option<i64>,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    micros: i64,
    zone: Option<TimeZone>,
}

/// Reads a text by a pattern; returns the local time and the zone, if the text names one. None where it does not match.
pub(super) fn parse(source: &str, pattern: &str) -> Result<Option<(Local, Option<TimeZone>)>, EvalError> {
    let pieces = parse_pattern(pattern)?;
    let mut parsed = Parsed::default();
    let Some(rest) = parse_pieces(source, &pieces, &mut parsed) else { return Ok(None) };
    Ok(if rest.is_empty() { resolve(&parsed) } else { None })
}

fn parse_pieces<'a>(source: &'a str, pieces: &[Piece], parsed: &mut Parsed) -> Option<&'a str> {
    let mut rest = source;
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        match piece {
            Piece::Text(text) => rest = rest.strip_prefix(text.as_str())?,
            Piece::Field(letter, count) => {
                let adjacent = matches!(pieces.get(at + 1), Some(Piece::Field(next, _)) if next.is_ascii_alphabetic());
                rest = parse_field(rest, *letter, *count, adjacent, parsed)?;
            }
            Piece::OptionalStart => {
                let length = optional_length(pieces.get(at + 1..).unwrap_or_default());
                let inner = pieces.get(at + 1..at + 1 + length).unwrap_or_default();
                let mut attempt = parsed.clone();
                if let Some(after) = parse_pieces(rest, inner, &mut attempt) {
                    *parsed = attempt;
                    rest = after;
                }
                at += length + 1;
            }
            Piece::OptionalEnd => {}
        }
        at += 1;
    }
    Some(rest)
}

/// Number of pieces before the bracket that closes.
fn optional_length(pieces: &[Piece]) -> usize {
    let mut depth = 0usize;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::OptionalStart => depth += 1,
            Piece::OptionalEnd if depth == 0 => return index,
            Piece::OptionalEnd => depth -= 1,
            _ => {}
        }
    }
    pieces.len()
}

/// A number of at least `count` digits; exactly so many where another number follows.
fn take_number(source: &str, count: usize, adjacent: bool, widest: usize) -> Option<(i64, &str)> {
    let digits = source.bytes().take_while(u8::is_ascii_digit).count();
    let length = if adjacent { count } else { digits.min(widest.max(count)) };
    if digits < count || length == 0 || length > 18 {
        return None;
    }
    let (number, rest) = source.split_at_checked(length)?;
    Some((number.parse().ok()?, rest))
}

fn take_name<'a>(source: &'a str, names: &[&str], full: bool) -> Option<(i64, &'a str)> {
    for (number, name) in (1i64..).zip(names) {
        let wanted = if full { name } else { name.get(..3).unwrap_or(name) };
        if let Some((head, rest)) = source.split_at_checked(wanted.len())
            && head.eq_ignore_ascii_case(wanted)
        {
            return Some((number, rest));
        }
    }
    None
}

fn parse_field<'a>(
    source: &'a str,
    letter: char,
    count: usize,
    adjacent: bool,
    parsed: &mut Parsed,
) -> Option<&'a str> {
    let number = |widest: usize| take_number(source, count, adjacent, if count == 1 { widest } else { count });
    match letter {
        'y' if count == 2 => {
            let (value, rest) = take_number(source, 2, true, 2)?;
            parsed.year = Some(2000 + value);
            Some(rest)
        }
        'y' => {
            let (negative, digits) = source.strip_prefix('-').map_or((false, source), |rest| (true, rest));
            let (value, rest) = take_number(digits, count, adjacent, if count < 4 { 10 } else { count })?;
            parsed.year = Some(if negative { -value } else { value });
            Some(rest)
        }
        'M' | 'L' if count >= 3 => {
            let (value, rest) = take_name(source, &MONTHS, count > 3)?;
            parsed.month = Some(value);
            Some(rest)
        }
        'E' => take_name(source, &DAYS, count > 3).map(|(_, rest)| rest),
        'a' => {
            let (half, rest) = source.split_at_checked(2)?;
            parsed.afternoon = match half.to_ascii_uppercase().as_str() {
                "AM" => Some(false),
                "PM" => Some(true),
                _ => return None,
            };
            Some(rest)
        }
        'S' => {
            let (_, rest) = take_number(source, count, true, count)?;
            let digits = source.get(..count)?;
            let six: String = digits.chars().chain("000000".chars()).take(6).collect();
            parsed.micros = six.parse().ok()?;
            Some(rest)
        }
        'V' | 'X' | 'x' | 'Z' | 'z' | 'O' => parse_zone_field(source, letter, parsed),
        _ => {
            let (value, rest) = number(if letter == 'D' { 3 } else { 2 })?;
            let slot = match letter {
                'M' | 'L' => &mut parsed.month,
                'd' => &mut parsed.day,
                'D' => &mut parsed.day_of_year,
                'H' | 'k' => &mut parsed.hour,
                'h' | 'K' => &mut parsed.half_hour,
                'm' => {
                    parsed.minute = value;
                    return Some(rest);
                }
                's' => {
                    parsed.second = value;
                    return Some(rest);
                }
                _ => return Some(rest),
            };
            *slot = Some(if letter == 'k' { value % 24 } else { value });
            Some(rest)
        }
    }
}

fn parse_zone_field<'a>(source: &'a str, letter: char, parsed: &mut Parsed) -> Option<&'a str> {
    if matches!(letter, 'X' | 'Z')
        && let Some(rest) = source.strip_prefix('Z')
    {
        parsed.zone = Some(TimeZone::UTC);
        return Some(rest);
    }
    let length = source.find(|c: char| !(c.is_ascii_alphanumeric() || "+-:/_".contains(c))).unwrap_or(source.len());
    let (name, rest) = source.split_at_checked(length)?;
    parsed.zone = Some(parse_zone(name)?);
    Some(rest)
}

/// Fields that are missing count as those of 1970-01-01T00:00.
fn resolve(parsed: &Parsed) -> Option<(Local, Option<TimeZone>)> {
    let year = parsed.year.unwrap_or(1970);
    let days = match parsed.day_of_year {
        Some(day) => {
            let first = Ymd::new(year, 1, 1)?.to_days();
            (1..=366).contains(&day).then_some(first + day - 1)?
        }
        None => Ymd::new(year, parsed.month.unwrap_or(1), parsed.day.unwrap_or(1))?.to_days(),
    };
    let hour = match (parsed.hour, parsed.half_hour) {
        (Some(hour), _) => hour,
        (None, Some(half)) => half % 12 + if parsed.afternoon == Some(true) { 12 } else { 0 },
        (None, None) => 0,
    };
    if !(0..24).contains(&hour) || parsed.minute > 59 || parsed.second > 59 {
        return None;
    }
    let micros = ((hour * 60 + parsed.minute) * 60 + parsed.second) * MICROS_PER_SECOND + parsed.micros;
    Some((Local { days, micros }, parsed.zone.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reparse(source: &str, pattern: &str) -> Option<String> {
        let (local, _) = parse(source, pattern).unwrap()?;
        Some(super::super::display(&crate::model::Value::TimestampNtz(local.to_micros()?), &TimeZone::UTC))
    }

    #[test]
    fn texts_are_read_by_pattern() {
        assert_eq!(reparse("31/12/2016", "dd/MM/yyyy").as_deref(), Some("2016-12-31 00:00:00"));
        assert_eq!(reparse("20161231235958", "yyyyMMddHHmmss").as_deref(), Some("2016-12-31 23:59:58"));
        assert_eq!(reparse("Dec 5, 2016 3:07 PM", "MMM d, yyyy h:mm a").as_deref(), Some("2016-12-05 15:07:00"));
        assert_eq!(reparse("2016-12-31", "yyyy-MM-dd[ HH:mm]").as_deref(), Some("2016-12-31 00:00:00"));
        assert_eq!(reparse("2016-12-31 10:11", "yyyy-MM-dd[ HH:mm]").as_deref(), Some("2016-12-31 10:11:00"));
        assert_eq!(reparse("2016-12-31x", "yyyy-MM-dd"), None);
        assert_eq!(reparse("2016-13-31", "yyyy-MM-dd"), None);
    }

    #[test]
    fn unknown_letters_are_refused() {
        assert!(parse("1", "u").is_err());
        assert!(parse("1", "yyyy-MM-dd'").is_err());
    }
}
