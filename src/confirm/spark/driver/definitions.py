"""Runs the files of a pipeline, statement by statement, and finds the modules that they import."""

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types

from failures import NoEquivalent


def execute(path, session, failed):
    """Runs a file. What Apache Spark or this machine does not have ends one statement, and `failed` hears of it; any other
    error ends the file."""
    name = os.path.splitext(os.path.basename(path))[0]
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, path))
    module.__dict__["spark"] = session
    with open(path, encoding="utf-8") as file:
        statements = ast.parse(file.read(), path).body
    future = [statement for statement in statements if is_future(statement)]
    for statement in statements:
        if statement in future:
            continue
        try:
            exec(compile(ast.Module([*future, statement], []), path, "exec"), module.__dict__)
        except (NoEquivalent, ImportError) as error:
            failed(error)


def is_future(statement):
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


class StandIn(types.ModuleType):
    """A module that this machine does not have. Whoever uses what is in it learns so."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(self.__name__)


class Absent:
    """Anything in a module that is not here."""

    def __init__(self, module, *_class):
        self._module = module

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_args, **_kwargs):
        raise NoEquivalent(f"the module {self._module} is not installed")


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds for code of a revision what nothing else finds: modules of the repository, then stand-ins.

    The platform's paths of the repository (`/Workspace/Repos/…`), which code adds to `sys.path`, are folders of `root` here: the
    ones with the longest common tail."""

    def __init__(self, root, folder, names):
        self._root = os.path.abspath(root)
        self._folder = folder
        self._names = names

    @contextlib.contextmanager
    def found(self):
        path = list(sys.path)
        importlib.invalidate_caches()
        sys.meta_path.append(self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)
            sys.path[:] = path
            self._forget()

    def _forget(self):
        """Modules of one revision must not be taken for those of the other."""
        for name, module in list(sys.modules.items()):
            files = [getattr(module, "__file__", None), *(getattr(module, "__path__", None) or [])]
            if isinstance(module, StandIn) or any(file and self._is_own(file) for file in files):
                del sys.modules[name]

    def _is_own(self, path):
        return os.path.abspath(path).startswith(self._root + os.sep)

    def find_spec(self, name, path=None, target=None):
        if path is not None and list(path):
            return None
        importer = self._importer()
        if importer is None:
            return None
        file, line = importer
        if path is None:
            for folder in [os.path.dirname(file), *self._added(), self._folder, self._root]:
                spec = importlib.machinery.PathFinder.find_spec(name, [folder])
                if spec is not None and (spec.origin or holds_python(os.path.join(folder, name))):
                    return spec
        if is_optional(file, line):
            return None
        self._names.note(f"the module {name}", "nothing: it is not installed")
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass

    def _importer(self):
        """The file and the line of the revision's code that asks, or none where another module does."""
        frame = sys._getframe(2)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is None or not self._is_own(frame.f_code.co_filename):
            return None
        return frame.f_code.co_filename, frame.f_lineno

    def _added(self):
        for path in sys.path:
            if isinstance(path, str) and path and not os.path.isdir(path):
                parts = [part for part in path.split("/") if part]
                tails = (os.path.join(self._root, *parts[start:]) for start in range(len(parts)))
                yield from [tail for tail in tails if os.path.isdir(tail)][:1]


def holds_python(folder):
    return any(file.endswith(".py") for _, _, files in os.walk(folder) for file in files)


def is_optional(path, line):
    """Whether the code goes on without the module: the import stands in a `try` that catches its failure."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    caught = ("ImportError", "ModuleNotFoundError", "Exception")
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(part.lineno <= line <= part.end_lineno for part in node.body):
            for handler in node.handlers:
                if handler.type is None or any(name in ast.unparse(handler.type) for name in caught):
                    return True
    return False
