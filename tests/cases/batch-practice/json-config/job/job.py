from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

import json

settings = json.loads('{"target": "orders", "write_mode": "append"}')
spark.table("raw_orders").write.mode(settings["write_mode"]).insertInto(settings["target"])
