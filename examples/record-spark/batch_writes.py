"""A batch job, run twice over the same input: what its target looks like before, between and after, and labels for it.

Takes a case folder (`case.yaml` with `setup:`, `job/job.py` or `job/job.sql`, rows in `data/`). A row is told apart by its id
and its partition; the labels are those of `pipelint lint` (src/lint/label.rs).
"""
import collections
import contextlib
import io
import json
import os
import shutil
import sys

import yaml

from session import error_class, text


class Target:
    """What a reader sees of the target at one moment."""

    def __init__(self, run):
        self.schema, self.rows, self.error, self.layout = None, None, None, None
        self.snapshots, self.head = None, None
        session = run.engine.session()
        try:
            frame = run.open(session)
            self.schema = [[field.name, field.dataType.simpleString()] for field in frame.schema.fields]
            frame = frame.selectExpr("*", *[f"{sql} AS `{name}`" for name, sql in run.key_sql.items()])
            rows = [{name: text(value) for name, value in row.asDict().items()} for row in frame.collect()]
            self.rows = sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
            if run.is_iceberg:
                self.snapshots, self.head = run.history(session)
        except Exception as error:
            self.error = error_class(error)
        # Files that contradict each other cannot be read, but lie somewhere.
        with contextlib.suppress(Exception):
            self.layout = run.layout(session)

    @property
    def readable(self):
        return self.rows is not None

    def record(self, at):
        moment = {"at": at}
        if self.readable:
            return {**moment, "schema": self.schema, "rows": self.rows}
        return {**moment, "error": self.error}


