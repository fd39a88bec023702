//! Leaves: what is read, inline rows, and functions over whole frames.

use super::relation::{Open, Relation, same_name};
use super::{MAX_NODES, OpenKind, Resolver, at, relation};
use crate::analyze::catalog::{DatasetId, Target};
use crate::analyze::sources;
use crate::functions;
use crate::model::{
    Attribute, DataType, Expr, Field, Node, Opaque, Place, Plan, QualifiedName, Read, Schema, Source, SourceFacts,
    StatefulFunction,
};
use std::sync::Arc;

impl Resolver<'_> {
    pub(super) fn read(&mut self, read: &Read, place: &Place) -> Relation {
        let place = &place.or(&read.place);
        match &read.source {
            Source::Table(name) => self.read_table(name, read, place),
            Source::ChangeFeed(name) => self.read_change_feed(name, read, place),
            Source::Files { path, format, .. } => {
                let facts = self.catalog.location(self.pipeline, path);
                let schema = read
                    .schema
                    .clone()
                    .or_else(|| facts.and_then(|f| f.schema.clone()))
                    .or_else(|| sources::file_format_schema(format));
                let schema = with_hints(schema, read);
                let schema = with_partitions(schema, facts);
                self.leaf(read.clone(), schema, &[], place)
            }
            Source::Connector { .. } => {
                let schema = sources::connector_schema(read)
                    .or_else(|| read.schema.clone())
                    .or_else(|| self.connector_facts(read).and_then(|facts| facts.schema.clone()));
                self.leaf(read.clone(), schema, &[], place)
            }
        }
    }

    fn connector_facts(&self, read: &Read) -> Option<&SourceFacts> {
        ["subscribe", "topic", "streamname", "path"]
            .iter()
            .filter_map(|option| read.option(option))
            .find_map(|location| self.catalog.location(self.pipeline, location))
    }

    fn read_table(&mut self, name: &QualifiedName, read: &Read, place: &Place) -> Relation {
        if name.schema.is_none()
            && let Some(index) = self.ctes.iter().rposition(|cte| same_name(&cte.name, &name.name))
        {
            return self.cte(index, &name.name);
        }
        match self.catalog.table(self.pipeline, name) {
            Target::Dataset(id) if self.catalog.is_view(id) => self.view(id, read, place),
            Target::Dataset(id @ (p, d)) => {
                let known = self.schemas.get(p).and_then(|s| s.get(d)).cloned().flatten();
                let dataset = self.catalog.workspace.pipelines.get(p).and_then(|p| p.datasets.get(d));
                let full = dataset.map_or_else(|| name.clone(), |dataset| dataset.name.clone());
                if known.is_none() {
                    self.note_unresolved("unknown-schema", &full.to_string(), "its columns are not known", place);
                }
                let _ = id;
                self.leaf(Read { source: Source::Table(full.clone()), ..read.clone() }, known, &parts(&full), place)
            }
            Target::External { name, facts } => {
                let schema = with_partitions(facts.and_then(|f| f.schema.clone()), facts);
                self.leaf(Read { source: Source::Table(name.clone()), ..read.clone() }, schema, &parts(&name), place)
            }
        }
    }

    fn cte(&mut self, index: usize, name: &str) -> Relation {
        let Some(cte) = self.ctes.get(index).cloned() else {
            return self.unknown(name, "it is not in scope", &Place::unknown());
        };
        let hidden = self.ctes.split_off(cte.visible.min(self.ctes.len()));
        let relation = self.plan(&cte.plan);
        self.ctes.extend(hidden);
        self.requalify(relation, &[Arc::from(name)])
    }

    /// A view's query, written out where it is read. A view's text knows nothing of the CTEs around its reader.
    fn view(&mut self, id: DatasetId, read: &Read, place: &Place) -> Relation {
        let (p, d) = id;
        let workspace = self.catalog.workspace;
        let Some(dataset) = workspace.pipelines.get(p).and_then(|p| p.datasets.get(d)) else {
            return self.unknown("view", "it is not defined", place);
        };
        let qualifier = parts(&dataset.name);
        let flow = self
            .catalog
            .writers(id)
            .first()
            .and_then(|f| workspace.pipelines.get(p).and_then(|pipeline| pipeline.flows.get(*f)));
        let Some(flow) = flow else {
            return self.unknown(&dataset.name.name, "the view has no query", place);
        };
        if self.views.contains(&id) {
            let message = format!("`{}` reads itself; break the cycle", dataset.name);
            self.error("PIPELINE_GRAPH_NOT_TOPOLOGICALLY_SORTABLE", message, place);
            return self.unknown(&dataset.name.name, "the view reads itself", place);
        }
        if self.nodes.saturating_add(self.catalog.extents.view(id).nodes) > MAX_NODES {
            return self.too_large(place);
        }
        let (ctes, outer, pipeline) = (std::mem::take(&mut self.ctes), std::mem::take(&mut self.outer), self.pipeline);
        self.views.push(id);
        self.pipeline = p;
        let relation = self.plan(&flow.plan);
        let relation = self.rows_kept_by_view(dataset, relation);
        self.pipeline = pipeline;
        self.views.pop();
        self.ctes = ctes;
        self.outer = outer;
        self.check_view_read(&dataset.name, &relation.plan, read, place);
        let mut relation = self.requalify(relation, &qualifier);
        relation.frames.clear();
        relation
    }

    /// Apache Spark refuses a batch view read as a stream and the reverse; Databricks documents no such rule.
    fn check_view_read(&mut self, name: &QualifiedName, plan: &Plan, read: &Read, place: &Place) {
        let spark = self
            .catalog
            .workspace
            .pipelines
            .get(self.pipeline)
            .is_some_and(|p| p.platform == crate::model::Platform::Spark);
        let has_leaf = !plan.reads().is_empty();
        let streaming = plan.is_streaming();
        if !spark || !has_leaf || streaming == read.streaming {
            return;
        }
        let (class, message) = if read.streaming {
            ("INCOMPATIBLE_BATCH_VIEW_READ", format!("`{name}` is a batch view and is read as a stream"))
        } else {
            ("INCOMPATIBLE_STREAMING_VIEW_READ", format!("`{name}` is a streaming view and is read as a batch"))
        };
        self.error(class, message, place);
    }

    fn read_change_feed(&mut self, name: &QualifiedName, read: &Read, place: &Place) -> Relation {
        let (full, base) = match self.catalog.table(self.pipeline, name) {
            Target::Dataset((p, d)) => {
                let full =
                    self.catalog.workspace.pipelines.get(p).and_then(|p| p.datasets.get(d)).map(|d| d.name.clone());
                (full.unwrap_or_else(|| name.clone()), self.schemas.get(p).and_then(|s| s.get(d)).cloned().flatten())
            }
            Target::External { name, facts } => (name, with_partitions(facts.and_then(|f| f.schema.clone()), facts)),
        };
        let mut schema = base.unwrap_or_else(Schema::unknown);
        schema.fields.extend(sources::change_feed_columns());
        self.leaf(Read { source: Source::ChangeFeed(full.clone()), ..read.clone() }, Some(schema), &parts(&full), place)
    }

    /// A read with its columns. Tables and files give nullable columns, whatever their schema says.
    fn leaf(&mut self, mut read: Read, schema: Option<Schema>, qualifier: &[Arc<str>], place: &Place) -> Relation {
        let mut schema = schema.unwrap_or_else(Schema::unknown);
        if let Some(rescued) = sources::rescued_column(&read)
            && schema.field(&rescued.name).is_none()
        {
            schema.fields.push(rescued);
        }
        let output: Vec<Attribute> = schema
            .fields
            .iter()
            .map(|field| Attribute {
                qualifier: qualifier.to_vec(),
                ..self.attribute(&field.name, field.data_type.clone(), true)
            })
            .collect();
        read.output.clone_from(&output);
        read.complete = schema.complete;
        read.place = read.place.or(place);
        let files = matches!(read.source, Source::Files { .. });
        let plan = Plan::at(Node::Read(read), place.clone());
        if !schema.complete {
            return self.open_leaf(plan, output, qualifier);
        }
        let mut relation = Relation::new(plan, output);
        if files {
            let open = self.new_open(OpenKind::Leaf, true, qualifier);
            self.mark_leaf(&mut relation.plan, open.id);
            relation.metadata.push(open);
        }
        relation
    }

    /// Leaves a marker in the leaf, for `finish` to put the columns there that were named.
    pub(super) fn mark_leaf(&self, plan: &mut Plan, id: relation::OpenId) {
        let marker = Attribute {
            id: crate::model::AttrId(0),
            name: id.to_string().into(),
            data_type: DataType::Unknown,
            nullable: true,
            qualifier: Vec::new(),
            watermark_delay: None,
        };
        match &mut plan.node {
            Node::Read(read) => read.output.push(marker),
            _ => plan.output.push(marker),
        }
    }

    pub(super) fn values(&mut self, rows: &[Vec<Expr>], schema: &Schema, place: &Place) -> Relation {
        let nothing =
            Relation::new(Plan::new(Node::Values { rows: Vec::new(), schema: Schema::new(Vec::new()) }), Vec::new());
        let mut rows: Vec<Vec<Expr>> =
            rows.iter().map(|row| row.iter().map(|e| self.scalar(e, &nothing, place)).collect()).collect();
        let mut fields = schema.fields.clone();
        for (column, field) in fields.iter_mut().enumerate() {
            if matches!(field.data_type, DataType::Unknown) {
                let types: Vec<DataType> =
                    rows.iter().filter_map(|row| row.get(column)).map(super::expression::data_type).collect();
                field.data_type = functions::common_type(&types).unwrap_or(DataType::Unknown);
                field.nullable = rows.iter().filter_map(|row| row.get(column)).any(super::expression::nullable);
            }
            for row in &mut rows {
                if let Some(cell) = row.get_mut(column) {
                    *cell = super::expression::cast_to(cell.clone(), &field.data_type);
                }
            }
        }
        let output: Vec<Attribute> =
            fields.iter().map(|f| self.attribute(&f.name, f.data_type.clone(), f.nullable)).collect();
        let schema = Schema { fields, complete: schema.complete };
        let complete = schema.complete;
        let mut plan = Plan::at(Node::Values { rows, schema }, place.clone());
        plan.output.clone_from(&output);
        if complete { Relation::new(plan, output) } else { self.open_leaf(plan, output, &[]) }
    }

    pub(super) fn range(&mut self, bounds: [&Expr; 3], place: &Place) -> Relation {
        let nothing =
            Relation::new(Plan::new(Node::Values { rows: Vec::new(), schema: Schema::new(Vec::new()) }), Vec::new());
        let [start, end, step] = bounds.map(|bound| {
            let bound = self.scalar(bound, &nothing, place);
            Box::new(super::expression::cast_to(bound, &DataType::Long))
        });
        let output = vec![self.attribute("id", DataType::Long, false)];
        let mut plan = Plan::at(Node::Range { start, end, step }, place.clone());
        plan.output.clone_from(&output);
        Relation::new(plan, output)
    }

    pub(super) fn opaque(
        &mut self,
        function: &Opaque,
        keys: &[Expr],
        output: &Schema,
        inputs: &[Plan],
        place: &Place,
    ) -> Relation {
        let relations: Vec<Relation> = inputs.iter().map(|input| self.plan(input).tight()).collect();
        let keys = match relations.first() {
            Some(first) => keys.iter().map(|key| self.scalar(key, first, place)).collect(),
            None => Vec::new(),
        };
        let args = match relations.first() {
            Some(first) => function.args.iter().map(|arg| self.scalar(arg, first, place)).collect(),
            None => Vec::new(),
        };
        let columns = self.declared(output);
        let mut plan = Plan::at(
            Node::Opaque {
                function: Opaque { args, ..function.clone() },
                keys,
                output: output.clone(),
                inputs: relations.into_iter().map(|r| r.plan).collect(),
            },
            place.clone(),
        );
        plan.output.clone_from(&columns);
        if output.complete { Relation::new(plan, columns) } else { self.open_leaf(plan, columns, &[]) }
    }

    pub(super) fn stateful_map(
        &mut self,
        keys: &[Expr],
        function: &StatefulFunction,
        input: Relation,
        place: &Place,
    ) -> Relation {
        let keys: Vec<Expr> = keys.iter().map(|key| self.scalar(key, &input, place)).collect();
        let (keys, input) = self.pull_out_keys(keys, input, place);
        let columns = self.declared(&function.output);
        let complete = function.output.complete;
        let mut plan = Plan::at(
            Node::StatefulMap { keys, function: function.clone(), input: Box::new(input.plan) },
            place.clone(),
        );
        plan.output.clone_from(&columns);
        if complete { Relation::new(plan, columns) } else { at(self.open_leaf(plan, columns, &[]), place) }
    }

    fn declared(&mut self, schema: &Schema) -> Vec<Attribute> {
        schema.fields.iter().map(|f| self.attribute(&f.name, f.data_type.clone(), f.nullable)).collect()
    }

    /// The column that a name means in an open relation, made on demand: of unknown type, and the same one for the same name.
    pub(super) fn open_column(&mut self, open: &Open, name: &str) -> Option<Attribute> {
        if open.excluded.iter().any(|excluded| same_name(excluded, name)) {
            return None;
        }
        let known = self.open.get(open.id)?;
        if let Some(column) = known.columns.iter().find(|c| same_name(&c.name, name)) {
            return Some(column.clone());
        }
        let data_type =
            if known.files && same_name(name, "_metadata") { sources::file_metadata() } else { DataType::Unknown };
        let column = self.attribute(name, data_type, true);
        if matches!(self.open.get(open.id)?.kind, OpenKind::Union { .. }) {
            let row = self.union_row(open.id, name);
            if let Some(OpenKind::Union { rows, .. }) = self.open.get_mut(open.id).map(|o| &mut o.kind) {
                rows.push(row);
            }
        }
        self.open.get_mut(open.id)?.columns.push(column.clone());
        Some(column)
    }
}

fn parts(name: &QualifiedName) -> Vec<Arc<str>> {
    name.parts().map(Arc::from).collect()
}

/// Auto Loader's `schemaHints` give types to columns that inference finds.
fn with_hints(schema: Option<Schema>, read: &Read) -> Option<Schema> {
    let hints = read.option("cloudfiles.schemahints").or_else(|| read.option("schemahints"));
    let Some(hints) = hints.and_then(functions::parse_schema) else { return schema };
    let mut schema = schema.unwrap_or_else(Schema::unknown);
    for hint in hints.fields {
        match schema.fields.iter_mut().find(|f| same_name(&f.name, &hint.name)) {
            Some(field) => field.data_type = hint.data_type,
            None => schema.fields.push(hint),
        }
    }
    Some(schema)
}

/// Partition columns belong to a table's columns; where its schema does not list them, they come last, as strings of unknown type.
fn with_partitions(schema: Option<Schema>, facts: Option<&SourceFacts>) -> Option<Schema> {
    let (Some(mut schema), Some(facts)) = (schema.clone(), facts) else { return schema };
    for name in &facts.partitioned_by {
        if schema.field(name).is_none() {
            schema.fields.push(Field::new(name.clone(), DataType::Unknown));
        }
    }
    Some(schema)
}
