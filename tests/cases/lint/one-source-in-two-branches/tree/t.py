from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.table
def stores():
    stream = spark.readStream.format("cloudFiles").option("cloudFiles.format", "csv").load("/Volumes/main/raw/stores")
    if "Op" not in stream.columns:
        stream = stream.withColumn("Op", F.lit(None).cast("string"))
    return stream
