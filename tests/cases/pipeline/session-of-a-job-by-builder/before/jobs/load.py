from pyspark.sql import SparkSession

spark = SparkSession.builder.config(map={"spark.sql.ansi.enabled": "true"}).getOrCreate()
rows = spark.readStream.table("raw.ev").selectExpr("id", "CAST(k AS INT) AS n")
rows.writeStream.option("checkpointLocation", "/chk/load").toTable("lake.events")
