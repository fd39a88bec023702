"""One update of one pipeline: its definitions registered in a dataflow graph of the server, then a run."""

import contextlib
import dataclasses
import os
import re
import sys

import beside
import failures
import lakeflow
import operations
import readers
from definitions import Modules, execute
from frames import Frames, session_views
from names import Names

STATUS = re.compile(r"Flow '?([^']+?)'? (?:is|has) (QUEUED|PLANNING|STARTING|RUNNING|COMPLETED|FAILED|SKIPPED|EXCLUDED|IDLE|STOPPED)")
FAILURE = re.compile(r"(?s)Flow '?([^']+?)'? has FAILED.*?\nError: (.*)")
# How a failure of a streaming query names its flow.
IDENTIFIER = re.compile(r"\nIdentifier: (?:\[queryName = )?(\S+)")
UNRESOLVED = re.compile(r"(?s)Failed to resolve flow: '([^']+)'\.?\n?(?:Error: )?(.*)")


def last_part(name):
    return name.rsplit(".", 1)[-1].strip("`")


def update(spark, request, channel):
    """Statuses and errors by flow; an error of the whole run; what could not be registered; what stood for what."""
    session = spark.running = spark.session()
    names = Names(request["names"], request["lakeflow"], channel)
    outcome = Outcome()
    try:
        for key, value in request["configuration"].items():
            with contextlib.suppress(Exception):
                session.conf.set(key, value)
        run(spark, session, request, names, outcome, channel)
    except Exception as error:
        outcome.failed(error)
    finally:
        with contextlib.suppress(Exception):
            session.stop()
    outcome.name_errors()
    return {"flows": outcome.flows, "error": outcome.error, "unregistered": outcome.unregistered, "notes": names.notes}


class Outcome:
    def __init__(self):
        self.flows = {}
        self.error = None
        self.unregistered = []

    def failed(self, error):
        """The run failed. A flow that fails at its start may have been told completed before, and never failed."""
        self.error = failures.described(error)
        if any(flow["status"] in ("FAILED", "UNRESOLVED") for flow in self.flows.values()):
            return
        named = IDENTIFIER.search(str(error))
        if named:
            self.flows[last_part(named.group(1))] = {"status": "FAILED", "error": self.error}

    def name_errors(self):
        """A flow's failure without a class of its own is that of the run."""
        for flow in self.flows.values():
            if flow["error"] and flow["error"]["class"] is None:
                flow["error"]["class"] = (self.error or {}).get("class") or flow["status"]

    def event(self, message):
        for pattern, status in ((UNRESOLVED, "UNRESOLVED"), (FAILURE, "FAILED")):
            found = pattern.match(message)
            if found:
                text = found.group(2)
                error = {"class": failures.class_in(text), "message": failures.message_of(text)}
                self.flows[last_part(found.group(1))] = {"status": status, "error": error}
                return
        found = STATUS.match(message)
        if found:
            flow = self.flows.setdefault(last_part(found.group(1)), {"status": None, "error": None})
            # A flow that fails late has been told completed before; what failed stays failed.
            if flow["status"] not in ("FAILED", "UNRESOLVED"):
                flow["status"] = found.group(2)


def run(spark, session, request, names, outcome, channel):
    from pyspark.pipelines.spark_connect_pipeline import create_dataflow_graph, start_run

    graph = create_dataflow_graph(session, request["catalog"], request["schema"], request["configuration"])
    registry = registry_class()(session, graph, request, names, outcome)
    with active(session), readers.substituted(names), contextlib.ExitStack() as around:
        around.enter_context(Modules(request["code"], request["folder"], names).found())
        if request["lakeflow"]:
            frames = Frames(spark, request["schema"], names, registry.queries, request["columns"])
            around.enter_context(frames.answering(session))
            around.enter_context(session_views(names, registry.define_view))
            around.enter_context(operations.on_datasets(frames, registry.define_view))
            around.enter_context(lakeflow.runtime(session, request["configuration"], names))
        around.enter_context(beside.not_executed(names))
        around.enter_context(beside.Fence.installed().around(request["code"]))
        register(session, graph, request, registry, outcome)
    if outcome.unregistered:
        return
    channel.progress(request["label"])
    events = start_run(
        session,
        graph,
        full_refresh=request["full_refresh"],
        full_refresh_all=request["full_refresh_all"],
        refresh=request["refresh"],
        dry=False,
        storage=request["storage"],
    )
    for result in events:
        if "pipeline_event_result" in result:
            outcome.event(result["pipeline_event_result"].event.message)


