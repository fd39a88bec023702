"""The readers of the pipeline's code, led to the tables and folders that stand for the user's sources."""

import contextlib

from failures import NoEquivalent

TOPICS = ("kafka", "kinesis", "pubsub", "pulsar", "eventhubs")
# Made by Spark itself: nothing stands outside.
GENERATED = ("rate", "rate-micro-batch", "socket")
# Options that mean the same to any file source.
KEPT = ("maxfilespertrigger", "maxbytespertrigger", "latestfirst", "maxfileage")
# Options that tell how values are written in the user's files; those of the experiment are written in one way.
FORM = (
    "charset",
    "comment",
    "compression",
    "dateformat",
    "delimiter",
    "encoding",
    "escape",
    "header",
    "linesep",
    "multiline",
    "quote",
    "sep",
    "timestampformat",
    "timestampntzformat",
)
FILES = ("json", "csv", "parquet", "orc", "text", "xml", "avro")


def classes():
    from pyspark.sql.connect.readwriter import DataFrameReader
    from pyspark.sql.connect.streaming.readwriter import DataStreamReader

    return DataFrameReader, DataStreamReader


@contextlib.contextmanager
def substituted(names):
    """Within it, every read of a reader goes to what `names` knows."""
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
        text = names.sql(sqlQuery)
        if text is None:
            return own(self, "SELECT 1 WHERE false")
        return own(self, text, *args, **kwargs)

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
        # Only from the table do all columns have the types that both engines take them for.
        is_inferred = names.lakeflow and not self._schema and "stream" not in type(self).__name__.lower()
        if form == source["format"] and not is_inferred:
            if names.lakeflow:
                without_form(self, names)
            return own(self, source["folder"] + below)
        if not self._schema or form == "delta" or source["folder"] is None:
            return as_table(self, source["table"], f"{form or 'files'} at {path}", names)
        names.note(f"{form} files at {path}", f"files in {source['format']}")
        self._options = {key: value for key, value in self._options.items() if key.lower() in KEPT}
        return own(self.format(source["format"]), source["folder"] + below)

    return read


def without_form(reader, names):
    dropped = [key for key in reader._options if key.lower() in FORM]
    for key in dropped:
        del reader._options[key]
        names.note(f"the option {key} of files", "nothing: the files of the experiment are written in one way")


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
