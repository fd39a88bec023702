from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

import argparse


def parse():
    parser = argparse.ArgumentParser(description="load orders")
    parser.add_argument("--day", required=True)
    parser.add_argument("--mode", choices=["append", "overwrite"], default="overwrite")
    return parser.parse_args()


def main():
    args = parse()
    df = spark.table("raw_orders").where(F.col("dt") == F.to_date(F.lit(args.day)))
    df.write.mode(args.mode).partitionBy("dt").format("parquet").saveAsTable("orders")


if __name__ == "__main__":
    main()
