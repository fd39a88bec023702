//! Builds nodes from what a YAML or JSON deserializer gives, within a budget of values.

use super::places::{Places, Step};
use super::{Content, MAX_VALUES, Node};
use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use std::fmt;
use std::sync::Arc;

/// YAML's key that puts another mapping's entries in.
const MERGE_KEY: &str = "<<";

/// Builds the document of a text.
pub(super) fn build<'de, D: Deserializer<'de>>(deserializer: D, text: &str, path: &Arc<str>) -> Result<Node, D::Error> {
    let mut builder = Builder { places: Places::scan(text, path), path: Vec::new(), values: 0 };
    Seed { builder: &mut builder }.deserialize(deserializer)
}

struct Builder {
    places: Places,
    /// Of the value being built.
    path: Vec<Step>,
    /// Built so far.
    values: usize,
}

/// Builds one value.
struct Seed<'b> {
    builder: &'b mut Builder,
}

impl Seed<'_> {
    fn node<E>(self, content: Content) -> Result<Node, E> {
        Ok(Node { content, span: self.builder.places.nearest(&self.builder.path) })
    }

    fn child(&mut self, step: Step) -> Seed<'_> {
        self.builder.path.push(step);
        Seed { builder: self.builder }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        self.builder.values += 1;
        if self.builder.values > MAX_VALUES {
            return Err(D::Error::custom(format!("the document holds more than {MAX_VALUES} values")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        self.node(Content::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        self.node(Content::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        self.node(Content::Boolean(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        self.node(Content::Number(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        self.node(Content::Number(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        self.node(Content::Number(serde_yaml::Number::from(value).to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        self.node(Content::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.child(Step::Index(items.len())))? {
            self.builder.path.pop();
            items.push(item);
        }
        self.builder.path.pop();
        self.node(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Node, A::Error> {
        let mut entries = IndexMap::new();
        let mut merged = Vec::new();
        while let Some(key) = access.next_key_seed(Key)? {
            let value = access.next_value_seed(self.child(Step::Key(key.clone())))?;
            self.builder.path.pop();
            if key == MERGE_KEY {
                merged.push(value);
            } else if entries.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the key `{key}` stands twice in one mapping")));
            }
        }
        for source in merged {
            self.put_in(&mut entries, source);
        }
        self.node(Content::Map(entries))
    }

    /// A value with a tag; the tag is not looked at.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Node, A::Error> {
        let (_tag, value) = access.variant_seed(Key)?;
        value.newtype_variant_seed(self)
    }
}

impl Seed<'_> {
    /// Entries of a merge key: those of one mapping, or of a list of them, where the key is not there yet.
    fn put_in(&self, entries: &mut IndexMap<String, Node>, source: Node) {
        let span = self.builder.places.nearest(&self.builder.path);
        match source.content {
            Content::Map(theirs) => {
                for (key, mut value) in theirs {
                    value.span = Arc::clone(&span);
                    entries.entry(key).or_insert(value);
                }
            }
            Content::List(sources) => {
                for source in sources {
                    self.put_in(entries, source);
                }
            }
            _ => {}
        }
    }
}

/// A key as text, whatever scalar it is.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar as key")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<String, E> {
        Ok(value.to_owned())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_unit<E: Error>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }
}
