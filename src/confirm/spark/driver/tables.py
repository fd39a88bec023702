"""Schemas, sources and the reading of tables."""

import base64
import csv
import datetime
import decimal
import json
import os
import shutil
import tempfile

import failures


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def create_schema(spark, request):
    """A schema that is not there yet, and where it lies."""
    schema = request["schema"]
    spark.admin.sql(f"CREATE SCHEMA {quoted(schema)}")
    spark.schemas.append(schema)
    described = spark.admin.sql(f"DESCRIBE SCHEMA EXTENDED {quoted(schema)}").collect()
    return {"location": next((row[1] for row in described if row[0] == "Location"), None)}


def drop_schema(spark, request):
    schema = request["schema"]
    if schema in spark.schemas:
        spark.admin.sql(f"DROP SCHEMA IF EXISTS {quoted(schema)} CASCADE")
        spark.schemas.remove(schema)
    return {}


def define_source(spark, request):
    """A table over a folder of files, or, where files of this machine are out of the server's reach, a table of its own."""
    table = f"{quoted(request['schema'])}.{quoted(request['table'])}"
    spark.admin.sql(f"DROP TABLE IF EXISTS {table}")
    columns = ", ".join(f"{quoted(name)} {data_type}" for name, data_type in request["columns"])
    if request["folder"] is None:
        spark.admin.sql(f"CREATE TABLE {table} ({columns})")
    else:
        os.makedirs(request["folder"], exist_ok=True)
        location = "file://" + request["folder"]
        options = " OPTIONS (header = 'false')" if request["format"] == "csv" else ""
        spark.admin.sql(f"CREATE TABLE {table} ({columns}) USING {request['format']}{options} LOCATION '{location}'")
    return {}


def load_batch(spark, request):
    """Rows of one batch as one file of the source's folder."""
    columns, name = request["columns"], request["name"]
    rows = encoded(request["rows"], columns)
    if request["folder"] is None:
        table = f"{quoted(request['schema'])}.{quoted(request['table'])}"
        staged(spark, rows, columns).write.insertInto(table)
        return {}
    target = os.path.join(request["folder"], f"{name}.{request['format']}")
    if request["format"] == "json":
        with open(target, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    elif request["format"] == "csv":
        with open(target, "w", encoding="utf-8", newline="") as file:
            cells = [[row.get(column) for column, _ in columns] for row in rows]
            csv.writer(file).writerows([["" if cell is None else cell for cell in line] for line in cells])
    else:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(request["folder"])) as folder:
            written = os.path.join(folder, "written")
            frame = staged(spark, rows, columns, folder)
            frame.coalesce(1).write.format(request["format"]).save("file://" + written)
            part = next(entry for entry in os.listdir(written) if entry.startswith("part-"))
            shutil.move(os.path.join(written, part), target)
    return {}


def encoded(rows, columns):
    """Spark's JSON source takes binary values in base64."""
    binary = [column for column, data_type in columns if data_type == "binary"]
    if not binary:
        return rows

    def value(column, cell):
        return base64.b64encode(cell.encode()).decode() if column in binary and isinstance(cell, str) else cell

    return [{column: value(column, cell) for column, cell in row.items()} for row in rows]


def staged(spark, rows, columns, folder=None):
    """A frame of JSON records with these columns, typed as Spark's JSON source types them."""
    schema = ", ".join(f"{quoted(name)} {data_type}" for name, data_type in columns)
    lines = [json.dumps(row) for row in rows]
    if folder is not None:
        path = os.path.join(folder, "rows.json")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        return spark.admin.read.schema(schema).json("file://" + path)
    from pyspark.sql import functions as F

    text = spark.admin.createDataFrame([(line,) for line in lines], "line string")
    return text.select(F.from_json("line", schema).alias("row")).select("row.*")


def sql(spark, request):
    """A statement on tables of a schema, by hand."""
    spark.admin.sql(f"USE {quoted(request['schema'])}")
    spark.admin.sql(request["statement"])
    return {}


def read_tables(spark, request):
    """Columns and rows of each table and folder; none where there is no such thing, an error where it cannot be read."""
    tables, folders, unreadable = {}, {}, {}
    for table in request["tables"]:
        name = f"{quoted(request['schema'])}.{quoted(table)}"
        if spark.admin.catalog.tableExists(name):
            try:
                spark.admin.sql(f"REFRESH TABLE {name}")
                tables[table] = contents(spark.admin.table(name))
            except Exception as error:
                unreadable[table] = failures.described(error)
    for place, folder in request["folders"].items():
        try:
            folders[place] = contents(sink(spark, folder))
        except Exception as error:
            described = failures.described(error)
            if described["class"] not in NOTHING_THERE:
                unreadable[place] = described
    return {"tables": tables, "folders": folders, "unreadable": unreadable}


def sink(spark, folder):
    """What readers find in a sink's folder; without Spark's log of it where that is broken, as other readers do."""
    reader = spark.admin.read.format(folder["format"])
    try:
        frame = reader.load(folder["path"])
        frame.schema
        return frame
    except Exception as error:
        if failures.described(error)["class"] != "STREAM_FAILED/FILE_SINK_LOG_MISSING":
            raise
        return reader.load(folder["path"] + "/part-*")


# Of a folder that nothing was written to.
NOTHING_THERE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


def contents(frame):
    fields = frame.schema.fields
    rows = [[plain(value) for value in row] for row in frame.collect()]
    return {"columns": [[field.name, field.dataType.simpleString()] for field in fields], "rows": rows}


def plain(value):
    """A value as JSON; text where JSON has no such type."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if hasattr(value, "asDict"):
        return {name: plain(member) for name, member in value.asDict().items()}
    if isinstance(value, dict):
        return {str(plain(key)): plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return str(value)


STEPS = {
    "create_schema": create_schema,
    "drop_schema": drop_schema,
    "define_source": define_source,
    "load_batch": load_batch,
    "read_tables": read_tables,
    "sql": sql,
}
