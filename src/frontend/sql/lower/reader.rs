//! Table-valued functions that read: files, message buses, change feeds, ranges.

use super::Lowering;
use super::relation::read_at;
use crate::frontend::sql::opaque_relation;
use crate::frontend::sql::types::parse_schema_ddl;
use crate::model::{Expr, Node, Plan, QualifiedName, Read, Source, Value};
use sqlparser::ast;
use sqlparser::tokenizer::Span;
use std::collections::BTreeMap;

/// Table functions that make rows from their arguments.
pub(super) const GENERATORS: &[&str] = &[
    "explode",
    "explode_outer",
    "posexplode",
    "posexplode_outer",
    "inline",
    "inline_outer",
    "stack",
    "json_tuple",
    "variant_explode",
    "variant_explode_outer",
];

/// Formats that may stand before a path in back quotes.
pub(super) fn is_file_format(name: &str) -> bool {
    const FORMATS: [&str; 10] =
        ["json", "csv", "parquet", "orc", "avro", "text", "delta", "binaryfile", "xml", "iceberg"];
    FORMATS.iter().any(|format| name.eq_ignore_ascii_case(format))
}

fn is_reader(function: &str) -> bool {
    function.starts_with("read_") || matches!(function, "cloud_files" | "table_changes")
}

impl Lowering<'_> {
    /// A table-valued function by its lower-case name.
    pub(super) fn reader(&mut self, function: &str, args: &[ast::FunctionArg], streaming: bool, span: Span) -> Plan {
        let place = self.place(span);
        if is_reader(function) {
            self.only_on_lakeflow(&format!("the table function {function}"), span);
        }
        match function {
            "read_files" => self.files(args, streaming, span),
            "cloud_files" => self.cloud_files(args, span),
            "read_kafka" | "read_kinesis" | "read_pubsub" | "read_pulsar" => {
                let format = function.trim_start_matches("read_").to_owned();
                let (_, options) = self.options(args);
                let mut plan = read_at(Source::Connector { format }, streaming, place);
                set_options(&mut plan, options);
                plan
            }
            "table_changes" => self.table_changes(args, streaming, span),
            "event_log" => {
                let (positional, _) = self.options(args);
                let table = positional.into_iter().next().flatten().unwrap_or_else(|| "{event_log}".to_owned());
                read_at(Source::Table(QualifiedName::bare(format!("event_log({table})"))), streaming, place)
            }
            "range" => self.range(args, span),
            _ => {
                let call = self.call_parts(function, args);
                let text = format!("{function}({} arguments)", args.len());
                self.unresolved(
                    "unknown-call",
                    function.to_owned(),
                    "this table function is not known, so neither are the columns it gives",
                    None,
                    &place,
                );
                let mut plan = opaque_relation(function, &text, place, Vec::new());
                if let Node::Opaque { function, .. } = &mut plan.node {
                    function.args.push(call);
                }
                plan
            }
        }
    }

    /// `read_files('path', format => 'json', …)`: Auto Loader where it is streamed.
    fn files(&mut self, args: &[ast::FunctionArg], streaming: bool, span: Span) -> Plan {
        let (positional, mut options) = self.options(args);
        let path = positional.into_iter().next().flatten().or_else(|| options.remove("path"));
        let format = options.remove("format").unwrap_or_default().to_lowercase();
        let schema = options.remove("schema");
        let path = self.known_path(path, span);
        let mut plan = read_at(Source::Files { format, path, auto_loader: streaming }, streaming, self.place(span));
        set_options(&mut plan, options);
        self.set_schema(&mut plan, schema);
        plan
    }

    /// `cloud_files('path', 'json', map('option', 'value', …))`: always a stream.
    fn cloud_files(&mut self, args: &[ast::FunctionArg], span: Span) -> Plan {
        let (positional, mut options) = self.options(args);
        let mut texts = positional.into_iter();
        let path = self.known_path(texts.next().flatten(), span);
        let format = texts.next().flatten().unwrap_or_default().to_lowercase();
        let schema = options.remove("schema");
        let mut plan = read_at(Source::Files { format, path, auto_loader: true }, true, self.place(span));
        set_options(&mut plan, options);
        self.set_schema(&mut plan, schema);
        plan
    }

    fn known_path(&mut self, path: Option<String>, span: Span) -> String {
        path.unwrap_or_else(|| {
            let place = self.place(span);
            self.unresolved("unknown-name", "path".to_owned(), "the path is not a constant", None, &place);
            "{path}".to_owned()
        })
    }

    fn set_schema(&mut self, plan: &mut Plan, schema: Option<String>) {
        let Some(text) = schema else { return };
        match (parse_schema_ddl(&text), &mut plan.node) {
            (Ok(schema), Node::Read(read)) => read.schema = Some(schema),
            (Err(message), _) => {
                let span = plan.place.span().cloned();
                self.problems.error("sql-syntax", format!("the reader's schema: {message}"), span);
            }
            _ => {}
        }
    }

    /// `table_changes('t', 1, 5)`.
    fn table_changes(&mut self, args: &[ast::FunctionArg], streaming: bool, span: Span) -> Plan {
        let (positional, mut options) = self.options(args);
        let mut texts = positional.into_iter();
        let table = match texts.next().flatten() {
            Some(text) => {
                let parts: Vec<String> = QualifiedName::parse(&text).parts().map(str::to_owned).collect();
                self.qualified(&parts)
            }
            None => QualifiedName::bare(self.known_path(None, span)),
        };
        for bound in ["starting", "ending"] {
            if let Some(value) = texts.next().flatten() {
                let kind = if value.parse::<u64>().is_ok() { "version" } else { "timestamp" };
                options.insert(format!("{bound}{kind}"), value);
            }
        }
        let mut plan = read_at(Source::ChangeFeed(table), streaming, self.place(span));
        set_options(&mut plan, options);
        plan
    }

    /// `range(end)`, `range(start, end [, step [, partitions]])`.
    fn range(&mut self, args: &[ast::FunctionArg], span: Span) -> Plan {
        let mut values = args.iter().filter_map(|arg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        });
        let mut next = || values.next().map(|expr| self.expression(expr));
        let (first, second, third) = (next(), next(), next());
        let (start, end) = match (first, second) {
            (Some(start), Some(end)) => (start, end),
            (Some(end), None) => (Expr::integer(0), end),
            _ => (Expr::integer(0), Expr::integer(0)),
        };
        let step = third.unwrap_or_else(|| Expr::integer(1));
        Plan::at(Node::Range { start: Box::new(start), end: Box::new(end), step: Box::new(step) }, self.place(span))
    }

    /// Positional arguments as text (None where not constant; maps add to the options), and named ones by lower-case name.
    fn options(&mut self, args: &[ast::FunctionArg]) -> (Vec<Option<String>>, BTreeMap<String, String>) {
        let mut positional = Vec::new();
        let mut options = BTreeMap::new();
        for arg in args {
            let (name, value) = match arg {
                ast::FunctionArg::Named { name, arg, .. } => (Some(name.value.to_lowercase()), arg),
                ast::FunctionArg::ExprNamed { name, arg, .. } => (Some(name.to_string().to_lowercase()), arg),
                ast::FunctionArg::Unnamed(arg) => (None, arg),
            };
            let ast::FunctionArgExpr::Expr(expr) = value else { continue };
            let lowered = self.expression(expr);
            let text = self.option_text(&lowered, expr);
            match (name, &lowered) {
                (Some(name), _) => {
                    options.insert(name, text.unwrap_or_else(|| format!("{{{expr}}}")));
                }
                (None, Expr::Call(call)) if call.function.as_ref() == "map" => {
                    for pair in call.args.chunks_exact(2) {
                        let [key, value] = pair else { continue };
                        if let Some(key) = self.constant_text(key) {
                            let value = self.constant_text(value).unwrap_or_else(|| format!("{{{key}}}"));
                            options.insert(key.to_lowercase(), value);
                        }
                    }
                }
                (None, _) => positional.push(text),
            }
        }
        (positional, options)
    }

    /// An option's value: constants as text, `TABLE(t)` and `secret(…)` as written.
    fn option_text(&mut self, lowered: &Expr, written: &ast::Expr) -> Option<String> {
        if let Some(text) = self.constant_text(lowered) {
            return Some(text);
        }
        match written {
            ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) | ast::Expr::Function(_) => {
                Some(crate::frontend::sql::text::decode(&written.to_string()))
            }
            _ => None,
        }
    }

    /// The text of a constant: literals and concatenations of them.
    pub(super) fn constant_text(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Literal { value, .. } => match value {
                Value::String(text) => Some(text.to_string()),
                Value::Boolean(v) => Some(v.to_string()),
                Value::Byte(v) => Some(v.to_string()),
                Value::Short(v) => Some(v.to_string()),
                Value::Int(v) => Some(v.to_string()),
                Value::Long(v) => Some(v.to_string()),
                Value::Double(v) => Some(v.to_string()),
                _ => None,
            },
            Expr::Call(call) if matches!(call.function.as_ref(), "concat" | "||") => {
                call.args.iter().map(|arg| self.constant_text(arg)).collect()
            }
            _ => None,
        }
    }
}

fn set_options(plan: &mut Plan, options: BTreeMap<String, String>) {
    if let Node::Read(Read { options: own, .. }) = &mut plan.node {
        own.extend(options);
    }
}
