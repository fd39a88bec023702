from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

day = "2024-01-02"
spark.sql(
    "INSERT OVERWRITE TABLE orders PARTITION (dt = '2024-01-02') SELECT id, customer, amount FROM raw_orders WHERE dt = :day",
    args={"day": day},
)
