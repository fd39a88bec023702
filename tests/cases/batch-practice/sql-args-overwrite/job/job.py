from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

spark.sql("INSERT OVERWRITE orders SELECT * FROM raw_orders WHERE dt = :day", args={"day": "2024-01-02"})
