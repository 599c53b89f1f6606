"""SchemaRegistry: a registry at a port, over the `_schemas` of a cluster."""

from __future__ import annotations

from collections.abc import Callable

from ..http_server import HttpServer
from ..unavailable import Unavailable, is_installed
from ..wire_client.source import Source
from .registry import Registry
from .topic import NAME, SchemasTopic, Turn

_NEEDED = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "fastavro": "fastavro",
    "jsonschema": "jsonschema",
    "proto_schema_parser": "proto-schema-parser",
    "google.protobuf": "protobuf",
}
"""Module -> the package that brings it."""


class SchemaRegistry:
    """Serves from `start` to `stop`. `registry` is what it serves, for those in this process, who
    hold `lock` meanwhile."""

    def __init__(
        self,
        kafka: Source,
        host: str = "127.0.0.1",
        port: int = 0,
        topic: str = NAME,
        incarnation: Callable[[], object] = lambda: None,
    ) -> None:
        """Raises Unavailable where the packages are not installed."""
        missing = [package for module, package in _NEEDED.items() if not is_installed(module)]
        if missing:
            names = " and ".join(missing)
            raise Unavailable(f"a schema registry needs {names}: pip install 'odradek[schemas]'")
        from .api import app
        from .faults import Faults

        self.topic = SchemasTopic(kafka, topic, incarnation)
        self.registry = Registry(self.topic)
        self.faults = Faults()
        self.lock = Turn(self.topic)
        """Held by who asks the registry."""
        serving = app(self.registry, self.lock, self.faults)
        self._server = HttpServer(serving, host, port, extra="schemas")

    @property
    def url(self) -> str:
        """http://HOST:PORT."""
        return self._server.url

    def start(self) -> None:
        """Listen. Raises OSError for a port that is taken, Refused for a Kafka that cannot be
        read."""
        self.topic.state()  # what is wrong is said here
        self._server.start()

    def stop(self) -> None:
        """Answer what was asked, and end."""
        self._server.stop()
