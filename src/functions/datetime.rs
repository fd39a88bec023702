//! Dates and timestamps: parsing, formatting, fields, construction, conversion. Arithmetic is in `datetime_arithmetic`.

use super::access::{int, long, text};
use super::calendar::{Local, MICROS_PER_DAY, MICROS_PER_SECOND, Ymd, parse_zone, to_instant, to_local, weekday};
use super::coercion::implicit_cast;
use super::datetime_pattern as pattern;
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::{cast, decimal as exact};
use crate::model::{DataType, Decimal, Value};
use jiff::tz::TimeZone;

pub(super) const DATE_PARAM: Params = Params::Each(&[Param::Is(Simple::Date)]);
pub(super) const DATE: ResultType = ResultType::Is(Simple::Date);
pub(super) const TIMESTAMP: ResultType = ResultType::Is(Simple::Timestamp);
const TIME_PARAM: Params = Params::Each(&[Param::AnyTimestamp]);
const INT: ResultType = ResultType::Is(Simple::Int);
const LONG: ResultType = ResultType::Is(Simple::Long);
const STRING: ResultType = ResultType::Is(Simple::String);
const INSTANT: Params = Params::Each(&[Param::Is(Simple::Timestamp)]);
const NUMBERS: Params = Params::Each(&[
    Param::Is(Simple::Int),
    Param::Is(Simple::Int),
    Param::Is(Simple::Int),
    Param::Is(Simple::Int),
    Param::Is(Simple::Int),
    Param::Numeric,
    Param::Is(Simple::String),
]);

/// A field of a date.
const fn date_field(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, DATE_PARAM, INT, Nulls::Propagate, body)
}

/// A field of a time of day.
const fn time_field(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, TIME_PARAM, INT, Nulls::Propagate, body)
}

