CREATE STREAMING TABLE hidden AS SELECT id, mask(name, upperChar => 'Q') AS v FROM STREAM(main.raw.events);
