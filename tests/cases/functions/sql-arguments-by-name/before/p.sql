CREATE STREAMING TABLE hidden AS SELECT id, mask(name, upperChar => 'Q', digitChar => 'd') AS v FROM STREAM(main.raw.events);
