"""AnyKafka: the cluster at an address, asked over the wire by the console's client."""

from __future__ import annotations

from threading import Lock
from typing import Any

from ...wire import Error, Request
from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.metadata import MetadataRequest
from ..cli.console.client import Brokers, ConsoleError
from ..wire_client.security import ClientSecurity


class AnyKafka:
    """A Kafka with one topic of interest, whose one partition has one leader."""

    def __init__(
        self, address: str, topic: str, timeout: float = 15, security: ClientSecurity | None = None
    ) -> None:
        """Raises ConnectionError."""
        self.incarnation = address
        self._topic = topic
        self._lock = Lock()
        self._leader: int | None = None
        try:
            self._brokers = Brokers(address, timeout, security)
        except ConsoleError as error:
            raise ConnectionError(str(error)) from None

    def ask(self, request: Request, version: int) -> Any:
        """The answer of the partition's leader. Raises ConnectionError."""
        with self._lock:
            try:
                return self._ask(request, version)
            except ConsoleError as error:
                self._leader = None
                raise ConnectionError(str(error)) from None

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._brokers.close()

    def _ask(self, request: Request, version: int) -> Any:
        if isinstance(request, CreateTopicsRequest):
            return self._brokers.ask_controller(request, most=version)
        if isinstance(request, MetadataRequest):
            return self._brokers.ask(request, most=version)
        if self._leader is None:
            (found,) = self._brokers.topics([self._topic])
            self._leader = found.partitions[0].leader_id if found.partitions else -1
        node = self._leader if self._leader >= 0 else None
        answer = self._brokers.ask(request, most=version, node=node)
        if any(Error(code) for code in _codes(answer)):
            self._leader = None  # it has moved, or the topic is new
        return answer


def _codes(answer: Any) -> list[int]:
    (topic,) = answer.responses
    entries = getattr(topic, "partitions", None) or getattr(topic, "partition_responses", [])
    return [each.error_code for each in entries]
