from threading import Thread

def load(day):
    rows = spark.table("main.sales.staging").where(f"d = DATE '{day}'")
    rows.writeTo("main.sales.orders").overwritePartitions()

threads = [Thread(target=load, args=(day,)) for day in ["2024-01-01", "2024-01-02"]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
