CREATE OR REFRESH STREAMING TABLE orders_by_customer AS
SELECT customer, count(*) AS orders FROM STREAM(raw.sales.orders) GROUP BY customer;
