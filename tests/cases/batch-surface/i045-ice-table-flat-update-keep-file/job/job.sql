UPDATE ice.db.events SET v = concat(v, '+') WHERE d = '2024-01-02';
