import dlt
from pyspark.sql import functions as F


@dlt.table
def orders():
    """Orders above the least amount of their kind."""
    smallest = spark.read.table("main.raw.limits").where("kind = 'web'")
    # The largest of all limits.
    least = smallest.agg(
        F.max("least"),
    ).first()[0]
    return spark.readStream.table("main.raw.ev").filter(F.col("n") > least)
