from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

keep = spark.table("orders").where("dt <> '2024-01-02'")
keep.unionByName(spark.table("raw_orders")).write.mode("overwrite").saveAsTable("orders_tmp")
spark.table("orders_tmp").select("id", "customer", "amount", "dt").write.mode("overwrite").insertInto("orders")
spark.sql("DROP TABLE orders_tmp")
