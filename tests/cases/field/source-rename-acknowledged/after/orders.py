from pyspark import pipelines as dp


@dp.table
def orders():
    return spark.readStream.option("allowSourceColumnRename", "12").table("main.raw.orders").select("id", "amount")
