CREATE TABLE IF NOT EXISTS main.docs.knowledge (title STRING, content STRING) USING delta;
