from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

def write_parquet(df, path, **options):
    mode = options.pop("mode", "append")
    df.write.mode(mode).options(**options).partitionBy("dt").parquet(path)


write_parquet(spark.table("raw_orders"), "lake/orders", mode="overwrite", partitionOverwriteMode="dynamic")