pub(super) static FUNCTIONS: &[Function] = &[
    date_field(&["year"], |c| field(c, "year")),
    date_field(&["quarter"], |c| field(c, "quarter")),
    date_field(&["month"], |c| field(c, "month")),
    date_field(&["day", "dayofmonth"], |c| field(c, "day")),
    date_field(&["dayofyear"], |c| field(c, "doy")),
    date_field(&["dayofweek"], |c| field(c, "dow")),
    date_field(&["weekday"], |c| field(c, "weekday")),
    date_field(&["weekofyear"], |c| field(c, "week")),
    time_field(&["hour"], |c| field(c, "hour")),
    time_field(&["minute"], |c| field(c, "minute")),
    time_field(&["second"], |c| field(c, "whole_second")),
    Function::scalar(
        &["date_part", "datepart", "extract"],
        Params::Rule(part_types),
        ResultType::Rule(part_type),
        Nulls::Propagate,
        |c| part(c.text(0)?, c.arg(1), &c.context.zone),
    ),
    Function::scalar(&["dayname"], DATE_PARAM, STRING, Nulls::Propagate, |c| {
        Ok(Value::string(pattern::day_name(weekday(c.long(0)?), false)))
    }),
    Function::scalar(&["monthname"], DATE_PARAM, STRING, Nulls::Propagate, |c| {
        Ok(Value::string(pattern::month_name(Ymd::from_days(c.long(0)?).month, false)))
    }),
    Function::scalar(&["to_date"], Params::Rule(parsed_types), DATE, Nulls::Rule(format_nullable), |c| {
        parse_to(c, false)
    }),
    Function::scalar(&["try_to_date"], Params::Rule(parsed_types), DATE, Nulls::Possible, |c| parse_to(c, true)),
    Function::scalar(
        &["to_timestamp", "to_timestamp_ltz"],
        Params::Rule(parsed_types),
        TIMESTAMP,
        Nulls::Rule(format_nullable),
        |c| parse_to(c, false),
    ),
    Function::scalar(&["try_to_timestamp"], Params::Rule(parsed_types), TIMESTAMP, Nulls::Possible, |c| {
        parse_to(c, true)
    }),
    Function::scalar(
        &["to_timestamp_ntz"],
        Params::Rule(parsed_types),
        ResultType::Is(Simple::TimestampNtz),
        Nulls::Rule(format_nullable),
        |c| parse_to(c, false),
    ),
    Function::scalar(
        &["date_format"],
        Params::Each(&[Param::Is(Simple::Timestamp), Param::Is(Simple::String)]),
        STRING,
        Nulls::Propagate,
        |c| format_instant(c.long(0)?, c.text(1)?, &c.context.zone),
    ),
    Function::scalar(
        &["unix_timestamp", "to_unix_timestamp"],
        Params::Rule(unix_types),
        LONG,
        Nulls::Rule(|args| args.iter().any(|a| a.nullable)),
        unix_timestamp,
    ),
    Function::scalar(
        &["from_unixtime"],
        Params::Each(&[Param::Is(Simple::Long), Param::Is(Simple::String)]),
        STRING,
        Nulls::PropagateOrNull,
        |c| {
            let format = if c.args.len() > 1 { c.text(1)? } else { "yyyy-MM-dd HH:mm:ss" };
            format_instant(c.long(0)?.saturating_mul(MICROS_PER_SECOND), format, &c.context.zone)
        },
    ),
    Function::scalar(&["timestamp_seconds"], Params::Each(&[Param::Numeric]), TIMESTAMP, Nulls::Propagate, |c| {
        cast(c.arg(0), &DataType::Double, &DataType::Timestamp, true, &TimeZone::UTC)
    }),
    Function::scalar(&["timestamp_millis"], Params::Each(&[Param::Integral]), TIMESTAMP, Nulls::Propagate, |c| {
        c.long(0)?
            .checked_mul(1000)
            .map(Value::Timestamp)
            .ok_or_else(|| super::arithmetic::overflow("timestamp_millis"))
    }),
    Function::scalar(&["timestamp_micros"], Params::Each(&[Param::Integral]), TIMESTAMP, Nulls::Propagate, |c| {
        Ok(Value::Timestamp(c.long(0)?))
    }),
    Function::scalar(&["unix_seconds"], INSTANT, LONG, Nulls::Propagate, |c| {
        Ok(Value::Long(c.long(0)?.div_euclid(MICROS_PER_SECOND)))
    }),
    Function::scalar(&["unix_millis"], INSTANT, LONG, Nulls::Propagate, |c| {
        Ok(Value::Long(c.long(0)?.div_euclid(1000)))
    }),
    Function::scalar(&["unix_micros"], INSTANT, LONG, Nulls::Propagate, |c| Ok(Value::Long(c.long(0)?))),
    Function::scalar(&["unix_date"], DATE_PARAM, INT, Nulls::Propagate, |c| Ok(Value::Int(c.int(0)?))),
    Function::scalar(&["date_from_unix_date"], Params::Each(&[Param::Is(Simple::Int)]), DATE, Nulls::Propagate, |c| {
        Ok(Value::Date(c.int(0)?))
    }),
    Function::scalar(&["make_date"], Params::Each(&[Param::Is(Simple::Int)]), DATE, Nulls::Propagate, |c| {
        match make_days(c.int(0)?, c.int(1)?, c.int(2)?) {
            Some(days) => Ok(Value::Date(days)),
            None => out_of_bounds(c),
        }
    }),
    Function::scalar(&["make_timestamp", "make_timestamp_ltz"], NUMBERS, TIMESTAMP, Nulls::Propagate, make_timestamp),
    Function::scalar(
        &["make_timestamp_ntz"],
        NUMBERS,
        ResultType::Is(Simple::TimestampNtz),
        Nulls::Propagate,
        make_timestamp,
    ),
    Function::scalar(
        &["from_utc_timestamp"],
        Params::Each(&[Param::Is(Simple::Timestamp), Param::Is(Simple::String)]),
        TIMESTAMP,
        Nulls::Propagate,
        |c| shift_zone(c, true),
    ),
    Function::scalar(
        &["to_utc_timestamp"],
        Params::Each(&[Param::Is(Simple::Timestamp), Param::Is(Simple::String)]),
        TIMESTAMP,
        Nulls::Propagate,
        |c| shift_zone(c, false),
    ),
    Function::scalar(
        &["convert_timezone"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::String), Param::Is(Simple::TimestampNtz)]),
        ResultType::Is(Simple::TimestampNtz),
        Nulls::Propagate,
        |c| {
            let instant = to_instant(&zone_named(c.text(0)?)?, Local::from_micros(c.long(2)?));
            let local = instant.and_then(|micros| to_local(&zone_named(c.text(1).ok()?).ok()?, micros).to_micros());
            local.map(Value::TimestampNtz).ok_or_else(|| super::arithmetic::overflow("convert_timezone"))
        },
    ),
];

