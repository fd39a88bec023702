CREATE STREAMING TABLE trimmed AS SELECT id, name AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE magnitude AS SELECT id, amount AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE shouted AS SELECT id, initcap(name) AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE rounded AS SELECT id, round(amount, 3) AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE day AS SELECT id, to_date(ts + INTERVAL 1 HOUR) AS v FROM STREAM(main.raw.events);
