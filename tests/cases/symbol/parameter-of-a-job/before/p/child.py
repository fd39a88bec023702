# Databricks notebook source
limit = dbutils.widgets.get('limit')
df = spark.readStream.table('raw.e').where(f'a > {limit}').selectExpr('a AS b')
df.writeStream.option('checkpointLocation','/c').toTable('m.t')
