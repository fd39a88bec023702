CREATE OR REFRESH STREAMING TABLE orders AS
SELECT window(timestamp, '10 minutes') AS w, count(*) AS n FROM STREAM read_kafka(bootstrapServers => 'k:9092', subscribe => 'orders') WATERMARK timestamp DELAY OF INTERVAL 1 HOUR GROUP BY window(timestamp, '10 minutes');
