//! Backfills of tables that scripts write: each chunk replaces its own days.

use super::day::{DayColumn, Granularity};
use super::input::{Input, table_name};
use super::table::{Repository, ScriptTable, short_name};
use super::{Backfill, Chunk, Form, Refusal, Request, proof, quoted, surroundings};
use crate::engine::batch::TableKind;
use crate::model::{Place, QualifiedName, WriteOperation};
use crate::rules::CodeLanguage;
use crate::runbook::{language, python};

const MODE: &str = "spark.sql.sources.partitionOverwriteMode";

/// Everything that the code of a chunk is made of.
pub struct Writing<'a> {
    pub table: &'a ScriptTable<'a>,
    pub form: Form,
    pub language: CodeLanguage,
    pub day: &'a DayColumn,
    pub input: &'a Input,
    pub columns: Vec<String>,
}

/// # Errors
/// The table has no day among its partitions, or its partitions are wider than the range.
pub fn backfill(repository: &Repository<'_>, table: &ScriptTable<'_>, request: &Request) -> Result<Backfill, Refusal> {
    let facts = &table.facts;
    let day =
        DayColumn::of_partitions(&facts.name, &facts.schema.fields, &facts.partition_by, request.column.as_deref())?;
    if facts.name.contains('{') {
        return Err(Refusal::new(
            format!("the name of `{}` is not known as a whole", facts.name),
            "give the values it is made of under `configuration:` in pipelint.yaml",
        ));
    }
    let form = form(table);
    let language = match &table.writer {
        Some((script, write)) => {
            language(&write.place.or(&Place::at(crate::model::Span::start_of(script.job.path.as_str().into()))))
        }
        None if facts.folder => CodeLanguage::Python,
        None => CodeLanguage::Sql,
    };
    let view = format!("{}_rows", short_name(request));
    let input = match &table.writer {
        Some((_, write)) => match (&write.operation, &write.query) {
            (WriteOperation::Merge(_), _) => Input::ByHand {
                view,
                writer: write.place.span().map(|span| format!("{}:{}", span.path, span.line)),
                reason: "a MERGE fills the table: give the latest row of each key".to_owned(),
            },
            (_, Some(query)) => Input::of(repository, (query, &write.place), &day, view, false),
            (_, None) => Input::unknown(view),
        },
        None => Input::unknown(view),
    };
    let writing = Writing {
        table,
        form,
        language,
        day: &day,
        input: &input,
        columns: facts.schema.fields.iter().map(|field| field.name.clone()).collect(),
    };
    let ranges = match day.granularity {
        Granularity::Month if !request.range.is_whole_months() => {
            return Err(Refusal::new(
                format!(
                    "`{}` is partitioned by months of `{}`: a part of a month cannot be replaced as a whole",
                    facts.name, day.name
                ),
                "let --from and --to be the first day of a month",
            ));
        }
        Granularity::Month => request.range.months(),
        _ => super::chunks(request)?,
    };
    let log = format!("{}_backfill_log", log_prefix(table, request));
    let chunks: Vec<Chunk> = ranges
        .into_iter()
        .map(|range| Chunk {
            range,
            code: writing.code(&range.from.to_string(), &range.to.to_string()),
            clear: None,
            record: Some(writing.record(&log, &range.from.to_string(), &range.to.to_string())),
            check: writing.check(&day.predicate(range)),
        })
        .collect();
    let script = match language {
        CodeLanguage::Sql => sql_script(&chunks, &log),
        CodeLanguage::Python => writing.python_script(&chunks, &log),
    };
    let proof = proof::of_script(repository, &writing, &chunks);
    Ok(Backfill {
        revision: repository.tree.label().to_owned(),
        table: facts.name.clone(),
        format: facts.format.clone(),
        form,
        language,
        range: request.range,
        chunks,
        script,
        log: Some(log),
        writers: surroundings::writers(repository, &facts.name),
        readers: surroundings::readers(repository, &facts.name),
        notes: notes(&writing),
        instead: Vec::new(),
        proof,
        day: day.clone(),
        input: input.clone(),
    })
}

fn form(table: &ScriptTable<'_>) -> Form {
    match (table.facts.kind, table.facts.format.as_str()) {
        (TableKind::Lake, "iceberg") => Form::OverwriteByCondition,
        (TableKind::Lake, _) => Form::ReplaceWhere,
        (TableKind::Files | TableKind::Hive, _) => Form::DynamicOverwrite,
    }
}

/// Beside the table; of a folder a bare name.
fn log_prefix(table: &ScriptTable<'_>, request: &Request) -> String {
    if table.facts.folder { short_name(request) } else { table_name(&QualifiedName::parse(&table.facts.name)) }
}

fn notes(writing: &Writing<'_>) -> Vec<String> {
    let mut notes: Vec<String> = writing.day.note().into_iter().collect();
    match writing.form {
        Form::DynamicOverwrite => notes.push(
            "a partition for which a chunk has no rows keeps its old ones: where a day may have become empty, remove its partition \
             before the chunk runs"
                .to_owned(),
        ),
        Form::OverwriteByCondition => notes.push(
            "Iceberg checks no conflict here by default: rows that another writer adds to the range meanwhile vanish without a word"
                .to_owned(),
        ),
        _ => {}
    }
    if matches!(writing.input, Input::Query { .. }) {
        notes.push(
            "the chunk runs the table's own query and keeps the rows of its days: where that query joins or aggregates over days, \
             check that one day of it needs no other"
                .to_owned(),
        );
    }
    notes
}

