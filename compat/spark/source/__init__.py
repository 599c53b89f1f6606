"""`format("odradek")`: a data directory as a source and sink of Spark, without the JVM connector.

from odradek.compat.spark.source import register

register(spark)
orders = spark.read.format("odradek").option("subscribe", "orders").load("/var/kafka")
"""

from .registration import register

__all__ = ["register"]
