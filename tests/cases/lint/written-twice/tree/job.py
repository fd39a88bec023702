rows = spark.table("main.sales.staging").selectExpr("id", "concat(v, '!') AS v")
rows.write.mode("overwrite").format("delta").save("/data/orders")
rows.selectExpr("id", "upper(v) AS v").write.mode("overwrite").format("delta").save("/data/orders")