impl Writing<'_> {
    fn target(&self) -> String {
        table_name(&QualifiedName::parse(&self.table.facts.name))
    }

    /// The statements of one chunk; the days may be placeholders of a format string.
    pub fn code(&self, from: &str, to: &str) -> String {
        let predicate = self.day.between(from, to);
        let (columns, source) = self.input.select(&self.columns);
        match self.language {
            CodeLanguage::Sql => {
                let query = format!("SELECT {columns} FROM {source} WHERE {predicate};");
                if self.form == Form::DynamicOverwrite {
                    format!("SET {MODE}=dynamic;\nINSERT OVERWRITE {}\n{query}", self.target())
                } else {
                    format!("INSERT INTO {} REPLACE WHERE {predicate}\n{query}", self.target())
                }
            }
            CodeLanguage::Python => format!("{}\n{}", self.rows(&predicate), self.write(&predicate)),
        }
    }

    fn rows(&self, predicate: &str) -> String {
        let (_, source) = self.input.select(&self.columns);
        let names: Vec<String> = match self.input {
            Input::Table { columns: Some(columns), .. } if self.columns.is_empty() => columns.clone(),
            _ => self.columns.clone(),
        };
        let names: Vec<String> = names.iter().map(|name| python(name)).collect();
        format!("rows = spark.table({}).where({}).select({})", python(&source), python(predicate), names.join(", "))
    }

    fn write(&self, predicate: &str) -> String {
        let facts = &self.table.facts;
        let (name, predicate) = (python(&facts.name), python(predicate));
        match self.form {
            Form::OverwriteByCondition => format!("rows.writeTo({name}).overwrite(F.expr({predicate}))"),
            Form::DynamicOverwrite if facts.folder => {
                let by: Vec<String> = facts.partition_by.iter().map(|column| python(column)).collect();
                format!(
                    "(rows.write.format({}).mode(\"overwrite\").option(\"partitionOverwriteMode\", \"dynamic\")\n    .partitionBy({}).save({name}))",
                    python(&facts.format),
                    by.join(", ")
                )
            }
            Form::DynamicOverwrite => {
                format!("spark.conf.set(\"{MODE}\", \"dynamic\")\nrows.write.mode(\"overwrite\").insertInto({name})")
            }
            _ => {
                let save = if facts.name.contains('/') { "save" } else { "saveAsTable" };
                format!(
                    "(rows.write.format(\"delta\").mode(\"overwrite\").option(\"replaceWhere\", {predicate})\n    .{save}({name}))"
                )
            }
        }
    }

    /// Lines that the code of a chunk needs before it.
    pub fn imports(&self) -> &'static str {
        match (self.language, self.form) {
            (CodeLanguage::Python, Form::OverwriteByCondition) => "from pyspark.sql import functions as F\n\n",
            _ => "",
        }
    }

    fn record(&self, log: &str, from: &str, to: &str) -> String {
        let insert = format!("INSERT INTO {log} VALUES (DATE '{from}', DATE '{to}', current_timestamp())");
        match self.language {
            CodeLanguage::Sql => format!("{insert};"),
            CodeLanguage::Python => format!("spark.sql({})", python(&insert)),
        }
    }

    fn check(&self, predicate: &str) -> String {
        let facts = &self.table.facts;
        let from = if facts.name.contains('/') {
            format!("{}.`{}`", quoted(&facts.format), facts.name.replace('`', "``"))
        } else {
            self.target()
        };
        format!("SELECT count(*) FROM {from} WHERE {predicate};")
    }

    fn python_script(&self, chunks: &[Chunk], log: &str) -> String {
        let mut out = String::from(self.imports());
        out.push_str(&format!(
            "LOG = {}\nspark.sql({})\ndone = {{(str(row[\"range_from\"]), str(row[\"range_to\"])) for row in spark.table(LOG).collect()}}\n",
            python(log),
            python(&create_log(log))
        ));
        out.push_str("for start, end in [\n");
        for chunk in chunks {
            out.push_str(&format!("    (\"{}\", \"{}\"),\n", chunk.range.from, chunk.range.to));
        }
        out.push_str("]:\n    if (start, end) in done:\n        continue\n");
        let body = format!("{}\n{}", self.code("{start}", "{end}"), self.record(log, "{start}", "{end}"));
        for line in body.lines() {
            out.push_str(&format!("    {}\n", formatted(line)));
        }
        out
    }
}

/// The same line with its literals that hold a placeholder as format strings.
fn formatted(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 4);
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        let Some(length) = rest.get(start + 1..).and_then(|tail| tail.find('"')) else { break };
        let end = start + 1 + length + 1;
        let (Some(before), Some(literal), Some(after)) = (rest.get(..start), rest.get(start..end), rest.get(end..))
        else {
            break;
        };
        out.push_str(before);
        if literal.contains("{start}") {
            out.push('f');
        }
        out.push_str(literal);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn create_log(log: &str) -> String {
    format!("CREATE TABLE IF NOT EXISTS {log} (range_from DATE, range_to DATE, finished_at TIMESTAMP)")
}

fn sql_script(chunks: &[Chunk], log: &str) -> String {
    let mut out = format!("{};\n", create_log(log));
    for chunk in chunks {
        out.push_str(&format!("\n-- {} up to {}\n{}\n", chunk.range.from, chunk.range.to, chunk.code));
        out.extend(chunk.record.iter().map(|record| format!("{record}\n")));
    }
    out
}
