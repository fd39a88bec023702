from pyspark import pipelines as dp

@dp.table
def events():
    return spark.readStream.table("raw.ev").select("id", "n")
