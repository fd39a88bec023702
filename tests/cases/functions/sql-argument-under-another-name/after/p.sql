CREATE STREAMING TABLE hidden AS SELECT id, mask(name, lowerChar => 'Q') AS v FROM STREAM(main.raw.events);
