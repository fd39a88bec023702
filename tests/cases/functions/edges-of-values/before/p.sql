CREATE STREAMING TABLE trimmed AS SELECT id, trim(name) AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE magnitude AS SELECT id, abs(amount) AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE shouted AS SELECT id, upper(name) AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE rounded AS SELECT id, round(amount, 2) AS v FROM STREAM(main.raw.events);

CREATE STREAMING TABLE day AS SELECT id, to_date(ts) AS v FROM STREAM(main.raw.events);
