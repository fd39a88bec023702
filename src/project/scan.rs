//! What a file looks like, from its bytes alone: its language, and signs of pipeline definitions and table writes.

use super::Language;

/// Signs found in a file. They decide only whether a file is worth reading, never what it means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// `CREATE STREAMING TABLE`, `CREATE FLOW`, `APPLY CHANGES INTO` and the like.
    pub pipeline_sql: bool,
    /// Imports `dlt` or `pyspark.pipelines`.
    pub pipeline_python: bool,
    /// Starts a Structured Streaming query.
    pub stream_write: bool,
    /// Writes a table in batch.
    pub batch_write: bool,
    /// Tests something with pytest or unittest.
    pub test: bool,
    /// The other `dlt`, a loading library of the same name.
    dlthub: bool,
}

impl Signs {
    /// The file belongs to a pipeline.
    pub(super) fn is_pipeline(self, language: Language) -> bool {
        // Notebooks in Python speak of pipelines in prose and in SQL cells; one that starts streaming queries itself is a job.
        let sql = match language {
            Language::Python => false,
            Language::PythonNotebook | Language::Ipynb => self.pipeline_sql && !self.stream_write,
            Language::Sql | Language::SqlNotebook => self.pipeline_sql,
        };
        let python = self.pipeline_python && !self.dlthub && !matches!(language, Language::Sql);
        sql || python
    }
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

/// Looks at words and their neighbours in one pass.
pub(super) fn signs(bytes: &[u8]) -> Signs {
    let mut signs = Signs::default();
    let (mut before_last, mut last): (&[u8], &[u8]) = (b"", b"");
    for word in (Words { bytes, at: 0 }) {
        signs.look_at(before_last, last, word);
        (before_last, last) = (last, word);
    }
    signs
}

impl Signs {
    fn look_at(&mut self, before_last: &[u8], last: &[u8], word: &[u8]) {
        let is = |word: &[u8], text: &str| word.eq_ignore_ascii_case(text.as_bytes());
        match word.len() {
            3 if word == b"dlt" => self.pipeline_python |= last == b"import" || last == b"from",
            4 if is(word, "VIEW") => {
                self.pipeline_sql |= (is(last, "MATERIALIZED") || is(last, "LIVE")) && is_create(before_last);
            }
            4 if is(word, "WITH") => self.batch_write |= is(last, "MERGE"),
            4 if is(word, "FROM") => self.batch_write |= is(last, "DELETE"),
            6 if word == b"UPDATE" => self.batch_write = true,
            4 if is(word, "FLOW") => self.pipeline_sql |= is(last, "CREATE"),
            4 if is(word, "INTO") => {
                self.pipeline_sql |=
                    is(last, "CHANGES") && is(before_last, "APPLY") || is(last, "CDC") && is(before_last, "AUTO");
                self.batch_write |= is(last, "MERGE") || is(last, "INSERT");
            }
            4 | 6 | 7 | 11
                if last == b"write"
                    && [&b"mode"[..], b"save", b"format", b"parquet", b"partitionBy"].contains(&word) =>
            {
                self.batch_write = true;
            }
            5 if is(word, "TABLE") => {
                self.pipeline_sql |= (is(last, "STREAMING") || is(last, "LIVE")) && is_create(before_last);
                let verbs = ["CREATE", "REPLACE", "ALTER", "TRUNCATE", "DROP"];
                self.batch_write |= verbs.iter().any(|verb| is(last, verb));
            }
            6 if word == b"pytest" => self.test = true,
            8 if word == b"unittest" => self.test = true,
            6 | 8 if last == b"dlt" && [&b"source"[..], b"resource", b"pipeline"].contains(&word) => self.dlthub = true,
            7 if word == b"writeTo" => self.batch_write = true,
            9 if word == b"pipelines" => {
                self.pipeline_python |= last == b"pyspark" || (last == b"import" && before_last == b"pyspark");
            }
            9 if word == b"OVERWRITE" || word == b"overwrite" => self.batch_write |= is(last, "INSERT"),
            10 if word == b"insertInto" => self.batch_write = true,
            11 if word == b"writeStream" => self.stream_write = true,
            11 if word == b"saveAsTable" || word == b"whenMatched" => self.batch_write = true,
            13.. if word.starts_with(b"whenMatched") => self.batch_write = true,
            _ => {}
        }
    }
}

/// A word that comes before the kind of dataset in a statement that creates one; prose has others there.
fn is_create(word: &[u8]) -> bool {
    let words = ["CREATE", "REFRESH", "REPLACE", "PRIVATE", "TEMPORARY", "STREAMING", "INCREMENTAL"];
    words.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// The text is a Jinja template, as dbt's models are.
pub(super) fn is_template(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"{{" || pair == b"{%")
}

/// Runs of letters, digits and underscores. The character after a backslash is none of them: notebooks write `\n` between lines.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let rest = self.bytes.get(self.at..)?;
        let mut skip = 0;
        while let Some(byte) = rest.get(skip) {
            match byte {
                b'\\' => skip += 2,
                byte if is_word(*byte) => break,
                _ => skip += 1,
            }
        }
        let rest = rest.get(skip..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        self.at += skip + length;
        rest.get(..length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_pipeline(path: &str, text: &str) -> bool {
        signs(text.as_bytes()).is_pipeline(language(path, text.as_bytes()).unwrap())
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
        assert!(is_pipeline("a.ipynb", r#"{"source": "x\nimport dlt\ny"}"#));
    }

    #[test]
    fn writes_are_noticed() {
        let stream = signs(b"df.writeStream.format('delta').start()");
        assert!(stream.stream_write && !stream.batch_write);
        for text in [
            "df.write.mode('overwrite')",
            "df.write.insertInto('t')",
            "INSERT OVERWRITE t",
            "merge into t",
            "DELETE FROM t",
            "CREATE OR REPLACE TABLE t AS SELECT 1",
            ".whenMatchedUpdateAll()",
        ] {
            assert!(signs(text.as_bytes()).batch_write, "{text}");
        }
        assert!(!signs(b"f.write(text)").batch_write);
    }

    #[test]
    fn notebooks_are_known_by_their_first_line() {
        assert_eq!(language("a.py", b"\xEF\xBB\xBF# Databricks notebook source\r\nx"), Some(Language::PythonNotebook));
        assert_eq!(language("a.SQL", b"-- Databricks notebook source\n"), Some(Language::SqlNotebook));
        assert_eq!(language("a.py", b"x\n# Databricks notebook source\n"), Some(Language::Python));
        assert_eq!(language("a.yml", b""), None);
    }
}