def register(session, graph, request, registry, outcome):
    from pyspark.pipelines.graph_element_registry import graph_element_registration_context

    sys.path[:0] = request["python_roots"]
    home = os.getcwd()
    os.chdir(request["folder"])
    try:
        with graph_element_registration_context(registry):
            for file in request["files"]:
                if "statements" in file:
                    for statement in file["statements"]:
                        registry.statement(statement, file["path"])
                else:
                    try:
                        with analysis(session, graph), guarded(request["lakeflow"]):
                            execute(file["path"], session, registry.failed_in(file["path"]))
                    except Exception as error:
                        outcome.unregistered.append({"file": file["path"], "error": failures.described(error)})
            with guarded(request["lakeflow"]):
                registry.finish()
    finally:
        os.chdir(home)


@contextlib.contextmanager
def analysis(session, graph):
    """Tells the server which graph an analysis request belongs to; Spark 4.1 does not ask for it."""
    try:
        from pyspark.pipelines.add_pipeline_analysis_context import add_pipeline_analysis_context
    except ImportError:
        yield
        return
    with add_pipeline_analysis_context(spark=session, dataflow_graph_id=graph, flow_name=None):
        yield


@contextlib.contextmanager
def guarded(is_lakeflow):
    """Apache Spark forbids pipeline code to change the session; Lakeflow does not."""
    if is_lakeflow:
        yield
        return
    from pyspark.pipelines.block_session_mutations import block_session_mutations

    with block_session_mutations():
        yield


@contextlib.contextmanager
def active(session):
    """Pipeline code that looks for the session finds this one."""
    from pyspark.sql import SparkSession

    saved = {name: SparkSession.__dict__.get(name) for name in ("getActiveSession", "active")}
    builder = SparkSession.Builder.getOrCreate
    SparkSession.Builder.getOrCreate = lambda self: session
    SparkSession.getActiveSession = classmethod(lambda cls: session)
    SparkSession.active = classmethod(lambda cls: session)
    try:
        yield
    finally:
        SparkSession.Builder.getOrCreate = builder
        for name, own in saved.items():
            if own is None:
                delattr(SparkSession, name)
            else:
                setattr(SparkSession, name, own)


