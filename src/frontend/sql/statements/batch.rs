//! Statements that write tables outside any pipeline: INSERT, CTAS, DELETE, UPDATE, TRUNCATE, COPY INTO, DDL.

use super::create::Head;
use super::{Read, Statement, StatementReader, split_commas, unquoted};
use crate::frontend::sql::cursor::Cursor;
use crate::frontend::sql::parse_expression;
use crate::frontend::sql::tokens::{Lexeme, is_word};
use crate::model::{
    BatchWrite, Dataset, DatasetKind, Expr, GeneratedColumn, Node, PATH_TABLE, PartitionValue, Place, Plan,
    QualifiedName, Read as ReadNode, Schema, Source, TableConstraint, WriteApi, WriteOperation, WriteTarget,
};
use sqlparser::tokenizer::Token;

pub(super) fn write(target: WriteTarget, operation: WriteOperation, place: Place) -> BatchWrite {
    BatchWrite::new(target, WriteApi::Sql, operation, place)
}

fn at_query(cursor: &Cursor) -> bool {
    ["select", "with", "values", "from", "table", "map", "reduce"].iter().any(|word| cursor.at_words(&[word]))
        || cursor.peek() == Some(&Token::LParen)
}

/// A query at the cursor; an open parenthesis counts only where a query follows in it.
fn at_any_query(cursor: &Cursor) -> bool {
    const STARTS: [&str; 4] = ["select", "with", "values", "from"];
    let nested = cursor.peek() == Some(&Token::LParen)
        && cursor.peek_at(1).is_some_and(|token| STARTS.iter().any(|word| is_word(token, word)));
    nested || cursor.peek() != Some(&Token::LParen) && at_query(cursor)
}

impl<'a> StatementReader<'a> {
    pub(super) fn batch(&mut self, verb: &str) -> Read<Statement> {
        let write = match verb {
            "insert" => {
                let with: &[Lexeme] = if self.cursor.at_words(&["with"]) {
                    self.cursor.take_until(|cursor| cursor.at_words(&["insert"]))
                } else {
                    &[]
                };
                self.insert(with)
            }
            "merge" => self.merge(),
            "delete" => self.delete(),
            "update" => self.update(),
            "truncate" => self.truncate(),
            "drop" => return self.drop(),
            "copy" => self.copy_into(),
            _ => self.alter_table(),
        }?;
        Ok(Statement::Write(Box::new(self.on_path_table(write))))
    }

    /// ``parquet.`path` ``: a folder as a table.
    fn on_path_table(&self, mut write: BatchWrite) -> BatchWrite {
        if let (Some(format), WriteTarget::Path(_)) = (&self.path_format, &write.target) {
            write.options.insert(PATH_TABLE.to_owned(), format.clone());
            write.format = write.format.or_else(|| Some(format.clone()));
        }
        write
    }

    /// An INSERT or MERGE behind what the statement starts with: `WITH x AS (…) INSERT …`, `FROM x INSERT …`.
    pub(super) fn writes_inside(&self) -> bool {
        let mut depth = 0i32;
        self.cursor.rest().iter().any(|lexeme| {
            match &lexeme.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            depth == 0 && ["insert", "merge"].iter().any(|word| is_word(&lexeme.token, word))
        })
    }

    /// `FROM source INSERT … SELECT … INSERT … SELECT …`: one write for each INSERT.
    pub(super) fn multi_insert(&mut self) -> Read<Vec<Statement>> {
        let source = self.cursor.take_until(|cursor| cursor.at_words(&["insert"]));
        let mut writes = Vec::new();
        while !self.cursor.at_end() {
            let part = self.cursor.take_until(|cursor| cursor.at_words(&["insert"]));
            let mut reader = StatementReader::new(self.context, self.session, self.cursor.lexed, part);
            let write = reader.insert(source);
            self.problems.extend(reader.problems);
            writes.push(Statement::Write(Box::new(write?)));
        }
        Ok(writes)
    }

    fn write_target(&mut self) -> Read<WriteTarget> {
        let parts = self.name_parts()?;
        Ok(match parts.as_slice() {
            [format, path] if path.contains('/') && !format.contains('/') => {
                self.path_format = Some(format.to_lowercase());
                WriteTarget::Path(path.clone())
            }
            parts => WriteTarget::Table(self.published(parts)),
        })
    }

