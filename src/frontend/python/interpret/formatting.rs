//! Values as text: f-strings, `str.format`, `%`, `str()`.

use super::operators::is_known_text;
use super::{Eval, Interpreter, MAX_TEXT, Stop};
use crate::frontend::pyspark::batch::collected;
use crate::frontend::python::value::{Arguments, Text, Value};

impl Interpreter<'_> {
    /// A value formatted by an f-string or `str.format`.
    pub fn format_value(&mut self, value: &Value, format: &str) -> Eval<Text> {
        if let Some(text) = value.render_string() {
            let symbolic = !is_known_text(value);
            if format.is_empty() || symbolic {
                return Ok(Text { text, symbolic });
            }
            return Ok(Text::known(pad(&text, format, false)));
        }
        let text = self.display(value)?;
        if format.is_empty() || text.symbolic {
            return Ok(text);
        }
        Ok(Text::known(match value {
            Value::Int(number) => format_integer(*number, format),
            Value::Float(number) => format_float(*number, format),
            _ => pad(&text.text, format, false),
        }))
    }

    /// `str(value)`.
    pub fn display(&mut self, value: &Value) -> Eval<Text> {
        Ok(match value {
            Value::Str(text) => text.clone(),
            Value::None | Value::Bool(_) | Value::Int(_) => Text::known(self.short(value)),
            Value::Float(number) => Text::known(float_text(*number)),
            Value::Date(days) => Text::known(date_text(*days)),
            Value::Timestamp(micros) => Text::known(timestamp_text(*micros)),
            Value::Unknown(_) | Value::Choice(_) => {
                Text { text: value.render_string().unwrap_or_else(|| "{?}".into()), symbolic: true }
            }
            Value::Column(_) if collected::is_computed(self, value) => {
                let name = collected::placeholder(self, value).unwrap_or_default();
                Text { text: format!("{{{name}}}").into(), symbolic: true }
            }
            Value::List(list) if !list.borrow().open => self.display_items(&list.borrow().items, "[", "]")?,
            Value::Tuple(items) if items.len() == 1 => self.display_items(items, "(", ",)")?,
            Value::Tuple(items) => self.display_items(items, "(", ")")?,
            Value::Instance(_) => match self
                .find_method(value, "__str__")
                .or_else(|| self.find_method(value, "__repr__"))
            {
                Some(method) => match self.call(&method, Arguments::default())? {
                    Value::Str(text) => text,
                    other => Text { text: other.render_string().unwrap_or_else(|| "{object}".into()), symbolic: true },
                },
                None => Text { text: "{object}".into(), symbolic: true },
            },
            other => Text { text: format!("{{{}}}", self.short(other)).into(), symbolic: true },
        })
    }

    fn display_items(&mut self, items: &[Value], open: &str, close: &str) -> Eval<Text> {
        let mut out = String::from(open);
        let mut symbolic = false;
        for (index, item) in items.iter().enumerate() {
            self.spend(1)?;
            if index > 0 {
                out.push_str(", ");
            }
            let text = self.deeper(|this| this.display(item))?;
            symbolic |= text.symbolic;
            if matches!(item, Value::Str(_)) {
                out.push('\'');
                out.push_str(&text.text);
                out.push('\'');
            } else {
                out.push_str(&text.text);
            }
            if out.len() > MAX_TEXT {
                return Err(Stop::OutOfFuel);
            }
        }
        out.push_str(close);
        Ok(Text { text: out.into(), symbolic })
    }

    /// `'…' % values`.
    pub(super) fn percent_format(&mut self, format: &Text, values: &Value) -> Eval<Value> {
        let mut positional = match values {
            Value::Tuple(items) => items.to_vec(),
            other => vec![other.clone()],
        }
        .into_iter();
        let mut out = String::new();
        let mut symbolic = format.symbolic;
        let mut chars = format.text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            if chars.peek() == Some(&'%') {
                chars.next();
                out.push('%');
                continue;
            }
            let mut key = None;
            if chars.peek() == Some(&'(') {
                chars.next();
                key = Some(chars.by_ref().take_while(|c| *c != ')').collect::<String>());
            }
            let mut spec = String::new();
            while let Some(c) = chars.peek().copied() {
                chars.next();
                if c.is_ascii_alphabetic() {
                    if c != 's' && c != 'r' {
                        spec.push(c);
                    }
                    break;
                }
                spec.push(c);
            }
            let value = match (key, values) {
                (Some(key), Value::Dict(dict)) => dict.borrow().get_str(&key).cloned(),
                _ => positional.next(),
            };
            let value = value.unwrap_or(Value::None);
            let shown = self.format_value(&value, &spec)?;
            symbolic |= shown.symbolic;
            out.push_str(&shown.text);
        }
        Ok(Value::Str(Text { text: out.into(), symbolic }))
    }
}

fn width_of(format: &str) -> usize {
    let digits: String = format.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0).min(200)
}

/// Pads to the width of a format: `>10`, `<10`, `^10`.
fn pad(text: &str, format: &str, number: bool) -> String {
    let missing = width_of(format).saturating_sub(text.chars().count());
    let zero = number && format.trim_start_matches(['<', '>', '^', '+', ',']).starts_with('0');
    let fill = if zero { "0" } else { " " }.repeat(missing);
    let right = format.contains('>') || (number && !format.contains('<'));
    if right { format!("{fill}{text}") } else { format!("{text}{fill}") }
}

fn format_integer(number: i64, format: &str) -> String {
    let text = match format.chars().last() {
        Some('x') => format!("{number:x}"),
        Some('X') => format!("{number:X}"),
        Some('b') => format!("{number:b}"),
        Some('f') => return format_float(number as f64, format),
        _ => number.to_string(),
    };
    pad(&text, format, true)
}

fn format_float(number: f64, format: &str) -> String {
    let precision = format.split_once('.').map(|(_, rest)| rest.trim_end_matches(|c: char| !c.is_ascii_digit()));
    match precision.and_then(|digits| digits.parse::<usize>().ok()) {
        Some(digits) => format!("{number:.*}", digits.min(50)),
        None => float_text(number),
    }
}

fn float_text(number: f64) -> String {
    if number.is_finite() && number.fract() == 0.0 && number.abs() < 1e16 {
        format!("{number:.1}")
    } else {
        number.to_string()
    }
}

fn date_text(days: i32) -> String {
    let date = jiff::civil::date(1970, 1, 1)
        .checked_add(jiff::SignedDuration::from_hours(24i64.saturating_mul(i64::from(days))));
    date.map_or_else(|_| "{date}".to_owned(), |date| date.to_string())
}

fn timestamp_text(micros: i64) -> String {
    match jiff::Timestamp::from_microsecond(micros) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => "{datetime}".to_owned(),
    }
}
