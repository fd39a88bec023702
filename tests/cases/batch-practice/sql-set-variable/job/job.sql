SET load.day = 2024-01-02;
INSERT OVERWRITE TABLE orders PARTITION (dt = '${load.day}')
SELECT id, customer, amount FROM raw_orders WHERE dt = '${load.day}';
