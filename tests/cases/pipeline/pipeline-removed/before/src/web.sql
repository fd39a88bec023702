CREATE OR REFRESH STREAMING TABLE web AS
SELECT id, amount FROM STREAM(main.sales.web_orders);
