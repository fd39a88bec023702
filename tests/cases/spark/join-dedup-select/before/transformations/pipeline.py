from pyspark import pipelines as dp


@dp.table
def t():
    return spark.readStream.table("events").alias("e").join(spark.readStream.table("clicks").alias("c"), "id").dropDuplicates(["id"]).select("id", "v")
