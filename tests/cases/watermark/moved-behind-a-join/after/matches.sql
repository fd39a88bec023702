CREATE OR REFRESH STREAMING TABLE matches AS
SELECT id, ts, url FROM (
  SELECT e.id, e.ts, c.url
  FROM STREAM raw.ev AS e
  JOIN STREAM raw.clk AS c ON e.id = c.cid AND c.cts >= e.ts AND c.cts <= e.ts + INTERVAL 10 MINUTES
) WATERMARK ts DELAY OF INTERVAL 1 HOUR;
