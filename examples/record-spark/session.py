"""Classic Spark sessions for cases that run on Spark directly: one JVM a process, a new session a run.

Pinned for speed and determinism: UTC, one shuffle partition, interpreted expressions. What a case sets itself wins.
"""
import datetime
import os
import re

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1800m",
}
ICEBERG = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
}


class Engine:
    """A JVM whose working directory is `box`; Iceberg tables of the catalog `ice` lie in `lake`."""

    def __init__(self, base, options):
        from pyspark.sql import SparkSession

        self.base = base
        self.memory_catalog = bool(options.memory_catalog)
        self.box, self.lake = os.path.join(base, "box"), os.path.join(base, "ice", "db")
        self.warehouse = os.path.join(base, "warehouse")
        scratch = os.path.join(base, "scratch")
        for folder in (self.box, self.lake, scratch):
            os.makedirs(folder, exist_ok=True)
        os.chdir(self.box)
        settings = dict(SETTINGS)
        settings["spark.sql.warehouse.dir"] = self.warehouse
        settings["spark.local.dir"] = scratch
        settings["spark.driver.extraJavaOptions"] = (
            "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Duser.timezone=UTC "
            f"-Dderby.system.home={base} -Djava.io.tmpdir={scratch}"
        )
        if options.catalog == "hive":
            settings["spark.sql.catalogImplementation"] = "hive"
        if options.catalog == "iceberg":
            settings.update(ICEBERG)
            settings["spark.sql.catalog.ice.warehouse"] = os.path.join(base, "ice")
        if options.packages:
            settings["spark.jars.packages"] = options.packages
            settings["spark.jars.ivy"] = options.ivy
        if options.memory_catalog:
            settings["spark.jars"] = options.memory_catalog
            settings["spark.sql.catalog.mem"] = "pipelint.MemoryCatalog"
        builder = SparkSession.builder.master("local[2]").appName("pipelint")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.root = builder.getOrCreate()
        self.root.sparkContext.setLogLevel("OFF")

    def version(self):
        """Spark's version, and that of Iceberg where its jar is loaded."""
        spark = self.root.version
        try:
            return f"{spark} with Iceberg {self.root._jvm.org.apache.iceberg.IcebergBuild.version()}"
        except TypeError:
            return spark

    def session(self):
        """A new session, which code under test gets from `SparkSession.builder.getOrCreate()`."""
        session = self.root.newSession()
        self.activate(session)
        return session

    def activate(self, session):
        from pyspark.sql import SparkSession

        SparkSession._instantiatedSession = session
        self.root._jvm.org.apache.spark.sql.SparkSession.setActiveSession(session._jsparkSession)

    def stop(self):
        self.root.stop()


def java_chain(error):
    """(Java class, Spark's error class, message) of an exception and its causes, from the outside in."""
    cause = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    chain = []
    while cause is not None and len(chain) < 12:
        name, message = cause.getClass().getName(), cause.getMessage() or ""
        condition = None
        if name.startswith("org.apache.spark"):
            for method in ("getCondition", "getErrorClass"):
                try:
                    condition = condition or getattr(cause, method)()
                except Exception:  # this exception of Spark has no condition
                    pass
        if condition is None and (found := re.match(r"\[([A-Z][A-Z0-9_.]+)\]", message)):
            condition = found.group(1)
        chain.append((name, condition, message))
        cause = cause.getCause()
    return chain


# Wrappers, which say nothing of what went wrong inside.
WRAPPERS = {
    "STREAM_FAILED",
    "TASK_FAILED",
    "TASK_WRITE_FAILED",
    "WRITING_JOB_FAILED",
    "_LEGACY_ERROR_TEMP_2070",
    "_LEGACY_ERROR_TEMP_3035",
}
CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")
TASK_FAILURE = re.compile(r"\((?:[^()]*executor driver)\): ([\w.$]+(?:Exception|Error)):? ?([^\n]*)")


def error_class(error):
    """The innermost of Spark's error classes that is no wrapper, else the short name of the root exception's class."""
    chain = java_chain(error)
    if not chain:
        found = CONDITION.search(str(error))
        return found.group(1) if found else type(error).__name__
    name, _, message = chain[-1]
    # A task's failure carries its cause only as text.
    task = TASK_FAILURE.search("\n".join(message for _, _, message in chain))
    if task and name.endswith("SparkException"):
        name, message = task.group(1), task.group(2) or message
    known = [condition for _, condition, _ in chain if condition and condition not in WRAPPERS]
    if known:
        return known[-1]
    if found := CONDITION.search(message):
        return found.group(1)
    if name.startswith("org.apache.iceberg."):
        return "iceberg." + name.split(".")[-1]
    return name.split(".")[-1] if name.startswith(("org.apache.", "java.")) else name


def text(value):
    """A value as a cast to STRING shows it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def plain(value):
    """A value as JSON that reads the same with every version."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + (f".{value.microsecond:06d}" if value.microsecond else "")
    if hasattr(value, "asDict"):
        return {name: plain(inner) for name, inner in value.asDict().items()}
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return str(value)
