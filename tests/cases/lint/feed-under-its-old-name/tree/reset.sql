DROP TABLE IF EXISTS main.crm.customers;
