from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    source: str
    target: str
    mode: str = "overwrite"
    partition: str = "dt"


settings = Settings(source="raw_orders", target="lake/orders")
spark.table(settings.source).write.mode(settings.mode).partitionBy(settings.partition).parquet(settings.target)
