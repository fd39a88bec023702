from pyspark import pipelines as dp
from pyspark.sql import functions as F

import platform_lib


@dp.table
def orders():
    return platform_lib.read(
        spark,
        "orders",
    )
