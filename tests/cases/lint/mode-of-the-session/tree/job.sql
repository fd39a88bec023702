SET spark.sql.sources.partitionOverwriteMode=dynamic;
INSERT OVERWRITE main.sales.orders SELECT id, v, d FROM main.sales.staging;
