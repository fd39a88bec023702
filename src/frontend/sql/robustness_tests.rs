//! Any text gives an answer: no panic, no endless loop, no overflow of the stack.

use super::*;
use proptest::prelude::*;

/// Words and signs that steer the statement layer and the token rewriting.
const PIECES: &[&str] = &[
    "CREATE",
    "OR",
    "REFRESH",
    "STREAMING",
    "TABLE",
    "MATERIALIZED",
    "VIEW",
    "FLOW",
    "AS",
    "INSERT",
    "INTO",
    "ONCE",
    "BY",
    "NAME",
    "AUTO",
    "CDC",
    "APPLY",
    "CHANGES",
    "FROM",
    "KEYS",
    "SEQUENCE",
    "STREAM",
    "SELECT",
    "*",
    "(",
    ")",
    ",",
    ".",
    ";",
    "t",
    "`a b`",
    "'s'",
    "\"d\"",
    "1",
    "1.5e3",
    "10L",
    "WITH",
    "WATERMARK",
    "DELAY",
    "OF",
    "INTERVAL",
    "MINUTES",
    "CONSTRAINT",
    "EXPECT",
    "ON",
    "VIOLATION",
    "DROP",
    "ROW",
    "SET",
    "USE",
    "=",
    "${x}",
    "{{y}}",
    ":p",
    "JOIN",
    "WHERE",
    "GROUP",
    "ORDER",
    "VALUES",
    "EXCEPT",
    "UNION",
    "ALL",
    "CASE",
    "WHEN",
    "THEN",
    "END",
    "NOT",
    "AND",
    "struct",
    "<",
    ">",
    ">>",
    "[",
    "]",
    "::",
    "?",
    "->",
    "MERGE",
    "USING",
    "MATCHED",
    "PARTITION",
    "BEGIN",
    "LATERAL",
    "PIVOT",
    "FOR",
    "IN",
    "IDENTIFIED",
    "VERSION",
    "LIVE",
    "r'\\'",
    "--c\n",
    "/*",
    "*/",
    "'",
];

fn everything(text: &str) {
    let context = Context::new(Origin::file("f.sql".into()));
    parse_statements(text, &context, &mut Session::default());
    parse_query(text, &context);
    parse_expression(text, &context);
    let _ = parse_schema_ddl(text);
    let _ = parse_data_type(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_characters(text in "\\PC{0,120}") {
        everything(&text);
    }

    #[test]
    fn any_order_of_known_words(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40)) {
        everything(&pieces.join(" "));
    }
}

#[test]
fn depth_is_bounded_in_every_direction() {
    for (open, close) in
        [("(", ")"), ("(SELECT * FROM ", ")"), ("f(", ")"), ("CASE WHEN a THEN ", " END"), ("array(", ")")]
    {
        let text = format!("SELECT * FROM t WHERE a = {}1{}", open.repeat(3_000), close.repeat(3_000));
        everything(&text);
    }
    for piece in ["NOT ", "- ", "a + ", "a.", "a[0]:b.", "x -> ", "! ", "~ ", "INTERVAL "] {
        everything(&format!("SELECT {}a", piece.repeat(3_000)));
    }
    for piece in
        [" UNION ALL SELECT 1", " JOIN u", ", u", " |> WHERE a", "::int", "[0]", " LATERAL VIEW explode(a) x AS y"]
    {
        everything(&format!("SELECT * FROM t{}", piece.repeat(3_000)));
    }
    everything(&"(".repeat(20_000));
    everything(&"SELECT * FROM ( ".repeat(3_000));
}

#[test]
fn placeholders_and_offsets_survive_odd_characters() {
    let context = Context::new(Origin::File { path: "n.py".into(), cell: Some(3), line: 10, column: 5, indent: 2 });
    let parsed = parse_query("SELECT 'é', ${x}\nFROM t WHERE )", &context);
    let span = parsed.problems.diagnostics[0].span.clone().unwrap();
    assert_eq!((span.cell, span.line, span.column), (Some(3), 11, 16));
    assert_eq!(parsed.problems.unresolved[0].span.as_ref().map(|span| (span.line, span.column)), Some((10, 17)));
}
