//! Arbitrary bytes and mutated code: no panic, and time bounded by the fuel.

use super::support::{load_files, load_text};
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, proptest};
use std::time::{Duration, Instant};

/// Real constructs, one a line group, to cut and shuffle.
const CONSTRUCTS: &[&str] = &[
    "import dlt\nfrom pyspark.sql import functions as F, Window\n",
    "@dlt.table(name=f'{x}_t', table_properties={'a': 'b'})\ndef t(y=1, *a, **k):\n    return spark.readStream.table('s').dropDuplicates(['id'])\n",
    "for n in ['a', 'b']:\n    @dlt.append_flow(target='t', name=n)\n    def f(n=n):\n        return dlt.read_stream(n)\n",
    "class C(D):\n    z = {1: [2, (3,)]}\n    def m(self):\n        return super().m() + self.z[1][-1]\nc = C().m()\n",
    "df = spark.table('s').select('*', F.col('a.b')[0], F.when(F.col('c') > 1, 2).otherwise(None)).groupBy('k').agg(F.sum('x'))\n",
    "q = df.writeStream.option('checkpointLocation', p).foreachBatch(lambda b, i: b).start()\n",
    "while i < 10:\n    i += 1\n    l = [i] * i + l[::-1]\n",
    "x = y = {k: v for k, v in zip('ab', range(3)) if v} or None\n",
    "def r(n): return r(n - 1) if n else 0\nz = r(100)\n",
    "try:\n    raise ValueError('x' % 3)\nexcept (KeyError, ValueError) as e:\n    pass\nfinally:\n    w = lambda: (yield)\n",
    "s = 'a{}b{0}{k!r:>{w}}'.format(1, k=2) + '%(x)s' % {'x': [1]} + f'{s!r}{{}}'\n",
    "match x:\n    case 1 | 2: pass\n    case {'a': b}: pass\n    case _: y = x\n",
    "from .a import *\nimport os.path as p, json\np.join(*[json.loads('[1'), None])\n",
    "w = Window.partitionBy('a').orderBy(F.desc('b')).rowsBetween(-1, Window.currentRow)\n",
    "spark.sql(f'SELECT * FROM {t} WHERE a = {1/0}').filter('a >').selectExpr('(').createOrReplaceTempView(n)\n",
];

fn within_time(text: &str) -> Duration {
    let started = Instant::now();
    let definitions = load_text(text);
    std::hint::black_box(definitions.datasets.len());
    started.elapsed()
}

/// Unoptimised test builds are slow; an endless run is what must not happen.
const LIMIT: Duration = Duration::from_secs(20);

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        prop_assert!(within_time(&text) < LIMIT);
    }

    #[test]
    fn pieces_in_any_order_with_cuts_never_panic(
        picks in prop::collection::vec(0..CONSTRUCTS.len(), 1..8),
        cut in any::<prop::sample::Index>(),
        length in 0usize..12,
        insert in "[()\\[\\]{}:,.'\"@*=\\\\ \n%f#]{0,4}",
    ) {
        let mut text: Vec<char> = picks.iter().filter_map(|pick| CONSTRUCTS.get(*pick)).flat_map(|t| t.chars()).collect();
        let at = cut.index(text.len());
        let end = (at + length).min(text.len());
        text.splice(at..end, insert.chars());
        let text: String = text.into_iter().collect();
        prop_assert!(within_time(&text) < LIMIT);
    }

    #[test]
    fn notebooks_of_any_text_never_panic(text in any::<String>()) {
        let source = format!("# Databricks notebook source\n{text}\n# COMMAND ----------\n# MAGIC %{text}");
        load_files(&[("a.py", source.as_str()), ("b.ipynb", text.as_str())], &["a.py", "b.ipynb"]);
    }
}

#[test]
fn growth_without_end_is_cut_off() {
    let texts = [
        "x = 'a'\nwhile True:\n    x = x + x\n",
        "x = [1]\nfor i in range(10**9):\n    x = x + x\n",
        "x = ['a' * 10**9] * 10**9\n",
        "def f(n): return f(n + 1) + f(n + 2)\nf(0)\n",
        "x = 10 ** 10 ** 10\ny = 1 << 10**12\nz = -(-9223372036854775807 - 1)\nw = z // -1\nv = z % -1\n",
        "df = spark.table('s')\nfor i in range(100000):\n    df = df.withColumn(f'c{i}', df.a + i)\n",
        "d = {}\nfor i in range(200000):\n    d[i] = d\nprint(str(d))\nl = []\nl.append(l)\nprint(f'{l}')\ns = l == l\n",
        "import itertools\nfor x in itertools.product(range(20000), range(20000)): pass\n",
        "from a import b\nimport a\n",
        "class A(A): pass\nclass B(A): pass\nB().x\n",
        "x = '{0[0][0]}{1.a.b}'.format([[1]], 2) * 3\ny = 'a'.zfill(10**12).center(10**12)\n",
        "import dlt\n@dlt.table\ndef t():\n    df = spark.table('s')\n    for i in range(30):\n        df = df.union(df)\n    return df\n",
        "c = F.col('a')\nfrom pyspark.sql import functions as F\nc = F.col('a')\nfor i in range(40):\n    c = c + c\nx = spark.table('t').select(c)\n",
    ];
    for text in texts {
        let elapsed = within_time(text);
        assert!(elapsed < LIMIT, "{elapsed:?} for {text}");
    }
    let deep = format!("x = {}1{}\n", "[".repeat(20_000), "]".repeat(20_000));
    within_time(&deep);
    let chain = format!("x = spark.table('s'){}\n", ".filter('a > 1')".repeat(3_000));
    within_time(&chain);
    let sum = format!("x = {}\n", vec!["1"; 20_000].join(" + "));
    within_time(&sum);
}
