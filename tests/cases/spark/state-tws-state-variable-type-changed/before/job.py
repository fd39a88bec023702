from pyspark.sql import SparkSession

from pyspark.sql import functions as F

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

class P(StatefulProcessor):
    def init(self, handle):
        self.n = handle.getValueState('n', 'n long')
    def handleInputRows(self, key, rows, timerValues):
        cur = (self.n.get()[0] if self.n.exists() else 0)
        for p in rows: cur += int(p['amt'].fillna(0).sum())
        self.n.update((cur,))
        yield pd.DataFrame({'k':[key[0]], 'n':[cur]})
    def close(self):
        pass

spark = SparkSession.builder.getOrCreate()
spark.conf.set('spark.sql.streaming.stateStore.providerClass', 'org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider')

t = (spark.readStream.table('events').withWatermark('ts', '10 minutes').where('k is not null').groupBy('k')
        .transformWithStateInPandas(statefulProcessor=P(), outputStructType='k string, n long', outputMode='Append', timeMode='None'))

(t.writeStream.queryName('t').outputMode('append').trigger(availableNow=True)
    .option('checkpointLocation', '/jobs/checkpoints/t')
    .format('json').option('ignoreNullFields', 'false').start('/jobs/out/t'))
