"""Small applications with each stock client, as its documentation writes them: its defaults stay,
but for what a row is about."""

from __future__ import annotations

from tests.situations.apps.app import Apps

CLIENTS = ("confluent-kafka", "aiokafka", "kafka-python", "java")
"""In the order of the table."""


def apps(client: str) -> Apps:
    """Those of a client. Raises Unavailable, ImportError, KeyError."""
    if client == "confluent-kafka":
        from tests.situations.apps.confluent import Confluent

        return Confluent()
    if client == "aiokafka":
        from tests.situations.apps.aiokafka_apps import Aiokafka

        return Aiokafka()
    if client == "kafka-python":
        from tests.situations.apps.kafka_python import KafkaPython

        return KafkaPython()
    if client == "java":
        from tests.situations.apps.java import Java

        return Java()
    raise KeyError(client)
