"""`format("odradek")`: a data directory as a source and sink of Spark, without the JVM connector.

from odradek.compat.spark.source import register

register(spark)
orders = spark.read.format("odradek").option("subscribe", "orders").load("/var/kafka")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .registration import register

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["decoded", "register"]


def decoded(frame: DataFrame) -> DataFrame:
    """Records of internal topics with their type, and key and value as JSON (internal.py)."""
    from .internal import decoded as of_internal_topics

    return of_internal_topics(frame)
