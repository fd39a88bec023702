from pyspark import pipelines as dp


@dp.table
def t():
    return spark.readStream.table("events").dropDuplicates(["id", "ts"])