class BatchCase:
    def __init__(self, engine, folder):
        self.engine, self.folder = engine, folder
        case = yaml.safe_load(open(os.path.join(folder, "case.yaml")))
        self.setup = case["setup"]
        target = self.setup["target"]
        self.name, self.is_path = target["name"], target["kind"] == "path"
        self.is_iceberg = target.get("format") == "iceberg"
        self.key_sql = self.setup.get("key_sql") or {}
        self.keys = self.setup.get("key_columns") or target.get("partitioned_by") or []
        if not self.keys and not self.is_iceberg:
            self.keys = ["d"]
        facts = yaml.safe_load(open(os.path.join(folder, "job", "pipelint.yaml")))
        self.schemas = {source["name"]: source["schema"] for source in facts.get("sources") or []}

    def open(self, session):
        if not self.is_path:
            session.sql(f"REFRESH TABLE {self.name}")
            return session.table(self.name)
        if os.path.isdir(self.name) and not self.data_files():
            raise EmptyTarget(self.name)
        target = self.setup["target"]
        return session.read.format(target["format"]).options(**target.get("read_options") or {}).load(self.name)

    def data_files(self):
        """Files of rows in the target's folder, by their path in it."""
        folder = self.name if self.is_path else os.path.join(self.engine.warehouse, self.name)
        paths = [os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names]
        return [path for path in paths if not any(part.startswith(("_", ".")) for part in path.split("/"))]

    def layout(self, session):
        """By what the rows lie apart: partition fields of an Iceberg table, else the columns in the folders' names, if any."""
        if self.is_iceberg:
            return [f"{field.name()}:{field.transform()}" for field in self.iceberg_table(session).spec().fields()]
        columns = lambda path: "/".join(part.split("=")[0] for part in path.split("/") if "=" in part)
        return sorted({columns(path) for path in self.data_files()}) or None

    def iceberg_table(self, session):
        loader = session._jvm.org.apache.iceberg.spark.Spark3Util
        return loader.loadIcebergTable(session._jsparkSession, self.name)

    def history(self, session):
        table = self.iceberg_table(session)
        ids, current = [snapshot.snapshotId() for snapshot in table.snapshots()], table.currentSnapshot()
        return len(ids), None if current is None else ids.index(current.snapshotId())

    def wipe(self):
        session = self.engine.session()
        for table in session.sql("SHOW TABLES").collect():
            session.sql(f"DROP {'VIEW' if table.isTemporary else 'TABLE'} IF EXISTS `{table.tableName}`")
        for folder in (self.engine.box, self.engine.lake, self.engine.warehouse):
            for name in os.listdir(folder) if os.path.isdir(folder) else []:
                path = os.path.join(folder, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def create(self, thing):
        session = self.engine.session()
        lines = [line for line in open(os.path.join(self.folder, "data", thing["rows_file"])) if line.strip()]
        if "files" in thing:
            return split_into_files(lines, thing["files"], thing["name"])
        if thing["kind"] == "path":
            columns = [part.strip().split(" ", 1) for part in self.schemas[thing["name"]].split(",")]
            writer = rows_frame(session, lines, columns).coalesce(1).write.format(thing["format"])
            return writer.partitionBy(*thing.get("partitioned_by") or []).save(thing["name"])
        session.sql(thing["ddl"])
        if lines:
            columns = [(field.name, field.dataType.simpleString()) for field in session.table(thing["name"]).schema.fields]
            session.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
            rows_frame(session, lines, columns).createOrReplaceTempView("rows_of_the_case")
            session.sql(f"INSERT INTO {thing['name']} SELECT * FROM rows_of_the_case ORDER BY 1")

    def input_rows(self):
        rows = []
        for name in self.setup.get("inputs") or []:
            thing = next((thing for thing in self.setup["objects"] if thing["name"] == name), {"kind": "table"})
            session = self.engine.session()
            if thing["kind"] == "path":
                frame = session.read.schema(self.schemas[name]).format(thing["format"]).load(name)
            else:
                frame = session.table(name)
            frame = frame.selectExpr("*", *[f"{sql} AS `{column}`" for column, sql in self.key_sql.items()])
            rows += [{column: text(value) for column, value in row.asDict().items()} for row in frame.collect()]
        return rows

    def run_job(self):
        """The error classes of the job, and of writers that it ran beside others."""
        session = self.engine.session()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                script = os.path.join(self.folder, "job", "job.sql")
                if os.path.exists(script):
                    for statement in statements(open(script).read()):
                        session.sql(statement)
                    return None, None
                sys.argv = ["job.py", *(self.setup.get("arguments") or [])]
                names = {"__name__": "__main__"}
                source = open(os.path.join(self.folder, "job", "job.py")).read()
                exec(compile(source, "job.py", "exec"), names)
                writers = {name: error_class(error) for name, error in (names.get("errors") or {}).items()}
                return None, writers or None
        except Exception as error:
            return error_class(error), None
        finally:
            for query in session.streams.active:
                query.stop()

    def run(self):
        self.wipe()
        for thing in self.setup["objects"]:
            self.create(thing)
        for statement in self.setup.get("pre_sql") or []:
            self.engine.session().sql(statement)
        given = self.input_rows()
        before = Target(self)
        first, writers_1 = self.run_job()
        one = Target(self)
        between = self.setup.get("between_runs") or {}
        for statement in between.get("sql") or []:
            self.engine.session().sql(statement)
        for path in between.get("rm") or []:
            shutil.rmtree(path, ignore_errors=True)
        second, writers_2 = self.run_job()
        two = Target(self)
        outcome = {
            "outcome": self.labels(given, before, (first, one), (second, two)) or ["ok"],
            "error_class": first or second or one.error or two.error,
        }
        if writers_1 or writers_2:
            outcome["writer_errors"] = [writers_1 or {}, writers_2 or {}]
        moments = [("before", before), ("after_1", one), ("after_2", two)]
        return outcome, [target.record(at) for at, target in moments if target.readable]

    def labels(self, given, before, first, second):
        (error_1, one), (error_2, two) = first, second
        window = [(day,) for day in self.setup.get("window") or []]
        partition = lambda row: tuple(row.get(column) for column in self.keys)
        arriving = {partition(row) for row in given}
        touched = arriving | set(window)
        bag = lambda rows: collections.Counter((row.get("id"), *partition(row)) for row in rows)
        was, now_1, now_2 = (bag(target.rows or []) for target in (before, one, two))
        emptied = one.error == EmptyTarget.__name__
        gone = list((was - now_1).elements()) if one.readable or emptied else []
        # Of a job without input every partition counts by its name.
        lost = [key for key in gone if key[1:] not in touched]
        both = one.readable and two.readable
        grown, shrunk = (sum((now_2 - now_1).values()), sum((now_1 - now_2).values())) if both else (0, 0)
        missing = one.readable and not error_1 and not self.setup.get("no_input_check") and self.missing(given, one)
        found = {
            "error": error_1,
            "error-at-run-2": not error_1 and error_2,
            "emptied": emptied or (one.readable and before.rows and not one.rows and self.is_iceberg),
            "unreadable": not one.readable and not emptied and (before.readable or not error_1),
            "unreadable-at-run-2": one.readable and not two.readable,
            "lost": lost,
            "lost-at-run-2": shrunk,
            "doubled": grown > shrunk,
            "duplicated-at-run-1": repeated(one) > repeated(before),
            "rows-gone-despite-error": error_1 and gone,
            "values-changed-at-run-2": both and now_1 == now_2 and one.schema == two.schema and whole(one) != whole(two),
            "stale": one.readable and any(partition(row) in set(window) - arriving for row in one.rows),
            "schema-changed": before.readable and one.readable and before.schema != one.schema,
            "partitioning-changed": before.readable and one.layout is not None and before.layout != one.layout,
        }
        if missing:
            found[self.written(before, one)] = True
        return sorted(label for label, seen in found.items() if seen)

    def missing(self, given, after):
        """Input rows that are not there, by the columns that the table has."""
        if not given:
            return False
        known = {name.lower() for name, _ in after.schema}
        columns = [column for column in given[0] if column.lower() in known or column in self.key_sql]
        shape = lambda rows: collections.Counter(
            tuple({key.lower(): value for key, value in row.items()}.get(column.lower()) for column in columns) for row in rows
        )
        return bool(shape(given) - shape(after.rows))

    def written(self, before, after):
        if not before.readable or whole(before) != whole(after):
            return "input-missing-or-misplaced"
        if before.snapshots is None or after.snapshots == before.snapshots:
            return "nothing-written"
        return "written-but-invisible" if before.head == after.head else "input-missing-or-misplaced"


class EmptyTarget(Exception):
    """The folder is there, without a single file of data."""


def whole(target):
    return collections.Counter(json.dumps(row, sort_keys=True) for row in target.rows or [])


def repeated(target):
    ids = collections.Counter(row.get("id") for row in target.rows or [])
    return sum(count - 1 for count in ids.values())


def statements(script):
    lines = [line for line in script.splitlines() if not line.strip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]


def rows_frame(session, lines, schema):
    """The rows of a file of JSON lines, cast from text."""
    literal = lambda value, kind: f"CAST({'NULL' if value is None else quoted(value)} AS {kind})"
    names = ", ".join(f"`{name}`" for name, _ in schema)
    rows = [json.loads(line) for line in lines]
    if not rows:
        return session.createDataFrame([], ", ".join(f"`{name}` {kind}" for name, kind in schema))
    values = ", ".join("(" + ", ".join(literal(row.get(name), kind) for name, kind in schema) + ")" for row in rows)
    return session.sql(f"SELECT * FROM (VALUES {values}) AS given({names})")


def quoted(value):
    shown = value if isinstance(value, str) else json.dumps(value)
    return "'" + shown.replace("\\", "\\\\").replace("'", "\\'") + "'"


def split_into_files(lines, count, folder):
    """Files of nearly equal size, each a second younger than the one before."""
    os.makedirs(folder, exist_ok=True)
    size = -(-len(lines) // count)
    for number in range(count):
        path = os.path.join(folder, f"{number}.json")
        with open(path, "w") as file:
            file.writelines(line.rstrip("\n") + "\n" for line in lines[number * size : (number + 1) * size])
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
