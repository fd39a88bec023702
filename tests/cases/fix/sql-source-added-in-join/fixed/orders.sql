CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, o.amount, c.region
FROM (
  SELECT id, country, amount FROM STREAM(main.raw.orders)
) o
JOIN main.raw.countries c ON o.country = c.country;

CREATE FLOW orders_from_returns AS
INSERT INTO orders BY NAME
SELECT o.id, o.amount, c.region
FROM (
  SELECT id, country, amount FROM STREAM(main.raw.returns)
) o
JOIN main.raw.countries c ON o.country = c.country;
