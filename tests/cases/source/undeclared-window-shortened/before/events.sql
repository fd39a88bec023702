CREATE OR REFRESH STREAMING TABLE bronze AS
SELECT *, current_timestamp() AS loaded_at FROM STREAM(raw.events);

CREATE OR REFRESH STREAMING TABLE by_device AS
SELECT window(ts, '10 minutes') AS period, device, SUM(amount) AS total
FROM STREAM(bronze) WATERMARK ts DELAY OF INTERVAL 10 MINUTES
GROUP BY window(ts, '10 minutes'), device;
