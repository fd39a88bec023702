//! DataFrame code as people write it, against the plans it must give.

use super::support::{flow, load_text};
use crate::model::{Expr, JoinKind, JoinOn, Node, Plan};

/// The plan of a query whose body is given.
fn plan(body: &str) -> Plan {
    let text = format!(
        "
import dlt
from functools import reduce
from pyspark.sql import DataFrame, Window, functions as F
from pyspark.sql.types import *
src = lambda: spark.readStream.table('s')
@dlt.table
def t():
{body}
"
    );
    let definitions = load_text(&text);
    assert!(definitions.unresolved.is_empty(), "{:?}", definitions.unresolved);
    flow(&definitions, "t").plan.clone()
}

/// Two bodies that mean the same.
fn same(a: &str, b: &str) {
    assert_eq!(plan(a), plan(b));
}

#[test]
fn chains_helpers_loops_and_reductions_give_one_plan() {
    let direct = "    return src().withColumn('a', F.col('a').cast('int')).withColumn('b', F.col('b').cast('int'))";
    same(
        direct,
        "    df = src()\n    for c in ['a', 'b']:\n        df = df.withColumn(c, F.col(c).cast(IntegerType()))\n    return df",
    );
    same(
        direct,
        "    def cast(df, c):\n        return df.withColumn(c, F.col(c).cast('int'))\n    return src().transform(cast, 'a').transform(lambda df: cast(df, c='b'))",
    );
    same(direct, "    return reduce(lambda df, c: df.withColumn(c, F.col(c).cast('int')), ['a', 'b'], src())");
    same(
        "    return src().unionByName(src()).unionByName(src())",
        "    return reduce(DataFrame.unionByName, [src() for _ in range(3)])",
    );
    same(
        "    return src().select('a', F.col('b').alias('c'))",
        "    cols = {'a': 'a', 'b': 'c'}\n    return src().select(*[F.col(k).alias(v) if k != v else F.col(k) for k, v in cols.items()])",
    );
    same("    return src().filter('a > 1')", "    return src().where(F.col('a') > 1)");
    same(
        "    return src().filter(\"a > 1 AND b = 'x'\")",
        "    return src().where((F.col('a') > 1) & (F.col('b') == 'x'))",
    );
}

#[test]
fn sql_text_and_the_column_api_meet() {
    same(
        "    return spark.sql('SELECT * FROM STREAM(s)').where('a > 0')",
        "    q = 'SELECT * FROM STREAM({t})'.format(t='s')\n    return spark.sql(q).where(F.expr('a > 0'))",
    );
    same(
        "    return src().selectExpr('a + 1 AS b', 'upper(c) AS d')",
        "    return src().select((F.col('a') + 1).alias('b'), F.upper('c').alias('d'))",
    );
    same(
        "    return src().withColumn('x', F.expr(\"CASE WHEN a > 1 THEN 'h' ELSE 'l' END\"))",
        "    return src().withColumn('x', F.when(F.col('a') > 1, 'h').otherwise('l'))",
    );
    same("    return src().where('a BETWEEN 1 AND 2')", "    return src().where(F.col('a').between(1, 2))");
    same("    return src().where('a IN (1, 2)')", "    return src().where(F.col('a').isin([1, 2]))");
    same("    return src().where('a IS NOT NULL')", "    return src().where(F.col('a').isNotNull())");
}

#[test]
fn arguments_of_sql_text_take_the_place_of_their_markers() {
    same(
        "    return spark.sql(\"SELECT * FROM STREAM(s) WHERE a = 1 AND b = 'x'\")",
        "    return spark.sql('SELECT * FROM STREAM(s) WHERE a = :a AND b = :b', args={'a': 1, 'b': 'x'})",
    );
}

#[test]
fn views_registered_inside_a_function_are_read_by_its_sql() {
    let plan = plan("    src().createOrReplaceTempView('v')\n    return spark.sql('SELECT a FROM v')");
    assert!(plan.is_streaming());
    assert!(matches!(&plan.node, Node::With { ctes, .. } if ctes.len() == 1));
}

#[test]
fn columns_of_a_frame_know_their_frame() {
    let plan = plan(
        "    a = src().alias('a')\n    b = dlt.read('b')\n    return a.join(b, (a.id == b['id']) & (F.col('a.x') == b.y), 'left')",
    );
    let Node::Join { left, right, kind, on: JoinOn::Condition(condition), .. } = &plan.node else { panic!("{plan:?}") };
    assert_eq!(*kind, JoinKind::LeftOuter);
    assert_eq!((left.frame, right.frame), (Some(1), Some(2)));
    let mut frames = Vec::new();
    condition.walk(&mut |expr| {
        if let Expr::Column(column) = expr {
            frames.push(column.frame);
        }
    });
    assert_eq!(frames, [Some(1), Some(2), None, Some(2)]);
}

