CREATE TABLE IF NOT EXISTS main.sales.levels (id INT, name STRING) USING delta;
INSERT INTO main.sales.levels VALUES (1, 'low'), (2, 'high');
