//! Lakehouse table formats that Spark has no jar of its own for: which one the given packages and jars bring, and the properties
//! it needs.

use std::collections::BTreeMap;
use std::path::Path;

/// A table format that comes as a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lakehouse {
    Delta,
    Iceberg,
}

impl Lakehouse {
    /// By Maven coordinates and names of jars in Spark's properties, such as `io.delta:delta-spark_2.13:4.3.0`.
    pub fn of(conf: &BTreeMap<String, String>) -> Option<Lakehouse> {
        let given = ["spark.jars.packages", "spark.jars"].into_iter().filter_map(|key| conf.get(key));
        let names: Vec<&str> = given.flat_map(|list| list.split(',')).collect();
        let has = |artifact: &str| names.iter().any(|name| name.rsplit('/').next().unwrap_or(name).contains(artifact));
        if has("delta-spark") {
            Some(Lakehouse::Delta)
        } else if has("iceberg-spark-runtime") {
            Some(Lakehouse::Iceberg)
        } else {
            None
        }
    }

    /// As `USING` names it.
    pub fn table_format(self) -> &'static str {
        match self {
            Lakehouse::Delta => "delta",
            Lakehouse::Iceberg => "iceberg",
        }
    }

    /// Spark's properties that make tables of this format in its own catalog; Iceberg's lie below `warehouse`.
    pub fn properties(self, warehouse: &Path) -> Vec<(&'static str, String)> {
        let mut properties = match self {
            Lakehouse::Delta => vec![
                ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension".to_owned()),
                ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog".to_owned()),
            ],
            Lakehouse::Iceberg => vec![
                (
                    "spark.sql.extensions",
                    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions".to_owned(),
                ),
                ("spark.sql.catalog.spark_catalog", "org.apache.iceberg.spark.SparkSessionCatalog".to_owned()),
                ("spark.sql.catalog.spark_catalog.type", "hadoop".to_owned()),
                ("spark.sql.catalog.spark_catalog.warehouse", warehouse.display().to_string()),
            ],
        };
        // Tables whose definition names no format.
        properties.push(("spark.sql.sources.default", self.table_format().to_owned()));
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &str, value: &str) -> Option<Lakehouse> {
        Lakehouse::of(&BTreeMap::from([(key.to_owned(), value.to_owned())]))
    }

    #[test]
    fn the_format_is_told_by_packages_and_jars() {
        assert_eq!(of("spark.jars.packages", "io.delta:delta-spark_2.13:4.3.0"), Some(Lakehouse::Delta));
        let iceberg = "a:b:1,org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0";
        assert_eq!(of("spark.jars.packages", iceberg), Some(Lakehouse::Iceberg));
        assert_eq!(of("spark.jars", "/opt/jars/delta-spark_2.13-4.3.0.jar"), Some(Lakehouse::Delta));
        assert_eq!(of("spark.jars", "/opt/delta-spark/driver.jar"), None);
        assert_eq!(of("spark.sql.shuffle.partitions", "delta-spark"), None);
    }
}
