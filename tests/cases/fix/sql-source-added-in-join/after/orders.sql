CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, o.amount, c.region
FROM (
  SELECT id, country, amount FROM STREAM(main.raw.orders)
  UNION ALL
  SELECT id, country, amount FROM STREAM(main.raw.returns)
) o
JOIN main.raw.countries c ON o.country = c.country;
