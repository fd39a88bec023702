CREATE OR REFRESH STREAMING TABLE governance.bronze.patients AS
SELECT id, name, birth FROM STREAM(main.landing.patients);

CREATE OR REFRESH STREAMING TABLE governance.bronze.visits AS
SELECT id, patient, at FROM STREAM(main.landing.visits);
