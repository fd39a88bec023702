from pyspark import pipelines as dp
from pyspark.sql.functions import *


@dp.materialized_view
def large():
    return spark.read.table("main.raw.events").groupBy("name").agg(count_if(col("amount") > 3).alias("n"))
