SOURCE = "c.s.b"
