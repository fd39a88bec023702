from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
rows = spark.readStream.table("raw.ev").selectExpr("id", "to_date(ts) AS day")
rows.writeStream.option("checkpointLocation", "/chk/load").toTable("lake.events")
