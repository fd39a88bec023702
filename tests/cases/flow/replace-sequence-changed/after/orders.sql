CREATE OR REFRESH STREAMING TABLE orders FLOW REPLACE USING (id) SEQUENCE BY amount BY NAME SELECT id, region, amount, ts FROM STREAM(main.sales.raw_orders);
