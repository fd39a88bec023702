INSERT OVERWRITE main.sales.orders SELECT id, v, d FROM main.sales.staging;
