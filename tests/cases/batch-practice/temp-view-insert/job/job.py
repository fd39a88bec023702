from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

df = spark.table("raw_orders").withColumn("amount", F.round("amount", 1))
df.createOrReplaceTempView("cleaned")
spark.sql("INSERT INTO orders SELECT id, customer, amount, dt FROM cleaned")
