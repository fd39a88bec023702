from pyspark import pipelines as dp

TABLES = [("totals", "raw.sums"
for name, source in TABLES:
    pass