def registry_class():
    from pyspark.pipelines.flow import Flow
    from pyspark.pipelines.output import MaterializedView, Sink, Table, TemporaryView
    from pyspark.pipelines.source_code_location import get_caller_source_code_location
    from pyspark.pipelines.spark_connect_graph_element_registry import SparkConnectGraphElementRegistry

    class Registry(SparkConnectGraphElementRegistry):
        """Registers what the run needs, under the names of the run's schema."""

        def __init__(self, session, graph, request, names, outcome):
            super().__init__(session, graph)
            self._names = names
            self._outcome = outcome
            # By dataset: the file that defines it.
            self._places = request["datasets"]
            self._wanted = set(self._places)
            self._left_out = set(request["left_out"])
            self._kinds = request["kinds"]
            self._filters = request["filters"] if request["lakeflow"] else {}
            self._table_format = request["table_format"]
            self._views = set()
            # Lakeflow calls query functions when all files are read; Spark at once.
            self._waiting = [] if request["lakeflow"] else None
            self.queries = {}
            self._registered = set()
            self._failures = []
            # Views that query functions have made, to be registered.
            self._made = []

        def _takes(self, name):
            name = name.lower()
            return name not in self._left_out and (name in self._wanted or name in self._views)

        def register_output(self, output):
            if isinstance(output, TemporaryView):
                name = last_part(output.name)
                self._views.add(name.lower())
                if self._takes(name):
                    super().register_output(dataclasses.replace(output, name=name))
                return
            name = output.name if isinstance(output, Sink) else self._names.table(output.name)
            if not self._takes(name):
                return
            if isinstance(output, Sink):
                sink = self._names.sinks[name.lower()]
                self._names.note(f"the sink {name}", f"files in {sink['format']}")
                output = dataclasses.replace(output, format=sink["format"], options={"path": sink["folder"]})
            elif isinstance(output, Table):
                output = dataclasses.replace(output, name=name, format=self._format(output.format))
                if self._kinds.get(name.lower()) == "materialized_view" and not isinstance(output, MaterializedView):
                    fields = {field.name: getattr(output, field.name) for field in dataclasses.fields(output)}
                    output = MaterializedView(**fields)
            super().register_output(output)

        def _format(self, given):
            """None for the session's default: Delta Lake takes its own name for a change of format at the next update."""
            if given is None or given.lower() not in ("delta", "iceberg"):
                return given
            if self._table_format != given.lower():
                self._names.note(f"tables in {given}", f"tables in {self._table_format or 'parquet'}")
            return None

        def register_flow(self, flow):
            target = flow.target
            if last_part(target).lower() in self._views or target.lower() in self._names.sinks:
                target = last_part(target)
            else:
                target = self._names.table(target)
            if not self._takes(target):
                return
            name = target if flow.name == flow.target else flow.name
            flow = dataclasses.replace(flow, name=name, target=target)
            self._registered.add(target.lower())
            self.queries.setdefault(target.lower(), flow.func)
            if self._waiting is None:
                self._register(flow)
            else:
                self._waiting.append(flow)

        def _register(self, flow):
            try:
                flow = dataclasses.replace(flow, func=self._checked(flow.target, flow.func))
                super().register_flow(flow)
            except Exception as error:
                self._fail(flow.target, error)

        def finish(self):
            """Registers the flows that wait, and those of views that their query functions make."""
            while self._waiting or self._made:
                while self._made:
                    super().register_output(self._made.pop(0))
                if self._waiting:
                    self._register(self._waiting.pop(0))
            for target in sorted(self._wanted - self._left_out - self._registered):
                of_file = [error for path, error in self._failures if path.startswith(self._places.get(target, path))]
                if of_file:
                    self._fail(target, of_file[0])

        def failed_in(self, path):
            return lambda error: self._failures.append((path, error))

        def define_view(self, name, frame):
            """A view of a frame, which the code has made for its session."""
            if name.lower() in self._left_out:
                return
            self._views.add(name.lower())
            self.queries[name.lower()] = lambda: frame
            here = get_caller_source_code_location(stacklevel=1)
            self._made.append(TemporaryView(name=name, comment=None, source_code_location=here))
            self._waiting.append(Flow(name, name, {}, here, lambda: frame))

        def register_auto_cdc_flow(self, flow):
            target = self._names.table(flow.target)
            if not self._takes(target):
                return
            name = target if flow.name in (None, flow.target) else flow.name
            self._registered.add(target.lower())
            try:
                if target.lower() in self._filters:
                    raise failures.NoEquivalent("an expectation on the target of AUTO CDC has no equivalent")
                source = self._names.table(flow.source)
                super().register_auto_cdc_flow(dataclasses.replace(flow, name=name, target=target, source=source))
            except Exception as error:
                self._fail(target, error)

        def _checked(self, target, query):
            """The query's rows that the target's expectations let through."""
            expected = self._filters.get(target.lower())
            if expected is None:
                return query
            if "refused" in expected:
                raise failures.NoEquivalent(expected["refused"])
            return lakeflow.filtered(query, expected["rows"])

        def statement(self, statement, path):
            target = statement["dataset"]
            if statement["view"]:
                self._views.add(target.lower())
            if not self._takes(target):
                return
            self._registered.add(target.lower())
            try:
                self.register_sql(statement["sql"], path)
            except Exception as error:
                self._fail(target, error)

        def _fail(self, target, error):
            self._outcome.unregistered.append({"dataset": target, "error": failures.described(error)})

    return Registry
