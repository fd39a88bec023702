INSERT INTO main.sales.daily REPLACE WHERE day = DATE'2024-05-02'
SELECT id, country, amount, day FROM main.raw.orders WHERE day = DATE'2024-05-02';
