CREATE TABLE IF NOT EXISTS main.sales.by_customer (customer_id BIGINT, orders BIGINT, d DATE) USING delta;
