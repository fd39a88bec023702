from pyspark.sql import functions as F


def cleaned(frame):
    # countries are compared in capitals
    return frame.withColumn("country", F.upper("country"))
