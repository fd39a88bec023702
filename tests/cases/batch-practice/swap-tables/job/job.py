from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

merged = spark.table("orders").join(spark.table("raw_orders"), "id", "left_anti").unionByName(spark.table("raw_orders"))
spark.sql("DROP TABLE IF EXISTS orders_tmp")
merged.write.saveAsTable("orders_tmp")
spark.sql("DROP TABLE orders")
spark.sql("ALTER TABLE orders_tmp RENAME TO orders")
