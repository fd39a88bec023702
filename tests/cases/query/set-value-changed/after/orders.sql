SET shop.least = 20;

CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, n FROM STREAM(main.raw.ev) WHERE n > ${shop.least};
