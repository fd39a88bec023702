import dlt
from pyspark.sql import functions as F


@dlt.table
def events():
    return spark.readStream.table("raw.ev").select("id", F.to_date("ts").alias("day"))
