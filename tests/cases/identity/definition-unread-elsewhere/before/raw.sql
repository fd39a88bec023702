CREATE OR REFRESH STREAMING TABLE raw_orders AS
SELECT id, customer FROM STREAM(main.sales.orders_feed);
