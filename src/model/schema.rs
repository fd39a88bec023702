//! Columns of a relation.

use super::types::DataType;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    pub name: String,
    pub data_type: DataType,
    pub nullable: bool,
}

impl Field {
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Field { name: name.into(), data_type, nullable: true }
    }

    pub fn not_null(name: impl Into<String>, data_type: DataType) -> Self {
        Field { name: name.into(), data_type, nullable: false }
    }
}

/// Columns in order. `complete` is false where more columns may exist than are known (a `SELECT *` over a source whose schema
/// the repository does not tell).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schema {
    pub fields: Vec<Field>,
    pub complete: bool,
}

impl Schema {
    pub fn new(fields: Vec<Field>) -> Self {
        Schema { fields, complete: true }
    }

    /// Nothing is known.
    pub fn unknown() -> Self {
        Schema { fields: Vec::new(), complete: false }
    }

    /// Looks a column up, ignoring letter case.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }
}
