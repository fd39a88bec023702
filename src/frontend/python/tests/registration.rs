//! What decorators and calls register.

use super::support::{flow, load_files, load_on, load_text};
use crate::model::{DatasetKind, Expr, FlowKind, Node, Platform, Source};

fn kinds(text: &str) -> Vec<(String, DatasetKind)> {
    load_text(text).datasets.into_iter().map(|dataset| (dataset.name.to_string(), dataset.kind)).collect()
}

#[test]
fn a_table_is_streaming_where_its_query_streams() {
    let text = "
import dlt
@dlt.table
def a():
    return spark.readStream.table('s')
@dlt.table(name='b2', comment='x')
def b():
    return dlt.read('a')
@dlt.view
def v():
    return spark.table('s')
";
    assert_eq!(
        kinds(text),
        [
            ("a".to_owned(), DatasetKind::StreamingTable),
            ("b2".to_owned(), DatasetKind::MaterializedView),
            ("v".to_owned(), DatasetKind::View)
        ]
    );
}

#[test]
fn spark_tables_are_streaming_tables_whatever_they_read() {
    let text = "
from pyspark import pipelines as dp
@dp.table
def t():
    return spark.read.table('s')
@dp.materialized_view
def m():
    return spark.read.table('s')
";
    let definitions = load_on(Platform::Spark, &[("a.py", text)], &["a.py"]);
    let kinds: Vec<_> = definitions.datasets.iter().map(|dataset| dataset.kind).collect();
    assert_eq!(kinds, [DatasetKind::StreamingTable, DatasetKind::MaterializedView]);
}

