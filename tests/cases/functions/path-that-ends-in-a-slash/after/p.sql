CREATE STREAMING TABLE landed AS SELECT id, amount * 3 AS v FROM STREAM read_files('/data/in/', format => 'json');
