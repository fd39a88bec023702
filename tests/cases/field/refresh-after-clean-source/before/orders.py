from pyspark import pipelines as dp


@dp.table
def orders():
    files = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load("/landing/orders")
    return files.withWatermark("created_at", "1 hour").dropDuplicates(["id"])