/// A date or timestamp as local date and time.
pub(super) fn local(value: &Value, zone: &TimeZone) -> Result<Local, EvalError> {
    match value {
        Value::Date(days) => Ok(Local { days: i64::from(*days), micros: 0 }),
        Value::TimestampNtz(micros) => Ok(Local::from_micros(*micros)),
        Value::Timestamp(micros) => Ok(to_local(zone, *micros)),
        other => Err(EvalError::unexpected("a date or timestamp", other)),
    }
}

fn field(call: &Invocation, name: &str) -> EvalResult {
    let at = local(call.arg(0), &call.context.zone)?;
    let value = local_field(at, name).ok_or_else(|| EvalError::unexpected("a field", call.arg(0)))?;
    Ok(Value::Int(i32::try_from(value).unwrap_or(0)))
}

/// An integral field by Spark's names for `extract`.
fn local_field(at: Local, name: &str) -> Option<i64> {
    let date = at.date();
    Some(match name {
        "year" | "y" | "years" | "yr" | "yrs" => date.year,
        "yearofweek" => date.iso_week().0,
        "quarter" | "qtr" => date.quarter(),
        "month" | "mon" | "mons" | "months" => date.month,
        "week" | "w" | "weeks" => date.iso_week().1,
        "day" | "d" | "days" => date.day,
        "dayofweek" | "dow" => (weekday(at.days) + 1) % 7 + 1,
        "dayofweek_iso" | "dow_iso" => weekday(at.days) + 1,
        "weekday" => weekday(at.days),
        "doy" => date.day_of_year(),
        "hour" | "h" | "hours" | "hr" | "hrs" => at.hour(),
        "minute" | "m" | "min" | "mins" | "minutes" => at.minute(),
        "whole_second" => at.second(),
        _ => return None,
    })
}

fn is_seconds(name: &str) -> bool {
    matches!(name, "second" | "s" | "sec" | "seconds" | "secs")
}

/// A string becomes a timestamp.
fn part_types(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .enumerate()
        .map(|(index, a)| match (index, &a.data_type) {
            (1, DataType::String) => DataType::Timestamp,
            (_, data_type) => data_type.clone(),
        })
        .collect()
}

fn part_type(args: &[Argument]) -> DataType {
    let Some(name) = args.first().and_then(Argument::text).map(str::to_lowercase) else { return DataType::Int };
    let source = args.get(1).map(|a| &a.data_type);
    match (name.as_str(), source) {
        (name, _) if is_seconds(name) => DataType::decimal(8, 6),
        ("month" | "mon" | "mons" | "months", Some(DataType::YearMonthInterval | DataType::CalendarInterval)) => {
            DataType::Byte
        }
        (name, Some(DataType::DayTimeInterval | DataType::CalendarInterval)) if !name.starts_with(['d', 'y']) => {
            DataType::Byte
        }
        _ => DataType::Int,
    }
}

fn part(name: &str, source: &Value, zone: &TimeZone) -> EvalResult {
    let name = name.to_lowercase();
    let invalid = || EvalError::new("INVALID_EXTRACT_FIELD", format!("cannot extract `{name}`"));
    if matches!(source, Value::CalendarInterval { .. } | Value::DayTimeInterval(_) | Value::YearMonthInterval(_)) {
        return interval_part(&name, source).ok_or_else(invalid);
    }
    let at = local(source, zone)?;
    if is_seconds(&name) {
        let unscaled = i128::from(at.micros % (60 * MICROS_PER_SECOND));
        return Ok(Value::Decimal(Decimal { unscaled, precision: 8, scale: 6 }));
    }
    let value = local_field(at, &name).ok_or_else(invalid)?;
    Ok(Value::Int(i32::try_from(value).unwrap_or(0)))
}

