from pyspark.sql import SparkSession

from pyspark.sql import functions as F

import pandas as pd
from pyspark.sql.streaming.state import GroupStateTimeout

def f(key, pdfs, state):
    n = state.get[0] if state.exists else 0
    for p in pdfs:
        n += int(p['amt'].fillna(0).sum())
    state.update((n,))
    yield pd.DataFrame({'k':[key[0]], 'n':[n]})

spark = SparkSession.builder.getOrCreate()

t = (spark.readStream.table('events').withWatermark('ts', '10 minutes').where('k is not null').groupBy('k')
        .applyInPandasWithState(f, 'k string, n long', 'n long', 'append', GroupStateTimeout.NoTimeout))

(t.writeStream.queryName('t').outputMode('append').trigger(availableNow=True)
    .option('checkpointLocation', '/jobs/checkpoints/t')
    .format('json').option('ignoreNullFields', 'false').start('/jobs/out/t'))
