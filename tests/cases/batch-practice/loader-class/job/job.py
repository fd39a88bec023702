from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

class Loader:
    def __init__(self, session, table):
        self.session = session
        self.table = table

    def read(self, day):
        return self.session.table("raw_orders").where(F.col("dt") == F.lit(day))

    def load(self, day):
        self.session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        self.read(day).write.mode("overwrite").insertInto(self.table)


Loader(spark, "orders").load("2024-01-02")
