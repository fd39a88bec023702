DELETE FROM main.crm.customers WHERE id = 7;
