"""A registry over an emulator, for tests of the registry itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from odradek import Emulator
from odradek.compat.schema_registry.any_kafka import AnyKafka
from odradek.compat.schema_registry.server import SchemaRegistry
from odradek.compat.schema_registry.topic import NAME


@contextmanager
def registry(kafka: str | None = None) -> Iterator[SchemaRegistry]:
    """A registry over the Kafka at this address, or over one of its own."""
    if kafka is None:
        with Emulator() as own, registry(own.bootstrap_servers) as served:
            yield served
        return
    cluster = AnyKafka(kafka, NAME)
    served = SchemaRegistry(cluster)
    served.start()
    try:
        yield served
    finally:
        served.stop()
        cluster.close()
