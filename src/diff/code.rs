//! Facts that remedies write code with: how the source concerned, or the flow's first one, is read, which columns it gives, and a function's name.
//!
//! Takes an analysed flow; gives text in SQL and in Python that stands in a pipeline as it is. What is not known statically keeps its
//! placeholder in braces.

use super::change::Fact;
use crate::analyze::{AnalyzedFlow, SourceAspect};
use crate::model::{Flow, Source};

/// Columns beyond which a list is no easier to read than `*`.
const MAX_COLUMNS: usize = 12;

/// The code facts of a flow. `source` is the one that a change concerns, as it names it.
pub fn facts(flow: &Flow, analyzed: &AnalyzedFlow, source: Option<&str>) -> Vec<(&'static str, Fact)> {
    let mut facts = vec![("function", Fact::Text(identifier(&flow.name))), ("columns", Fact::Text(columns(analyzed)))];
    let sources = &analyzed.aspects.sources;
    let concerned = sources.iter().find(|known| Some(known.text.as_str()) == source);
    let first = || sources.iter().find(|source| source.streaming).or_else(|| sources.first());
    if let Some(source) = concerned.or_else(first) {
        facts.push(("stream_sql", Fact::Text(sql(source, true))));
        facts.push(("stream_python", Fact::Text(python(source, true))));
        facts.push(("table_sql", Fact::Text(sql(source, false))));
        facts.push(("table_python", Fact::Text(python(source, false))));
    }
    facts
}

/// A name that Python takes: the last part, with `_` for what no identifier holds.
fn identifier(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let word: String = last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if word.starts_with(|c: char| c.is_ascii_digit()) { format!("_{word}") } else { word }
}

fn columns(analyzed: &AnalyzedFlow) -> String {
    let outputs = &analyzed.aspects.outputs;
    if outputs.is_empty() || outputs.len() > MAX_COLUMNS {
        return "*".to_owned();
    }
    outputs.iter().map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ")
}

/// The columns that a flow gives now, out of a table that it filled before.
pub fn columns_before(old: &AnalyzedFlow, new: &AnalyzedFlow) -> String {
    let outputs = &new.aspects.outputs;
    if columns(new) == "*" {
        return "*".to_owned();
    }
    let had = |name: &str| old.aspects.outputs.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let column = |name: &str| if had(name) { quoted(name) } else { format!("NULL AS {}", quoted(name)) };
    outputs.iter().map(|output| column(&output.name)).collect::<Vec<_>>().join(", ")
}

/// A column's name as SQL takes it.
fn quoted(name: &str) -> String {
    let plain =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}

/// Text between single quotes of SQL.
fn sql_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Text between double quotes of Python.
fn python_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn sql(source: &SourceAspect, streaming: bool) -> String {
    let relation = match &source.source {
        Source::Table(name) => name.to_string(),
        Source::ChangeFeed(name) => return format!("table_changes({}, 0)", sql_text(&name.to_string())),
        Source::Files { format, path, .. } => {
            let format = if format.is_empty() { String::new() } else { format!(", format => {}", sql_text(format)) };
            format!("read_files({}{format})", sql_text(path))
        }
        Source::Connector { format } => format!("read_{}({})", format.replace('-', "_"), connector_arguments(source)),
    };
    if streaming { format!("STREAM({relation})") } else { relation }
}

/// The server and the topics of a connector, as a table-valued function takes them.
fn connector_arguments(source: &SourceAspect) -> String {
    let names =
        [("kafka.bootstrap.servers", "bootstrapServers"), ("subscribe", "subscribe"), ("streamname", "streamName")];
    let given = names.iter().filter_map(|(option, argument)| {
        source.options.get(*option).map(|value| format!("{argument} => {}", sql_text(value)))
    });
    given.collect::<Vec<_>>().join(", ")
}

fn python(source: &SourceAspect, streaming: bool) -> String {
    let reader = if streaming { "spark.readStream" } else { "spark.read" };
    match &source.source {
        Source::Table(name) => format!("{reader}.table({})", python_text(&name.to_string())),
        Source::ChangeFeed(name) => {
            format!("{reader}.option(\"readChangeFeed\", \"true\").table({})", python_text(&name.to_string()))
        }
        Source::Files { format, path, auto_loader: true } if streaming => format!(
            "{reader}.format(\"cloudFiles\").option(\"cloudFiles.format\", {}).load({})",
            python_text(format),
            python_text(path)
        ),
        Source::Files { format, path, .. } => {
            format!("{reader}.format({}).load({})", python_text(format), python_text(path))
        }
        Source::Connector { format } => {
            let options = ["kafka.bootstrap.servers", "subscribe", "streamname"].iter().filter_map(|option| {
                source.options.get(*option).map(|value| format!(".option(\"{option}\", {})", python_text(value)))
            });
            format!("{reader}.format({}){}.load()", python_text(format), options.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{identifier, quoted, sql_text};

    #[test]
    fn a_function_is_named_after_the_last_part() {
        assert_eq!(identifier("main.sales.orders-2024"), "orders_2024");
        assert_eq!(identifier("2024"), "_2024");
    }

    #[test]
    fn names_and_texts_are_quoted_as_sql_needs_it() {
        assert_eq!(quoted("order id"), "`order id`");
        assert_eq!(quoted("order_id"), "order_id");
        assert_eq!(sql_text("it's"), "'it\\'s'");
    }
}
