"""What Lakeflow lets query functions ask of their frames and Spark's pipelines do not: columns, types, views of the session.

Spark answers no analysis inside a query function (ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION): datasets have no columns before
the graph is resolved. Here a second session answers it, in which every dataset of the pipeline is a view without rows, with
the columns that its own query gives.
"""

import contextlib
import re
import types

from failures import NoEquivalent


@contextlib.contextmanager
def answered_here(client):
    """Spark 4.1 refuses in the client what later servers refuse, for every session: here only rows of this one are refused."""
    try:
        from pyspark.pipelines import block_connect_access as block
    except ImportError:
        yield
        return

    def refused(*_args, **_kwargs):
        from pyspark.errors import PySparkException

        raise PySparkException(errorClass="ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION", messageParameters={})

    fetching = [name for name in ("to_table", "to_table_as_iterator", "to_pandas") if hasattr(client, name)]
    names, block.BLOCKED_RPC_NAMES = block.BLOCKED_RPC_NAMES, []
    for name in fetching:
        setattr(client, name, refused)
    try:
        yield
    finally:
        block.BLOCKED_RPC_NAMES = names
        for name in fetching:
            delattr(client, name)


class Frames:
    """Answers what code asks of frames; knows datasets by the names that plans read them under."""

    def __init__(self, spark, schema, names, queries, columns):
        self._spark = spark
        self._schema = schema
        self.names = names
        # Query functions by lower-case name of their dataset.
        self._queries = queries
        # By lower-case name of a dataset: columns that are known without its query.
        self._columns = columns
        self._known = set()
        self._session = None
        self._create_view = None

    @contextlib.contextmanager
    def answering(self, session):
        """Within it, the session's frames tell their columns."""
        from pyspark.sql.connect.dataframe import DataFrame

        self._create_view = DataFrame.createOrReplaceTempView
        client = session.client
        own = client._analyze

        def analyze(method, **kwargs):
            if method in ("persist", "unpersist"):
                self.names.note("cache() of a frame", "nothing")
                return None
            if "plan" not in kwargs or "other" in kwargs:
                return own(method, **kwargs)
            if method == "is_streaming":
                return types.SimpleNamespace(is_streaming=is_stream(kwargs["plan"]))
            self._ensure(kwargs["plan"])
            return self._client()._analyze(method, **kwargs)

        client._analyze = analyze
        try:
            with answered_here(client):
                yield
        finally:
            del client._analyze
            if self._session is not None:
                with contextlib.suppress(Exception):
                    self._session.stop()

    def reads_datasets(self, frame):
        """Whether a frame reads a dataset of the pipeline."""
        read, texts = read_names(frame._plan.to_proto(frame._session.client))
        named = read | self._mentioned(texts)
        return any(name.lower() in self._columns or name.lower() in self._queries for name in named)

    def _mentioned(self, texts):
        """Datasets in texts of SQL."""
        return {name for name in {*self._columns, *self._queries} if any(mentions(text, name) for text in texts)}

    def _client(self):
        if self._session is None:
            self._session = self._spark.session()
            self._session.catalog.setCurrentDatabase(self._schema)
        return self._session.client

    def _ensure(self, plan):
        """Makes views of the datasets that a plan reads."""
        read, texts = read_names(plan)
        for name in sorted(read | self._mentioned(texts)):
            key = name.lower()
            if key in self._known:
                continue
            self._known.add(key)
            columns = self._columns_of(key)
            if columns:
                self._define(name, columns)

    def _define(self, name, columns):
        """A view that may be read as a stream and as a table; it is never run."""
        from pyspark.sql import functions as F

        self._client()
        rows = self._session.readStream.format("rate").load()
        self._create_view(rows.select(*[F.lit(None).cast(kind).alias(column) for column, kind in columns]), name)

    def _columns_of(self, key):
        """Names and types; none where there is no such dataset."""
        query = self._queries.get(key)
        if query is None:
            return self._columns.get(key)
        frame = query()
        if not hasattr(frame, "schema"):
            raise NoEquivalent(f"the columns of {key} are not known: its query gives no frame")
        return [(field.name, field.dataType) for field in frame.schema.fields]


def walk(message):
    """A message and all that it holds."""
    pending = [message]
    while pending:
        message = pending.pop()
        yield message
        for _, value in message.ListFields():
            if hasattr(value, "ListFields"):
                pending.append(value)
            elif hasattr(value, "values"):
                pending.extend(item for item in value.values() if hasattr(item, "ListFields"))
            elif not isinstance(value, (str, bytes, int, float)):
                pending.extend(item for item in value if hasattr(item, "ListFields"))


def is_stream(plan):
    for message in walk(plan):
        if message.DESCRIPTOR.name == "Read" and message.is_streaming:
            return True
        if message.DESCRIPTOR.name == "SQL" and "STREAM" in re.split(r"\W+", message.query.upper()):
            return True
    return False


def read_names(plan):
    """Names of tables that a plan reads, and the texts of its SQL."""
    read, texts = set(), []
    for message in walk(plan):
        if message.DESCRIPTOR.name == "NamedTable":
            read.add(message.unparsed_identifier.replace("`", ""))
        elif message.DESCRIPTOR.name == "SQL":
            texts.append(message.query)
    return read, texts


def mentions(text, name):
    return re.search(rf"(?<![\w.]){re.escape(name)}\b", text, re.IGNORECASE) is not None


@contextlib.contextmanager
def session_views(names, define):
    """Within it, a view that code makes of a frame becomes a view of the pipeline."""
    from pyspark.sql.connect.dataframe import DataFrame

    methods = ("createOrReplaceTempView", "createTempView")
    saved = {method: getattr(DataFrame, method) for method in methods}

    def create(frame, name):
        view = names.session_view(name)
        names.note(f"the session's view {name}", "a view of the pipeline")
        define(view, frame)

    for method in methods:
        setattr(DataFrame, method, create)
    try:
        yield
    finally:
        for method, own in saved.items():
            setattr(DataFrame, method, own)
