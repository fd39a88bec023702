def ingest(folder, table):
    return (spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load(folder)
        .writeStream.option("checkpointLocation", f"/chk/{table}").trigger(availableNow=True).toTable(table))

def add(rule, table):
    spark.sql(f"INSERT INTO {table} VALUES ('{rule}')")

ingest("/raw/orders", "main.raw.orders")
ingest("/raw/users", "main.raw.users")
add("valid date", "main.rules.dates")
add("valid amount", "main.rules.amounts")
for name in ["main.copy.a", "main.copy.b"]:
    spark.table("main.raw.orders").write.mode("append").saveAsTable(name)
