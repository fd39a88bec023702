from datetime import date, timedelta

day = date(2024, 1, 1)
for offset in range(days):
    rows = spark.table("main.sales.staging").where(f"d = DATE '{day + timedelta(days=offset)}'")
    rows.writeTo("main.sales.orders").append()
