CREATE OR REFRESH STREAMING TABLE events;
CREATE FLOW eu AS INSERT INTO events BY NAME SELECT d.dim, d.name FROM STREAM raw.eu e JOIN raw.dim d ON e.dim = d.dim;
