"""A plain Structured Streaming job that changes: BEFORE on batch 1, AFTER on batch 2 with the same checkpoints, and a reference.

Takes a case folder (`before/job.py`, `after/job.py`, sources in their `pipelint.yaml`, rows in `data/`, steps by hand in
`experiment:`). On Iceberg the reference is AFTER replayed batch by batch; where the steps change the source beyond appends,
AFTER from nothing on the source as it has become.
"""
import collections
import contextlib
import io
import json
import os
import shutil
import signal

import yaml

from session import error_class
from stores import FolderStore, IcebergStore, last_part, rows_of

SECONDS_A_RUN = 60


class StreamJob:
    """Both revisions of a job, with the sources that they read and the steps beside them."""

    # Whether the jobs wait for their query, or end with its start.
    waits_itself = True
    # Where the working folder is copied to before the changed job runs on it.
    keep = None

    def __init__(self, engine, folder, store):
        self.engine, self.folder, self.store = engine, folder, store
        case = yaml.safe_load(open(os.path.join(folder, "case.yaml")))
        self.steps = case.get("experiment") or {}
        self.sources = {side: self.declared(side) for side in ("before", "after")}
        self.created = set()

    def declared(self, side):
        facts = yaml.safe_load(open(os.path.join(self.folder, side, "pipelint.yaml")))
        return {last_part(source["name"]): source for source in facts.get("sources") or []}

    def source_names(self):
        return set(self.sources["before"]) | set(self.sources["after"])

    def wipe(self):
        self.store.wipe()
        self.created.clear()

    def create(self, side):
        for name, source in self.sources[side].items():
            if name not in self.created:
                self.created.add(name)
                self.store.create(source)

    def create_sinks(self):
        for statement in self.steps.get("sinks") or []:
            self.sql(statement)

    def load(self, batch, side):
        for name, source in self.sources[side].items():
            path = os.path.join(self.folder, "data", batch, f"{name}.json")
            if os.path.exists(path):
                self.store.load(source, path, batch)

    def keep_checkpoints(self):
        if self.keep:
            shutil.rmtree(self.keep, ignore_errors=True)
            shutil.copytree(self.engine.box, self.keep)
            facts = self.store.source_facts(self.source_names())
            with open(os.path.join(os.path.dirname(self.keep), "source-facts.json"), "w") as file:
                json.dump(facts, file, indent=2)

    def results(self):
        return self.store.results(self.source_names())

    def sql(self, text):
        session = self.engine.session()
        for statement in text.split(";\n"):
            session.sql(statement)

    def apply(self, key, side):
        for step in self.steps.get(key) or []:
            self.step(step, side)

    def step(self, step, side):
        operation, table = step["op"], step.get("table")
        session = self.engine.session()
        snapshots = lambda: session.sql(f"SELECT snapshot_id FROM ice.db.{table}.snapshots ORDER BY committed_at").collect()
        if operation == "sql":
            self.sql(step["sql"])
        elif operation == "load":
            self.load(step["batch"], side)
        elif operation == "rm":
            shutil.rmtree(step["path"], ignore_errors=True)
        elif operation == "uncommit":
            commits = os.path.join(step["path"], "commits")
            last = max(int(name) for name in os.listdir(commits) if name.isdigit())
            for name in (str(last), f".{last}.crc"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(commits, name))
        elif operation == "rewrite_data_files":
            everything = "options => map('rewrite-all', 'true')"
            session.sql(f"CALL ice.system.rewrite_data_files(table => 'db.{table}', {everything})")
        elif operation == "expire_all_but_last":
            session.sql(
                f"CALL ice.system.expire_snapshots(table => 'db.{table}', "
                "older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1)"
            )
        elif operation == "expire_nth":
            expired = snapshots()[step["n"]][0]
            session.sql(f"CALL ice.system.expire_snapshots(table => 'db.{table}', snapshot_ids => ARRAY({expired}L))")
        elif operation == "rollback_first":
            session.sql(f"CALL ice.system.rollback_to_snapshot('db.{table}', {snapshots()[0][0]})")
        else:
            raise ValueError(f"unknown step {operation}")

    def run_job(self, side):
        """The error class of a revision's job."""
        session = self.engine.session()

        def too_long(*_):
            raise TimeoutError(f"over {SECONDS_A_RUN} s")

        outer = signal.signal(signal.SIGALRM, too_long)
        left = signal.alarm(SECONDS_A_RUN)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                source = self.store.code(open(os.path.join(self.folder, side, "job.py")).read())
                with started_queries() as queries:
                    exec(compile(source, "job.py", "exec"), {"__name__": "__main__"})
                    for query in [] if self.waits_itself else queries:
                        finished(query)
        except Exception as error:
            return error_class(error)
        finally:
            signal.signal(signal.SIGALRM, outer)
            signal.alarm(left)
            for query in session.streams.active:
                query.stop()


class ExperimentCase(StreamJob):
    """The experiment as `pipelint diff` makes it, on Spark's own tables: what each run met, and the tables at its moments."""

    waits_itself = False

    def __init__(self, engine, folder):
        super().__init__(engine, folder, FolderStore(engine))

    def run(self):
        self.wipe()
        self.create("before")
        self.load("batch1", "before")
        before, resumed_1 = self.run_job("before"), self.results()
        self.create("after")
        self.load("batch2", "after")
        self.keep_checkpoints()
        after, resumed = self.run_job("after"), self.results()
        self.wipe()
        self.create("after")
        self.load("batch1", "after")
        control, control_1 = [self.run_job("after")], self.results()
        self.load("batch2", "after")
        control.append(self.run_job("after"))
        moments = {
            "resumed_batch_1": resumed_1,
            "resumed": resumed,
            "control_batch_1": control_1,
            "control_end": self.results(),
        }
        return {"before": before, "after": after, "control": control}, moments


