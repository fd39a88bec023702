//! SparkSession, its catalog and configuration, and `dbutils`.

use super::{frame, option_text, reader, types, window};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, List, Partial, Reader, Udf, Value};
use crate::model::{DataType, Expr, Field, Node, Opaque, Place, Plan, Schema};
use std::rc::Rc;

/// Attributes of library objects that are Spark values themselves.
pub fn attribute(_interpreter: &mut Interpreter<'_>, path: &str, place: &Place) -> Option<Value> {
    let new_reader =
        |streaming: bool| Value::Reader(Rc::new(Reader { streaming, place: place.clone(), ..Reader::default() }));
    Some(match path {
        "spark.read" | "sqlContext.read" => new_reader(false),
        "spark.readStream" | "sqlContext.readStream" => new_reader(true),
        "pyspark.sql.Window.unboundedPreceding" => Value::Int(window::UNBOUNDED_PRECEDING),
        "pyspark.sql.Window.unboundedFollowing" => Value::Int(window::UNBOUNDED_FOLLOWING),
        "pyspark.sql.Window.currentRow" => Value::Int(0),
        "spark.sparkContext" => Value::external("sc"),
        _ => return None,
    })
}

pub fn call(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let value = match path {
        "spark.table" | "spark.read.table" | "sqlContext.table" => {
            let table = arguments.text(0, "tableName").unwrap_or_default();
            let reader = Reader { place: place.clone(), ..Reader::default() };
            reader::table_read(interpreter, &reader, &table, place)
        }
        "spark.sql" | "sqlContext.sql" => return sql(interpreter, arguments).map(Some),
        "spark.range" => range(interpreter, arguments),
        "spark.createDataFrame" | "sqlContext.createDataFrame" => create_data_frame(interpreter, arguments)?,
        "spark.conf.get" => conf_get(interpreter, arguments),
        "spark.conf.set" => {
            configure(interpreter, arguments);
            Value::None
        }
        "spark.conf.unset" => {
            if let Some(key) = arguments.text(0, "key") {
                interpreter.conf.remove(key.as_ref());
            }
            Value::None
        }
        "spark.udf.register" => {
            let name = arguments.get(0, "name").cloned();
            let mut rest = arguments.clone();
            if name.is_some() && !rest.positional.is_empty() {
                rest.positional.remove(0);
            }
            let registered = match rest.positional.first() {
                Some(Value::Udf(udf)) => Some(Value::Udf(udf.clone())),
                _ => super::functions::call(interpreter, "udf", &rest)?,
            };
            if let (Some(name), Some(Value::Udf(udf))) = (name.as_ref().and_then(Value::render_string), &registered) {
                register_function(interpreter, &name, udf, &arguments.place);
            }
            return Ok(registered);
        }
        "spark.catalog.tableExists" | "spark.catalog.listTables" | "spark.catalog.listColumns" => {
            let reason = "what the catalog holds is only known at run time";
            interpreter.unknown_call(path, "runtime-data", reason, arguments)
        }
        "dbutils.widgets.get" | "dbutils.widgets.getArgument" => widget(interpreter, arguments),
        "dbutils.widgets.text"
        | "dbutils.widgets.dropdown"
        | "dbutils.widgets.combobox"
        | "dbutils.widgets.multiselect" => {
            if let (Some(name), Some(default)) = (arguments.text(0, "name"), arguments.text(1, "defaultValue")) {
                interpreter.conf.entry(format!("widget:{name}")).or_insert_with(|| default.to_string());
            }
            Value::None
        }
        "dbutils.secrets.get" => {
            let key = arguments.text(1, "key").unwrap_or_else(|| "secret".into());
            let scope = arguments.text(0, "scope").unwrap_or_default();
            let name = format!("secrets/{scope}/{key}");
            interpreter.unknown(&name, "secret", "a secret is only known at run time", place.clone())
        }
        "dbutils.fs.ls" | "dbutils.fs.head" => {
            let name = arguments.text(0, "path").unwrap_or_default();
            let reason = "what a folder holds is only known at run time";
            interpreter.unknown(&name, "runtime-data", reason, place.clone())
        }
        "pyspark.sql.SparkSession.getActiveSession" | "pyspark.sql.SparkSession.active" | "pyspark.dbutils.DBUtils" => {
            Value::external(if path.ends_with("DBUtils") { "dbutils" } else { "spark" })
        }
        "pyspark.sql.Row" => {
            let items =
                arguments.keywords.iter().map(|(key, value)| (Value::str(key.clone()), value.clone())).collect();
            if arguments.keywords.is_empty() {
                Value::Tuple(arguments.positional.clone().into())
            } else {
                Value::dict(items)
            }
        }
        _ if path.starts_with("pyspark.sql.SparkSession") => {
            if path.ends_with(".getOrCreate") || path.ends_with(".create") || path == "pyspark.sql.SparkSession" {
                Value::external("spark")
            } else {
                if path.ends_with(".config") {
                    configure(interpreter, arguments);
                }
                // The builder: every step gives the builder again.
                Value::external("pyspark.sql.SparkSession.builder")
            }
        }
        "spark.newSession" => Value::external("spark"),
        // A registered model is a function of its columns, known by where it comes from.
        "mlflow.pyfunc.spark_udf" => {
            let returns = super::column::data_type(interpreter, arguments.keyword("result_type"), place);
            let function =
                Value::Partial(Rc::new(Partial { function: Value::external(path), arguments: arguments.clone() }));
            Value::Udf(Rc::new(Udf { function, returns, deterministic: true }))
        }
        "delta.tables.DeltaTable.forName" | "delta.tables.DeltaTable.forPath" => Value::external("delta.tables.table"),
        _ if path.starts_with("delta.tables.table") => Value::external("delta.tables.table"),
        _ if path.starts_with("spark.conf.")
            || path.starts_with("spark.catalog.")
            || path.starts_with("spark.streams") =>
        {
            Value::None
        }
        _ if path.starts_with("dbutils.fs.")
            || path.starts_with("dbutils.widgets.")
            || path.starts_with("dbutils.library") =>
        {
            Value::None
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// `spark.sql(text, args, **kwargs)`: a query is a plan; statements without rows give nothing.
fn sql(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Eval<Value> {
    let place = &arguments.place;
    let Some(text) = arguments.get(0, "sqlQuery").and_then(Value::render_string) else {
        let name = arguments.get(0, "sqlQuery").map(|value| interpreter.short(value)).unwrap_or_default();
        return Ok(interpreter.unknown_call(&name, "unknown-sql", "the SQL text is not known", arguments));
    };
    let mut text = text.to_string();
    for (key, value) in &arguments.keywords {
        // `{df}` in the text names a DataFrame given by keyword.
        if let Value::Frame(frame) = value {
            let name = format!("_{key}");
            interpreter.views.insert(name.clone(), frame.plan.clone());
            text = text.replace(&format!("{{{key}}}"), &name);
        } else if let Some(shown) = value.render_string() {
            text = text.replace(&format!("{{{key}}}"), &shown);
        }
    }
    let mut bound = Vec::new();
    if let Some(Value::Dict(dict)) = arguments.get(1, "args").cloned() {
        let items = dict.borrow().items.clone();
        for (key, value) in items {
            let key = key.render_string().unwrap_or_default().to_string();
            bound.push((key, super::column::operand(interpreter, &value, place)));
        }
    }
    let first = text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_lowercase();
    if matches!(first.as_str(), "select" | "with" | "from" | "values" | "table" | "") {
        let plan = sql_text::query(interpreter, &text, &bound, place);
        return Ok(frame(interpreter, plan));
    }
    sql_text::statement(interpreter, &text, &bound, place);
    let reason = "the rows of a SQL command are only known at run time";
    Ok(interpreter.unknown("sql", "runtime-data", reason, place.clone()))
}

fn range(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Value {
    let place = &arguments.place;
    let mut number = |index: usize, name: &str, default: i64| {
        let value = arguments.given(index, name).cloned().unwrap_or(Value::Int(default));
        match value {
            Value::Int(number) => Box::new(Expr::literal(crate::model::Value::Long(number), DataType::Long)),
            other => Box::new(super::column::operand(interpreter, &other, place)),
        }
    };
    let single = arguments.given(1, "end").is_none();
    let node = if single {
        Node::Range { end: number(0, "start", 0), start: number(9, "", 0), step: number(2, "step", 1) }
    } else {
        Node::Range { start: number(0, "start", 0), end: number(1, "end", 0), step: number(2, "step", 1) }
    };
    frame(interpreter, Plan::at(node, place.clone()))
}

/// Rows of constants are values; anything else is rows that only exist at run time, with a schema where one is given.
fn create_data_frame(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Eval<Value> {
    let place = &arguments.place;
    let declared = arguments.given(1, "schema").cloned();
    let mut schema = match &declared {
        Some(value) => types::schema(interpreter, value, place),
        None => Schema::unknown(),
    };
    let data = arguments.get(0, "data").cloned().unwrap_or(Value::None);
    let known = interpreter.items_of(&data).filter(|list| !list.open && list.items.len() <= 1_000);
    let followed = |list: &List| interpreter.job.is_on() || !list.items.iter().any(|row| holds_unknown(row, 4));
    let Some(list) = known.filter(followed) else {
        return Ok(runtime_rows(interpreter, schema, arguments));
    };
    let mut rows = Vec::new();
    for row in &list.items {
        interpreter.spend(1)?;
        let cells = match row {
            Value::Dict(dict) => {
                let dict = dict.borrow();
                if schema.fields.is_empty() {
                    let names = dict.items.iter().filter_map(|(key, _)| key.render_string());
                    let fields = names.map(|name| Field::new(name.to_string(), DataType::Unknown)).collect();
                    schema = Schema::new(fields);
                }
                let cell = |field: &Field| dict.get_str(&field.name).cloned().unwrap_or(Value::None);
                schema.fields.iter().map(cell).collect()
            }
            other => interpreter.items_of(other).map_or_else(|| vec![other.clone()], |list| list.items),
        };
        rows.push(cells.iter().map(|cell| super::column::operand(interpreter, cell, place)).collect::<Vec<_>>());
    }
    if schema.fields.is_empty()
        && let Some(first) = rows.first()
    {
        let fields = (1..=first.len()).map(|at| Field::new(format!("_{at}"), DataType::Unknown)).collect();
        schema = Schema::new(fields);
    }
    for (index, field) in schema.fields.iter_mut().enumerate() {
        if field.data_type == DataType::Unknown {
            field.data_type = inferred_type(&rows, index);
        }
    }
    Ok(frame(interpreter, Plan::at(Node::Values { rows, schema }, place.clone())))
}

/// Some cell is only known at run time.
fn holds_unknown(value: &Value, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value {
        Value::Unknown(_) | Value::Choice(_) => true,
        Value::Str(text) => text.symbolic,
        Value::Tuple(items) => items.iter().any(|item| holds_unknown(item, depth)),
        Value::List(list) => list.borrow().items.iter().any(|item| holds_unknown(item, depth)),
        Value::Dict(dict) => dict.borrow().items.iter().any(|(_, item)| holds_unknown(item, depth)),
        _ => false,
    }
}

/// What a query calls by name from here on.
fn register_function(interpreter: &mut Interpreter<'_>, name: &str, udf: &Udf, place: &Place) {
    let function = super::column::udf_without_arguments(interpreter, udf, place);
    interpreter.registry.functions.push(Opaque { name: name.into(), ..function });
}

/// A DataFrame of rows that the code makes at run time.
fn runtime_rows(interpreter: &mut Interpreter<'_>, schema: Schema, arguments: &Arguments) -> Value {
    let place = &arguments.place;
    let reason = "the rows of this DataFrame are only known at run time";
    interpreter.unknown("createDataFrame", "runtime-data", reason, place.clone());
    let content = interpreter.contents.of_arguments(arguments);
    let function = super::opaque("createDataFrame", reason, content, place.clone());
    let node = Node::Opaque { function, keys: Vec::new(), output: schema, inputs: Vec::new() };
    frame(interpreter, Plan::at(node, place.clone()))
}

/// Spark infers `bigint` and `double` from Python's numbers.
fn inferred_type(rows: &[Vec<Expr>], column: usize) -> DataType {
    let types = rows.iter().filter_map(|row| match row.get(column) {
        Some(Expr::Literal { data_type, .. }) if *data_type != DataType::Null => Some(data_type.clone()),
        _ => None,
    });
    match types.into_iter().next() {
        Some(DataType::Int) => DataType::Long,
        Some(other) => other,
        None => DataType::Unknown,
    }
}

/// `spark.conf.set(key, value)`, and the session builder's `config` with one key or a map of them.
fn configure(interpreter: &mut Interpreter<'_>, arguments: &Arguments) {
    if let (Some(key), Some(value)) = (arguments.text(0, "key"), arguments.get(1, "value")) {
        interpreter.conf.insert(key.to_string(), option_text(value));
    }
    if let Some(map) = arguments.keyword("map") {
        let mut all = std::collections::BTreeMap::new();
        super::dlt::text_map(map, &mut all);
        interpreter.conf.extend(all);
    }
}

fn conf_get(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Value {
    let place = &arguments.place;
    let Some(key) = arguments.text(0, "key") else { return Value::None };
    if let Some(value) = interpreter.conf.get(key.as_ref()) {
        return text_value(value);
    }
    if let Some(value) = interpreter.pipeline.configuration.get(key.as_ref()) {
        return text_value(value);
    }
    match arguments.get(1, "default") {
        // A key that the pipeline does not set: the default counts.
        Some(default) => default.clone(),
        None => {
            let reason = format!("the configuration `{key}` is set nowhere in the repository");
            let hint = format!("set `{key}` in the pipeline's configuration, or in pipelint.yaml");
            interpreter.unknown_with_hint(&key, "unknown-configuration", reason, Some(&hint), place.clone())
        }
    }
}

/// A value of the configuration: text, with what bundles leave open as `{name}`.
fn text_value(text: &str) -> Value {
    let symbolic = text.contains('{') && text.contains('}');
    Value::Str(crate::frontend::python::value::Text { text: text.into(), symbolic })
}

fn widget(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Value {
    let Some(name) = arguments.text(0, "name") else { return Value::None };
    let key = name.as_ref();
    let given = interpreter.files.unit.parameters.get(key);
    if let Some(value) = given.or_else(|| interpreter.pipeline.configuration.get(key)) {
        return text_value(value);
    }
    if let Some(value) = interpreter.conf.get(&format!("widget:{key}")).filter(|value| !value.is_empty()) {
        return text_value(value);
    }
    let reason = format!("the widget `{name}` is given at run time");
    let hint = format!("set `{name}` under `configuration` in pipelint.yaml");
    interpreter.unknown_with_hint(&name, "unknown-configuration", reason, Some(&hint), arguments.place.clone())
}
