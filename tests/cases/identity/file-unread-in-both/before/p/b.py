from pyspark import pipelines as dp

def settings(:
    return 1
