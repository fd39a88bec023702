from pyspark import pipelines as dp

@dp.table
def copies():
    return spark.readStream.option("skipChangeCommits", "true").table("main.crm.customers")
