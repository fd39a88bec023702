import dlt
from tables import names

@dlt.table
def t():
    return spark.readStream.table(names.SOURCE)
