package pipelint;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The name of a format, by which {@link SessionCatalog} is asked for a table; by itself it has none. */
public final class Provider implements TableProvider, DataSourceRegister {
  @Override
  public String shortName() {
    return SessionCatalog.FORMAT;
  }

  /** Tables are created with columns that Spark, not the format, knows. */
  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    throw new UnsupportedOperationException("a table in memory has a name in the catalog");
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    throw new UnsupportedOperationException("a table in memory has a name in the catalog");
  }
}
