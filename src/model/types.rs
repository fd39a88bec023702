//! Spark SQL's data types.

use super::schema::Field;
use std::fmt;

/// A Spark SQL type. `char(n)` and `varchar(n)` are `String`, as everywhere after Spark's analysis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DataType {
    /// `void`: the type of a bare NULL.
    Null,
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: i8,
    },
    String,
    Binary,
    Date,
    Timestamp,
    TimestampNtz,
    CalendarInterval,
    DayTimeInterval,
    YearMonthInterval,
    Array {
        element: Box<DataType>,
        contains_null: bool,
    },
    Map {
        key: Box<DataType>,
        value: Box<DataType>,
        value_contains_null: bool,
    },
    Struct(Vec<Field>),
    Variant,
    /// Not known statically. Never equal in meaning to any other type: consumers must treat it as "unknown", not as a type.
    Unknown,
}

impl DataType {
    pub fn array(element: DataType) -> Self {
        DataType::Array { element: Box::new(element), contains_null: true }
    }

    pub fn map(key: DataType, value: DataType) -> Self {
        DataType::Map { key: Box::new(key), value: Box::new(value), value_contains_null: true }
    }

    pub fn decimal(precision: u8, scale: i8) -> Self {
        DataType::Decimal { precision, scale }
    }

    pub fn is_unknown(&self) -> bool {
        match self {
            DataType::Unknown => true,
            DataType::Array { element, .. } => element.is_unknown(),
            DataType::Map { key, value, .. } => key.is_unknown() || value.is_unknown(),
            DataType::Struct(fields) => fields.iter().any(|f| f.data_type.is_unknown()),
            _ => false,
        }
    }

    pub fn is_integral(&self) -> bool {
        matches!(self, DataType::Byte | DataType::Short | DataType::Int | DataType::Long)
    }

    pub fn is_numeric(&self) -> bool {
        self.is_integral() || matches!(self, DataType::Float | DataType::Double | DataType::Decimal { .. })
    }

    pub fn is_datetime(&self) -> bool {
        matches!(self, DataType::Date | DataType::Timestamp | DataType::TimestampNtz)
    }
}

/// `DataType.simpleString`, the spelling of Spark's catalog and error messages.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataType::Null => f.write_str("void"),
            DataType::Boolean => f.write_str("boolean"),
            DataType::Byte => f.write_str("tinyint"),
            DataType::Short => f.write_str("smallint"),
            DataType::Int => f.write_str("int"),
            DataType::Long => f.write_str("bigint"),
            DataType::Float => f.write_str("float"),
            DataType::Double => f.write_str("double"),
            DataType::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            DataType::String => f.write_str("string"),
            DataType::Binary => f.write_str("binary"),
            DataType::Date => f.write_str("date"),
            DataType::Timestamp => f.write_str("timestamp"),
            DataType::TimestampNtz => f.write_str("timestamp_ntz"),
            DataType::CalendarInterval => f.write_str("interval"),
            DataType::DayTimeInterval => f.write_str("interval day to second"),
            DataType::YearMonthInterval => f.write_str("interval year to month"),
            DataType::Array { element, .. } => write!(f, "array<{element}>"),
            DataType::Map { key, value, .. } => write!(f, "map<{key},{value}>"),
            DataType::Struct(fields) => {
                f.write_str("struct<")?;
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{}:{}", field.name, field.data_type)?;
                }
                f.write_str(">")
            }
            DataType::Variant => f.write_str("variant"),
            DataType::Unknown => f.write_str("unknown"),
        }
    }
}
