import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StatefulProcessor

spark = SparkSession.builder.getOrCreate()


class Counter(StatefulProcessor):
    def init(self, handle):
        self.total = handle.getValueState("total", "n long")

    def handleInputRows(self, key, rows, timerValues):
        yield pd.DataFrame({"customer": [key[0]], "total": [1]})

    def close(self):
        pass


counts = (
    spark.readStream.table("events")
    .groupBy("customer")
    .transformWithStateInPandas(
        statefulProcessor=Counter(), outputStructType="customer string, total long", outputMode="Append", timeMode="None"
    )
)
counts.writeStream.queryName("counts").option("checkpointLocation", "/jobs/checkpoints/counts").toTable("main.sales.counts")
