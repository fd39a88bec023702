DECLARE VARIABLE load_day DATE;
SET VAR load_day = DATE'2024-01-02';
INSERT OVERWRITE orders SELECT id, customer, amount, dt FROM raw_orders WHERE dt = load_day;
