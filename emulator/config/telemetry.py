"""Clients that ask which metrics to send, and push them (KIP-714).

Rules (Kafka's):
- The id of a subscription is a checksum of the metrics wanted and of the interval, combined with
  the client's id: it changes when one of them does.
- A client is known as long as its connection is open. It may ask once in an interval, and again at
  once after a push with an outdated subscription or an unknown codec. It may push once in an
  interval; a push that is marked as the last may come at any time, and none after it.

Left out: subscriptions (nothing is ever wanted). Source: Kafka 4.3.1's answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ...wire import Error, Refused
from ...wire.checksum import crc32c

if TYPE_CHECKING:
    from ..base.call import Sender

INTERVAL_MS = 300_000
MAX_BYTES = 1 << 20
COMPRESSIONS = (4, 3, 1, 2)
"""Codecs in the order of preference: zstd, lz4, gzip, snappy."""

_NOTHING_WANTED = crc32c(f"[]{INTERVAL_MS}".encode())
_ASK_AGAIN = (Error.UNKNOWN_SUBSCRIPTION_ID, Error.UNSUPPORTED_COMPRESSION_TYPE)


class TelemetryClient:
    """One client: when it asked and pushed, and the answer to its last push."""

    def __init__(self) -> None:
        self.last_error = Error.NONE
        self._asked: int | None = None
        self._pushed: int | None = None
        self._is_gone = False

    def ask(self, now: int) -> None:
        """Raises Refused(THROTTLING_QUOTA_EXCEEDED)."""
        times = [time for time in (self._asked, self._pushed) if time is not None]
        is_early = bool(times) and now - max(times) < INTERVAL_MS
        if is_early and self.last_error not in _ASK_AGAIN:
            raise Refused(Error.THROTTLING_QUOTA_EXCEEDED)
        self.last_error = Error.NONE
        self._asked = now

    def push(self, now: int, is_last: bool) -> None:
        """Raises Refused: THROTTLING_QUOTA_EXCEEDED, INVALID_REQUEST after the last push."""
        if self._is_gone:
            raise Refused(Error.INVALID_REQUEST)
        is_early = self._pushed is not None and now - self._pushed < INTERVAL_MS
        if is_early and not is_last:
            raise Refused(Error.THROTTLING_QUOTA_EXCEEDED)
        self._pushed = now
        self._is_gone = is_last


class TelemetryClients:
    def __init__(self) -> None:
        self._clients: WeakKeyDictionary[Sender, dict[bytes, TelemetryClient]] = WeakKeyDictionary()

    def client(self, connection: Sender, client_id: bytes) -> TelemetryClient:
        """A client; a new one if it has not been seen on this connection."""
        return self._clients.setdefault(connection, {}).setdefault(client_id, TelemetryClient())


def subscription_id(client: bytes) -> int:
    """Of the subscription to nothing, for this client: a signed 32-bit number."""
    folded = int.from_bytes(client[:8], "big") ^ int.from_bytes(client[8:], "big")
    value: int = (_NOTHING_WANTED ^ folded >> 32 ^ folded) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
