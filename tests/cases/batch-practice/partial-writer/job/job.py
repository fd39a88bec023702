from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

from functools import partial


def write(df, table, overwrite):
    df.write.insertInto(table, overwrite=overwrite)


replace = partial(write, overwrite=True)
replace(spark.table("raw_orders").where("dt = '2024-01-02'"), "orders")
