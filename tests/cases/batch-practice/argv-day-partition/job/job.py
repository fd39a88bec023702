from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

import sys

day = sys.argv[1]
spark.sql(f"""
    INSERT OVERWRITE TABLE orders PARTITION (dt = '{day}')
    SELECT id, customer, amount FROM raw_orders WHERE dt = '{day}'
""")
