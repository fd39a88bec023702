CREATE OR REFRESH STREAMING TABLE totals AS SELECT count(*) AS orders FROM STREAM(raw.sales.orders);