class IcebergCase(StreamJob):
    """A job on Iceberg tables, and what its sink holds against a reference."""

    def __init__(self, engine, folder):
        super().__init__(engine, folder, IcebergStore(engine))

    def changes_sources(self):
        """Whether the steps do more to the sources than append the batches in turn."""
        steps = [step for key in ("before_first", "between", "after_batch2") for step in self.steps.get(key) or []]
        touched = lambda step: step["op"] == "load" or any(name in json.dumps(step) for name in self.source_names())
        return self.sources["before"] != self.sources["after"] or any(touched(step) for step in steps)

    def run(self):
        self.wipe()
        self.create("before")
        self.create_sinks()
        self.load("batch1", "before")
        self.apply("before_first", "before")
        broken = self.run_job("before")
        first = self.results()
        self.apply("between", "before")
        self.create("after")
        if not self.steps.get("no_batch2"):
            self.load("batch2", "after")
        self.apply("after_batch2", "after")
        self.keep_checkpoints()
        refused = self.run_job("after")
        resumed, source_now = self.results(), self.source_now()
        self.store.forget_results(self.source_names())
        self.create_sinks()
        fails_from_nothing = self.run_job("after")
        fresh = self.results()
        replays = not self.changes_sources()
        reference, reference_error = (self.replay() if replays else (fresh, fails_from_nothing))
        tables = sorted(set(resumed) | set(reference))
        differing = [table for table in tables if table in reference and resumed.get(table) != reference[table]]
        outcome = {"outcome": verdict(broken, refused, reference_error, replays, differing)}
        outcome["error_class"] = refused or broken
        # A table that only BEFORE wrote is not what a fresh start makes of it either: nothing.
        differs = {table: resumed.get(table) != reference.get(table) for table in tables}
        outcome["effects"] = {table: effect(outcome["outcome"], differs[table]) for table in tables}
        outcome["reference"] = "replay" if replays else "fresh"
        outcome["from_nothing"] = f"error {fails_from_nothing}" if fails_from_nothing else "ok"
        if not replays and source_now is not None:
            if not refused:
                outcome["sink_vs_source_now"] = against(resumed.get("out"), source_now)
            if not fails_from_nothing:
                outcome["fresh_vs_source_now"] = against(fresh.get("out"), source_now)
        moments = [("before_batch1", first), ("resumed", resumed), ("control", reference)]
        rows = [
            {"at": at, "table": table, "rows": [json.loads(row) for row in tables[table]]}
            for at, tables in moments
            for table in sorted(tables)
        ]
        return {key: value for key, value in outcome.items() if value is not None or key == "error_class"}, rows

    def replay(self):
        self.wipe()
        self.create("after")
        self.create_sinks()
        self.load("batch1", "after")
        first = self.run_job("after")
        self.load("batch2", "after")
        second = self.run_job("after")
        return self.results(), first or second

    def source_now(self):
        """What a batch read of the source gives, in the columns of the result; none where it lacks one of them."""
        job = open(os.path.join(self.folder, "after", "job.py")).read()
        read = [source for source in self.sources["after"].values() if f'"{source["name"]}"' in job]
        session = self.engine.session()
        try:
            columns = session.table("ice.db.out").columns
            return rows_of(lambda: session.table(read[0]["name"]).select(*columns)) or None
        except Exception:
            return None


def finished(query):
    """Waits for the end of a query. One that looks at timeouts by the clock has none: it is stopped once nothing new comes."""
    while not query.awaitTermination(1):
        recent = query.recentProgress[-3:]
        if len(recent) == 3 and all(progress["numInputRows"] == 0 for progress in recent):
            query.stop()


@contextlib.contextmanager
def started_queries():
    """The queries that code starts within it; those that have failed are no longer among the active ones."""
    from pyspark.sql.streaming import DataStreamWriter

    queries, own = [], {name: getattr(DataStreamWriter, name) for name in ("start", "toTable")}

    def noted(method):
        def start(*args, **kwargs):
            queries.append(method(*args, **kwargs))
            return queries[-1]

        return start

    for name, method in own.items():
        setattr(DataStreamWriter, name, noted(method))
    try:
        yield queries
    finally:
        for name, method in own.items():
            setattr(DataStreamWriter, name, method)


def verdict(broken, refused, reference_error, replays, differing):
    if broken:
        return "before-broken"
    if refused:
        return "invalid-after" if reference_error and replays else "refused"
    return "diverged" if reference_error or differing else "equal"


def effect(outcome, differs):
    """The effect on one table; none where nothing can be said."""
    if outcome in ("refused", "invalid-after"):
        return outcome.removesuffix("-after")
    if outcome == "before-broken":
        return None
    return "diverged" if differs else "none"


def against(rows, now):
    """How the rows of a result differ from those of the source."""
    have, want = collections.Counter(rows or []), collections.Counter(now)
    missing, extra = sum((want - have).values()), sum((have - want).values())
    return f"{missing} missing {extra} extra of {len(now)}" if missing or extra else "same"
