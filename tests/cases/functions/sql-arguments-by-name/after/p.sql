CREATE STREAMING TABLE hidden AS SELECT id, mask(name, digitChar => 'd', upperChar => 'Q') AS v FROM STREAM(main.raw.events);
