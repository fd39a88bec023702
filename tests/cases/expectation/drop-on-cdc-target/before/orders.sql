CREATE OR REFRESH STREAMING TABLE orders;

CREATE FLOW orders_flow AS AUTO CDC INTO orders
FROM STREAM(main.sales.raw_orders) KEYS (id) SEQUENCE BY ts COLUMNS id, amount;
