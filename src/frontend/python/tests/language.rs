//! Python as people write it: names and sets that the interpreter must follow.

use super::support::{load_files, load_text};

/// Names of the datasets a text defines.
fn names(text: &str) -> Vec<String> {
    load_text(text).datasets.into_iter().map(|dataset| dataset.name.to_string()).collect()
}

/// Names of the tables made by `make(name)` calls after a preamble that defines it.
fn made(text: &str) -> Vec<String> {
    let preamble = "
import dlt
def make(name):
    @dlt.table(name=name)
    def _f():
        return spark.readStream.table('s')
";
    names(&format!("{preamble}{text}"))
}

#[test]
fn text_is_formatted_in_every_way() {
    let text = "
import os
from pathlib import Path
x = 'b'
make('a_%s' % x)
make('a_{}_{y}'.format(x, y=2))
make('%(k)s_%03d' % {'k': 'k'} if False else '%s_%03d' % ('k', 7))
make(f'{x!r:>5}'.strip().strip(\"'\") + f'{3.14159:.2f}'.replace('.', '_'))
make('_'.join(s.upper() for s in ['p', 'q']))
make(os.path.basename('/a/b/c.json').split('.')[0])
make(Path('/a/b/d.json').stem)
make('AbC'.lower()[::-1])
make('x_y_z'.rsplit('_', 1)[0])
make(str(12) + '_' + 'ab'.zfill(4))
";
    let expected = ["a_b", "a_b_2", "k_007", "b3_14", "P_Q", "c", "d", "cba", "x_y", "12_00ab"];
    assert_eq!(made(text), expected);
}

#[test]
fn collections_and_loops_are_followed() {
    let text = "
cfg = {'t1': {'k': 1}, 't2': {'k': 2}}
for name, c in cfg.items():
    if c['k'] == 2:
        make(name)
for i, (a, *rest) in enumerate(zip(['m', 'n'], 'xy', range(2)), start=1):
    make(f'{a}{i}{rest[0]}{rest[1]}')
seen = {s for s in ['u', 'u', 'v']}
for s in sorted(seen, reverse=True):
    make(s)
n = 0
while True:
    n += 1
    if n > 2: break
    make(f'w{n}')
else:
    make('never')
first, second = [f't{i}' for i in range(10) if i % 4 == 3]
make(first); make(second)
lookup = dict(zip(['a', 'b'], map(lambda v: v * 2, [1, 2])))
make('l' + str(lookup['b']) + str(lookup.get('z', 'd')))
merged = {**{'x': 'x1'}, **{'y': 'y1'}} | {'z': 'z1'}
for v in merged.values():
    make(v)
*head, last = [1, 2, 3]
make(f'last{last}{len(head)}')
";
    let expected = ["t2", "m1x0", "n2y1", "v", "u", "w1", "w2", "t3", "t7", "l4d", "x1", "y1", "z1", "last32"];
    assert_eq!(made(text), expected);
}

#[test]
fn functions_bind_arguments_as_python_does() {
    let text = "
import functools
def f(a, b='B', *args, c='C', **kw):
    return '_'.join([a, b, *args, c, *[k + v for k, v in kw.items()]])
make(f('a'))
make(f(*['a', 'b', 'x'], **{'c': 'c', 'k': 'v'}))
g = functools.partial(f, 'p', c='q')
make(g('r'))
make(functools.reduce(lambda a, b: a + b, ['x', 'y', 'z']))
def counter():
    total = 0
    def step():
        nonlocal total
        total += 1
        return f'n{total}'
    return step
step = counter(); step()
make(step())
def twice(fn):
    @functools.wraps(fn)
    def inner(*a, **k):
        return fn(*a, **k) * 2
    return inner
@twice
def base(x='q'):
    return x
make(base()); make(base.__name__)
def gen():
    yield 'g1'
    for x in ('g2', 'g3'):
        yield x
for x in gen(): make(x)
fs = [lambda i=i: f'lam{i}' for i in range(2)]
make(fs[0]())
";
    let expected = ["a_B_C", "a_b_x_c_kv", "p_r_q", "xyz", "n2", "qq", "base", "g1", "g2", "g3", "lam0"];
    assert_eq!(made(text), expected);
}

#[test]
fn classes_dataclasses_and_enums_are_followed() {
    let text = "
from dataclasses import dataclass, field
from enum import Enum
from collections import namedtuple
class Layer(Enum):
    BRONZE = 'bronze'
    SILVER = 'silver'
@dataclass
class Spec:
    name: str
    layer: Layer = Layer.BRONZE
    tags: list = field(default_factory=lambda: ['t'])
    @property
    def full(self):
        return f'{self.layer.value}_{self.name}_{self.tags[0]}'
class Base:
    prefix = 'base'
    def __init__(self, n): self.n = n
    def title(self): return f'{self.prefix}_{self.n}'
    @classmethod
    def of(cls, n): return cls(n)
    @staticmethod
    def plain(x): return x + '_plain'
class Child(Base):
    prefix = 'child'
    def __init__(self, n):
        super().__init__(n + '1')
    def title(self): return super().title() + '_c'
    def __call__(self): return 'called_' + self.n
make(Spec('s').full)
make(Spec('s', Layer('silver')).full)
make(Child.of('x').title()); make(Base.plain('y')); make(Child('z')())
P = namedtuple('P', 'a b')
p = P('pa', b='pb')
make(p.a + p.b)
for layer in Layer: make(layer.name.lower() + '2')
make(getattr(Base('k'), 'missing', 'dflt'))
";
    let expected =
        ["bronze_s_t", "silver_s_t", "child_x1_c", "y_plain", "called_z1", "papb", "bronze2", "silver2", "dflt"];
    assert_eq!(made(text), expected);
}

#[test]
fn exceptions_matches_and_flags_choose_paths() {
    let text = "
try:
    import dlt as other
except ImportError:
    make('no_dlt')
d = {}
try:
    d['k']
except KeyError:
    make('missing_key')
else:
    make('found')
finally:
    make('always')
def pick(kind):
    match kind:
        case 'a' | 'b': return 'ab'
        case _: return 'rest'
make(pick('b')); make(pick('z'))
if spark.conf.get('feature.x', 'false').lower() == 'true':
    make('flagged')
DEBUG = False
make('debug' if DEBUG else 'release')
if __name__ == '__main__':
    make('main')
if (n := len('abc')) > 2: make(f'walrus{n}')
";
    let expected = ["missing_key", "always", "ab", "rest", "release", "main", "walrus3"];
    assert_eq!(made(text), expected);
}

#[test]
fn both_branches_of_an_unknown_condition_register_and_are_marked() {
    let definitions = load_text(
        "
import dlt
env = spark.conf.get('env')
if env == 'prod':
    @dlt.table
    def a():
        return spark.readStream.table('p')
else:
    @dlt.table
    def b():
        return spark.readStream.table('d')
",
    );
    let shown: Vec<_> = definitions
        .datasets
        .iter()
        .map(|dataset| (dataset.name.to_string(), dataset.other.get("condition").cloned().unwrap_or_default()))
        .collect();
    assert_eq!(
        shown,
        [("a".to_owned(), "env == 'prod'".to_owned()), ("b".to_owned(), "not (env == 'prod')".to_owned())]
    );
}

#[test]
fn configuration_files_and_modules_of_the_repository_are_read() {
    let files = [
        (
            "src/pipe.py",
            "
import dlt, json, yaml, sys, os, importlib
sys.path.append(os.path.abspath('../shared'))
from names import *
from .sub import helper as h
conf = json.load(open('tables.json'))
with open(os.path.join(os.path.dirname(__file__), 'more.yml')) as f:
    more = yaml.safe_load(f)
mod = importlib.import_module('pkg.deep')
for n in conf['tables'] + more['tables'] + [PREFIX + 'x', h.NAME, mod.VALUE]:
    dlt.table(lambda n=n: spark.readStream.table(n), name=n)
",
        ),
        ("src/tables.json", "{\"tables\": [\"j1\"]}"),
        ("src/more.yml", "tables:\n  - y1\n"),
        ("shared/names.py", "__all__ = ['PREFIX']\nPREFIX = 'pre_'\nHIDDEN = 1\n"),
        ("src/sub/__init__.py", ""),
        ("src/sub/helper.py", "NAME = 'rel'\n"),
        ("src/pkg/deep.py", "from ..sub.helper import NAME\nVALUE = NAME + '_deep'\n"),
    ];
    let definitions = load_files(&files, &["src/pipe.py"]);
    let names: Vec<_> = definitions.datasets.iter().map(|dataset| dataset.name.to_string()).collect();
    assert_eq!(names, ["j1", "y1", "pre_x", "rel", "rel_deep"]);
}

#[test]
fn notebooks_share_one_namespace_over_cells_and_runs() {
    let files = [
        (
            "nb/main.py",
            "# Databricks notebook source\n# MAGIC %run ./setup\n\n# COMMAND ----------\n\n@dlt.table(name=NAME)\ndef f():\n    return spark.readStream.table('s')\n\n# COMMAND ----------\n\n# MAGIC %sql\n# MAGIC CREATE MATERIALIZED VIEW m AS SELECT * FROM s\n",
        ),
        (
            "nb/setup.py",
            "# Databricks notebook source\n# MAGIC %pip install x\n\n# COMMAND ----------\n\nimport dlt\nNAME = 'from_setup'\n",
        ),
    ];
    let definitions = load_files(&files, &["nb/main.py"]);
    let names: Vec<_> = definitions.datasets.iter().map(|dataset| dataset.name.to_string()).collect();
    assert_eq!(names, ["from_setup", "m"]);
    let span = definitions.datasets[0].place.span().unwrap();
    assert_eq!((span.line, span.cell), (6, Some(2)));
}
