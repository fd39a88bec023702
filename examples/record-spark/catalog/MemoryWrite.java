package pipelint;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.StructType;

/** Rows that are appended to a table, or take the place of what it holds. */
record MemoryWrite(MemoryTable.Stored table, LogicalWriteInfo info, boolean replace) implements Write {
  static final class Builder implements WriteBuilder, SupportsTruncate, SupportsStreamingUpdateAsAppend {
    private final MemoryTable.Stored table;
    private final LogicalWriteInfo info;
    private boolean replace;

    Builder(MemoryTable.Stored table, LogicalWriteInfo info, boolean replace) {
      this.table = table;
      this.info = info;
      this.replace = replace;
    }

    @Override
    public WriteBuilder truncate() {
      replace = true;
      return this;
    }

    @Override
    public Write build() {
      return new MemoryWrite(table, info, replace);
    }
  }

  @Override
  public BatchWrite toBatch() {
    return new BatchWrite() {
      @Override
      public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo physical) {
        return new Writers(info.schema());
      }

      @Override
      public void commit(WriterCommitMessage[] messages) {
        table.write(rows(messages), info.schema(), replace);
      }

      @Override
      public void abort(WriterCommitMessage[] messages) {}
    };
  }

  @Override
  public StreamingWrite toStreaming() {
    return new StreamingWrite() {
      @Override
      public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo physical) {
        return new Writers(info.schema());
      }

      @Override
      public void commit(long epoch, WriterCommitMessage[] messages) {
        table.writeOnce(info.queryId(), epoch, rows(messages), info.schema(), replace);
      }

      @Override
      public void abort(long epoch, WriterCommitMessage[] messages) {}
    };
  }

  private static List<Map<String, Object>> rows(WriterCommitMessage[] messages) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (WriterCommitMessage message : messages) {
      if (message instanceof Written written) {
        rows.addAll(written.rows());
      }
    }
    return rows;
  }

  private record Written(ArrayList<HashMap<String, Object>> rows) implements WriterCommitMessage {}

  private record Writers(StructType schema) implements DataWriterFactory, StreamingDataWriterFactory {
    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
      return new Writer(schema);
    }

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
      return new Writer(schema);
    }
  }

  private static final class Writer implements DataWriter<InternalRow> {
    private final StructType schema;
    private final ArrayList<HashMap<String, Object>> rows = new ArrayList<>();

    Writer(StructType schema) {
      this.schema = schema;
    }

    @Override
    public void write(InternalRow given) {
      InternalRow row = given.copy();
      HashMap<String, Object> cells = new HashMap<>();
      for (int i = 0; i < schema.size(); i++) {
        Object value = row.isNullAt(i) ? null : row.get(i, schema.fields()[i].dataType());
        cells.put(MemoryTable.cell(schema.fields()[i].name()), value);
      }
      rows.add(cells);
    }

    @Override
    public WriterCommitMessage commit() {
      return new Written(rows);
    }

    @Override
    public void abort() {}

    @Override
    public void close() {}
  }
}
