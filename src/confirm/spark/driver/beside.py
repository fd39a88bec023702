"""Code beside the definitions. What writes tables, runs commands, starts processes or reaches the network is not executed."""

import contextlib
import os
import sys
import tempfile

from failures import NoEquivalent

# Events of the interpreter (docs.python.org: "Audit events table") with which code leaves this process.
PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn")
HOSTS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
PEERS = ("socket.connect", "socket.sendto", "socket.sendmsg")
LOOPBACK = ("localhost", "127.0.0.1", "::1", "")
FILES = ("open", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree", "shutil.move")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Fence:
    """Refuses what leaves this process while code of the pipeline runs. An audit hook stays for good, so there is one."""

    _installed = None

    def __init__(self):
        self._depth = 0
        self._folders = ()

    @classmethod
    def installed(cls):
        if cls._installed is None:
            cls._installed = cls()
            sys.addaudithook(cls._installed.heard)
        return cls._installed

    @contextlib.contextmanager
    def around(self, folder):
        self._folders = tuple(os.path.realpath(path) + os.sep for path in (folder, tempfile.gettempdir()))
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def heard(self, event, arguments):
        if not self._depth:
            return
        if event in PROCESSES:
            raise NoEquivalent("code that starts a process is not run")
        if event in HOSTS and str(arguments[0] or "") not in LOOPBACK:
            raise NoEquivalent(f"code that reaches the network ({arguments[0]}) is not run")
        if event in PEERS and is_remote(arguments[-1]):
            raise NoEquivalent("code that reaches the network is not run")
        if event in FILES and self._is_written(event, arguments):
            raise NoEquivalent(f"code that changes files ({arguments[0]}) is not run")

    def _is_written(self, event, arguments):
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & WRITES):
            return False
        path = arguments[0]
        if not isinstance(path, (str, bytes)) or os.fsdecode(path) == os.devnull:
            return False
        return not os.path.realpath(os.fsdecode(path)).startswith(self._folders)


def is_remote(address):
    """An address of the internet families; a path, of a socket of this machine, is none."""
    return isinstance(address, tuple) and str(address[0]) not in LOOPBACK


def writers():
    """What writes by itself: definitions only describe queries."""
    from pyspark.sql.connect.catalog import Catalog
    from pyspark.sql.connect.readwriter import DataFrameWriter, DataFrameWriterV2
    from pyspark.sql.connect.streaming.readwriter import DataStreamWriter

    forms = ("json", "csv", "parquet", "orc", "text", "xml", "jdbc")
    v2 = ("create", "replace", "createOrReplace", "append", "overwrite", "overwritePartitions")
    named = (
        (DataFrameWriter, ("save", "saveAsTable", "insertInto", *forms)),
        (DataFrameWriterV2, v2),
        (DataStreamWriter, ("start", "table", "toTable")),
        (Catalog, ("createTable", "createExternalTable")),
    )
    return [(owner, method) for owner, methods in named for method in methods if hasattr(owner, method)]


def refused(method):
    def write(*_args, **_kwargs):
        raise NoEquivalent(f"the code itself writes ({method}), which a confirmation does not do")

    return write


@contextlib.contextmanager
def not_executed(names):
    """Within it, nothing writes. Lakeflow's notebooks hold such code beside their definitions: there it does nothing, and frames
    have the methods that notebooks give them."""
    from pyspark.sql.connect.dataframe import DataFrame

    def ignored(method):
        def write(*_args, **_kwargs):
            names.note(f"the write by {method}()", "nothing: only definitions are run")

        return write

    def is_ignored(owner):
        return names.lakeflow and owner.__name__ != "DataStreamWriter"

    replaced = [(owner, name, ignored(name) if is_ignored(owner) else refused(name)) for owner, name in writers()]
    if names.lakeflow:
        replaced.append((DataFrame, "display", lambda *_args, **_kwargs: None))
    saved = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in replaced]
    for owner, name, method in replaced:
        setattr(owner, name, method)
    try:
        yield
    finally:
        for owner, name, own in saved:
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)
