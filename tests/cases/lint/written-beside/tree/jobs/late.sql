INSERT INTO main.sales.orders SELECT id FROM main.sales.late;
