# Databricks notebook source
dbutils.notebook.run('./child', 60, {'limit': '5'})
