SET spark.sql.sources.partitionOverwriteMode=dynamic;
INSERT OVERWRITE TABLE orders PARTITION (dt)
SELECT id, upper(customer), amount, dt FROM raw_orders
WHERE dt BETWEEN DATE'2024-01-02' AND DATE'2024-01-03';
