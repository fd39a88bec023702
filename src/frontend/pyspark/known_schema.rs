//! Columns of a DataFrame, where the code alone tells them: loops over `df.columns` and `df.schema` hang on it.

use crate::model::{DataType, Expr, Field, Node, Plan, Schema};

/// Names of the columns, where the code alone tells them.
pub fn known_columns(plan: &Plan) -> Option<Vec<String>> {
    Some(known_schema(plan)?.fields.into_iter().map(|field| field.name).collect())
}

/// Columns and their types, where the code alone tells them (a type may stay unknown).
pub fn known_schema(plan: &Plan) -> Option<Schema> {
    known_schema_within(plan, 200)
}

fn known_schema_within(plan: &Plan, depth: u32) -> Option<Schema> {
    let depth = depth.checked_sub(1)?;
    let of = |plan: &Plan| known_schema_within(plan, depth);
    match &plan.node {
        Node::Read(read) => read.schema.clone().filter(|schema| schema.complete),
        Node::Values { schema, .. } | Node::Opaque { output: schema, .. } => {
            Some(schema.clone()).filter(|schema| schema.complete)
        }
        Node::Filter { input, .. }
        | Node::Watermark { input, .. }
        | Node::Deduplicate { input, .. }
        | Node::Distinct { input }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. }
        | Node::SubqueryAlias { input, .. }
        | Node::NaFill { input, .. }
        | Node::NaDrop { input, .. } => of(input),
        Node::Union { inputs, .. } => of(inputs.first()?),
        Node::Project { list, input } => {
            let mut fields = Vec::new();
            for expr in list {
                match expr {
                    Expr::Star { qualifier, except, .. } if qualifier.is_empty() && except.is_empty() => {
                        fields.extend(of(input)?.fields);
                    }
                    other => fields.push(output_field(other, of(input).as_ref())?),
                }
            }
            Some(Schema::new(fields))
        }
        Node::Aggregate { outputs, input, .. } => {
            let input = of(input);
            outputs.iter().map(|expr| output_field(expr, input.as_ref())).collect::<Option<Vec<_>>>().map(Schema::new)
        }
        Node::WithColumns { columns, input } => {
            let mut schema = of(input)?;
            for column in columns {
                let field = output_field(column, Some(&schema))?;
                match schema.fields.iter_mut().find(|f| f.name.eq_ignore_ascii_case(&field.name)) {
                    Some(slot) => *slot = field,
                    None => schema.fields.push(field),
                }
            }
            Some(schema)
        }
        Node::DropColumns { columns, input } => {
            let mut schema = of(input)?;
            for column in columns {
                let Expr::Column(column) = column else { return None };
                let name = column.parts.last()?.clone();
                schema.fields.retain(|field| !field.name.eq_ignore_ascii_case(&name));
            }
            Some(schema)
        }
        Node::RenameColumns { renames, input } => {
            let mut schema = of(input)?;
            for (old, new) in renames {
                for field in schema.fields.iter_mut().filter(|field| field.name.eq_ignore_ascii_case(old)) {
                    field.name.clone_from(new);
                }
            }
            Some(schema)
        }
        Node::ToDf { names, input } => {
            let mut schema = of(input)?;
            for (field, name) in schema.fields.iter_mut().zip(names) {
                field.name.clone_from(name);
            }
            Some(schema)
        }
        _ => None,
    }
}

fn output_field(expr: &Expr, input: Option<&Schema>) -> Option<Field> {
    let field = |name: &str, data_type: DataType| Field::new(name, data_type);
    match expr {
        Expr::Alias { name, expr, .. } => Some(match expr.as_ref() {
            Expr::Cast { to, .. } => field(name, to.clone()),
            Expr::Column(_) => field(name, output_field(expr, input).map_or(DataType::Unknown, |f| f.data_type)),
            _ => field(name, DataType::Unknown),
        }),
        Expr::Column(column) => {
            let name = column.parts.last().filter(|name| !name.contains('{'))?;
            let known = input.and_then(|schema| schema.field(name)).cloned();
            Some(known.unwrap_or_else(|| field(name, DataType::Unknown)))
        }
        _ => None,
    }
}
