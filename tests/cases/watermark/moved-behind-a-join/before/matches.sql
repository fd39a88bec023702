CREATE OR REFRESH STREAMING TABLE matches AS
SELECT e.id, e.ts, c.url
FROM STREAM raw.ev WATERMARK ts DELAY OF INTERVAL 1 HOUR AS e
JOIN STREAM raw.clk AS c ON e.id = c.cid AND c.cts >= e.ts AND c.cts <= e.ts + INTERVAL 10 MINUTES;
