CREATE OR REFRESH STREAMING TABLE orders FLOW REPLACE USING (id) SEQUENCE BY ts BY NAME SELECT id, region, amount, ts FROM STREAM(main.sales.raw_orders);