    /// `[WITH …] INSERT {INTO | OVERWRITE} [TABLE] t [PARTITION (…)] [(columns)] [BY NAME] [REPLACE …] query`.
    fn insert(&mut self, before_query: &[Lexeme]) -> Read<BatchWrite> {
        self.expect_word("insert")?;
        let overwrite = self.cursor.take_word("overwrite");
        if !overwrite {
            let _ = self.cursor.take_word("into");
        }
        let _ = self.cursor.take_word("table");
        let directory =
            overwrite && (self.cursor.take_words(&["local", "directory"]) || self.cursor.take_word("directory"));
        let target = if directory {
            WriteTarget::Path(self.cursor.take_string().unwrap_or_default())
        } else {
            self.write_target()?
        };
        let operation = if overwrite { WriteOperation::Overwrite } else { WriteOperation::Append };
        let mut write = write(target, operation, self.place_since(0));
        loop {
            if self.cursor.take_word("partition") {
                let inner = self.expect_parenthesized("the partition")?;
                write.partition = self.partition_values(inner);
            } else if self.cursor.take_words(&["if", "not", "exists"]) {
                write.options.insert("if not exists".to_owned(), "true".to_owned());
            } else if self.cursor.take_words(&["by", "name"]) {
                write.by_name = true;
            } else if self.cursor.take_words(&["replace", "where"]) {
                let tokens = self.cursor.take_until(at_any_query);
                write.operation = WriteOperation::OverwriteWhere(self.expression(tokens));
            } else if self.cursor.take_words(&["replace", "using"]) {
                let inner = self.expect_parenthesized("key columns")?;
                write.operation = WriteOperation::ReplaceUsing(self.column_names(inner));
            } else if self.cursor.take_words(&["replace", "on"]) {
                let tokens = self.cursor.take_until(at_any_query);
                write.operation = WriteOperation::ReplaceOn(self.expression(tokens));
            } else if self.cursor.take_word("as") {
                self.cursor.take_identifier().ok_or_else(|| self.unexpected("an alias"))?;
            } else if self.cursor.take_words(&["using"]) {
                write.format = self.cursor.take_identifier().map(|format| format.to_lowercase());
            } else if self.cursor.take_words(&["options"]) {
                let options = self.key_values("OPTIONS")?;
                write.options.extend(options.into_iter().map(|(key, value)| (key.to_lowercase(), value)));
            } else if write.columns.is_none() && self.at_column_list() {
                let inner = self.expect_parenthesized("columns")?;
                write.columns = Some(self.column_names(inner));
            } else {
                break;
            }
        }
        let replaces = matches!(
            write.operation,
            WriteOperation::OverwriteWhere(_) | WriteOperation::ReplaceUsing(_) | WriteOperation::ReplaceOn(_)
        );
        if overwrite && replaces {
            let reason = "REPLACE goes with INSERT INTO, not with INSERT OVERWRITE".to_owned();
            write.operation = WriteOperation::Invalid { class: "PARSE_SYNTAX_ERROR", reason };
        }
        let query: Vec<Lexeme> = before_query.iter().chain(self.cursor.rest()).cloned().collect();
        self.cursor.skip_to_end();
        // `REPLACE ON` may give the query an alias: `(SELECT …) AS s`.
        let aliased = matches!(write.operation, WriteOperation::ReplaceOn(_));
        write.query = Some(if aliased { self.relation(&query) } else { self.query(&query) });
        Ok(write)
    }

    /// A parenthesis with names and not with a query.
    fn at_column_list(&self) -> bool {
        self.cursor.peek() == Some(&Token::LParen)
            && matches!(self.cursor.peek_at(1), Some(Token::Word(_)))
            && matches!(self.cursor.peek_at(2), Some(Token::Comma | Token::RParen | Token::Period))
    }

    pub(super) fn partition_values(&mut self, inner: &'a [Lexeme]) -> Vec<PartitionValue> {
        split_commas(inner)
            .into_iter()
            .map(|item| match item.iter().position(|lexeme| lexeme.token == Token::Eq) {
                Some(at) => PartitionValue {
                    column: unquoted(&self.cursor.text_of(item.get(..at).unwrap_or_default())),
                    value: Some(self.expression(item.get(at + 1..).unwrap_or_default())),
                },
                None => PartitionValue { column: unquoted(&self.cursor.text_of(item)), value: None },
            })
            .collect()
    }

    fn delete(&mut self) -> Read<BatchWrite> {
        self.expect_words(&["delete", "from"])?;
        let target = self.write_target()?;
        let place = self.place_since(0);
        let condition = self.optional_where()?;
        Ok(write(target, WriteOperation::Delete { condition }, place))
    }

