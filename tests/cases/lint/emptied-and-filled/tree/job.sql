DELETE FROM main.sales.levels;
INSERT INTO main.sales.levels VALUES (1, 'low', DATE '2024-01-02'), (2, 'high', DATE '2024-01-02');
