SOURCE = "c.s.a"
