CREATE OR REFRESH STREAMING TABLE customers AS SELECT id, name FROM STREAM(main.landing.customers);
CREATE OR REFRESH STREAMING TABLE accounts AS SELECT id, owner FROM STREAM(main.raw.accounts);