#[test]
fn functions_of_the_user_are_opaque_by_content() {
    let body = |inner: &str, name: &str| {
        format!(
            "    def {name}(x):\n        {inner}\n    @F.udf('long')\n    def f(x):\n        return {name}(x) + 1\n    return src().select(f('a').alias('b'))"
        )
    };
    let content = |inner: &str, name: &str| match &plan(&body(inner, name)).node {
        Node::Project { list, .. } => match &list[0] {
            Expr::Alias { expr, .. } => match expr.as_ref() {
                Expr::Opaque(opaque) => (opaque.content, opaque.data_type.clone()),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let base = content("return x * 2", "helper");
    assert_eq!(base.1, crate::model::DataType::Long);
    assert_eq!(base, content("# doubled\n        return (x * 2)", "helper"));
    assert_eq!(base, content("return x * 2", "renamed"));
    assert_ne!(base, content("return x * 3", "helper"));
}

#[test]
fn state_of_processors_is_read_from_their_init() {
    let plan = plan(
        "
    class P:
        def init(self, handle):
            self.n = handle.getValueState('n', 'c long', 1000)
            self.m = handle.getMapState('m', StructType([StructField('k', StringType())]), 'v int')
    return src().groupBy('k').transformWithStateInPandas(P(), 'k string', 'Update', 'EventTime')",
    );
    let Node::StatefulMap { function, .. } = &plan.node else { panic!("{plan:?}") };
    let shown: Vec<_> =
        function.variables.iter().map(|v| (v.name.as_ref(), v.kind.as_ref(), v.ttl, v.value.to_string())).collect();
    assert_eq!(
        shown,
        [("n", "value", true, "struct<c:bigint>".to_owned()), ("m", "map", false, "struct<v:int>".to_owned())]
    );
    assert_eq!((function.output_mode.as_ref(), function.time_mode.as_ref()), ("update", "EventTime"));
}

#[test]
fn schemas_come_from_types_text_and_dicts() {
    let by_text = "    return spark.readStream.format('cloudFiles').option('cloudFiles.format', 'json').schema('a INT, b STRING').load('/p')";
    same(
        by_text,
        "    s = StructType([StructField('a', IntegerType()), StructField('b', StringType(), True)])\n    return spark.readStream.format('cloudFiles').option('cloudFiles.format', 'json').schema(s).load('/p')",
    );
    same(
        by_text,
        "    s = StructType()\n    for n, t in {'a': IntegerType(), 'b': StringType()}.items():\n        s = s.add(n, t)\n    return spark.readStream.format('cloudFiles').options(**{'cloudFiles.format': 'json'}).schema(s).load('/p')",
    );
    same(
        by_text,
        "    return spark.readStream.format('cloudFiles').option('cloudFiles.format', 'json').schema(StructType.fromDDL('a INT, b STRING')).load(path='/p')",
    );
}

#[test]
fn aggregates_windows_and_pivots_have_catalysts_shape() {
    let plan = plan(
        "    return src().withWatermark('ts', '10 minutes').groupBy(F.window('ts', '5 minutes').alias('w'), 'k').agg(F.sum('a').alias('s'), F.countDistinct('b'))",
    );
    let Node::Aggregate { groupings, outputs, .. } = &plan.node else { panic!("{plan:?}") };
    assert!(matches!(&groupings[0], Expr::Call(call) if call.function.as_ref() == "window"));
    assert_eq!(outputs.len(), 4);
    assert!(matches!(&outputs[3], Expr::Call(call) if call.function.as_ref() == "count" && call.distinct));
    same("    return src().groupBy('k').count()", "    return src().groupBy('k').agg(F.count('*').alias('count'))");
    same("    return src().groupBy('k').agg({'a': 'sum'})", "    return src().groupBy('k').sum('a')");
}

#[test]
fn unknown_helpers_keep_their_inputs_and_reason() {
    let definitions = load_text(
        "
import dlt
from vendor import enrich
@dlt.table
def t():
    return enrich(spark.readStream.table('s'), 3).filter('a > 1')
",
    );
    let flow = flow(&definitions, "t");
    let Node::Filter { input, .. } = &flow.plan.node else { panic!("{:?}", flow.plan) };
    assert!(matches!(&input.node, Node::Opaque { inputs, .. } if inputs.len() == 1));
    assert!(flow.plan.is_streaming());
    assert_eq!(definitions.unresolved[0].code, "unknown-call");
    assert_eq!(definitions.unresolved[0].span.as_ref().unwrap().line, 6);
}
