"""A registry over an emulator, for tests of the registry itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from odradek import Emulator
from odradek.compat.schema_registry.server import SchemaRegistry
from odradek.compat.wire_client.remote import RemoteCluster


@contextmanager
def registry(kafka: str | None = None) -> Iterator[SchemaRegistry]:
    """A registry over the Kafka at this address, or over one of its own."""
    if kafka is None:
        with Emulator() as own, registry(own.bootstrap_servers) as served:
            yield served
        return
    cluster = RemoteCluster(kafka)
    served = SchemaRegistry(cluster)
    served.start()
    try:
        yield served
    finally:
        served.stop()
        cluster.close()
