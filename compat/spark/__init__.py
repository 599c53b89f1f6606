"""Spark with the stock Kafka connector. `pyspark` is an extra, imported when a session is made."""

from .connector import connector_jars
from .session import spark_session

__all__ = ["connector_jars", "spark_session"]
