CREATE OR REFRESH STREAMING TABLE events AS SELECT id, amount FROM STREAM(main.raw.events) WHERE amount > 5;
