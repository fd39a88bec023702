from threading import Thread

def load(day):
    rows = spark.table("main.sales.staging").where(f"d = DATE '{day}'")
    rows.writeTo("main.sales.orders").overwritePartitions()

for day in ["2024-01-01", "2024-01-02"]:
    load(day)
