"""The log of one partition as Kafka 0.7 kept it: messages one after the other, known by the byte
position at which they begin, in files that are named by their first position.

- Appended as they came, compressed ones too; a message that is damaged or too large refuses the
  whole set, and nothing is written.
- A file that has grown to `segment_bytes` is followed by another one.
- A read begins anywhere, and returns bytes of one file as they are: what ends it may be a part of a
  message, and who asks at no beginning of a message gets what is there.
- Opening it checks every message of the newest file, and cuts it behind the last that is valid.

Names are those of the documents: `my_topic_0/00000000000.kafka`. Left out: deleting old files, and
a flush (what is written is the system's; `close` syncs). Source: the 0.7 design, chapter "Log".
"""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path

from ..wire.errors import WireError
from ..wire.legacy.kafka_0_7 import messages
from .naming import DOCUMENTED

SUFFIX = DOCUMENTED.log_suffix
SEGMENT_BYTES = 536_870_912
MESSAGE_BYTES_MAX = 1_000_000


class InvalidMessage(ValueError):
    """A set that is not written."""


class OutOfRange(LookupError):
    """A position outside of the log."""


class OldLog:
    """A log in a directory of its own, which is made if it is not there. Raises OSError."""

    def __init__(
        self,
        path: Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        message_bytes_max: int = MESSAGE_BYTES_MAX,
    ) -> None:
        self.path = path
        self._segment_bytes, self._message_bytes_max = segment_bytes, message_bytes_max
        path.mkdir(parents=True, exist_ok=True)
        self._bases = sorted(int(each.stem) for each in path.glob(f"*{SUFFIX}")) or [0]
        self._size = 0
        self.cut = self._recover()
        """How many bytes of the newest file were no valid messages, and are gone."""

    @property
    def start(self) -> int:
        """The position of the first message."""
        return self._bases[0]

    @property
    def end(self) -> int:
        """The position that the next message gets."""
        return self._bases[-1] + self._size

    def append(self, messages_set: bytes) -> int:
        """Write a set, and return its position. Raises InvalidMessage, OSError."""
        self._check(messages_set)
        position = self.end
        if messages_set:
            with self._file(self._bases[-1]).open("ab") as file:
                file.write(messages_set)
            self._size += len(messages_set)
            if self._size >= self._segment_bytes:
                self._bases.append(self.end)
                self._size = 0
                self._file(self._bases[-1]).touch()
        return position

    def read(self, position: int, size: int) -> bytes:
        """At most so many bytes from a position on. Raises OutOfRange, OSError."""
        if not self.start <= position <= self.end:
            raise OutOfRange(f"{position} is not between {self.start} and {self.end}")
        if position == self.end:
            return b""
        place = bisect_right(self._bases, position)
        base, end = self._bases[place - 1], [*self._bases, self.end][place]
        with self._file(base).open("rb") as file:
            file.seek(position - base)
            return file.read(min(size, end - position))

    def positions_before(self, time_ms: int | None, count: int) -> list[int]:
        """Where files begin that were last written before a time, the latest first; with None also
        the end of the log. Raises OSError."""
        if time_ms is None:
            found = [*self._bases] if not self._size else [*self._bases, self.end]
        else:
            found = [
                base
                for base in self._bases
                if self._file(base).exists() and self._file(base).stat().st_mtime * 1000 <= time_ms
            ]
        return found[::-1][: max(0, count)]

    def close(self) -> None:
        """Have the newest file on the disk. Raises OSError."""
        path = self._file(self._bases[-1])
        if path.exists():
            with path.open("rb") as file:
                os.fsync(file.fileno())

    def _file(self, base: int) -> Path:
        return self.path / DOCUMENTED.file(base, SUFFIX)

    def _check(self, messages_set: bytes) -> None:
        end = 0
        try:
            for message in messages(messages_set):
                if not message.is_valid:
                    raise InvalidMessage(f"the checksum at byte {message.position} is wrong")
                if len(message.payload) > self._message_bytes_max:
                    raise InvalidMessage(f"a message of {len(message.payload)} bytes is too large")
                end = message.next_position
        except WireError as error:
            raise InvalidMessage(str(error)) from None
        if end != len(messages_set):
            raise InvalidMessage(f"the message at byte {end} is not whole")

    def _recover(self) -> int:
        path = self._file(self._bases[-1])
        data = path.read_bytes() if path.exists() else b""
        self._size = valid_bytes(data)
        if self._size < len(data):
            with path.open("r+b") as file:
                file.truncate(self._size)
        return len(data) - self._size


def valid_bytes(data: bytes) -> int:
    """How many bytes from the beginning are valid messages."""
    end = 0
    try:
        for message in messages(data):
            if not message.is_valid:
                break
            end = message.next_position
    except WireError:
        return end
    return end
