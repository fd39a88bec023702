//! What a file does, from its syntax: its language, whether it defines parts of a pipeline, and whether it writes tables.
//!
//! Decides only whether a file is worth reading, never what it means. Comments, prose and names of other libraries decide nothing.

mod python;
mod sql;

use super::{Language, notebook};

pub(super) use python::NotebookRun;
use python::{Names, PythonFacts};

/// What a file does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// Defines datasets or flows of a pipeline.
    pub pipeline: bool,
    /// Starts a Structured Streaming query.
    pub stream_write: bool,
    /// Writes a table in batch.
    pub batch_write: bool,
    /// Tests something with pytest or unittest.
    pub test: bool,
    /// Notebooks that it runs.
    pub runs: Vec<NotebookRun>,
}

/// The language of a file by its extension and first line; `None` for files that hold no code.
pub(super) fn language(path: &str, bytes: &[u8]) -> Option<Language> {
    let (_, extension) = path.rsplit_once('.')?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    match extension.to_ascii_lowercase().as_str() {
        "sql" if first == b"-- Databricks notebook source" => Some(Language::SqlNotebook),
        "sql" => Some(Language::Sql),
        "py" if first == b"# Databricks notebook source" => Some(Language::PythonNotebook),
        "py" => Some(Language::Python),
        "ipynb" => Some(Language::Ipynb),
        _ => None,
    }
}

/// Reads a file for what it does.
pub(super) fn signs(bytes: &[u8], language: Language) -> Signs {
    let text = String::from_utf8_lossy(bytes);
    let mut python = PythonFacts::default();
    let mut in_sql = sql::SqlFacts::default();
    let mut read_sql = |text: &str| {
        let facts = sql::facts(text);
        in_sql.defines |= facts.defines;
        in_sql.writes |= facts.writes;
    };
    let mut parser = python::parser();
    let mut names = Names::default();
    let mut read_python = |text: &str| {
        if let Some(parser) = &mut parser {
            python.read(text, parser, &mut names);
        }
    };
    let mut unread = false;
    match language {
        Language::Sql => read_sql(&text),
        Language::Python => read_python(&text),
        Language::SqlNotebook | Language::PythonNotebook | Language::Ipynb => {
            let cells = notebook::cells(&text, language);
            // A notebook that cannot be read may be anything: it is kept, and reported where it is loaded.
            unread = cells.is_err();
            for cell in cells.unwrap_or_default() {
                match cell.language {
                    notebook::CellLanguage::Python => read_python(&cell.text),
                    notebook::CellLanguage::Sql => read_sql(&cell.text),
                    notebook::CellLanguage::Run | notebook::CellLanguage::Other => {}
                }
            }
        }
    }
    Signs {
        // A notebook that starts streaming queries itself is a job, whatever its SQL cells create.
        pipeline: unread || python.defines() || (in_sql.defines && !python.stream_write),
        stream_write: python.stream_write,
        batch_write: python.writes() || in_sql.writes,
        test: python.tests,
        runs: std::mem::take(&mut python.runs),
    }
}

