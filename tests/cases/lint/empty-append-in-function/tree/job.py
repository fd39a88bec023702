from delta.tables import DeltaTable

def upsert(batch, number):
    if number == 0:
        batch.limit(0).write.mode("append").saveAsTable("main.sales.sessions")
    (DeltaTable.forName(spark, "main.sales.sessions").alias("t").merge(batch.alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll().whenNotMatchedInsertAll().execute())

(spark.readStream.table("main.raw.events").writeStream
    .foreachBatch(upsert).option("checkpointLocation", "/chk/sessions").trigger(availableNow=True).start())
