"""Takes: what one sequence has asked a real Kafka, and what that answered, byte by byte.

A file of takes is text:

    Apache Kafka 4.3.1
    compressed as 0123456789ab
    serves <an answer to ApiVersions v0>

    case heartbeats[v0]
    at 1790000000000 as d1a2b3x00012- on 127.0.0.1:39211 of b2RyYWRlay5vZHJhZGVrLg
    1 0 > main Heartbeat v0: <request>
    1 3 < main 1: <answer>
    2 4 sleep

`compressed as` has the fingerprint of the libraries that compressed (compressors.py). `at` is the
time at which the sequence began, in milliseconds since 1970; its own names begin with what follows
`as`; the broker's addresses and cluster follow. Each line of a take has the number of the step it
belongs to and the milliseconds since the beginning. `>` is a frame that was sent over a connection,
`<` one that came over it, with its correlation id, or the word "closed" or "refused" in its place.
Bytes are written in base64; many of them are compressed by zlib before, after a "z".
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from tests.differential.engine.side import CLOSED, REFUSED, Key

SENT, CAME = ">", "<"
PACKED, PACKED_BYTES = "z ", 500
_LINE = re.compile(r"(\d+) (\d+) (?:([<>]) (\S+) (.*)|(\w+))")


@dataclass(frozen=True)
class Sent:
    """A frame that was sent; `what` names its API and version, or is "raw"."""

    step: int
    ms: int
    on: str
    what: str
    data: bytes

    def __str__(self) -> str:
        return f"{self.step} {self.ms} {SENT} {quote(self.on)} {self.what}: {_text(self.data)}"


@dataclass(frozen=True)
class Came:
    """A frame that came, or the word for what happened to the connection instead."""

    step: int
    ms: int
    key: Key
    data: bytes
    word: str = ""

    def __str__(self) -> str:
        on, number = self.key
        text = self.word or f"{number}: {_text(self.data)}"
        return f"{self.step} {self.ms} {CAME} {quote(on)} {text}"


@dataclass(frozen=True)
class Began:
    """A step began that sends nothing."""

    step: int
    ms: int
    what: str

    def __str__(self) -> str:
        return f"{self.step} {self.ms} {self.what}"


Line = Sent | Came | Began


@dataclass
class Take:
    """A sequence as it was recorded."""

    name: str
    now_ms: int
    namespace: str
    addresses: list[tuple[str, int]]
    cluster: str
    lines: list[Line] = field(default_factory=list)

    def __str__(self) -> str:
        addresses = ",".join(f"{host}:{port}" for host, port in self.addresses)
        head = f"at {self.now_ms} as {self.namespace} on {addresses} of {self.cluster}"
        return "\n".join([f"case {self.name}", head, *map(str, self.lines)])

    def of(self, step: int) -> Iterator[Line]:
        """The lines of a step."""
        return (line for line in self.lines if line.step == step)


@dataclass
class Tape:
    """The takes of one family of sequences, by name."""

    kafka: str
    compressed: str
    serves: bytes
    takes: dict[str, Take]

    @classmethod
    def read(cls, path: Path) -> Tape:
        """The tape in a file."""
        head, *rest = path.read_text().rstrip("\n").split("\n\n")
        title, compressed, serves = head.split("\n")
        takes = [_take(each.split("\n")) for each in rest]
        return cls(
            title.removeprefix("Apache Kafka "),
            compressed.removeprefix("compressed as "),
            b64decode(serves.removeprefix("serves ")),
            {take.name: take for take in takes},
        )

    def write(self, path: Path) -> None:
        """Write it to a file."""
        compressed = f"compressed as {self.compressed}"
        head = "\n".join([f"Apache Kafka {self.kafka}", compressed, f"serves {_text(self.serves)}"])
        path.write_text("\n\n".join([head, *map(str, self.takes.values())]) + "\n")


def _take(lines: list[str]) -> Take:
    name = lines[0].removeprefix("case ")
    words = lines[1].split(" ")
    assert words[::2] == ["at", "as", "on", "of"], lines[1]
    now_ms, namespace, places, cluster = words[1::2]
    addresses = [(host, int(port)) for host, _, port in map(_divided, places.split(","))]
    return Take(name, int(now_ms), namespace, addresses, cluster, list(_lines(lines[2:])))


def _divided(place: str) -> tuple[str, str, str]:
    return place.rpartition(":")


def _lines(lines: Iterable[str]) -> Iterator[Line]:
    for text in lines:
        found = _LINE.fullmatch(text)
        assert found is not None, text
        step, ms, sign, on, rest, what = found.groups()
        place = int(step), int(ms)
        if sign is None:
            yield Began(*place, what)
            continue
        on = unquote(on)
        head, _, data = rest.partition(": ")
        if sign == SENT:
            yield Sent(*place, on, head, _data(data))
        elif head in (CLOSED, REFUSED):
            yield Came(*place, (on, CLOSED), b"", head)
        else:
            yield Came(*place, (on, int(head)), _data(data))


def _text(data: bytes) -> str:
    packed = zlib.compress(data, 9) if len(data) > PACKED_BYTES else data
    if len(packed) < len(data):
        return PACKED + b64encode(packed).decode()
    return b64encode(data).decode()


def _data(text: str) -> bytes:
    data = b64decode(text.removeprefix(PACKED))
    return zlib.decompress(data) if text.startswith(PACKED) else data
