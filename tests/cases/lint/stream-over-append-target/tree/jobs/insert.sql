INSERT INTO main.crm.customers SELECT * FROM main.crm.staging s
WHERE NOT EXISTS (SELECT 1 FROM main.crm.customers t WHERE t.id = s.id);
