from pyspark.sql import functions as F


def cleaned(frame):
    return frame.withColumn("country", F.upper("country"))
