"""Where the tables of streaming jobs lie: how sources are made and filled, and what counts as a result."""
import json
import os
import shutil

from session import plain


def canonical(row):
    known = {name: plain(value) for name, value in row.items() if value is not None}
    return json.dumps(known, sort_keys=True, ensure_ascii=False)


def last_part(name):
    return name.rsplit(".", 1)[-1]


def rows_of(open_table):
    """Sorted rows as JSON text; none of a table that cannot be read."""
    try:
        return sorted(canonical(row.asDict()) for row in open_table().collect())
    except Exception:
        return []


def emptied(folder):
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


class IcebergStore:
    """Tables of the catalog `ice`; results are its other tables and the folders below `out/`."""

    def __init__(self, engine):
        self.engine = engine

    def wipe(self):
        emptied(self.engine.lake)
        emptied(self.engine.box)

    def create(self, source):
        if source["format"] != "iceberg":
            return os.makedirs(source["path"], exist_ok=True)
        by = source.get("partitioned_by")
        partitioned = f" PARTITIONED BY ({', '.join(by)})" if by else ""
        self.engine.session().sql(f"CREATE TABLE {source['name']} ({source['schema']}) USING iceberg{partitioned}")

    def load(self, source, path, _batch):
        session = self.engine.session()
        if source["format"] != "iceberg":
            frame = session.read.schema(source["schema"]).json(f"file://{path}")
            return frame.coalesce(1).write.mode("append").format(source["format"]).save(source["path"])
        fields = session.table(source["name"]).schema.fields
        rows = [json.loads(line) for line in open(path) if line.strip()]
        values = ", ".join("(" + ", ".join(literal(row.get(field.name), field) for field in fields) + ")" for row in rows)
        session.sql(f"INSERT INTO {source['name']} SELECT * FROM VALUES {values}")

    def results(self, sources):
        session, tables = self.engine.session(), {}
        for name in sorted(set(os.listdir(self.engine.lake)) - sources):
            tables[name] = rows_of(lambda: session.table(f"ice.db.{name}"))
        for name in sorted(os.listdir("out")) if os.path.isdir("out") else []:
            tables[name] = rows_of(lambda: session.read.parquet(os.path.join("out", name)))
        return tables

    def source_facts(self, sources):
        """What can still be read of each source: its snapshots that the current one follows from."""
        session, facts = self.engine.session(), {}
        for name in sorted(sources & set(os.listdir(self.engine.lake))):
            kept = "SELECT snapshot_id FROM ice.db.{0}.history WHERE is_current_ancestor INTERSECT SELECT snapshot_id FROM ice.db.{0}.snapshots"
            ids = [row.snapshot_id for row in session.sql(kept.format(name)).collect()]
            facts[f"ice.db.{name}"] = {"snapshots": sorted(ids)}
        return facts

    def forget_results(self, sources):
        for name in set(os.listdir(self.engine.lake)) - sources:
            shutil.rmtree(os.path.join(self.engine.lake, name))
        for folder in ("ckpt", "out"):
            shutil.rmtree(folder, ignore_errors=True)

    def code(self, text):
        """The job as it is: its paths are relative."""
        return text


class FolderStore:
    """Tables over folders of JSON files; results are tables of the catalog `mem` and folders of JSON below `/jobs/out`."""

    def __init__(self, engine):
        self.engine = engine

    def wipe(self):
        session = self.engine.session()
        for row in session.sql("SHOW TABLES").collect():
            session.sql(f"DROP TABLE `{row.tableName}`")
        if self.engine.memory_catalog:
            session.sql("DROP NAMESPACE IF EXISTS mem.db CASCADE")
            session.sql("CREATE NAMESPACE mem.db")
        emptied(self.engine.box)

    def folder(self, source):
        return os.path.join(self.engine.box, source["path"].lstrip("/"))

    def create(self, source):
        os.makedirs(self.folder(source), exist_ok=True)
        self.engine.session().sql(
            f"CREATE TABLE IF NOT EXISTS {source['name']} ({source['schema']}) "
            f"USING {source['format']} LOCATION 'file://{self.folder(source)}'"
        )

    def load(self, source, path, batch):
        shutil.copy(path, os.path.join(self.folder(source), f"{batch}.json"))

    def results(self, _sources):
        session, tables = self.engine.session(), {}
        out = os.path.join(self.engine.box, "jobs", "out")
        for name in sorted(os.listdir(out)) if os.path.isdir(out) else []:
            # Spark reads what the sink's log lists.
            tables[name] = rows_of(lambda: session.read.json(f"file://{out}/{name}"))
        for row in session.sql("SHOW TABLES IN mem.db").collect() if self.engine.memory_catalog else []:
            tables[row.tableName] = rows_of(lambda: session.table(f"mem.db.{row.tableName}"))
        return tables

    def source_facts(self, _sources):
        return {}

    def code(self, text):
        """The job with its folders below the working folder, and its tables ready for any columns."""
        for name in tables_written(text):
            self.engine.session().sql(
                f"CREATE TABLE IF NOT EXISTS {name} (none_yet INT) TBLPROPERTIES ('accept_any' = 'true')"
            )
        for root in ("/jobs/", "/sources/"):
            text = text.replace(f"'{root}", f"'{self.engine.box}{root}")
        return text


def tables_written(job):
    return [part.split("'")[0] for part in job.split(".toTable('")[1:]]


def literal(value, field):
    return f"CAST({'NULL' if value is None else repr(str(value))} AS {field.dataType.simpleString()})"
