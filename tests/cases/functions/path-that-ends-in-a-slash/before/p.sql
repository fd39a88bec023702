CREATE STREAMING TABLE landed AS SELECT id, amount * 2 AS v FROM STREAM read_files('/data/in/', format => 'json');