#[test]
fn registration_needs_no_decorator_syntax() {
    let text = "
import dlt
class Source:
    def __init__(self, name):
        self.name = name
    def read(self):
        return spark.readStream.table(self.name)
    def register(self):
        dlt.view(self.read, name=f'{self.name}_v')
        dlt.table(name=self.name + '_t')(lambda: dlt.read_stream(f'{self.name}_v'))
for n in ['x', 'y']:
    Source(n).register()
dlt.create_streaming_table('all')
for n in ['x', 'y']:
    @dlt.append_flow(target='all', name=f'from_{n}')
    def f(n=n):
        return dlt.read_stream(n + '_t')
";
    let definitions = load_text(text);
    let names: Vec<_> = definitions.datasets.iter().map(|dataset| dataset.name.to_string()).collect();
    assert_eq!(names, ["x_v", "x_t", "y_v", "y_t", "all"]);
    let from_y = flow(&definitions, "from_y");
    assert_eq!(from_y.kind, FlowKind::Append);
    match &from_y.plan.node {
        Node::Read(read) => assert_eq!(read.source, Source::Table(crate::model::QualifiedName::bare("y_t"))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn expectations_count_above_and_below_the_table() {
    let text = "
import dlt
rules = {'r1': 'a > 0'}
rules.update(r2='b > 0')
@dlt.expect_or_fail('top', 'x > 1')
@dlt.table
@dlt.expect_all_or_drop(rules)
def t():
    return spark.readStream.table('s')
";
    let definitions = load_text(text);
    let shown: Vec<_> =
        definitions.datasets[0].expectations.iter().map(|e| (e.name.as_str(), e.condition.as_str())).collect();
    assert_eq!(shown, [("r1", "a > 0"), ("r2", "b > 0"), ("top", "x > 1")]);
}

#[test]
fn unknown_parts_of_names_stay_symbols_and_unknown_sets_make_templates() {
    let text = "
import dlt
catalog = spark.conf.get('catalog')
@dlt.table(name=f'{catalog}.bronze.{\"orders\"}')
def t():
    return spark.readStream.table(f'{catalog}.raw.orders')
for d in dbutils.fs.ls('/x'):
    @dlt.table(name=f'{d.name}_cdc')
    def f(d=d):
        return spark.readStream.format('cloudFiles').option('cloudFiles.format', 'json').load(d.path)
";
    let definitions = load_text(text);
    let names: Vec<_> = definitions.datasets.iter().map(|d| (d.name.to_string(), d.template)).collect();
    assert_eq!(names, [("{catalog}.bronze.orders".to_owned(), false), ("{any of /x.name}_cdc".to_owned(), true)]);
    assert!(definitions.unresolved.iter().any(|u| u.code == "unknown-configuration" && u.what == "catalog"));
}

#[test]
fn auto_cdc_flows_carry_their_specification() {
    let text = "
import dlt
from pyspark.sql.functions import col, expr
dlt.create_streaming_table(name='t')
dlt.apply_changes(target='t', source='s', keys=['id'], sequence_by=col('ts'), apply_as_deletes=expr(\"op = 'D'\"),
    except_column_list=['op'], stored_as_scd_type=2)
";
    let definitions = load_text(text);
    let spec = definitions.flows[0].cdc().unwrap();
    assert_eq!(spec.keys, [Expr::column("id")]);
    assert_eq!(spec.sequence_by, Some(Expr::column("ts")));
    assert_eq!(spec.scd_type, crate::model::ScdType::Two);
    assert_eq!(spec.apply_as_deletes, Some(Expr::call("=", vec![Expr::column("op"), Expr::string("D")])));
    assert!(definitions.flows[0].plan.is_streaming());
}

#[test]
fn modules_of_the_repository_are_followed_and_named() {
    let files = [
        (
            "p/a.py",
            "import dlt\nfrom lib.clean import tidy\nimport lib.names as n\n@dlt.table(name=n.NAME)\ndef t():\n    return tidy(spark.readStream.table('s'))\n",
        ),
        ("lib/__init__.py", ""),
        ("lib/clean.py", "def tidy(df):\n    return df.dropDuplicates(['id'])\n"),
        ("lib/names.py", "NAME = 'orders'\n"),
    ];
    let definitions = load_files(&files, &["p/a.py"]);
    let orders = flow(&definitions, "orders");
    assert!(matches!(&orders.plan.node, Node::Deduplicate { .. }));
    let code: Vec<_> =
        orders.code.iter().map(|unit| (unit.name.as_ref(), unit.place.span().unwrap().path.as_ref())).collect();
    assert_eq!(code, [("tidy", "lib/clean.py")]);
}

#[test]
fn operations_stand_where_their_call_stands() {
    let text = "import dlt\n@dlt.table\ndef t():\n    return (spark.readStream.table('s')\n            .dropDuplicates(['id'])\n            .select('id'))\n";
    let definitions = load_text(text);
    let flow = flow(&definitions, "t");
    let span = flow.plan.inputs()[0].place.span().unwrap();
    assert_eq!((span.line, span.column, span.end_line, span.end_column), (5, 14, 5, 36));
    let place = definitions.datasets[0].place.span().unwrap();
    assert_eq!((place.line, place.column, place.end_line), (2, 1, 3));
}

#[test]
fn streaming_jobs_are_flows_by_their_checkpoint() {
    let text = "
def each(df, batch_id):
    df.write.mode('append').saveAsTable('x')
q = (spark.readStream.table('s').writeStream.outputMode('append').option('checkpointLocation', '/chk/a').toTable('t'))
spark.readStream.table('s').writeStream.foreachBatch(each).queryName('fb').option('checkpointLocation', '/chk/b').start()
q.awaitTermination()
";
    let definitions = load_text(text);
    let shown: Vec<_> = definitions
        .flows
        .iter()
        .map(|flow| match &flow.kind {
            FlowKind::StreamJob(write) => (flow.name.as_str(), write.checkpoint.as_deref()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shown, [("t", Some("/chk/a")), ("fb", Some("/chk/b"))]);
}

#[test]
fn factories_that_nothing_calls_are_told_of() {
    let text = "
import dlt
def make(n):
    @dlt.table(name=n)
    def f():
        return spark.readStream.table(n)
def used(n):
    dlt.create_streaming_table(n)
used('t')
";
    let definitions = load_text(text);
    let shown: Vec<_> = definitions.unresolved.iter().map(|u| (u.code.as_str(), u.what.as_str())).collect();
    assert_eq!(shown, [("uncalled-factory", "make")]);
}

#[test]
fn a_second_definition_is_kept_for_the_whole_pipeline_to_judge() {
    let text = "
import dlt
@dlt.table(name='t')
def a():
    return spark.readStream.table('first')
@dlt.table(name='t')
def b():
    return spark.readStream.table('second')
";
    let definitions = load_text(text);
    // Which of them stands is settled over all files of the pipeline.
    assert_eq!(definitions.datasets.len(), 1);
    assert_eq!(definitions.flows.len(), 2);
    assert!(
        matches!(&definitions.flows[0].plan.node, Node::Read(read) if read.source == Source::Table(crate::model::QualifiedName::bare("first")))
    );
}
