import dlt


def rounded(value):
    return value - value % 10


spark.udf.register("rounded", rounded, "int")


@dlt.view
def events():
    return spark.readStream.table("main.raw.ev")
