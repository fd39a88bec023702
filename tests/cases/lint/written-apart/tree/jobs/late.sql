INSERT INTO other.sales.orders SELECT id FROM main.sales.late;
