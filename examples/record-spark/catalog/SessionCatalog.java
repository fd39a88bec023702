package pipelint;

import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.expressions.Transform;

/** Spark's own catalog, in which tables in Delta's format lie in memory: a stand-in where Delta Lake has no release. */
public final class SessionCatalog extends DelegatingCatalogExtension {
  static final String FORMAT = "delta";

  private final MemoryCatalog memory = new MemoryCatalog();

  /** Tables of this format, and those of no format: sources name theirs. */
  private static boolean inMemory(Map<String, String> properties) {
    String format = properties.get("provider");
    return format == null || FORMAT.equalsIgnoreCase(format);
  }

  @Override
  public Table loadTable(Identifier table) throws NoSuchTableException {
    return memory.tableExists(table) ? memory.loadTable(table) : super.loadTable(table);
  }

  @Override
  public boolean tableExists(Identifier table) {
    return memory.tableExists(table) || super.tableExists(table);
  }

  @Override
  public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
    return Stream.of(super.listTables(namespace), memory.listTables(namespace))
        .flatMap(Stream::of)
        .toArray(Identifier[]::new);
  }

  @Override
  public Table createTable(Identifier table, TableInfo info)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return inMemory(info.properties()) ? memory.createTable(table, info) : super.createTable(table, info);
  }

  @Override
  public Table createTable(
      Identifier table, Column[] columns, Transform[] partitions, Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (!inMemory(properties)) {
      return super.createTable(table, columns, partitions, properties);
    }
    TableInfo.Builder info = new TableInfo.Builder();
    return memory.createTable(
        table, info.withColumns(columns).withPartitions(partitions).withProperties(properties).build());
  }

  @Override
  public Table alterTable(Identifier table, TableChange... changes) throws NoSuchTableException {
    return memory.tableExists(table) ? memory.alterTable(table, changes) : super.alterTable(table, changes);
  }

  @Override
  public boolean dropTable(Identifier table) {
    return memory.dropTable(table) || super.dropTable(table);
  }

  @Override
  public boolean dropNamespace(String[] namespace, boolean cascade)
      throws NoSuchNamespaceException, NonEmptyNamespaceException {
    memory.dropNamespace(namespace, cascade);
    return super.dropNamespace(namespace, cascade);
  }
}
