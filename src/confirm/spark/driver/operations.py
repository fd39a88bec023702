"""Operations on frames that Spark's planner analyses at once, in other words.

`drop`, `fillna`, `dropna` and `withWatermark` make the server analyse what they are given (`SparkConnectPlanner`, by
`Dataset.ofRows`), so that a query function cannot use them on a dataset of its own pipeline, which is no table yet. On Lakeflow
it can. Their equivalents are analysed with the graph. So are those of `withColumn` and `withColumnRenamed`, which Spark 4.3 takes and then
computes, at the second update of a materialized view, on the rows of the first.
"""

import contextlib
import functools
import operator
import re

NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def is_numeric(field):
    return field.dataType.simpleString().split("(")[0] in NUMERIC


def takes(field, value):
    """Whether `fillna` puts a value of this kind into a column."""
    kind = field.dataType.simpleString()
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, (int, float)):
        return is_numeric(field)
    return kind == "string" and isinstance(value, str)


def is_fractional(field):
    return field.dataType.simpleString() in ("float", "double")


def column(name):
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def listed(subset):
    return [subset] if isinstance(subset, str) else list(subset)


def without_columns(frame, own, *columns):
    names = [name for name in map(name_of, columns) if name is not None]
    fields = [field.name for field in frame.schema.fields]
    plain = len(names) == len(columns) and len({name.lower() for name in fields}) == len(fields)
    if not plain:
        return own(frame, *columns)
    dropped = {name.lower() for name in names}
    kept = [column(name) for name in fields if name.lower() not in dropped]
    return frame if len(kept) == len(fields) else frame.select(*kept)


def name_of(given):
    """The column that an argument of `drop` names; none for one of a certain frame."""
    if isinstance(given, str):
        return given
    expression = getattr(given, "_expr", None)
    if type(expression).__name__ == "ColumnReference" and getattr(expression, "_plan_id", None) is None:
        return expression._unparsed_identifier.strip("`")
    return None


def with_column(frame, own, colName, col):
    return with_columns(frame, lambda frame, _columns: own(frame, colName, col), {colName: col})


def with_columns(frame, own, colsMap):
    given = {name.lower(): (name, value) for name, value in colsMap.items()}
    fields = [field.name for field in frame.schema.fields]
    if len(given) < len(colsMap) or len({name.lower() for name in fields}) < len(fields):
        return own(frame, colsMap)
    cells = [given.pop(name.lower(), (name, column(name))) for name in fields]
    return frame.select(*[value.alias(name) for name, value in [*cells, *given.values()]])


def with_column_renamed(frame, own, existing, new):
    return with_columns_renamed(frame, own, {existing: new})


def with_columns_renamed(frame, _own, colsMap):
    given = {name.lower(): new for name, new in colsMap.items()}
    fields = [field.name for field in frame.schema.fields]
    return frame.select(*[column(name).alias(given.get(name.lower(), name)) for name in fields])


def filled(frame, own, value, subset=None):
    from pyspark.sql import functions as F

    values = {name.lower(): given for name, given in value.items()} if isinstance(value, dict) else None
    wanted = None if subset is None else {name.lower() for name in listed(subset)}

    def cell(field):
        name = field.name.lower()
        given = values.get(name) if values is not None else value
        if given is None or not takes(field, given) or wanted is not None and values is None and name not in wanted:
            return column(field.name)
        known = F.nanvl(column(field.name), F.lit(None)) if is_fractional(field) else column(field.name)
        return F.coalesce(known, F.lit(given).cast(field.dataType)).alias(field.name)

    return frame.select(*map(cell, frame.schema.fields))


def complete(frame, own, how="any", thresh=None, subset=None):
    from pyspark.sql import functions as F

    wanted = None if subset is None else {name.lower() for name in listed(subset)}
    fields = [field for field in frame.schema.fields if wanted is None or field.name.lower() in wanted]
    if not fields:
        return own(frame, how, thresh, subset)

    def known(field):
        there = column(field.name).isNotNull()
        there = there & ~F.isnan(column(field.name)) if is_fractional(field) else there
        return F.when(there, 1).otherwise(0)

    least = thresh if thresh is not None else 1 if how == "all" else len(fields)
    return frame.filter(functools.reduce(operator.add, map(known, fields)) >= least)


@contextlib.contextmanager
def on_datasets(frames, define_view):
    """Within it, these operations work on frames of the pipeline's own datasets."""
    from pyspark.sql.connect.dataframe import DataFrame

    def watermarked(frame, _own, eventTime, delayThreshold):
        view = frames.names.session_view("watermarked")
        define_view(view, frame)
        delay = re.sub(r"^interval\s+", "", delayThreshold.strip(), flags=re.IGNORECASE)
        clause = f"WATERMARK `{eventTime}` DELAY OF INTERVAL {delay}"
        source = f"STREAM({view})" if frame.isStreaming else view
        return frame.sparkSession.sql(f"SELECT * FROM {source} {clause}")

    replaced = {
        "drop": (without_columns, "a selection"),
        "fillna": (filled, "a selection"),
        "dropna": (complete, "a filter"),
        "withWatermark": (watermarked, "WATERMARK of a view"),
        "withColumns": (with_columns, "a selection"),
        "withColumn": (with_column, "a selection"),
        "withColumnsRenamed": (with_columns_renamed, "a selection"),
        "withColumnRenamed": (with_column_renamed, "a selection"),
    }
    saved = {name: getattr(DataFrame, name) for name in replaced}

    def method(name):
        own, (other, by) = saved[name], replaced[name]

        def call(frame, *args, **kwargs):
            if frames.reads_datasets(frame):
                frames.names.note(f"{name}() on a dataset of the pipeline", by)
                return other(frame, own, *args, **kwargs)
            return own(frame, *args, **kwargs)

        return call

    for name in replaced:
        setattr(DataFrame, name, method(name))
    try:
        yield
    finally:
        for name, own in saved.items():
            setattr(DataFrame, name, own)
