"""What clients are told about metrics, and who has asked (KIP-714).

The id of a subscription is the checksum of the metrics wanted and of the interval, mixed with the
client's id: so it changes when they do. Here nothing is ever wanted. Source: Kafka 4.3.1's answers.
"""

from __future__ import annotations

from collections import OrderedDict

from crc32c import crc32c

INTERVAL_MS = 300_000
MAX_BYTES = 1 << 20
COMPRESSIONS = (4, 3, 1, 2)
"""Codecs in the order of preference: zstd, lz4, gzip, snappy."""

_NOTHING_WANTED = crc32c(f"[]{INTERVAL_MS}".encode())
_CLIENTS_MAX = 16_384


class TelemetryClients:
    """The ids of clients that have asked for a subscription; the oldest are forgotten."""

    def __init__(self) -> None:
        self._ids: OrderedDict[bytes, None] = OrderedDict()

    def __contains__(self, client: bytes) -> bool:
        return client in self._ids

    def add(self, client: bytes) -> None:
        """Know a client from now on."""
        self._ids[client] = None
        self._ids.move_to_end(client)
        if len(self._ids) > _CLIENTS_MAX:
            self._ids.popitem(last=False)


def subscription_id(client: bytes) -> int:
    """Of the subscription to nothing, for this client: a signed 32-bit number."""
    folded = int.from_bytes(client[:8], "big") ^ int.from_bytes(client[8:], "big")
    value: int = (_NOTHING_WANTED ^ folded >> 32 ^ folded) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