    fn optional_where(&mut self) -> Read<Option<Expr>> {
        // An alias may stand before WHERE.
        let alias = self.cursor.take_until(|cursor| cursor.at_words(&["where"]));
        if super::starts_with_word(alias, "where") {
            let condition = alias.get(1..).unwrap_or_default();
            return Ok(Some(self.expression(condition)));
        }
        if !self.cursor.take_word("where") {
            return Ok(None);
        }
        let rest = self.cursor.rest();
        self.cursor.skip_to_end();
        Ok(Some(self.expression(rest)))
    }

    fn update(&mut self) -> Read<BatchWrite> {
        self.expect_word("update")?;
        let target = self.write_target()?;
        let place = self.place_since(0);
        if !self.cursor.at_words(&["set"]) {
            let _ = self.cursor.take_word("as");
            self.cursor.take_identifier();
        }
        self.expect_word("set")?;
        let tokens = self.cursor.take_until(|cursor| cursor.at_words(&["where"]));
        let assignments = self.assignments(tokens);
        let condition = if self.cursor.at_end() { None } else { self.optional_where()? };
        Ok(write(target, WriteOperation::Update { assignments, condition }, place))
    }

    /// `a = 1, t.b = 2`.
    pub(super) fn assignments(&mut self, tokens: &'a [Lexeme]) -> Vec<(String, Expr)> {
        split_commas(tokens)
            .into_iter()
            .filter_map(|item| {
                let at = item.iter().position(|lexeme| lexeme.token == Token::Eq)?;
                let column = unquoted(&self.cursor.text_of(item.get(..at)?));
                Some((column, self.expression(item.get(at + 1..)?)))
            })
            .collect()
    }

    fn truncate(&mut self) -> Read<BatchWrite> {
        self.expect_word("truncate")?;
        let _ = self.cursor.take_word("table");
        let target = self.write_target()?;
        let place = self.place_since(0);
        let mut partition = Vec::new();
        if self.cursor.take_word("partition") {
            let inner = self.expect_parenthesized("the partition")?;
            partition = self.partition_values(inner);
        }
        Ok(write(target, WriteOperation::Truncate { partition }, place))
    }

    fn drop(&mut self) -> Read<Statement> {
        self.expect_word("drop")?;
        while ["streaming", "live", "external"].into_iter().any(|word| self.cursor.take_word(word)) {}
        if !self.cursor.take_word("table") {
            let view = self.cursor.at_words(&["view"]) || self.cursor.at_words(&["materialized"]);
            return Ok(Statement::Other { what: self.first_words(), matters: view });
        }
        let if_exists = self.cursor.take_words(&["if", "exists"]);
        let target = self.write_target()?;
        let place = self.place_since(0);
        let write = write(target, WriteOperation::DropTable { if_exists }, place);
        Ok(Statement::Write(Box::new(self.on_path_table(write))))
    }

    /// `COPY INTO t FROM {'path' | (SELECT … FROM 'path')} FILEFORMAT = json …`: appends files that it has not seen.
    fn copy_into(&mut self) -> Read<BatchWrite> {
        self.expect_words(&["copy", "into"])?;
        let target = self.write_target()?;
        let mut write = write(target, WriteOperation::Append, self.place_since(0));
        self.expect_word("from")?;
        let source = self.cursor.take_until(|cursor| cursor.at_words(&["fileformat"]));
        let path = source.iter().find_map(|lexeme| crate::frontend::sql::tokens::string_value(&lexeme.token)).cloned();
        let mut format = String::new();
        if self.cursor.take_word("fileformat") {
            self.cursor.take(&Token::Eq);
            format = self.cursor.take_identifier().unwrap_or_default().to_lowercase();
        }
        write.options.insert("copy into".to_owned(), self.cursor.text_of(self.cursor.rest()));
        let place = self.place_of(source);
        let read = Source::Files { format, path: path.unwrap_or_else(|| "{path}".to_owned()), auto_loader: false };
        let read = ReadNode { place: place.clone(), ..ReadNode::new(read, false) };
        write.query = Some(Plan::at(Node::Read(read), place));
        Ok(write)
    }

