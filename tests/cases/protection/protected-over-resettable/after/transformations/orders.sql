CREATE STREAMING TABLE raw AS SELECT id, amount FROM STREAM(events);
CREATE STREAMING TABLE orders TBLPROPERTIES ('pipelines.reset.allowed' = 'false') AS SELECT id FROM STREAM(raw);
