"""The steps of a consume-transform-produce loop, with each stock client."""

from __future__ import annotations

from tests.schedules.pipes.pipe import Pipe

CLIENTS = ("confluent-kafka", "aiokafka", "kafka-python", "java")


def pipe_of(client: str) -> type[Pipe]:
    """Raises Unavailable, KeyError."""
    from odradek.compat.clients import client as adapter

    adapter(client)  # says at once what is not installed
    if client == "confluent-kafka":
        from tests.schedules.pipes.confluent import Confluent as found
    elif client == "aiokafka":
        from tests.schedules.pipes.with_aiokafka import Aiokafka as found  # type: ignore[assignment]
    elif client == "kafka-python":
        from tests.schedules.pipes.kafka_python import KafkaPython as found  # type: ignore[assignment]
    else:
        from tests.schedules.pipes.java import Java as found  # type: ignore[assignment]
    return found
