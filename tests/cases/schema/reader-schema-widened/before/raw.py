import dlt
from pyspark.sql.types import LongType, StringType, StructField, StructType

schema = StructType([
    StructField("id", LongType()),
    StructField("customer", StringType()),
])


@dlt.table
def raw_orders():
    return (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "json")
        .schema(schema)
        .load("/Volumes/main/sales/landing/orders")
    )
