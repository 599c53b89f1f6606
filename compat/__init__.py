"""What stock clients see: adapters, scenarios, and a real Apache Kafka to compare with.

`RealKafka` starts a real broker, `client` gives a stock client with the verbs that all have in
common, `scenarios` holds what each must be able to do, and `spark.spark_session` gives a Spark with
the stock connector. What is optional and missing raises `Unavailable`.
"""

from . import scenarios
from .clients import CLIENTS, Client, Consumer, NewRecord, Record, client
from .real_kafka import RealKafka
from .unavailable import Unavailable

__all__ = [
    "CLIENTS",
    "Client",
    "Consumer",
    "NewRecord",
    "RealKafka",
    "Record",
    "Unavailable",
    "client",
    "scenarios",
]
