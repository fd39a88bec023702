"""What stands for which table, folder and topic of the user's code, while one pipeline is run."""

from failures import NoEquivalent


class Names:
    """`tables` maps lower-case dotted names to tables of the run's schema, `paths` and `topics` likewise to sources."""

    def __init__(self, request, channel):
        self.tables = request["tables"]
        self.paths = request["paths"]
        self.topics = request["topics"]
        self.sinks = request["sinks"]
        self.defaults = [part for part in request["defaults"] if part]
        self._channel = channel
        self.notes = []

    def note(self, what, by):
        if [what, by] not in self.notes:
            self.notes.append([what, by])

    def table(self, name):
        """A table of the run's schema for a name of the code; the name itself where it is a view of the pipeline."""
        parts = [part.strip("`") for part in name.strip().split(".")]
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
        """The source under a path, and what of the path leads on below it."""
        plain = normalized(path)
        for known in sorted(self.paths, key=len, reverse=True):
            base = normalized(known)
            if plain == base or plain.startswith(base + "/"):
                return self.paths[known], plain[len(base) :]
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
        answer = self._channel.ask({"sql": text})
        if "refused" in answer:
            raise NoEquivalent(answer["refused"])
        return answer["sql"]


def normalized(path):
    path = path.strip()
    if path.startswith("file:"):
        path = "/" + path[len("file:") :].lstrip("/")
    return path.rstrip("/") or "/"
