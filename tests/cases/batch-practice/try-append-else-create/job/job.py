from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

from pyspark.sql.utils import AnalysisException

df = spark.table("raw_orders")
try:
    spark.table("orders")
    df.write.mode("append").insertInto("orders")
except AnalysisException:
    df.write.partitionBy("dt").saveAsTable("orders")