fn interval_part(name: &str, source: &Value) -> Option<Value> {
    let interval = super::interval::Interval::of(source).ok()?;
    let typed_days = matches!(source, Value::DayTimeInterval(_));
    let of_day = if typed_days { interval.micros % MICROS_PER_DAY } else { interval.micros };
    let byte = |v: i64| i8::try_from(v).ok().map(Value::Byte);
    match name {
        "year" | "y" | "years" | "yr" | "yrs" => Some(Value::Int(interval.months / 12)),
        "month" | "mon" | "mons" | "months" => byte(i64::from(interval.months % 12)),
        "day" | "d" | "days" if typed_days => i32::try_from(interval.micros / MICROS_PER_DAY).ok().map(Value::Int),
        "day" | "d" | "days" => Some(Value::Int(interval.days)),
        "hour" | "h" | "hours" | "hr" | "hrs" => byte(of_day / (3600 * MICROS_PER_SECOND)),
        "minute" | "m" | "min" | "mins" | "minutes" => byte(of_day / (60 * MICROS_PER_SECOND) % 60),
        _ if is_seconds(name) => Some(Value::Decimal(Decimal {
            unscaled: i128::from(of_day % (60 * MICROS_PER_SECOND)),
            precision: 8,
            scale: 6,
        })),
        _ => None,
    }
}

/// With a format whatever is no date or time is read as text; without one the body casts.
fn parsed_types(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| match &a.data_type {
            other if args.len() > 1 && !other.is_datetime() => implicit_cast(Param::Is(Simple::String), other),
            data_type => data_type.clone(),
        })
        .collect()
}

/// Without a format these are casts, which Spark calls nullable where text is cast.
fn format_nullable(args: &[Argument]) -> bool {
    let text_cast = matches!(args, [only] if only.data_type == DataType::String);
    text_cast || args.iter().any(|a| a.nullable)
}

/// `to_date`, `to_timestamp`, with or without a format, to the type of the result.
fn parse_to(call: &Invocation, try_mode: bool) -> EvalResult {
    if call.args.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let parsed = parse_value(call);
    match parsed {
        Err(error) if (try_mode || !call.context.ansi) && error.class != "INTERNAL_ERROR" => Ok(Value::Null),
        other => other,
    }
}

fn parse_value(call: &Invocation) -> EvalResult {
    let zone = &call.context.zone;
    let (Value::String(source), true) = (call.arg(0), call.args.len() > 1) else {
        let from = call.types.first().unwrap_or(&DataType::String);
        return cast(call.arg(0), from, call.result, true, zone);
    };
    let format = call.text(1)?;
    let Some((at, named)) = pattern::parse(source, format)? else {
        return Err(EvalError::new(
            "CANNOT_PARSE_TIMESTAMP",
            format!("the text `{source}` does not match the pattern `{format}`"),
        ));
    };
    let zone_of_text = named.as_ref().unwrap_or(zone);
    let value = match call.result {
        DataType::TimestampNtz => at.to_micros().map(Value::TimestampNtz),
        DataType::Date if named.is_none() => i32::try_from(at.days).ok().map(Value::Date),
        DataType::Date => to_instant(zone_of_text, at)
            .and_then(|micros| i32::try_from(to_local(zone, micros).days).ok())
            .map(Value::Date),
        _ => to_instant(zone_of_text, at).map(Value::Timestamp),
    };
    value.ok_or_else(|| super::arithmetic::overflow("the timestamp"))
}

fn format_instant(micros: i64, format: &str, zone: &TimeZone) -> EvalResult {
    pattern::format(to_local(zone, micros), micros, zone, format).map(Value::string)
}

