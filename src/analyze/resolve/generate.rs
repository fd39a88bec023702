//! Generators: `explode` and its kin, in a SELECT list or in LATERAL VIEW.

use super::project::{Item, is_generator};
use super::relation::Relation;
use super::{Resolver, at, expression};
use crate::functions;
use crate::model::{Attribute, Call, DataType, Expr, Field, Node, Place};
use std::sync::Arc;

impl Resolver<'_> {
    /// `LATERAL VIEW [OUTER] generator alias AS names`.
    pub(super) fn lateral_view(
        &mut self,
        generator: &Expr,
        outer: bool,
        qualifier: Option<Arc<str>>,
        names: &[Arc<str>],
        input: Relation,
        place: &Place,
    ) -> Relation {
        let generator = self.scalar(generator, &input, place);
        self.generate(generator, outer, qualifier, names, input, place)
    }

    /// Moves the generators among the items of a SELECT list into `Generate`s below (`ExtractGenerator`).
    pub(super) fn pull_out_generators(
        &mut self,
        items: Vec<Item>,
        input: Relation,
        place: &Place,
    ) -> (Vec<Item>, Relation) {
        let mut relation = input;
        let mut out: Vec<Item> = Vec::with_capacity(items.len());
        for item in items {
            let (inner, names): (&Expr, Vec<Arc<str>>) = match &item.expr {
                Expr::MultiAlias { expr, names } => (expr, names.clone()),
                other => (other, Vec::new()),
            };
            if !is_generator(inner) {
                match item.expr {
                    // `struct AS (a, b)` has no meaning outside of a generator; the struct stands for itself.
                    Expr::MultiAlias { expr, names } => {
                        let name = names.first().cloned().unwrap_or_else(|| Arc::from("col"));
                        out.push(Item { expr: *expr, name, place: item.place });
                    }
                    _ => out.push(item),
                }
                continue;
            }
            let columns = generator_columns(inner);
            let names = match (names.as_slice(), columns.as_slice()) {
                ([], [_]) if !item.name.is_empty() && item.name.as_ref() != super::project::implicit_name(inner) => {
                    vec![item.name.clone()]
                }
                _ => names,
            };
            let before = relation.output.len();
            relation = self.generate(inner.clone(), false, None, &names, relation, place);
            for column in relation.output.iter().skip(before) {
                out.push(Item {
                    expr: Expr::Attribute(column.clone()),
                    name: column.name.clone(),
                    place: item.place.clone(),
                });
            }
        }
        (out, relation)
    }

    fn generate(
        &mut self,
        generator: Expr,
        outer: bool,
        qualifier: Option<Arc<str>>,
        names: &[Arc<str>],
        input: Relation,
        place: &Place,
    ) -> Relation {
        let (generator, outer) = plain_generator(generator, outer);
        let mut fields = generator_columns(&generator);
        if fields.is_empty() {
            fields = names.iter().map(|n| Field::new(n.to_string(), DataType::Unknown)).collect();
        }
        let columns: Vec<Attribute> = fields
            .iter()
            .enumerate()
            .map(|(index, field)| {
                let name = names.get(index).map_or(field.name.as_str(), AsRef::as_ref);
                let column = self.attribute(name, field.data_type.clone(), field.nullable || outer);
                Attribute { qualifier: qualifier.iter().cloned().collect(), ..column }
            })
            .collect();
        let output = columns.iter().cloned().map(Expr::Attribute).collect();
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let mut relation =
            at(input.map_plan(|input| Node::Generate { generator, outer, qualifier, names, output, input }), place);
        relation.output.extend(columns);
        relation
    }
}

/// `explode_outer(x)` is `explode(x)` under an outer generate.
fn plain_generator(generator: Expr, outer: bool) -> (Expr, bool) {
    match generator {
        Expr::Call(call) => match call.function.strip_suffix("_outer") {
            Some(plain) => (Expr::Call(Call { function: plain.into(), ..call }), true),
            None => (Expr::Call(call), outer),
        },
        other => (other, outer),
    }
}

/// Columns that a generator gives, by its arguments' types; none where the function is not known.
fn generator_columns(generator: &Expr) -> Vec<Field> {
    let Expr::Call(call) = generator else { return Vec::new() };
    match functions::lookup(&call.function).and_then(functions::Function::generator) {
        Some(generator) => (generator.output)(&expression::arguments(&call.args)),
        None => Vec::new(),
    }
}
