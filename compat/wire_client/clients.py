"""What a test sees of connections, brokers and partitions without asking as a client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class SeenClient:
    """One connection of a client to the broker. Times are milliseconds since 1970."""

    client_id: str
    """As in its last request; "" before the first one."""
    software_name: str
    """As sent by ApiVersions v3 or later, for instance "librdkafka"; else "unknown"."""
    software_version: str
    host: str
    port: int
    connected_at: int
    bytes_received: int
    """Bytes of the client's requests."""
    bytes_sent: int
    """Bytes of the answers to it."""
    requests: int
    """How many requests were taken up, the one that is in progress too."""
    in_flight: int
    """How many requests have arrived and are not answered."""
    waits_for: str | None
    """The request that is in progress, for instance "Fetch" or "JoinGroup"; None without any."""
    waiting_ms: int
    """How long that has been in progress; 0 without any."""
    principal: str = "User:ANONYMOUS"
    """Who it has logged in as, or what its certificate says."""
    listener: str = "PLAINTEXT"
    """The name of the listener that it has connected to."""

    def __repr__(self) -> str:
        waits = f", waits for {self.waits_for} since {self.waiting_ms} ms" * bool(self.waits_for)
        software = f"{self.software_name} {self.software_version}"
        return f"<client {self.client_id!r} ({software}) from {self.host}:{self.port}{waits}>"


@dataclass(frozen=True, slots=True)
class SeenTraffic:
    """Requests to a broker since it began to listen, by all its clients together."""

    requests: int
    bytes_received: int
    bytes_sent: int


class SeenExtent(NamedTuple):
    """What a partition has."""

    start: int
    end: int
    """The high watermark."""
    size: int
    """Bytes."""
    appended: int
    """Bytes that were appended since its log was opened, what was there then included."""
