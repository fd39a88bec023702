for day in ["2024-01-01", "2024-01-02"]:
    spark.table("main.sales.staging").where(f"d = DATE '{day}'").write.mode("append").saveAsTable("main.sales.orders")
