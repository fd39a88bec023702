from pyspark import pipelines as dp


@dp.table
def orders():
    return spark.readStream.option("allowSourceColumnRename", "always").table("main.raw.orders").select("id", "amount")
