package pipelint;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A catalog of tables in memory, for AUTO CDC and for flows that need more than a file table: its tables take concurrent
 * streaming appends (each epoch of a query once, as Delta's do), MERGE, truncation and new columns, and are read as append-only
 * streams. They live as long as the JVM.
 */
public final class MemoryCatalog implements TableCatalog, SupportsNamespaces {
  private static final Map<String, MemoryTable.Stored> TABLES = new ConcurrentHashMap<>();
  private static final Set<String> NAMESPACES = ConcurrentHashMap.newKeySet();

  private String name;

  @Override
  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  private static String key(Identifier table) {
    return String.join(".", table.namespace()) + "/" + table.name();
  }

  private static MemoryTable.Stored stored(Identifier table) throws NoSuchTableException {
    MemoryTable.Stored stored = TABLES.get(key(table));
    if (stored == null) {
      throw new NoSuchTableException(table);
    }
    return stored;
  }

  @Override
  public Identifier[] listTables(String[] namespace) {
    String prefix = String.join(".", namespace) + "/";
    return new TreeMap<>(TABLES)
        .keySet().stream()
            .filter(key -> key.startsWith(prefix))
            .map(key -> Identifier.of(namespace, key.substring(prefix.length())))
            .toArray(Identifier[]::new);
  }

  @Override
  public Table loadTable(Identifier table) throws NoSuchTableException {
    return new MemoryTable(stored(table));
  }

  @Override
  public Table createTable(Identifier table, TableInfo info) {
    MemoryTable.Stored stored =
        new MemoryTable.Stored(key(table), info.columns(), info.partitions(), info.properties());
    TABLES.put(key(table), stored);
    NAMESPACES.add(String.join(".", table.namespace()));
    return new MemoryTable(stored);
  }

  @Override
  public Table alterTable(Identifier table, TableChange... changes) throws NoSuchTableException {
    MemoryTable.Stored stored = stored(table);
    synchronized (stored) {
      for (TableChange change : changes) {
        alter(stored, change);
      }
    }
    return new MemoryTable(stored);
  }

  private static void alter(MemoryTable.Stored table, TableChange change) {
    List<Column> columns = new ArrayList<>(Arrays.asList(table.columns));
    if (change instanceof TableChange.AddColumn add) {
      columns.add(Column.create(add.fieldNames()[0], add.dataType(), add.isNullable()));
    } else if (change instanceof TableChange.DeleteColumn delete) {
      columns.removeIf(column -> column.name().equalsIgnoreCase(delete.fieldNames()[0]));
    } else if (change instanceof TableChange.UpdateColumnType update) {
      columns.replaceAll(
          column ->
              column.name().equals(update.fieldNames()[0])
                  ? Column.create(column.name(), update.newDataType(), column.nullable())
                  : column);
    } else if (change instanceof TableChange.UpdateColumnNullability update) {
      columns.replaceAll(
          column ->
              column.name().equals(update.fieldNames()[0])
                  ? Column.create(column.name(), column.dataType(), update.nullable())
                  : column);
    } else if (change instanceof TableChange.SetProperty set) {
      table.properties.put(set.property(), set.value());
    } else if (change instanceof TableChange.RemoveProperty remove) {
      table.properties.remove(remove.property());
    } else if (!(change instanceof TableChange.UpdateColumnPosition
        || change instanceof TableChange.UpdateColumnComment)) {
      throw new UnsupportedOperationException(change.getClass().getSimpleName());
    }
    table.columns = columns.toArray(new Column[0]);
  }

  @Override
  public boolean dropTable(Identifier table) {
    return TABLES.remove(key(table)) != null;
  }

  @Override
  public void renameTable(Identifier from, Identifier to) {
    throw new UnsupportedOperationException("rename");
  }

  @Override
  public String[][] listNamespaces() {
    return NAMESPACES.stream().sorted().map(name -> new String[] {name}).toArray(String[][]::new);
  }

  @Override
  public String[][] listNamespaces(String[] namespace) {
    return namespace.length == 0 ? listNamespaces() : new String[0][];
  }

  @Override
  public Map<String, String> loadNamespaceMetadata(String[] namespace) throws NoSuchNamespaceException {
    if (!NAMESPACES.contains(String.join(".", namespace))) {
      throw new NoSuchNamespaceException(namespace);
    }
    return new TreeMap<>();
  }

  @Override
  public void createNamespace(String[] namespace, Map<String, String> metadata) {
    NAMESPACES.add(String.join(".", namespace));
  }

  @Override
  public void alterNamespace(String[] namespace, NamespaceChange... changes) {}

  @Override
  public boolean dropNamespace(String[] namespace, boolean cascade) {
    String prefix = String.join(".", namespace) + "/";
    TABLES.keySet().removeIf(key -> key.startsWith(prefix));
    return NAMESPACES.remove(String.join(".", namespace));
  }
}
