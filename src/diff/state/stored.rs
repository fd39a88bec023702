//! What a restart compares of an operator: the types of each state store's key and value, without their names.

use crate::diff::change::Change;
use crate::diff::column::same_type;
use crate::model::{DataType, Schema, StateStoreSchema, StatefulOperator};

/// What a restart would compare of one operator.
pub struct Types {
    pub equal: bool,
    pub known: bool,
    /// The first store that differs, and its types.
    pub store: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
    keys: (Vec<String>, Vec<String>),
    values: (Vec<String>, Vec<String>),
    keys_equal: bool,
    values_equal: bool,
}

impl Types {
    pub fn of(old: &StatefulOperator, new: &StatefulOperator) -> Self {
        let mut types = Types {
            equal: true,
            known: true,
            store: String::new(),
            before: Vec::new(),
            after: Vec::new(),
            keys: shown_pair(old, new, |store| &store.key),
            values: shown_pair(old, new, |store| &store.value),
            keys_equal: true,
            values_equal: true,
        };
        let known = |store: &StateStoreSchema| {
            [&store.key, &store.value]
                .into_iter()
                .all(|s| s.complete && s.fields.iter().all(|f| !f.data_type.is_unknown()))
        };
        for store in &old.stores {
            let Some(other) = new.stores.iter().find(|other| other.store == store.store) else {
                types.equal = false;
                continue;
            };
            types.known &= known(store) && known(other);
            for (b, a, is_key) in [(&store.key, &other.key, true), (&store.value, &other.value, false)] {
                if !same_fields(b, a) {
                    if types.equal {
                        types.store = store.store.to_string();
                        types.before = shown(b);
                        types.after = shown(a);
                    }
                    types.equal = false;
                    if is_key {
                        types.keys_equal = false;
                    } else {
                        types.values_equal = false;
                    }
                }
            }
        }
        types
    }

    /// Facts about the keys' types.
    pub(super) fn of_keys(&self, change: Change) -> Change {
        self.facts(change, &self.keys, self.keys_equal)
    }

    /// Facts about the values' types.
    pub(super) fn of_values(&self, change: Change) -> Change {
        self.facts(change, &self.values, self.values_equal)
    }

    fn facts(&self, change: Change, types: &(Vec<String>, Vec<String>), equal: bool) -> Change {
        change
            .fact("types_before", types.0.clone())
            .fact("types_after", types.1.clone())
            .fact("types_equal", equal)
            .fact("types_known", self.known)
    }
}

fn shown_pair(
    old: &StatefulOperator,
    new: &StatefulOperator,
    part: impl Fn(&StateStoreSchema) -> &Schema,
) -> (Vec<String>, Vec<String>) {
    let of = |operator: &StatefulOperator| operator.stores.first().map(|store| shown(part(store))).unwrap_or_default();
    (of(old), of(new))
}

pub(super) fn shown(schema: &Schema) -> Vec<String> {
    schema.fields.iter().map(|field| field.data_type.to_string()).collect()
}

/// `DataType.equalsIgnoreNameAndCompatibleNullability`: number, order and types, at every depth.
pub(super) fn same_fields(a: &Schema, b: &Schema) -> bool {
    a.fields.len() == b.fields.len()
        && a.fields.iter().zip(&b.fields).all(|(x, y)| same_stored(&x.data_type, &y.data_type))
}

pub(super) fn same_stored(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same_stored(&x.data_type, &y.data_type))
        }
        (DataType::Array { element: x, .. }, DataType::Array { element: y, .. }) => same_stored(x, y),
        (DataType::Map { key: k, value: v, .. }, DataType::Map { key: l, value: w, .. }) => {
            same_stored(k, l) && same_stored(v, w)
        }
        // What is not known differs from nothing.
        (DataType::Unknown, _) | (_, DataType::Unknown) => true,
        _ => same_type(a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Field;

    #[test]
    fn names_and_nullability_do_not_count_in_stored_types() {
        let old = Schema::new(vec![Field::new("a", DataType::Struct(vec![Field::new("x", DataType::Int)]))]);
        let new = Schema::new(vec![Field::not_null("b", DataType::Struct(vec![Field::not_null("y", DataType::Int)]))]);
        let wider = Schema::new(vec![Field::new("a", DataType::Struct(vec![Field::new("x", DataType::Long)]))]);
        assert!(same_fields(&old, &new));
        assert!(!same_fields(&old, &wider));
    }
}