/// The first argument is text, a date or a timestamp; the format counts for text alone.
fn unix_types(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| match &a.data_type {
            DataType::Date | DataType::Timestamp | DataType::TimestampNtz | DataType::Unknown => a.data_type.clone(),
            other => implicit_cast(Param::Is(Simple::String), other),
        })
        .collect()
}

fn unix_timestamp(call: &Invocation) -> EvalResult {
    if call.args.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let zone = &call.context.zone;
    let micros = match call.args.first() {
        None => call.context.now,
        Some(Value::String(source)) => {
            let format = if call.args.len() > 1 { call.text(1)? } else { "yyyy-MM-dd HH:mm:ss" };
            match pattern::parse(source, format)? {
                Some((at, named)) => to_instant(named.as_ref().unwrap_or(zone), at)
                    .ok_or_else(|| super::arithmetic::overflow("the timestamp"))?,
                None if call.context.ansi => {
                    return Err(EvalError::new(
                        "CANNOT_PARSE_TIMESTAMP",
                        format!("the text `{source}` does not match the pattern `{format}`"),
                    ));
                }
                None => return Ok(Value::Null),
            }
        }
        Some(Value::Timestamp(micros)) => *micros,
        Some(other) => to_instant(zone, local(other, zone)?).unwrap_or(0),
    };
    Ok(Value::Long(micros.div_euclid(MICROS_PER_SECOND)))
}

pub(super) fn make_days(year: i32, month: i32, day: i32) -> Option<i32> {
    let date = Ymd::new(i64::from(year), i64::from(month), i64::from(day))?;
    i32::try_from(date.to_days()).ok()
}

fn out_of_bounds(call: &Invocation) -> EvalResult {
    if !call.context.ansi {
        return Ok(Value::Null);
    }
    Err(EvalError::new("DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION", "a field of the date or time does not exist"))
}

/// `make_timestamp(year, month, day, hour, minute, second [, zone])`; 60 seconds count as the next minute.
fn make_timestamp(call: &Invocation) -> EvalResult {
    let seconds = super::math::as_decimal(call.arg(5))?;
    let micros = exact::rescale(seconds, 6, exact::Rounding::HalfUp).and_then(|v| i64::try_from(v).ok());
    let (hour, minute) = (i64::from(int(call.arg(3))?), i64::from(int(call.arg(4))?));
    let (Some(days), Some(micros)) = (make_days(call.int(0)?, call.int(1)?, call.int(2)?), micros) else {
        return out_of_bounds(call);
    };
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..=60 * MICROS_PER_SECOND).contains(&micros) {
        return out_of_bounds(call);
    }
    let of_day = (hour * 60 + minute) * 60 * MICROS_PER_SECOND + micros;
    let total = i64::from(days).checked_mul(MICROS_PER_DAY).and_then(|start| start.checked_add(of_day));
    let Some(total) = total else { return out_of_bounds(call) };
    if *call.result == DataType::TimestampNtz {
        return Ok(Value::TimestampNtz(total));
    }
    let zone = match call.args.get(6) {
        Some(name) => zone_named(text(name)?)?,
        None => call.context.zone.clone(),
    };
    to_instant(&zone, Local::from_micros(total)).map_or_else(|| out_of_bounds(call), |v| Ok(Value::Timestamp(v)))
}

pub(super) fn zone_named(name: &str) -> Result<TimeZone, EvalError> {
    parse_zone(name).ok_or_else(|| EvalError::new("INVALID_TIMEZONE", format!("`{name}` is no time zone")))
}

/// Takes the timestamp's local time in one zone as that of the other.
fn shift_zone(call: &Invocation, from_utc: bool) -> EvalResult {
    let zone = zone_named(call.text(1)?)?;
    let micros = long(call.arg(0))?;
    let shifted =
        if from_utc { to_local(&zone, micros).to_micros() } else { to_instant(&zone, Local::from_micros(micros)) };
    shifted.map(Value::Timestamp).ok_or_else(|| super::arithmetic::overflow("the timestamp"))
}
