//! The schema of a document: `schema_of_json`, `schema_of_variant`.

use serde_json::Value as Json;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Null,
    Boolean,
    Long,
    Double,
    String,
    Array(Box<Shape>),
    Object(BTreeMap<String, Shape>),
    Mixed,
}

fn shape(document: &Json) -> Shape {
    match document {
        Json::Null => Shape::Null,
        Json::Bool(_) => Shape::Boolean,
        Json::Number(number) if number.is_f64() => Shape::Double,
        Json::Number(_) => Shape::Long,
        Json::String(_) => Shape::String,
        Json::Array(items) => Shape::Array(Box::new(items.iter().map(shape).fold(Shape::Null, merge))),
        Json::Object(object) => Shape::Object(object.iter().map(|(key, value)| (key.clone(), shape(value))).collect()),
    }
}

fn merge(a: Shape, b: Shape) -> Shape {
    match (a, b) {
        (Shape::Null, other) | (other, Shape::Null) => other,
        (a, b) if a == b => a,
        (Shape::Long | Shape::Double, Shape::Long | Shape::Double) => Shape::Double,
        (Shape::Array(a), Shape::Array(b)) => Shape::Array(Box::new(merge(*a, *b))),
        (Shape::Object(mut a), Shape::Object(b)) => {
            for (key, shape) in b {
                let merged = match a.remove(&key) {
                    Some(known) => merge(known, shape),
                    None => shape,
                };
                a.insert(key, merged);
            }
            Shape::Object(a)
        }
        _ => Shape::Mixed,
    }
}

/// Spelling of the parts that differ between the two functions.
struct Words {
    object: &'static str,
    null: &'static str,
    mixed: &'static str,
}

fn spell(shape: &Shape, words: &Words) -> String {
    match shape {
        Shape::Null => words.null.to_owned(),
        Shape::Boolean => "BOOLEAN".to_owned(),
        Shape::Long => "BIGINT".to_owned(),
        Shape::Double => "DOUBLE".to_owned(),
        Shape::String => "STRING".to_owned(),
        Shape::Mixed => words.mixed.to_owned(),
        Shape::Array(element) => format!("ARRAY<{}>", spell(element, words)),
        Shape::Object(fields) => {
            let shown: Vec<String> =
                fields.iter().map(|(key, shape)| format!("{key}: {}", spell(shape, words))).collect();
            format!("{}<{}>", words.object, shown.join(", "))
        }
    }
}

pub(super) fn of_json(document: &Json) -> String {
    spell(&shape(document), &Words { object: "STRUCT", null: "STRING", mixed: "STRING" })
}

pub(super) fn of_variant(document: &Json) -> String {
    spell(&shape(document), &Words { object: "OBJECT", null: "VOID", mixed: "VARIANT" })
}
