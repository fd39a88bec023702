from pyspark import pipelines as dp


@dp.table(schema="id BIGINT, k STRING")
def events():
    return spark.readStream.table("raw.ev").select("id", "k", "v")
