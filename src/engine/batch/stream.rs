//! Streaming queries inside scripts: micro-batches of files a checkpoint has not seen, handed to a function or a sink.

use super::folder::Layout;
use super::query::Run;
use super::resolve::{Matching, assign};
use super::warehouse::normalized;
use crate::analyze::rescued_column;
use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::model::{
    BatchWrite, Node, OutputMode, Plan, QualifiedName, Read, Source, StreamQuery, StreamSink, Value, WriteApi,
    WriteOperation, WriteTarget,
};
use std::collections::BTreeSet;

impl Run<'_> {
    /// # Errors
    /// What the query or its function fails with.
    pub(super) fn stream(&mut self, stream: &StreamQuery) -> Result<(), ExecutionError> {
        if let StreamSink::Append(write) = &stream.sink {
            let lake = self.is_lake_target(&write.target, write.format.as_deref());
            let taken = stream.output_mode == OutputMode::Append || lake && stream.output_mode == OutputMode::Complete;
            if !taken {
                return Err(ExecutionError::new(
                    "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",
                    format!("the sink does not take the output mode {:?}", stream.output_mode),
                ));
            }
        }
        let reads: Vec<&Read> = stream.query.reads().into_iter().filter(|read| read.streaming).collect();
        let [read] = reads.as_slice() else {
            return Err(ExecutionError::unsupported(
                "a streaming query over other than one source is not executed here",
            ));
        };
        let Source::Files { path, auto_loader, .. } = &read.source else {
            return Err(ExecutionError::unsupported("a streaming query over a table is not executed here"));
        };
        let base = normalized(path);
        let fresh = format!("__checkpoint_{}", self.warehouse.next_file());
        let checkpoint = match &stream.checkpoint {
            Some(path) if !path.contains('{') => normalized(path),
            _ => fresh,
        };
        if *auto_loader && read.schema.is_none() && !self.is_uniform(&base) {
            return Err(ExecutionError::unsupported(
                "the schema that Auto Loader infers of differing files is not known",
            ));
        }
        let (seen, next) = self.warehouse.checkpoints.get(&checkpoint).cloned().unwrap_or_default();
        let new: Vec<String> =
            self.warehouse.paths_under(&base).filter(|file| !seen.contains(*file)).cloned().collect();
        let size = read.option("maxfilespertrigger").and_then(|text| text.parse::<usize>().ok()).unwrap_or(1000);
        let mut seen: BTreeSet<String> = seen;
        for (number, files) in (next..).zip(new.chunks(size.max(1))) {
            self.micro_batch(stream, read, files, number)?;
            seen.extend(files.iter().cloned());
            self.warehouse.checkpoints.insert(checkpoint.clone(), (seen.clone(), number + 1));
        }
        Ok(())
    }

    fn micro_batch(
        &mut self,
        stream: &StreamQuery,
        read: &Read,
        files: &[String],
        number: u64,
    ) -> Result<(), ExecutionError> {
        let mut schema = read.schema.clone().unwrap_or_else(|| self.file_schema(files));
        let mut rows: Vec<Row> = files
            .iter()
            .filter_map(|path| self.warehouse.files.get(path))
            .flat_map(|f| f.rows.iter().cloned())
            .collect();
        if let Some(rescued) = rescued_column(read).filter(|field| schema.field(&field.name).is_none()) {
            schema.fields.push(rescued);
            rows = rows.iter().map(|row| row.iter().cloned().chain([Value::Null]).collect()).collect();
        }
        let batch = Rows::new(schema, rows);
        let name = "__stream".to_owned();
        self.relations.insert(name.clone(), batch);
        let mut plan = stream.query.clone();
        batch_reads(&mut plan, &name);
        let rows = self.query(&plan)?;
        match &stream.sink {
            StreamSink::ForeachBatch { batch, steps } => {
                self.relations.insert(batch.clone(), rows);
                self.steps(steps).map(drop).map_err(|(error, _)| error)
            }
            StreamSink::Append(write) if self.is_lake_target(&write.target, write.format.as_deref()) => {
                self.write_to_lake(write, rows, stream.output_mode)
            }
            StreamSink::Append(write) => self.append_batch(write, rows, number),
        }
    }

    /// All files under a folder have the same columns.
    fn is_uniform(&self, base: &str) -> bool {
        let mut schemas = self.warehouse.paths_under(base).filter_map(|path| self.warehouse.files.get(path));
        let first = schemas.next().map(|file| &file.schema);
        schemas.all(|file| Some(&file.schema) == first)
    }

    fn file_schema(&self, files: &[String]) -> crate::model::Schema {
        let first = files.first().and_then(|path| self.warehouse.files.get(path));
        first.map_or_else(crate::model::Schema::unknown, |file| file.schema.as_ref().clone())
    }

    /// A sink with snapshots takes a batch by column names, and is made by the first one.
    fn write_to_lake(&mut self, write: &BatchWrite, rows: Rows, mode: OutputMode) -> Result<(), ExecutionError> {
        const ROWS: &str = "__stream_rows";
        self.relations.insert(ROWS.to_owned(), rows);
        let read = Read::new(Source::Table(QualifiedName::bare(ROWS)), false);
        let api = match &write.target {
            WriteTarget::Table(_) => WriteApi::SaveAsTable,
            _ => WriteApi::Save,
        };
        let query = Some(Plan::new(Node::Read(read)));
        let complete = mode == OutputMode::Complete;
        let operation = if complete { WriteOperation::Overwrite } else { WriteOperation::Append };
        self.write_target(&BatchWrite { api, operation, query, ..write.clone() })
    }

    /// A file sink writes a batch once, whatever query asks: `_spark_metadata` lists the batches.
    fn append_batch(&mut self, write: &BatchWrite, rows: Rows, number: u64) -> Result<(), ExecutionError> {
        let mut layout = Layout::by(&write.partition_by);
        let (base, schema) = match &write.target {
            WriteTarget::Path(path) => (normalized(path), rows.schema.clone()),
            WriteTarget::Table(name) => {
                let key = self.warehouse.resolve(name);
                if self.warehouse.definition(&key).is_none() {
                    let empty = BatchWrite { schema: Some(rows.schema.clone()), query: None, ..write.clone() };
                    self.create_as(&empty, &key)?;
                }
                let table = self.warehouse.definition(&key).cloned();
                let Some(table) = table else { return Ok(()) };
                // `toTable` does not take the layout of a table that is there: files go where the writer says.
                if write.partition_by.is_empty() && !table.partition_by.is_empty() {
                    layout = Layout::by(&[]);
                }
                (table.location, table.schema)
            }
            WriteTarget::Unknown(text) => {
                return Err(ExecutionError::unsupported(format!("the sink is not known: {text}")));
            }
        };
        let batch = format!("{base}/_spark_metadata/{number}");
        if self.warehouse.checkpoints.contains_key(&batch) {
            return Ok(());
        }
        let rows = assign(&rows, &schema, Matching::NameWithDefaults)?;
        let paths = self.warehouse.add_files(&base, &layout, &schema, rows);
        self.warehouse.sink_logs.entry(base).or_default().extend(paths);
        self.warehouse.checkpoints.insert(batch, (BTreeSet::new(), 0));
        Ok(())
    }
}

/// The query over one batch: what was streamed is read as a table.
fn batch_reads(plan: &mut Plan, name: &str) {
    if let Node::Read(read) = &mut plan.node
        && read.streaming
    {
        read.streaming = false;
        read.source = Source::Table(QualifiedName::bare(name));
        read.schema = None;
    }
    for input in plan.inputs_mut() {
        batch_reads(input, name);
    }
}
