INSERT INTO main.sales.orders SELECT * FROM main.sales.staging;
