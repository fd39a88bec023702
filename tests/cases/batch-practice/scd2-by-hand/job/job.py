from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

current = spark.table("customers")
incoming = spark.table("raw_orders").select("id", "customer", "amount")
open_rows = current.where("valid_to IS NULL")
changed = incoming.alias("n").join(open_rows.alias("o"), "id").where("n.amount <> o.amount").select("id")
closed = open_rows.join(changed, "id", "left_semi").withColumn("valid_to", F.lit("2024-01-10").cast("date"))
kept = open_rows.join(changed, "id", "left_anti")
opened = incoming.join(kept, "id", "left_anti").withColumn("dt", F.lit("2024-01-10").cast("date")).withColumn("valid_to", F.lit(None).cast("date"))
history = current.where("valid_to IS NOT NULL").unionByName(closed).unionByName(kept).unionByName(opened)
history.select("id", "customer", "amount", "dt", "valid_to").localCheckpoint().write.mode("overwrite").format("parquet").saveAsTable("customers_new")
spark.table("customers_new").write.mode("overwrite").insertInto("customers")
