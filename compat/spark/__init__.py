"""Spark with the stock Kafka connector. `pyspark` is an extra, imported when a session is made."""

from .session import connector_jars, spark_session

__all__ = ["connector_jars", "spark_session"]
