"""What Lakeflow's runtime gives to pipeline code and Apache Spark does not: `dlt`, expectations, `dbutils`."""

import builtins
import contextlib
import inspect
import sys
import types

from failures import NoEquivalent

EXPECTATIONS = ("expect", "expect_or_drop", "expect_or_fail", "expect_all", "expect_all_or_drop", "expect_all_or_fail")
# Arguments under Lakeflow's names.
RENAMED = {"func": "query_function", "f": "query_function"}


def lenient(function, names):
    """The function of `pyspark.pipelines`, which takes no argument that only Lakeflow knows, and keeps what it decorates."""
    known = inspect.signature(function).parameters

    def call(*args, **kwargs):
        given = {RENAMED.get(key, key): value for key, value in kwargs.items()}
        if given.pop("once", False):
            raise NoEquivalent("a flow that runs once")
        if given.get("replace_where") is not None or given.get("replace_using") is not None:
            raise NoEquivalent("a flow that replaces rows has no equivalent")
        for key in [key for key in given if key not in known]:
            del given[key]
            if not key.startswith("expect"):
                names.note(f"the argument {key}", "nothing")
        query = given.get("query_function") or (args[0] if args and callable(args[0]) else None)
        result = function(*args, **given)
        if query is not None:
            return query
        if not callable(result):
            return result

        def decorate(decorated):
            result(decorated)
            return decorated

        return decorate

    return call


def expectation(*_args, **_kwargs):
    """A decorator that leaves its function alone: the registry knows what rows of each dataset must hold."""
    return lambda function: function


def filtered(query, condition):
    """The query with a filter over what it gives."""

    def rows():
        from pyspark.sql.functions import expr

        return query().filter(expr(condition))

    return rows


def library(names):
    """A module that stands for `dlt` and, on Lakeflow, for `pyspark.pipelines`."""
    from pyspark import pipelines

    module = types.ModuleType("dlt")
    module.__path__ = pipelines.__path__
    for name in pipelines.__all__:
        setattr(module, name, lenient(getattr(pipelines, name), names))
    module.view = module.temporary_view
    module.create_view = module.temporary_view
    module.create_table = module.table
    module.create_target_table = module.create_streaming_table
    module.create_streaming_live_table = module.create_streaming_table
    if hasattr(module, "create_auto_cdc_flow"):
        module.apply_changes = module.create_auto_cdc_flow
    for name in EXPECTATIONS:
        setattr(module, name, expectation)
    module.read = lambda name: builtins.spark.read.table(name)
    module.read_stream = module.readStream = lambda name: builtins.spark.readStream.table(name)

    def missing(name):
        raise AttributeError(name) if name.startswith("__") else NoEquivalent(f"`{name}` of Lakeflow's library")

    module.__getattr__ = missing
    return module


class Widgets:
    def __init__(self, configuration):
        self._values = dict(configuration)

    def get(self, name):
        if name not in self._values:
            raise NoEquivalent(f"the widget {name} has no value in the pipeline's configuration")
        return self._values[name]

    getArgument = get

    def text(self, name, default="", *_rest, **_labels):
        self._values.setdefault(name, default)

    dropdown = combobox = multiselect = text


class Secrets:
    def get(self, scope=None, key=None):
        return f"secret-{scope}-{key}"


class Missing:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, member):
        raise NoEquivalent(f"{self._name}.{member} has no equivalent")


class Utilities:
    def __init__(self, configuration):
        self.widgets = Widgets(configuration)
        self.secrets = Secrets()

    def __getattr__(self, name):
        return Missing(f"dbutils.{name}")


@contextlib.contextmanager
def runtime(spark, configuration, names):
    """Within it, pipeline code finds `spark`, `dbutils` and Lakeflow's modules where it looks for them."""
    import pyspark
    from pyspark import pipelines

    module = library(names)
    utilities = Utilities(configuration)
    for_runtime = types.ModuleType("databricks.sdk.runtime")
    for_runtime.spark, for_runtime.dbutils = spark, utilities
    for_utilities = types.ModuleType("pyspark.dbutils")
    for_utilities.DBUtils = lambda *_args: utilities
    modules = {
        "dlt": module,
        "pyspark.pipelines": module,
        "databricks": types.ModuleType("databricks"),
        "databricks.sdk": types.ModuleType("databricks.sdk"),
        "databricks.sdk.runtime": for_runtime,
        "pyspark.dbutils": for_utilities,
    }
    saved = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    pyspark.pipelines = module
    values = {"spark": spark, "dbutils": utilities, "display": lambda *_: None, "displayHTML": lambda *_: None}
    for name, value in values.items():
        setattr(builtins, name, value)
    try:
        yield
    finally:
        for name in values:
            delattr(builtins, name)
        pyspark.pipelines = pipelines
        for name, own in saved.items():
            if own is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = own