    fn alter_table(&mut self) -> Read<BatchWrite> {
        self.expect_word("alter")?;
        while ["streaming", "materialized", "live"].into_iter().any(|word| self.cursor.take_word(word)) {}
        let _ = self.cursor.take_word("table") || self.cursor.take_word("view");
        let target = self.write_target()?;
        let place = self.place_since(0);
        if self.cursor.take_word("drop") {
            let _ = self.cursor.take_words(&["if", "exists"]);
            let mut partitions = Vec::new();
            while !self.cursor.at_words(&["partition", "field"]) && self.cursor.take_word("partition") {
                let inner = self.expect_parenthesized("the partition")?;
                partitions.push(self.partition_values(inner));
                self.cursor.take(&Token::Comma);
            }
            if !partitions.is_empty() {
                return Ok(write(target, WriteOperation::DropPartition { partitions }, place));
            }
        }
        let mut constraints = Vec::new();
        let mut ahead = self.cursor.clone();
        if ahead.take_words(&["add", "constraint"])
            && let Some(name) = ahead.take_identifier()
            && ahead.take_word("check")
        {
            let condition = self.scalar(&ahead.text_of(ahead.rest()));
            constraints.push(TableConstraint::Check { name, condition });
        }
        let text = self.cursor.text_of(self.whole);
        let ddl = write(target, WriteOperation::Ddl(text), place);
        Ok(BatchWrite { constraints, ..ddl })
    }

    /// `CREATE [OR REPLACE] TABLE t … [AS query]`, outside pipelines.
    pub(super) fn batch_create(&mut self, head: Head) -> Read<Statement> {
        let if_not_exists = self.cursor.take_words(&["if", "not", "exists"]);
        let target = self.write_target()?;
        let operation = WriteOperation::Create { replace: head.or_replace, if_not_exists };
        let place = self.place_since(0);
        let mut write = write(target, operation, place.clone());
        if self.cursor.at_words(&["like"])
            || self.cursor.at_words(&["clone"])
            || self.cursor.at_words(&["shallow"])
            || self.cursor.at_words(&["deep"])
        {
            write.operation = WriteOperation::Ddl(self.cursor.text_of(self.whole));
            return Ok(Statement::Write(Box::new(write)));
        }
        let mut table = Dataset::new(QualifiedName::default(), DatasetKind::Table, place);
        if self.cursor.peek() == Some(&Token::LParen) {
            self.columns(&mut table)?;
        }
        while !self.cursor.at_end() && !self.cursor.at_words(&["as"]) && !at_query(&self.cursor) {
            if self.cursor.take_words(&["clustered", "by"]) {
                let columns = self.columns_of_layout("bucket columns")?;
                if self.cursor.take_words(&["sorted", "by"]) {
                    self.columns_of_layout("sort columns")?;
                }
                self.expect_word("into")?;
                let Some(Token::Number(digits, _)) = self.cursor.advance().map(|lexeme| &lexeme.token) else {
                    return Err(self.unexpected("a number of buckets"));
                };
                write.bucket_by = digits.parse().ok().map(|count| (count, columns));
                self.expect_word("buckets")?;
            } else if self.cursor.take_words(&["stored", "as"]) {
                write.format = self.cursor.take_identifier().map(|format| format.to_lowercase());
            } else {
                self.table_clause(&mut table)?;
            }
        }
        write.constraints = self.generated_columns(&table);
        write.schema = table.declared.map(|declared| with_generated(declared, table.generated));
        write.format = write.format.or(table.format);
        write.partition_by = table.layout.partition_by;
        write.options = table.other;
        write.options.extend(table.properties);
        write.options.extend(table.location.map(|path| ("location".to_owned(), path)));
        if !table.layout.cluster_by.is_empty() {
            write.options.insert("cluster by".to_owned(), table.layout.cluster_by.join(","));
        }
        let _ = self.cursor.take_word("as");
        if !self.cursor.at_end() {
            write.query = Some(self.rest_as_query());
        }
        Ok(Statement::Write(Box::new(self.on_path_table(write))))
    }
}

impl StatementReader<'_> {
    /// Columns that the table fills, with what it fills them with.
    fn generated_columns(&self, table: &Dataset) -> Vec<TableConstraint> {
        let of = |generated: &GeneratedColumn| {
            let column = generated.field.name.clone();
            let text = table.other.get(&format!("generated.{column}"))?;
            let value =
                text.to_lowercase().find("as (").and_then(|at| text.get(at + 3..)).map(|text| self.scalar(text));
            Some(TableConstraint::Generated { column, value })
        };
        table.generated.iter().filter_map(of).collect()
    }

    fn scalar(&self, text: &str) -> Expr {
        parse_expression(text, self.context).value
    }
}

/// The columns of a table as a writer meets them: those that the table fills stand where they were declared.
fn with_generated(mut declared: Schema, generated: Vec<GeneratedColumn>) -> Schema {
    for column in generated {
        declared.fields.insert(column.position.min(declared.fields.len()), column.field);
    }
    declared
}
