"""Stock Kafka clients with the same few verbs, so that a scenario is written once.

The rules:

- An adapter translates names and nothing else: its client's own defaults stay, except where a
  verb's argument says otherwise and where the heartbeat makes a rebalance last seconds.
- A client library is imported when its adapter is asked for by name, and `Unavailable` if it is
  not installed.
- A client's errors pass through as they are.
"""

from __future__ import annotations

from ..unavailable import Unavailable
from .time_limits import TIMEOUT_S, wait_until, within
from .verbs import Acks, Client, Codec, Consumer, Isolation, NewRecord, Record

__all__ = [
    "CLIENTS",
    "PROGRAMS",
    "TIMEOUT_S",
    "Acks",
    "Client",
    "Codec",
    "Consumer",
    "Isolation",
    "NewRecord",
    "Record",
    "Unavailable",
    "client",
    "wait_until",
    "within",
]

# The name of each client: a Python one's is that of its distribution.
CLIENTS = ("aiokafka", "kafka-python", "confluent-kafka", "java")
# Those of other languages, each in a program that is set up from its registry.
PROGRAMS = ("confluent-kafka-go", "franz-go", "kafka-go", "kafkajs", "rdkafka", "sarama")


def client(name: str) -> Client:
    """Return the adapter of a client by its name in CLIENTS or PROGRAMS. Raises Unavailable,
    KeyError."""
    # The modules' names differ from the libraries', so that neither can shadow the other.
    adapter: type[Client]
    if name in PROGRAMS:
        from .programs import Program

        return Program(name)
    try:
        if name == "aiokafka":
            from .aiokafka_client import Aiokafka

            adapter = Aiokafka
        elif name == "kafka-python":
            from .kafka_python_client import KafkaPython

            adapter = KafkaPython
        elif name == "confluent-kafka":
            from .confluent_client import Confluent

            adapter = Confluent
        elif name == "java":
            from .java_client import Java, java_clients

            java_clients()  # or say at once why there is none
            adapter = Java
        else:
            raise KeyError(name)
    except ImportError as error:
        raise Unavailable(f"{name} is not installed ({error}).") from error
    return adapter()
