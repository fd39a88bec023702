//! What queries become: forms that must be understood, and the shape of the telling ones.

use super::*;
use crate::model::{GroupingSets, JoinKind, Read, Source, Value};

fn plan(text: &str) -> Plan {
    let parsed = parse_query(text, &Context::new(Origin::file("q.sql".into())));
    assert!(parsed.problems.diagnostics.is_empty(), "{text}: {:?}", parsed.problems.diagnostics);
    parsed.value
}

fn expression(text: &str) -> Expr {
    let parsed = parse_expression(text, &Context::default());
    assert!(parsed.problems.diagnostics.is_empty(), "{text}: {:?}", parsed.problems.diagnostics);
    parsed.value
}

fn first_read(plan: &Plan) -> Read {
    (*plan.reads().first().unwrap()).clone()
}

#[test]
fn forms_of_queries_are_understood() {
    let mut failures: Vec<String> = Vec::new();
    for text in [
        "SELECT * FROM STREAM a.b.c",
        "SELECT * FROM STREAM(a.b) x JOIN stream live.y z ON x.id = z.id",
        "SELECT a, b FROM t WHERE a IN (1, 2) AND b NOT LIKE 'x%' OR NOT c BETWEEN 1 AND 2",
        "SELECT * FROM STREAM read_files('/p', format => 'json', schemaHints => 'a INT') WHERE a > 1",
        "SELECT * FROM STREAM(read_files(\"/p\", format => \"json\"))",
        "SELECT * FROM cloud_files('/p', 'csv', map('header', 'true'))",
        "SELECT window(ts, '10 minutes').start, count(*) FROM STREAM(e) WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS e GROUP BY window(ts, '10 minutes')",
        "SELECT * FROM STREAM e WATERMARK ts DELAY OF INTERVAL '10' MINUTE JOIN STREAM f AS g WATERMARK to_timestamp(x) AS et DELAY OF INTERVAL 1 HOUR 30 MINUTES ON e.a = g.a",
        "SELECT * FROM (SELECT * FROM STREAM e) WATERMARK ts DELAY OF INTERVAL 1 DAY s",
        "SELECT * FROM STREAM t WITH ('maxFilesPerTrigger' = '1', SKIPCHANGECOMMITS=TRUE) x",
        "SELECT * FROM STREAM t CHANGES FROM VERSION 3 INCLUSIVE IDENTIFIED BY src1",
        "SELECT a DIV b, struct(b.*) AS s, 'a' 'b', CAST(x AS interval day to second), x::decimal(10,2) FROM b",
        "SELECT struct(*), struct(a AS x, b y), named_struct('a', 1), array(1,2), map('a', 1) FROM t",
        "SELECT k, v FROM t LATERAL VIEW OUTER explode(m) e AS k, v LATERAL VIEW posexplode(arr) AS p, q",
        "SELECT *, row_number() OVER (PARTITION BY a ORDER BY b DESC NULLS LAST) rn FROM t QUALIFY rn = 1",
        "SELECT * EXCEPT (a, b), t.* EXCEPT (c) FROM t",
        "SELECT raw:payload.items[0].id::string, raw:['x y'], raw:a.b FROM t",
        "SELECT count(*) FILTER (WHERE a > 0), count(DISTINCT a, b), first(x) IGNORE NULLS, any_value(y) FROM t",
        "SELECT transform(arr, x -> x + 1), filter(arr, (x, i) -> i > 0), aggregate(a, 0, (acc, x) -> acc + x.f, acc -> acc) FROM t",
        "SELECT * FROM t TABLESAMPLE (10 PERCENT) x",
        "SELECT * FROM t PIVOT (sum(v) AS s FOR k IN ('a' AS a, 'b'))",
        "SELECT a FROM t DISTRIBUTE BY a SORT BY b DESC",
        "SELECT a FROM t CLUSTER BY a",
        "FROM t SELECT a, b WHERE a > 1",
        "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(x, y)",
        "VALUES (1), (2)",
        "SELECT * FROM json.`/data/x.json`",
        "SELECT * FROM delta.`s3://b/x` WHERE 1 = 1",
        "WITH a AS (SELECT 1 x), b (y) AS (SELECT x FROM a) SELECT * FROM b ORDER BY 1 LIMIT 10 OFFSET 2",
        "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
        "SELECT a FROM t UNION SELECT b FROM u INTERSECT SELECT c FROM v EXCEPT ALL SELECT d FROM w",
        "SELECT a FROM x LEFT SEMI JOIN y USING (k) LEFT ANTI JOIN z ON x.k = z.k NATURAL JOIN n CROSS JOIN c FULL OUTER JOIN f ON TRUE",
        "SELECT a FROM t, LATERAL (SELECT b FROM u WHERE u.k = t.k) l",
        "SELECT a FROM t, LATERAL explode(t.arr) AS e(x)",
        "SELECT a, sum(b) FROM t GROUP BY ROLLUP(a), CUBE(b, c), GROUPING SETS ((d), (e, f), ())",
        "SELECT a, b, sum(c) FROM t GROUP BY a, b WITH ROLLUP HAVING sum(c) > 1",
        "SELECT a, b, sum(c) FROM t GROUP BY a, b GROUPING SETS ((a), (b))",
        "SELECT a, sum(c) s FROM t GROUP BY ALL ORDER BY ALL",
        "SELECT sum(x) OVER w, lag(x, 1) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) FROM t WINDOW w AS (PARTITION BY a ORDER BY b)",
        "SELECT DATE'2024-01-01', TIMESTAMP'2024-01-01 00:00:00', TIMESTAMP_NTZ'2024-01-01', X'1F', 10L, 2S, 1.0D, 1.5BD, 3Y, 1e3 FROM t",
        "SELECT current_timestamp, current_date(), current_timestamp() + INTERVAL 1 DAY, ts - INTERVAL '1 2:03:04' DAY TO SECOND FROM t",
        "SELECT interval, date, timestamp, year, `order`, value, key, start, end, window.start, first, last FROM t",
        "SELECT if(a, 1, 2), left(s, 2), right(s, 2), replace(s, 'a', 'b'), date(x), int(y), any(z), some(z), year(d), day(d), exists(a, x -> x > 1) FROM t",
        "SELECT extract(hour FROM ts), extract(YEAR FROM ts), trim(BOTH 'x' FROM s), trim(s), substring(s FROM 2 FOR 3), substr(s, 1, 2), position('a' IN s), ceil(x), floor(x, 2), overlay(s PLACING 'x' FROM 1) FROM t",
        "SELECT date_add(DAY, 1, d), datediff(HOUR, a, b), timestampdiff(MINUTE, a, b), dateadd(d, 1) FROM t",
        "SELECT CASE WHEN a THEN 1 ELSE 2 END, CASE a WHEN 1 THEN 'x' END, a <=> b, a == b, a != b, !a, ~a, a ^ b, a << 1, a >> 1 FROM t",
        "SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b, a IS TRUE, a IS NOT FALSE, a IS NOT NULL, a RLIKE 'x', a REGEXP 'x', a ILIKE 'x', a LIKE ANY ('x', 'y') FROM t",
        "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a) AND a IN (SELECT b FROM v) AND c = (SELECT max(d) FROM w)",
        "SELECT * FROM IDENTIFIER('a.b') WHERE IDENTIFIER('x') = 1",
        "SELECT * FROM ${catalog}.x_${env}.t WHERE p = '${path}'",
        "SELECT * FROM {{db}}.t JOIN {cfg.x}.u USING (k)",
        "SELECT * FROM range(10) r JOIN explode(array(1, 2)) AS e(x)",
        "SELECT * FROM table_changes('t', 2, 5)",
        "SELECT * FROM read_kafka(bootstrapServers => 'h:9092', subscribe => 'topic')",
        "SELECT 1 AS `a b`, \"double\" AS d, 'it''s', 'it\\'s', r'\\d'",
        "SELECT t.a.b.c, arr[0].x, m['k'], f(x).y FROM t",
        "SELECT a FROM t VERSION AS OF 3",
        "SELECT a FROM t TIMESTAMP AS OF '2024-01-01'",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x), listagg(DISTINCT y, ',') WITHIN GROUP (ORDER BY y) FROM t",
        "SELECT try_cast(a AS INT), cast(a AS STRUCT<x: INT, y: ARRAY<STRING>>), from_json(s, 'a INT') FROM t",
        "SELECT /*+ BROADCAST(x) */ a FROM t -- comment\n",
        "TABLE t",
        "FROM t |> WHERE a > 1 |> SELECT a |> LIMIT 3",
        "SELECT stack(2, 1, 2) AS (a, b), inline(arr) FROM t",
        "SELECT * FROM t UNPIVOT (v FOR k IN (a, b))",
        "(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1",
        "SELECT count(*) AS count, sum(x) AS sum, max(y) AS date FROM t HAVING count(*) > 1",
        "SELECT stream, live FROM stream WHERE stream.a > 1",
        "SELECT * FROM a, STREAM b, STREAM(c) d",
        "SELECT DISTINCT a FROM STREAM(LIVE.t)",
        "SELECT session_window(ts, '5 minutes') w, count(1) FROM STREAM t GROUP BY session_window(ts, '5 minutes'), u",
        "SELECT :p AS p",
        "SELECT * FROM VALUES 1, 2 AS t",
        "SELECT * FROM (VALUES 1, least(2, 3)) AS t (a)",
        "SELECT * FROM VALUES (1, 2) t(a, b) WHERE a > 1",
        "VALUES (1, 2), (3, 4) AS t(a, b)",
        "SELECT values, x.values FROM values",
        "SELECT * EXCEPT (t.a, u.b) FROM t JOIN u USING (k)",
        "SELECT a?::INT, b::INT?::STRING FROM t",
        "SELECT X\"1F\", -.5e+2BD, 3.e+3, 1E-3D",
        "SELECT a FROM t WHERE b = :p AND ts > now() - INTERVAL 7 DAYS",
    ] {
        let parsed = parse_query(text, &Context::new(Origin::file("q.sql".into())));
        failures.extend(parsed.problems.diagnostics.into_iter().map(|problem| format!("{text}: {}", problem.message)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_stream_read_keeps_options_name_and_watermark() {
    let text = "SELECT e.a FROM STREAM main.s.t WITH (SKIPCHANGECOMMITS = TRUE) IDENTIFIED BY src \
                WATERMARK ts DELAY OF INTERVAL 10 MINUTES e";
    let plan = plan(text);
    let read = first_read(&plan);
    assert!(read.streaming);
    assert_eq!(read.source, Source::Table(crate::model::QualifiedName::parse("main.s.t")));
    assert_eq!(read.option("skipChangeCommits"), Some("true"));
    assert_eq!(read.name.as_deref(), Some("src"));
    let Node::Project { input, .. } = &plan.node else { panic!("{plan:?}") };
    let Node::SubqueryAlias { alias, input, .. } = &input.node else { panic!("{input:?}") };
    assert_eq!(alias.as_ref(), "e");
    let Node::Watermark { event_time, delay, .. } = &input.node else { panic!("{input:?}") };
    assert_eq!(*event_time, Expr::column("ts"));
    assert_eq!(*delay, Expr::literal(Value::DayTimeInterval(600_000_000), DataType::DayTimeInterval));
    let place = input.place.span().unwrap();
    assert_eq!(place.column as usize, text.find("WATERMARK").unwrap() + 1);
}

#[test]
fn files_and_feeds_are_sources_with_options() {
    let read = first_read(&plan(
        "SELECT * FROM STREAM read_files('/p', format => 'JSON', schema => 'a INT', inferColumnTypes => true)",
    ));
    assert_eq!(read.source, Source::Files { format: "json".into(), path: "/p".into(), auto_loader: true });
    assert_eq!(read.option("infercolumntypes"), Some("true"));
    assert_eq!(read.schema.unwrap().fields, vec![crate::model::Field::new("a", DataType::Int)]);
    let read = first_read(&plan("SELECT * FROM cloud_files('/p', 'csv', map('Header', 'true'))"));
    assert_eq!((read.streaming, read.option("header")), (true, Some("true")));
    let read = first_read(&plan("SELECT * FROM STREAM t CHANGES FROM VERSION 3"));
    assert_eq!(read.source, Source::ChangeFeed(crate::model::QualifiedName::bare("t")));
    assert_eq!(read.option("startingVersion"), Some("3"));
}

#[test]
fn grouping_resolves_ordinals_all_and_sets() {
    let groupings = |text: &str| match plan(text).node {
        Node::Aggregate { groupings, sets, .. } => (groupings, sets),
        other => panic!("{other:?}"),
    };
    let by_name = groupings("SELECT a AS x, b, sum(c) FROM t GROUP BY a, b");
    assert_eq!(groupings("SELECT a AS x, b, sum(c) FROM t GROUP BY 1, 2"), by_name);
    assert_eq!(groupings("SELECT a AS x, b, sum(c) FROM t GROUP BY ALL"), by_name);
    assert_eq!(groupings("SELECT a, b FROM t GROUP BY ROLLUP(a, b)").1, GroupingSets::Rollup);
    assert_eq!(
        groupings("SELECT a, b FROM t GROUP BY GROUPING SETS ((a), (a, b), ())").1,
        GroupingSets::Sets(vec![vec![0], vec![0, 1], vec![]])
    );
    assert_eq!(groupings("SELECT a, b FROM t GROUP BY a, ROLLUP(b)").1, GroupingSets::Sets(vec![vec![0, 1], vec![0]]));
    assert_eq!(groupings("SELECT count(*) FROM t").0, vec![]);
    assert_eq!(groupings("SELECT a, regr_sxx(b, c) FROM t GROUP BY ALL").0, vec![Expr::column("a")]);
    assert!(matches!(plan("SELECT sum(a) OVER () FROM t").node, Node::Project { .. }));
}

#[test]
fn qualify_filters_aliases_directly_and_all_else_by_one_more_column() {
    let direct = plan("SELECT a, rank() OVER (ORDER BY b) AS r FROM t QUALIFY r = 1");
    assert!(matches!(direct.node, Node::Filter { .. }));
    let Node::Project { list, input } = plan("SELECT a FROM t QUALIFY rank() OVER (ORDER BY b) = 1").node else {
        panic!()
    };
    let Expr::Star { except, .. } = &list[0] else { panic!("{list:?}") };
    let Node::Filter { input, condition } = input.node else { panic!() };
    let Node::Project { list, .. } = input.node else { panic!() };
    assert_eq!((except.as_slice(), &condition), (["__qualify".to_owned()].as_slice(), &Expr::column("__qualify")));
    assert_eq!(list.len(), 2);
}

#[test]
fn unions_are_flat_and_distinct_is_an_operator() {
    let Node::Union { inputs, .. } = plan("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3").node else { panic!() };
    assert_eq!(inputs.len(), 3);
    assert!(matches!(plan("SELECT 1 UNION SELECT 2").node, Node::Distinct { .. }));
}

#[test]
fn expressions_follow_the_contract() {
    assert_eq!(expression("a between 1 and 2"), expression("a >= 1 and a <= 2"));
    assert_eq!(expression("count(*)"), expression("count(1)"));
    assert_eq!(expression("case a when 1 then 2 end"), expression("case when a = 1 then 2 end"));
    assert_eq!(expression("int(a)"), expression("cast(a as int)"));
    assert_eq!(expression("a::string"), expression("cast(a as string)"));
    assert_eq!(expression("a is not distinct from b"), expression("a <=> b"));
    assert_eq!(expression("x not like 'a'"), expression("not (x like 'a')"));
    assert_eq!(expression("-1"), Expr::integer(-1));
    assert_eq!(expression("interval 90 minutes"), expression("interval '1:30' hour to minute"));
    assert_eq!(expression("'a' 'b'"), Expr::string("ab"));
    assert_eq!(expression("\"q\""), Expr::string("q"));
    assert_eq!(expression("a || b + c"), expression("(a || b) + c"));
    assert_eq!(expression("extract(month from d)"), expression("month(d)"));
    let Expr::Call(call) = expression("transform(xs, x -> x.f)") else { panic!() };
    let Expr::Lambda { body, .. } = &call.args[1] else { panic!() };
    assert!(matches!(body.as_ref(), Expr::Call(call) if call.function.as_ref() == "getfield"));
}

#[test]
fn a_join_knows_its_kind_and_a_broken_query_its_place() {
    let joined = plan("SELECT * FROM a LEFT ANTI JOIN b ON a.k = b.k");
    let Node::Project { input, .. } = joined.node else { panic!() };
    assert!(matches!(input.node, Node::Join { kind: JoinKind::LeftAnti, .. }));
    let broken = parse_query("SELECT a\nFROM t WHERE", &Context::new(Origin::file("q.sql".into())));
    let diagnostic = &broken.problems.diagnostics[0];
    assert_eq!((diagnostic.code, diagnostic.span.as_ref().unwrap().line), ("sql-syntax", 2));
    assert!(matches!(broken.value.node, Node::Opaque { .. }));
}
