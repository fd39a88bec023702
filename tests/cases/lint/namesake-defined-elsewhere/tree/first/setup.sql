CREATE TABLE IF NOT EXISTS knowledge (title STRING, content STRING) USING delta;
