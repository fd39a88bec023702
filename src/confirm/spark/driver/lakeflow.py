"""What Lakeflow's runtime gives to pipeline code and Apache Spark does not: `dlt`, expectations, `dbutils`."""

import builtins
import contextlib
import inspect
import sys
import types

from definitions import StandIn
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
    def __init__(self, configuration, names):
        self._values = dict(configuration)
        self._names = names

    def get(self, name):
        return self._values.get(name) or unknown(f"the widget {name}", name, self._names)

    getArgument = get

    def text(self, name, default="", *_rest, **_labels):
        self._values.setdefault(name, default)

    dropdown = combobox = multiselect = text


def unknown(what, name, names):
    """A value that only a run on the platform has, as `{name}`."""
    names.note(what, f"the text {{{name}}}")
    return f"{{{name}}}"


class Secrets:
    def get(self, scope=None, key=None):
        return f"secret-{scope}-{key}"


class Missing:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, member):
        raise NoEquivalent(f"{self._name}.{member} has no equivalent")


class Files:
    """`dbutils.fs`: what changes files does nothing."""

    def __init__(self, names):
        self._names = names

    def __getattr__(self, member):
        if member not in ("mkdirs", "rm", "cp", "mv", "put", "mount", "unmount"):
            raise NoEquivalent(f"dbutils.fs.{member} has no equivalent")

        def changed(*_args, **_kwargs):
            self._names.note(f"dbutils.fs.{member}", "nothing: only definitions are run")
            return True

        return changed


class Context:
    """`dbutils.notebook.entry_point`: the values of a run, asked for by a chain of calls."""

    def __init__(self, names, name="notebook"):
        self._names = names
        self._name = name

    def __getattr__(self, member):
        if member.startswith("__"):
            raise AttributeError(member)
        if member == "toJson":
            raise NoEquivalent("the context of the notebook has no equivalent")
        own = member in ("get", "getOrElse", "apply", "toString")
        return (lambda *asked: self._value(*asked)) if own else Context(self._names, member)

    def __call__(self, *_args):
        return self

    def _value(self, name=None, *_default):
        name = name if isinstance(name, str) else self._name
        return unknown(f"{name} of the notebook's context", name, self._names)


class Notebook(Missing):
    def __init__(self, names):
        super().__init__("dbutils.notebook")
        self.entry_point = Context(names)
        self.getContext = Context(names)


class Utilities:
    def __init__(self, configuration, names):
        self.widgets = Widgets(configuration, names)
        self.secrets = Secrets()
        self.fs = Files(names)
        self.notebook = Notebook(names)

    def __getattr__(self, name):
        return Missing(f"dbutils.{name}")


@contextlib.contextmanager
def configured(names):
    """Within it, a key of the configuration that nobody sets has a value that stands for it."""
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.conf import RuntimeConf

    own = RuntimeConf.get

    def get(conf, key, *default):
        try:
            return own(conf, key, *default)
        except PySparkException:
            return unknown(f"the configuration {key}", key, names)

    RuntimeConf.get = get
    try:
        yield
    finally:
        RuntimeConf.get = own


@contextlib.contextmanager
def runtime(spark, configuration, names):
    """Within it, pipeline code finds `spark`, `dbutils` and Lakeflow's modules where it looks for them."""
    import pyspark
    from pyspark import pipelines

    module = library(names)
    utilities = Utilities(configuration, names)
    for_runtime = StandIn("databricks.sdk.runtime")
    for_runtime.spark, for_runtime.dbutils = spark, utilities
    for_utilities = StandIn("pyspark.dbutils")
    for_utilities.DBUtils = lambda *_args: utilities
    modules = {
        "dlt": module,
        "pyspark.pipelines": module,
        "databricks": StandIn("databricks"),
        "databricks.sdk": StandIn("databricks.sdk"),
        "databricks.sdk.runtime": for_runtime,
        "pyspark.dbutils": for_utilities,
    }
    saved = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    pyspark.pipelines = module
    values = {
        "spark": spark,
        "dbutils": utilities,
        "sql": lambda text: spark.sql(text),
        "table": lambda name: spark.table(name),
        "display": lambda *_: None,
        "displayHTML": lambda *_: None,
    }
    for name, value in values.items():
        setattr(builtins, name, value)
    try:
        with configured(names):
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
