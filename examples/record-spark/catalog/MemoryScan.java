package pipelint;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.types.StructType;

/** All rows of a table, or as a stream those that are appended. */
record MemoryScan(MemoryTable.Stored table, StructType schema) implements Scan, Batch {
  static final class Builder implements ScanBuilder, SupportsPushDownRequiredColumns {
    private final MemoryTable.Stored table;
    private StructType schema;

    Builder(MemoryTable.Stored table, StructType schema) {
      this.table = table;
      this.schema = schema;
    }

    @Override
    public void pruneColumns(StructType required) {
      schema = required;
    }

    @Override
    public Scan build() {
      return new MemoryScan(table, schema);
    }
  }

  @Override
  public StructType readSchema() {
    return schema;
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    synchronized (table) {
      return partition(table.rows, schema);
    }
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new Readers();
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpoint) {
    return new Stream(table, schema);
  }

  private static InputPartition[] partition(List<Map<String, Object>> rows, StructType schema) {
    InternalRow[] copied = rows.stream().map(row -> internal(row, schema)).toArray(InternalRow[]::new);
    return new InputPartition[] {new Rows(copied)};
  }

  private static InternalRow internal(Map<String, Object> row, StructType schema) {
    Object[] values = new Object[schema.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = row.get(MemoryTable.cell(schema.fields()[i].name()));
    }
    return new GenericInternalRow(values);
  }

  private record Rows(InternalRow[] rows) implements InputPartition {}

  private static final class Readers implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      InternalRow[] rows = ((Rows) partition).rows();
      return new PartitionReader<>() {
        private int next = -1;

        @Override
        public boolean next() {
          return ++next < rows.length;
        }

        @Override
        public InternalRow get() {
          return rows[next];
        }

        @Override
        public void close() {}
      };
    }
  }

  /** A number of rows, of a table that nothing but appends has changed since its generation. */
  private static final class Position extends Offset {
    private final long rows;
    private final long generation;

    Position(long rows, long generation) {
      this.rows = rows;
      this.generation = generation;
    }

    @Override
    public String json() {
      return "{\"n\":" + rows + ",\"gen\":" + generation + "}";
    }

    static Position parse(String json) {
      String[] numbers = json.replaceAll("[^0-9,]", "").split(",");
      return new Position(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
    }
  }

  private static final class Stream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private final MemoryTable.Stored table;
    private final StructType schema;
    /** Where a run that takes all that is there now ends. */
    private Position end;

    Stream(MemoryTable.Stored table, StructType schema) {
      this.table = table;
      this.schema = schema;
    }

    private Position now() {
      synchronized (table) {
        return new Position(table.rows.size(), table.generation);
      }
    }

    @Override
    public void prepareForTriggerAvailableNow() {
      end = now();
    }

    @Override
    public Offset initialOffset() {
      return new Position(0, (end != null ? end : now()).generation);
    }

    @Override
    public Offset latestOffset() {
      return end != null ? end : now();
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
      return latestOffset();
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
      return ReadLimit.allAvailable();
    }

    @Override
    public Offset deserializeOffset(String json) {
      return Position.parse(json);
    }

    @Override
    public InputPartition[] planInputPartitions(Offset from, Offset to) {
      Position start = (Position) from;
      Position stop = (Position) to;
      synchronized (table) {
        if (start.generation != table.generation) {
          throw new IllegalStateException(
              "[MEM_NON_APPEND_CHANGE] " + table.key + " was changed by something other than an append");
        }
        return partition(new ArrayList<>(table.rows.subList((int) start.rows, (int) stop.rows)), schema);
      }
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new Readers();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}
  }
}
