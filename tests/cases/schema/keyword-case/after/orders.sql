create or refresh streaming table orders as
select id, customer, amount from stream(main.sales.raw_orders);
