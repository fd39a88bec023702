"""What stands for which table, folder and topic of the user's code, while one pipeline is run."""

import itertools
import re

from failures import NoEquivalent


class Names:
    """`tables` maps lower-case dotted names to tables of the run's schema, `paths` and `topics` likewise to sources."""

    def __init__(self, request, lakeflow, channel):
        # The code is written for Lakeflow.
        self.lakeflow = lakeflow
        self.tables = request["tables"]
        self.paths = request["paths"]
        self.topics = request["topics"]
        self.sinks = request["sinks"]
        self.defaults = [part for part in request["defaults"] if part]
        self._channel = channel
        self._views = {}
        self.notes = []

    def note(self, what, by):
        if [what, by] not in self.notes:
            self.notes.append([what, by])

    def session_view(self, name):
        """A name of its own for a view that code makes of a frame; the code's name means the latest one."""
        name = name.strip("`")
        stored = [*self.tables.values(), *self.topics.values(), *(source["table"] for source in self.paths.values())]
        taken = {table.lower() for table in [*stored, *self._views.values()]}
        numbers = itertools.count(2)
        view = name
        while view.lower() in taken:
            view = f"{name}_{next(numbers)}"
        self._views[name.lower()] = view
        return view

    def table(self, name):
        """A table of the run's schema for a name of the code; the name itself where it is a view of the pipeline."""
        parts = [part.strip("`") for part in name.strip().split(".")]
        if len(parts) == 1 and parts[0].lower() in self._views:
            return self._views[parts[0].lower()]
        if parts[0].lower() == "live" and len(parts) > 1:
            parts = parts[1:]
        plain = ".".join(parts).lower()
        qualified = ".".join(self.defaults[: max(0, 3 - len(parts))] + parts).lower() if len(parts) < 3 else plain
        for key in (qualified, plain):
            if key in self.tables:
                return self.tables[key]
        last = {table for key, table in self.tables.items() if key.rsplit(".", 1)[-1] == parts[-1].lower()}
        if len(last) == 1:
            return last.pop()
        return parts[-1]

    def folder(self, path):
        """The source under a path, and what of the path leads on below it. A pattern takes all of a source's files."""
        found, below = self._folder(path)
        return found, "" if any(sign in below for sign in "*?[{") else below

    def _folder(self, path):
        plain = normalized(path)
        known = sorted(((normalized(path), path) for path in self.paths), key=lambda entry: -len(entry[0]))
        for base, path_of_source in known:
            if plain == base or plain.startswith(base + "/"):
                return self.paths[path_of_source], plain[len(base) :]
        for base, path_of_source in known:
            found = matched(base, plain) if "{" in base else None
            if found is not None:
                return self.paths[path_of_source], plain[found:]
        raise NoEquivalent(f"no rows are known for the path {path}")

    def topic(self, options):
        named = ("subscribe", "topic", "topics", "streamname", "stream", "subscriptionid", "eventhubs.name")
        for option in named + ("subscribepattern", "assign"):
            if option in options:
                name = options[option].split(",")[0].strip()
                if name in self.topics:
                    return self.topics[name]
        if len(set(self.topics.values())) == 1:
            return next(iter(self.topics.values()))
        raise NoEquivalent("no rows are known for the topic")

    def sql(self, text):
        """A query as Spark takes it; none for a command, which defines nothing."""
        answer = self._channel.ask({"sql": text, "views": self._views})
        if "refused" in answer:
            raise NoEquivalent(answer["refused"])
        if "command" in answer:
            self.note(f"the command {answer['command']}", "nothing: only definitions are run")
            return None
        return answer["sql"]


def matched(base, path):
    """The length of what a path has in common with one that holds values of run time (`{name}`); none where it is another."""
    parts = re.split(r"\{[^{}]*\}", base)
    found = re.match(".+?".join(re.escape(part) for part in parts) + "(?=/|$)", path)
    return found.end() if found else None


def normalized(path):
    path = path.strip()
    if path.startswith("file:"):
        path = "/" + path[len("file:") :].lstrip("/")
    return path.rstrip("/") or "/"
