INSERT OVERWRITE main.sales.by_customer
SELECT customer_id, count(*), max(d) FROM VALUES (27, DATE '2024-01-02'), (27, DATE '2024-01-02') AS orders(customer_id, d) GROUP BY customer_id;
