INSERT INTO main.sales.by_customer VALUES (1, 4, DATE '2024-01-01');
