from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

TABLES = {
    "orders": {"source": "raw_orders", "keys": ["id"]},
}
for name, facts in TABLES.items():
    df = spark.table(facts["source"]).dropDuplicates(facts["keys"])
    df.write.mode("overwrite").format("parquet").partitionBy("dt").saveAsTable(name)
