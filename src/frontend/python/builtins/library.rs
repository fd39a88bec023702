//! The standard library, as far as names, paths, dates and configuration are made with it.

use super::data::{file_text, parse_data};
use super::functions::charge;
use super::paths::{dirname, join_paths};
use crate::frontend::pyspark::column;
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Function, Partial, Text, Value};
use std::rc::Rc;
use std::sync::Arc;

pub fn constant(_interpreter: &mut Interpreter<'_>, path: &str) -> Option<Value> {
    Some(match path {
        "os.sep" | "os.path.sep" => Value::str("/"),
        "os.linesep" => Value::str("\n"),
        "math.pi" => Value::Float(std::f64::consts::PI),
        "sys.maxsize" => Value::Int(i64::MAX),
        "string.ascii_lowercase" => Value::str("abcdefghijklmnopqrstuvwxyz"),
        "string.ascii_uppercase" => Value::str("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        "string.digits" => Value::str("0123456789"),
        "typing.TYPE_CHECKING" => Value::Bool(false),
        _ => return None,
    })
}

pub fn call(interpreter: &mut Interpreter<'_>, path: &Arc<str>, arguments: &Arguments) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let first = arguments.positional.first().cloned().unwrap_or(Value::None);
    let waiting =
        || Value::Partial(Rc::new(Partial { function: Value::External(path.clone()), arguments: arguments.clone() }));
    Ok(Some(match path.as_ref() {
        "functools.partial" => {
            let mut rest = arguments.clone();
            if rest.positional.is_empty() {
                return Ok(None);
            }
            let function = rest.positional.remove(0);
            Value::Partial(Rc::new(Partial { function, arguments: rest }))
        }
        "functools.reduce" => return reduce(interpreter, arguments),
        "functools.wraps" | "functools.update_wrapper" => match (&first, arguments.positional.get(1)) {
            (_, Some(Value::Function(wrapper))) => {
                let name = name_of(&first);
                if let Some(name) = name {
                    *wrapper.name.borrow_mut() = name;
                }
                Value::Function(wrapper.clone())
            }
            _ => waiting(),
        },
        "importlib.util.spec_from_file_location" => match arguments.text(1, "location") {
            Some(_) => waiting(),
            None => return Ok(None),
        },
        "importlib.util.module_from_spec" => match &first {
            Value::Partial(spec) => match spec.arguments.text(1, "location") {
                Some(path) => match interpreter.module_at(&path) {
                    Some(module) => module,
                    None => return Ok(None),
                },
                None => return Ok(None),
            },
            _ => return Ok(None),
        },
        "collections.namedtuple" => return Ok(interpreter.named_tuple(arguments)),
        "functools.lru_cache" | "functools.cache" | "functools.cached_property" => match first {
            Value::Function(_) => first,
            _ => Value::external("functools.cache"),
        },
        "dataclasses.field" => waiting(),
        "dataclasses.dataclass" => match first {
            Value::Class(_) => first,
            _ => waiting(),
        },
        "dataclasses.asdict" => match &first {
            Value::Instance(instance) => Value::dict(
                instance.attributes.borrow().iter().map(|(k, v)| (Value::str(k.clone()), v.clone())).collect(),
            ),
            _ => return Ok(None),
        },
        "copy.copy" | "copy.deepcopy" => deep_copy(&first, 16),
        "textwrap.dedent" | "inspect.cleandoc" => first,
        "importlib.import_module" | "importlib.reload" => match first {
            Value::Module(_) => first,
            _ => return interpreter.import_by_name(&first),
        },
        "sys.path.append" | "sys.path.insert" | "site.addsitedir" => {
            let folder = arguments.positional.last().and_then(Value::render_string).unwrap_or_default();
            interpreter.add_search_path(&folder);
            Value::None
        }
        "json.loads" | "json.load" | "yaml.safe_load" | "yaml.load" | "yaml.full_load" => {
            return Ok(parse_data(interpreter, path, &first));
        }
        "json.dumps" => match first.as_str() {
            Some(text) => Value::str(format!("\"{text}\"")),
            None => {
                let content = interpreter.contents.of_arguments(arguments);
                Value::Str(Text { text: format!("{{json {content:x}}}").into(), symbolic: true })
            }
        },
        "yaml.safe_load_all" => match parse_data(interpreter, path, &first) {
            Some(value) => Value::list(vec![value]),
            None => return Ok(None),
        },
        "os.path.join" | "posixpath.join" => join_paths(&arguments.positional),
        "os.path.dirname" => return Ok(dirname(&first)),
        "os.path.basename" => match first.as_str() {
            Some(text) => Value::str(text.rsplit('/').next().unwrap_or(text)),
            None => return Ok(None),
        },
        "os.path.abspath" | "os.path.realpath" | "os.path.normpath" | "os.path.expanduser" | "os.fspath" => first,
        "os.path.exists" | "os.path.isfile" | "os.path.isdir" => match first.render_string() {
            Some(text) if interpreter.data_file(&text).is_some() => Value::Bool(true),
            _ => return Ok(None),
        },
        "os.path.splitext" => match first.as_str() {
            Some(text) => {
                let at = text.rfind('.').filter(|at| !text.get(*at..).unwrap_or_default().contains('/'));
                let (stem, extension) = text.split_at(at.unwrap_or(text.len()));
                Value::Tuple([Value::str(stem), Value::str(extension)].into())
            }
            None => return Ok(None),
        },
        "os.getcwd" => {
            let folder = interpreter.source.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            Value::str(if folder.is_empty() { ".".to_owned() } else { folder })
        }
        "os.getenv" | "os.environ.get" => {
            let name = arguments.text(0, "key").unwrap_or_default();
            match arguments.get(1, "default") {
                Some(default) => default.clone(),
                None => {
                    let reason = format!("the environment variable `{name}` is only known at run time");
                    interpreter.unknown(&name, "unknown-configuration", reason, place.clone())
                }
            }
        }
        "pathlib.Path" | "pathlib.PurePath" | "pathlib.PosixPath" => join_paths(&arguments.positional),
        "pathlib.Path.cwd" => return call(interpreter, &"os.getcwd".into(), arguments),
        "datetime.timedelta" => return Ok(timedelta(arguments)),
        "datetime.date" | "datetime.datetime" => return Ok(date(path, arguments)),
        "datetime.datetime.now"
        | "datetime.datetime.utcnow"
        | "datetime.date.today"
        | "datetime.datetime.today"
        | "time.time" => {
            interpreter.unknown("now", "runtime-data", "the current time is only known at run time", place.clone())
        }
        "datetime.datetime.strptime" | "datetime.datetime.fromisoformat" | "datetime.date.fromisoformat" => {
            match first.as_str().and_then(parse_timestamp) {
                Some(micros) => Value::Timestamp(micros),
                None => return Ok(None),
            }
        }
        "decimal.Decimal" => {
            let text = match &first {
                Value::Int(number) => number.to_string(),
                other => other.as_str().unwrap_or_default().to_owned(),
            };
            match column::decimal_literal(&text) {
                Some(literal) => Value::column(literal),
                None => return Ok(None),
            }
        }
        "itertools.chain" | "itertools.chain.from_iterable" => return chain(interpreter, path, arguments),
        "itertools.product" => return product(interpreter, arguments),
        "collections.OrderedDict" | "collections.defaultdict" | "collections.Counter" => {
            let mut rest = arguments.clone();
            if path.ends_with("defaultdict") && !rest.positional.is_empty() {
                rest.positional.remove(0);
            }
            return super::functions::call(interpreter, "dict", &rest);
        }
        "operator.and_" | "operator.or_" | "operator.add" | "operator.mul" => {
            let operator = match path.as_ref() {
                "operator.and_" => "&",
                "operator.or_" => "|",
                "operator.mul" => "*",
                _ => "+",
            };
            let second = arguments.positional.get(1).cloned().unwrap_or(Value::None);
            interpreter.binary(operator, &first, &second, Default::default())?
        }
        "typing.cast" => arguments.positional.get(1).cloned().unwrap_or(Value::None),
        "re.sub" => return Ok(regex_sub(arguments)),
        "re.match" | "re.search" | "re.fullmatch" => return Ok(regex_test(path, arguments)),
        "io.StringIO" => first,
        "pyspark.sql.streaming.query.awaitTermination" => Value::None,
        "warnings.filterwarnings" | "logging.basicConfig" | "time.sleep" | "sys.exit" | "super().__init__" => {
            Value::None
        }
        "logging.getLogger" => Value::external(path),
        _ if path.starts_with(super::arguments::LIBRARY) => {
            return Ok(super::arguments::call(interpreter, path, arguments));
        }
        _ if ["random.", "uuid.", "numpy.", "secrets.", "time."].iter().any(|module| path.starts_with(module)) => {
            let reason = format!("`{path}` gives another value at each run");
            interpreter.unknown_call(path, "runtime-data", &reason, arguments)
        }
        _ if path.starts_with("logging.") || path.starts_with("pyspark.sql.streaming.query.") => Value::None,
        _ => return Ok(None),
    }))
}

fn name_of(value: &Value) -> Option<Arc<str>> {
    let function: &Rc<Function> = match value {
        Value::Function(function) | Value::Method { function, .. } => function,
        Value::Decorated(decorated) => return name_of(&decorated.function),
        _ => return None,
    };
    Some(function.name.borrow().clone())
}

fn reduce(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Eval<Option<Value>> {
    let Some(function) = arguments.positional.first().cloned() else { return Ok(None) };
    let Some(list) = arguments.positional.get(1).cloned().and_then(|value| interpreter.items_of(&value)) else {
        return Ok(None);
    };
    charge(interpreter, list.items.len())?;
    let mut items = list.items.into_iter();
    let Some(mut total) = arguments.positional.get(2).cloned().or_else(|| items.next()) else { return Ok(None) };
    for item in items {
        total = interpreter.call(&function, Arguments::of(vec![total, item], arguments.place.clone()))?;
    }
    if !list.open {
        return Ok(Some(total));
    }
    // More elements may follow: the result is known to come from these.
    let reason = "how many elements are combined is only known at run time";
    let call = Arguments::of(vec![total], arguments.place.clone());
    Ok(Some(interpreter.unknown_call("reduce", "unknown-set", reason, &call)))
}

fn deep_copy(value: &Value, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return value.clone() };
    match value {
        Value::List(list) => {
            let mut copy = list.borrow().clone();
            copy.items = copy.items.iter().map(|item| deep_copy(item, depth)).collect();
            Value::List(Rc::new(std::cell::RefCell::new(copy)))
        }
        Value::Dict(dict) => {
            let mut copy = dict.borrow().clone();
            for (_, value) in &mut copy.items {
                *value = deep_copy(value, depth);
            }
            Value::Dict(Rc::new(std::cell::RefCell::new(copy)))
        }
        Value::Schema(schema) => Value::Schema(Rc::new(std::cell::RefCell::new(schema.borrow().clone()))),
        other => other.clone(),
    }
}

fn timedelta(arguments: &Arguments) -> Option<Value> {
    const UNITS: &[(&str, f64)] = &[
        ("days", 86_400e6),
        ("seconds", 1e6),
        ("microseconds", 1.0),
        ("milliseconds", 1e3),
        ("minutes", 60e6),
        ("hours", 3_600e6),
        ("weeks", 604_800e6),
    ];
    let mut total = 0.0;
    for (index, (unit, micros)) in UNITS.iter().enumerate() {
        if let Some(value) = arguments.get(index, unit) {
            total += value.as_number()? * micros;
        }
    }
    Some(Value::Duration(total as i64))
}

fn date(path: &str, arguments: &Arguments) -> Option<Value> {
    let part = |index: usize, name: &str, default: i64| match arguments.get(index, name) {
        Some(Value::Int(number)) => Some(*number),
        Some(_) => None,
        None => Some(default),
    };
    let year = i16::try_from(part(0, "year", 0)?).ok()?;
    let month = i8::try_from(part(1, "month", 0)?).ok()?;
    let day = i8::try_from(part(2, "day", 0)?).ok()?;
    let date = jiff::civil::Date::new(year, month, day).ok()?;
    let midnight = jiff::tz::TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?.as_microsecond();
    if path == "datetime.date" {
        return Some(Value::Date(i32::try_from(midnight.div_euclid(86_400_000_000)).ok()?));
    }
    let seconds = part(3, "hour", 0)? * 3_600 + part(4, "minute", 0)? * 60 + part(5, "second", 0)?;
    Some(Value::Timestamp(midnight.checked_add(seconds.checked_mul(1_000_000)?)?.checked_add(part(
        6,
        "microsecond",
        0,
    )?)?))
}

fn parse_timestamp(text: &str) -> Option<i64> {
    let clean = text.trim().replace(' ', "T");
    if let Ok(at) = clean.parse::<jiff::Timestamp>() {
        return Some(at.as_microsecond());
    }
    let civil = clean
        .parse::<jiff::civil::DateTime>()
        .ok()
        .or_else(|| clean.parse::<jiff::civil::Date>().ok().map(|date| date.at(0, 0, 0, 0)))?;
    Some(jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()?.as_microsecond())
}

fn chain(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    let mut sources = arguments.positional.clone();
    if path.ends_with("from_iterable") {
        let first = sources.first().cloned().unwrap_or(Value::None);
        let Some(list) = interpreter.items_of(&first) else { return Ok(None) };
        sources = list.items;
    }
    let mut items = Vec::new();
    for source in &sources {
        let Some(list) = interpreter.items_of(source) else { return Ok(None) };
        items.extend(list.items);
        charge(interpreter, items.len())?;
    }
    Ok(Some(Value::list(items)))
}

fn product(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Eval<Option<Value>> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for value in &arguments.positional {
        let Some(list) = interpreter.items_of(value) else { return Ok(None) };
        charge(interpreter, rows.len().saturating_mul(list.items.len()))?;
        rows = rows
            .iter()
            .flat_map(|row| list.items.iter().map(|item| row.iter().cloned().chain([item.clone()]).collect()))
            .collect();
    }
    Ok(Some(Value::list(rows.into_iter().map(|row| Value::Tuple(row.into())).collect())))
}

/// A Python pattern that Rust's engine, which never backtracks, reads alike.
fn regex(pattern: &str) -> Option<regex::Regex> {
    regex::RegexBuilder::new(pattern).size_limit(1 << 18).build().ok()
}

fn regex_sub(arguments: &Arguments) -> Option<Value> {
    let pattern = regex(arguments.positional.first()?.as_str()?)?;
    let replacement = arguments.positional.get(1)?.as_str()?;
    if replacement.contains(['\\', '$']) {
        return None;
    }
    let subject = arguments.positional.get(2)?.as_str()?;
    Some(Value::str(pattern.replace_all(subject, replacement).into_owned()))
}

fn regex_test(path: &str, arguments: &Arguments) -> Option<Value> {
    let pattern = arguments.positional.first()?.as_str()?;
    let anchored = match path {
        "re.match" => format!("^(?:{pattern})"),
        "re.fullmatch" => format!("^(?:{pattern})$"),
        _ => pattern.to_owned(),
    };
    let subject = arguments.positional.get(1)?.as_str()?;
    // Only whether it matches is followed: no match is None.
    if regex(&anchored)?.is_match(subject) { None } else { Some(Value::None) }
}

/// Methods of dates, opened files, loggers and partial functions.
pub fn method(
    interpreter: &mut Interpreter<'_>,
    receiver: &Value,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    Ok(match (receiver, name) {
        (Value::Partial(_), "read" | "read_text") => file_text(receiver).map(Value::str),
        (Value::Partial(_), "readlines") => file_text(receiver)
            .map(|text| Value::list(text.lines().map(|line| Value::str(format!("{line}\n"))).collect())),
        (Value::Partial(_), "close" | "write" | "exec_module") => Some(Value::None),
        (Value::BoundNative { receiver: inner, name: accessor }, "exec_module")
            if accessor.as_ref() == "loader" && matches!(inner.as_ref(), Value::Partial(_)) =>
        {
            Some(Value::None)
        }
        (Value::Timestamp(micros), "strftime") => {
            let format = arguments.text(0, "format").unwrap_or_default();
            let at = jiff::Timestamp::from_microsecond(*micros).ok();
            at.and_then(|at| jiff::fmt::strtime::format(format.as_ref(), at).ok()).map(Value::str)
        }
        (Value::Timestamp(micros), "date") => i32::try_from(micros.div_euclid(86_400_000_000)).ok().map(Value::Date),
        (Value::Timestamp(_) | Value::Date(_), "isoformat" | "strftime") => {
            Some(Value::Str(interpreter.display(receiver)?))
        }
        (Value::Timestamp(_), "replace" | "astimezone") => Some(receiver.clone()),
        (Value::Duration(micros), "total_seconds") => Some(Value::Float(*micros as f64 / 1e6)),
        (Value::BoundNative { receiver, name: accessor }, _) => match (receiver.as_ref(), accessor.as_ref()) {
            (Value::Frame(frame), "na") => crate::frontend::pyspark::na::method(interpreter, frame, name, arguments)?,
            _ => None,
        },
        _ => None,
    })
}
