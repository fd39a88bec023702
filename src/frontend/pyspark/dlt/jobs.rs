//! Plain Structured Streaming queries as flows.

use super::registration::FlowDraft;
use crate::frontend::pyspark;
use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::value::{Value, Writer};
use crate::model::{Dataset, DatasetKind, FlowKind, Place, QualifiedName, SinkTarget, StreamWrite};

impl Interpreter<'_> {
    /// A started query: its target as a dataset, and a flow named by its query name, else its target, else its checkpoint.
    pub fn register_stream_job(&mut self, write: StreamWrite, writer: &Writer, place: &Place) {
        let plan = pyspark::plan_of(self, &writer.frame, place);
        let (target, kind) = target_of(&write);
        let mut dataset = Dataset::new(target.clone(), kind, place.clone());
        dataset.template = self.in_template();
        dataset.layout.partition_by.clone_from(&write.partition_by);
        describe_target(&mut dataset, &write, writer);
        if let Some(condition) = self.condition() {
            dataset.other.insert("condition".to_owned(), condition);
        }
        let text = dataset.name.to_string();
        self.register_target(dataset);
        let name = write.query_name.clone().or_else(|| (!target.name.is_empty()).then(|| target.to_string()));
        let name = name.or_else(|| write.checkpoint.clone()).unwrap_or_else(|| "query".to_owned());
        let session = self.conf.iter().filter(|(key, _)| key.starts_with("spark."));
        let spark_conf = session.map(|(key, value)| (key.clone(), value.clone())).collect();
        self.register_flow(FlowDraft {
            name,
            target: text,
            kind: FlowKind::StreamJob(Box::new(write)),
            query: Value::None,
            plan: Some(plan),
            dataset: None,
            spark_conf,
            comment: None,
            place: place.clone(),
        });
    }
}

fn target_of(write: &StreamWrite) -> (QualifiedName, DatasetKind) {
    match &write.target {
        SinkTarget::Table(name) => (name.clone(), DatasetKind::Table),
        SinkTarget::Path { path, .. } => (QualifiedName::bare(path.clone()), DatasetKind::Sink),
        SinkTarget::Connector { format } => {
            let name = write.query_name.clone().or_else(|| write.options.get("topic").cloned());
            (QualifiedName::bare(name.unwrap_or_else(|| format.clone())), DatasetKind::Sink)
        }
        SinkTarget::ForeachBatch(unit) => {
            (QualifiedName::bare(write.query_name.clone().unwrap_or_else(|| unit.name.to_string())), DatasetKind::Sink)
        }
        SinkTarget::Unknown(what) => (QualifiedName::bare(format!("{{{what}}}")), DatasetKind::Table),
    }
}

fn describe_target(dataset: &mut Dataset, write: &StreamWrite, writer: &Writer) {
    dataset.format = writer.format.as_ref().map(|format| format.to_lowercase());
    match &write.target {
        SinkTarget::Path { path, format } => {
            dataset.location = Some(path.clone());
            dataset.format = Some(format.clone());
        }
        SinkTarget::Connector { format } => dataset.format = Some(format.clone()),
        SinkTarget::ForeachBatch(_) => dataset.format = Some("foreachbatch".to_owned()),
        SinkTarget::Table(_) | SinkTarget::Unknown(_) => {}
    }
}
