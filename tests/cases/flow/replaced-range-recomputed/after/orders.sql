CREATE OR REFRESH STREAMING TABLE orders FLOW REPLACE WHERE ts >= '2024-01-01' BY NAME SELECT id, amount * 2 AS amount, ts FROM main.sales.raw_orders;