/// The text is a Jinja template, as dbt's models are.
pub(super) fn is_template(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"{{" || pair == b"{%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Signs {
        signs(text.as_bytes(), language(path, text.as_bytes()).unwrap())
    }

    fn is_pipeline(path: &str, text: &str) -> bool {
        of(path, text).pipeline
    }

    #[test]
    fn pipeline_files_are_told_from_others() {
        assert!(is_pipeline("a.sql", "create or refresh\n  streaming table t as select 1"));
        assert!(is_pipeline("a.sql", "CREATE OR REFRESH LIVE TABLE t"));
        assert!(is_pipeline("a.sql", "CREATE FLOW f AS"));
        assert!(is_pipeline("a.sql", "APPLY CHANGES INTO t"));
        assert!(!is_pipeline("a.sql", "CREATE TABLE t AS SELECT * FROM materialized"));
        assert!(is_pipeline("a.py", "import dlt"));
        assert!(is_pipeline("a.py", "from pyspark import pipelines as dp"));
        assert!(is_pipeline("a.py", "import pyspark.pipelines as dp"));
        assert!(!is_pipeline("a.py", "x = 'CREATE STREAMING TABLE'"));
        assert!(!is_pipeline("a.py", "import dlt\n@dlt.resource\ndef r(): ..."));
        assert!(is_pipeline("a.py", "# Databricks notebook source\n# MAGIC %sql CREATE STREAMING TABLE t"));
        assert!(!is_pipeline("a.py", "# Databricks notebook source\n# MAGIC %md Create your streaming table here"));
        assert!(!is_pipeline("a.py", "# Databricks notebook source\n# create streaming table t\ndf.writeStream"));
        assert!(is_pipeline("a.sql", "create temporary live view v"));
        assert!(is_pipeline("a.sql", "CREATE FLOW f AS AUTO CDC INTO t"));
        assert!(is_pipeline("a.ipynb", r#"{"cells": [{"cell_type": "code", "source": "x\nimport dlt\ny"}]}"#));
    }

    #[test]
    fn writes_are_noticed() {
        let stream = of("a.py", "df.writeStream.format('delta').start()");
        assert!(stream.stream_write && !stream.batch_write);
        for text in [
            "df.write.mode('overwrite')",
            "df.write.option('a', 'b').mode('append').save(p)",
            "w = df.write\nw.mode('append').orc(p)",
            "df.write.insertInto('t')",
            "df.mergeInto('t', c).whenMatched().updateAll().merge()",
            "from delta.tables import *\nDeltaTable.forName(spark, 't').delete('x = 1')",
            "import delta\ndelta.DeltaTable.forPath(spark, p).update('x = 1', {})",
            "spark.sql('INSERT OVERWRITE t SELECT 1')",
            "spark.sql(f\"\"\"\n-- load\nMERGE WITH SCHEMA EVOLUTION INTO {t} USING s\"\"\")",
        ] {
            assert!(of("a.py", text).batch_write, "{text}");
        }
        for text in ["merge into t", "DELETE FROM t", "CREATE OR REPLACE TABLE t AS SELECT 1", "update t set a = 1"] {
            assert!(of("a.sql", text).batch_write, "{text}");
        }
        for text in ["f.write(text)", "# df.write.save(p)", "log('INSERT INTO t')"] {
            assert!(!of("a.py", text).batch_write, "{text}");
        }
        let words = "-- insert into t\nSELECT 'delete from t', \"update t\" FROM `merge into`";
        assert!(!of("a.sql", words).batch_write);
    }

    #[test]
    fn imports_and_calls_decide_what_is_a_pipeline() {
        for text in [
            "import os, dlt\n@dlt.table\ndef t(): ...",
            "from pyspark import sql, pipelines as dp",
            "from pyspark import (\n    sql,\n    pipelines,\n)",
            "import databricks.pipelines as dp",
            "from databricks import pipelines",
            "from dlt import *\n@table\ndef t(): ...",
            "from dlt import table, read_stream",
            "@dlt.table\ndef t(): ...",
            "dp = importlib.import_module('pyspark.pipelines')",
            "import dlt\n# the dlt pipeline, a dlt source\n@dlt.view\ndef t(): ...",
            "try:\n    import dlt as d\nexcept ImportError:\n    d = None\nif d:\n    d.create_streaming_table('t')",
        ] {
            assert!(is_pipeline("a.py", text), "{text}");
        }
        for text in [
            "# import dlt",
            "'import dlt'",
            "import dlt\np = dlt.pipeline(pipeline_name='x')\np.run(s())",
            "import dlt as d\n@d.source\ndef s(): ...",
            "from dlt.sources.rest_api import rest_api_source\nimport dlt",
            "from airflow import pipelines",
            "import pipelines",
        ] {
            assert!(!is_pipeline("a.py", text), "{text}");
        }
        assert!(!is_pipeline("a.sql", "-- CREATE STREAMING TABLE t\nSELECT 'CREATE FLOW f'"));
        assert!(is_pipeline("a.sql", "CREATE OR REFRESH /* the first */ PRIVATE\nSTREAMING TABLE t"));
    }

    #[test]
    fn notebooks_are_known_by_their_first_line() {
        assert_eq!(language("a.py", b"\xEF\xBB\xBF# Databricks notebook source\r\nx"), Some(Language::PythonNotebook));
        assert_eq!(language("a.SQL", b"-- Databricks notebook source\n"), Some(Language::SqlNotebook));
        assert_eq!(language("a.py", b"x\n# Databricks notebook source\n"), Some(Language::Python));
        assert_eq!(language("a.yml", b""), None);
    }
}
