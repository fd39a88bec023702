import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming.state import GroupStateTimeout

spark = SparkSession.builder.getOrCreate()


def count(key, frames, state):
    total = state.get[0] if state.exists else 0
    for frame in frames:
        total += len(frame)
    state.update((total,))
    yield pd.DataFrame({"customer": [key[0]], "total": [total]})


counts = (
    spark.readStream.table("events")
    .withWatermark("ts", "10 minutes")
    .groupBy("customer")
    .applyInPandasWithState(count, "customer string, total long", "total LONG", "append", GroupStateTimeout.NoTimeout)
)
counts.writeStream.queryName("counts").option("checkpointLocation", "/jobs/checkpoints/counts").toTable("main.sales.counts")
