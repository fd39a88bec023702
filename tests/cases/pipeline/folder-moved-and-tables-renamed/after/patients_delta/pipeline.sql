CREATE OR REFRESH STREAMING TABLE delta.bronze.patients AS
SELECT id, name, birth, upper(name) AS sort_name FROM STREAM(main.landing.patients) WHERE id IS NOT NULL;

CREATE OR REFRESH STREAMING TABLE delta.bronze.visits AS
SELECT id, patient, at, date(at) AS day FROM STREAM(main.landing.visits) WHERE id IS NOT NULL;
