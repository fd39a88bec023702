INSERT OVERWRITE main.sales.daily
SELECT id, country, amount, day FROM main.raw.orders WHERE day = DATE'2024-05-02';
