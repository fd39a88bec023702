from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

def clean(df):
    return df.dropna(subset=["id"]).withColumn("customer", F.trim("customer"))


def only(day):
    return lambda df: df.where(F.col("dt") == day)


(
    spark.table("raw_orders")
    .transform(clean)
    .transform(only("2024-01-02"))
    .repartition("dt")
    .sortWithinPartitions("id")
    .write.mode("overwrite")
    .partitionBy("dt")
    .format("parquet")
    .saveAsTable("orders")
)
