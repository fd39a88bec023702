from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

CONFIG = {
    "source": "raw_orders",
    "target": {"table": "orders", "mode": "overwrite", "format": "parquet", "partitions": ["dt"]},
    "options": {"partitionOverwriteMode": "dynamic", "compression": "snappy"},
}

target = CONFIG["target"]
df = spark.table(CONFIG["source"])
(
    df.write.format(target["format"])
    .mode(target["mode"])
    .options(**CONFIG["options"])
    .partitionBy(*target["partitions"])
    .saveAsTable(target["table"])
)
