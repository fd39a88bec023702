CREATE OR REFRESH STREAMING TABLE orders AS SELECT uuid() AS row_id, id FROM STREAM(raw.sales.orders);
