(spark.table("main.sales.staging").write.format("delta").mode("overwrite")
    .option("replaceWhere", "d = '2024-01-02'").saveAsTable("main.sales.orders"))
