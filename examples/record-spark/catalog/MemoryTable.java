package pipelint;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TruncatableTable;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A table as one query sees it; all of them share what is stored. */
final class MemoryTable
    implements SupportsRead, SupportsWrite, SupportsRowLevelOperations, TruncatableTable {
  /** A property of tables that take the columns of whatever is written to them. */
  static final String ANY_SCHEMA = "accept_any";
  /** The column of such a table that nothing has been written to: Spark creates none without a column. */
  static final String PLACEHOLDER = "none_yet";

  /** The rows of a table and its definition; its own lock guards it. */
  static final class Stored {
    final String key;
    final Transform[] partitioning;
    Column[] columns;
    Map<String, String> properties;
    /** By column name in lower case. */
    List<Map<String, Object>> rows = new ArrayList<>();
    /** Grows with every change that is no append: streams cannot read over it. */
    long generation = 0;
    /** The last epoch of each streaming query. */
    final Map<String, Long> epochs = new HashMap<>();

    Stored(String key, Column[] columns, Transform[] partitioning, Map<String, String> properties) {
      this.key = key;
      this.columns = columns;
      this.partitioning = partitioning;
      this.properties = new TreeMap<>(properties);
    }

    boolean takesAnySchema() {
      return "true".equals(properties.get(ANY_SCHEMA));
    }

    synchronized void write(List<Map<String, Object>> more, StructType schema, boolean replace) {
      if (replace) {
        rows = new ArrayList<>();
        generation++;
      }
      rows.addAll(more);
      if (takesAnySchema() && schema.size() > 0) {
        columns = widened(replace ? new Column[0] : columns, schema);
      }
    }

    /** An epoch that the query has written already changes nothing. */
    synchronized void writeOnce(
        String query, long epoch, List<Map<String, Object>> more, StructType schema, boolean replace) {
      Long last = epochs.get(query);
      if (last == null || last < epoch) {
        epochs.put(query, epoch);
        write(more, schema, replace);
      }
    }

    private static Column[] widened(Column[] columns, StructType schema) {
      List<Column> wider = new ArrayList<>(Arrays.asList(columns));
      for (StructField field : schema.fields()) {
        if (wider.stream().noneMatch(column -> column.name().equalsIgnoreCase(field.name()))) {
          wider.add(Column.create(field.name(), field.dataType(), true));
        }
      }
      wider.removeIf(column -> column.name().equals(PLACEHOLDER));
      return wider.toArray(new Column[0]);
    }
  }

  private final Stored stored;
  private final Column[] columns;

  MemoryTable(Stored stored) {
    this.stored = stored;
    this.columns = stored.columns;
  }

  @Override
  public String name() {
    return stored.key;
  }

  @Override
  public Column[] columns() {
    return columns;
  }

  @Override
  public Transform[] partitioning() {
    return stored.partitioning;
  }

  @Override
  public Map<String, String> properties() {
    return stored.properties;
  }

  @Override
  public Set<TableCapability> capabilities() {
    EnumSet<TableCapability> capabilities =
        EnumSet.of(
            TableCapability.BATCH_READ,
            TableCapability.BATCH_WRITE,
            TableCapability.TRUNCATE,
            TableCapability.STREAMING_WRITE,
            TableCapability.MICRO_BATCH_READ);
    if (stored.takesAnySchema()) {
      capabilities.add(TableCapability.ACCEPT_ANY_SCHEMA);
    }
    return capabilities;
  }

  @Override
  public boolean truncateTable() {
    stored.write(List.of(), new StructType(), true);
    return true;
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new MemoryScan.Builder(stored, CatalogV2Util.v2ColumnsToStructType(columns));
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new MemoryWrite.Builder(stored, info, false);
  }

  /** MERGE, UPDATE and DELETE rewrite the whole table. */
  @Override
  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return () ->
        new RowLevelOperation() {
          @Override
          public Command command() {
            return info.command();
          }

          @Override
          public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return MemoryTable.this.newScanBuilder(options);
          }

          @Override
          public WriteBuilder newWriteBuilder(LogicalWriteInfo write) {
            return new MemoryWrite.Builder(stored, write, true);
          }
        };
  }

  static String cell(String column) {
    return column.toLowerCase(Locale.ROOT);
  }
}
