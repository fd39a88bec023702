from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

def save(df, table, mode="overwrite", partition_by=None):
    writer = df.write.mode(mode).format("parquet")
    if partition_by:
        writer = writer.partitionBy(*partition_by)
    writer.saveAsTable(table)


def main():
    df = spark.table("raw_orders").filter("dt = '2024-01-02'")
    save(df, "orders", partition_by=["dt"])


if __name__ == "__main__":
    main()
