day = spark.table("main.sales.staging").where("d = DATE '2024-01-02'")
day.write.mode("append").saveAsTable("main.sales.daily")
