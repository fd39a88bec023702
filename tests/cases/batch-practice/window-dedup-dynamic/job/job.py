from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

from pyspark.sql import Window

w = Window.partitionBy("id").orderBy(F.col("amount").desc())
latest = spark.table("raw_orders").withColumn("rn", F.row_number().over(w)).where("rn = 1").drop("rn")
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "DYNAMIC")
latest.write.insertInto("orders", overwrite=True)
