from lib.cleaning import cleaned
from pyspark import pipelines as dp


@dp.table
def orders():
    return cleaned(spark.readStream.table("main.raw.orders")).select("id", "country")
