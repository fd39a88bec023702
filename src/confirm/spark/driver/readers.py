"""The readers of the pipeline's code, led to the tables and folders that stand for the user's sources."""

import contextlib

from failures import NoEquivalent

TOPICS = ("kafka", "kinesis", "pubsub", "pulsar", "eventhubs")
# Made by Spark itself: nothing stands outside.
GENERATED = ("rate", "rate-micro-batch", "socket")
# Options that mean the same to any file source.
KEPT = ("maxfilespertrigger", "maxbytespertrigger", "latestfirst", "maxfileage")
FILES = ("json", "csv", "parquet", "orc", "text", "xml", "avro")


def classes():
    from pyspark.sql.connect.readwriter import DataFrameReader
    from pyspark.sql.connect.streaming.readwriter import DataStreamReader

    return DataFrameReader, DataStreamReader


def writers():
    """What writes by itself: definitions only describe queries."""
    from pyspark.sql.connect.catalog import Catalog
    from pyspark.sql.connect.readwriter import DataFrameWriter, DataFrameWriterV2
    from pyspark.sql.connect.streaming.readwriter import DataStreamWriter

    return (
        (DataFrameWriter, ("save", "saveAsTable", "insertInto", "jdbc", *FILES)),
        (DataFrameWriterV2, ("create", "replace", "createOrReplace", "append", "overwrite", "overwritePartitions")),
        (DataStreamWriter, ("start", "toTable")),
        (Catalog, ("createTable", "createExternalTable")),
    )


def refused(method):
    def write(*_args, **_kwargs):
        raise NoEquivalent(f"the code itself writes ({method}), which a confirmation does not do")

    return write


@contextlib.contextmanager
def substituted(names):
    """Within it, every read of a reader goes to what `names` knows, and nothing writes."""
    from pyspark.sql.connect.session import SparkSession

    saved = []

    def replace(owner, method, make):
        saved.append((owner, method, getattr(owner, method)))
        setattr(owner, method, make(getattr(owner, method)))

    for reader in classes():
        replace(reader, "load", lambda own: load(own, names))
        replace(reader, "table", lambda own: table(own, names))
        for form in FILES:
            if hasattr(reader, form):
                replace(reader, form, lambda own, form=form: files(form))
    replace(SparkSession, "sql", lambda own: sql(own, names))
    for writer, methods in writers():
        for method in methods:
            if hasattr(writer, method):
                replace(writer, method, lambda _own, method=method: refused(method))
    try:
        yield
    finally:
        for owner, method, own in saved:
            setattr(owner, method, own)


def table(own, names):
    def read(self, tableName, *args, **kwargs):
        refuse_change_feed(self)
        return own(self, names.table(tableName), *args, **kwargs)

    return read


def sql(own, names):
    def run(self, sqlQuery, *args, **kwargs):
        return own(self, names.sql(sqlQuery), *args, **kwargs)

    return run


def files(form):
    def read(self, path=None, schema=None, **options):
        options = {key: value for key, value in options.items() if value is not None}
        return self.format(form).load(path, schema=schema, **options)

    return read


def load(own, names):
    def read(self, path=None, format=None, schema=None, **options):
        if format is not None:
            self.format(format)
        if schema is not None:
            self.schema(schema)
        self.options(**options)
        refuse_change_feed(self)
        given = {key.lower(): value for key, value in self._options.items()}
        form = (self._format or "").lower()
        if form in GENERATED:
            return own(self)
        if form in TOPICS:
            return as_table(self, names.topic(given), f"format {form}", names)
        path = path or given.get("path")
        if isinstance(path, (list, tuple)):
            path = path[0] if path else None
        if path is None:
            raise NoEquivalent(f"the format {form} has no equivalent")
        source, below = names.folder(path)
        if form == source["format"]:
            return own(self, source["folder"] + below)
        if not self._schema or form == "delta" or source["folder"] is None:
            return as_table(self, source["table"], f"{form or 'files'} at {path}", names)
        names.note(f"{form} files at {path}", f"files in {source['format']}")
        self._options = {key: value for key, value in self._options.items() if key.lower() in KEPT}
        return own(self.format(source["format"]), source["folder"] + below)

    return read


def as_table(reader, name, what, names):
    names.note(what, f"the table {name}")
    reader._options = {key: value for key, value in reader._options.items() if key.lower() in KEPT}
    fresh = type(reader)(reader._client)
    fresh._options = reader._options
    owner = type(reader)
    # `table` is substituted too; a table of the run's schema stays what it is.
    return owner.table(fresh, name)


def refuse_change_feed(reader):
    given = {key.lower(): str(value).lower() for key, value in reader._options.items()}
    if given.get("readchangefeed", given.get("readchangedata")) == "true":
        raise NoEquivalent("a change data feed needs Delta Lake")
