INSERT OVERWRITE main.sales.orders SELECT id, v, d FROM main.sales.staging;
SET spark.sql.sources.partitionOverwriteMode=dynamic;
