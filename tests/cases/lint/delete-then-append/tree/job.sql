DELETE FROM main.sales.orders WHERE d = DATE '2024-01-02';
INSERT INTO main.sales.orders SELECT * FROM main.sales.staging;
