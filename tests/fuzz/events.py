"""What was done to a broker, in order: enough to do it again, and to keep it in a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .findings import Finding

FOUND = Path("build/fuzz")


@dataclass
class Learned:
    """Values that an answer taught, by the label that a namespace keeps them under; `paths` is
    where else than usual (tests/differential/engine/kept.py) they stand in the answer."""

    namespace: str
    paths: dict[str, str]
    values: dict[str, str] = field(default_factory=dict)


@dataclass
class Event:
    """One link did something: "send" its pieces one after the other, "close", or "reset"."""

    link: int
    verb: str
    pieces: list[bytes] = field(default_factory=list)
    learned: Learned | None = None

    @property
    def data(self) -> bytes:
        """All pieces."""
        return b"".join(self.pieces)


@dataclass
class Case:
    """A finding, and the events that led to it."""

    finding: Finding
    release: str
    seed: str
    events: list[Event]

    def save(self, directory: Path) -> Path:
        """Write it to a file that is named after the finding. Returns the file's path."""
        directory.mkdir(parents=True, exist_ok=True)
        known = f"{abs(hash_of(self.finding)):08x}"
        path = directory / f"{self.finding.kind}-{known}.json"
        path.write_text(json.dumps(self._plain(), indent=1) + "\n")
        return path

    @classmethod
    def load(cls, path: Path) -> Case:
        """Read it from its file."""
        plain = json.loads(path.read_text())
        events = [
            Event(
                each["link"],
                each["verb"],
                [bytes.fromhex(piece) for piece in each["pieces"]],
                Learned(**each["learned"]) if each["learned"] else None,
            )
            for each in plain["events"]
        ]
        return cls(Finding(**plain["finding"]), plain["release"], plain["seed"], events)

    def _plain(self) -> dict[str, Any]:
        plain = asdict(self)
        for event in plain["events"]:
            event["pieces"] = [piece.hex() for piece in event["pieces"]]
        return plain


def hash_of(finding: Finding) -> int:
    """A number of a finding's kind and place, the same in every process."""
    from zlib import crc32

    return crc32(f"{finding.kind} {finding.place}".encode())


def frames_in(data: bytes) -> Iterable[bytes]:
    """The whole frames that a stream begins with, without their sizes."""
    pos = 0
    while len(data) - pos >= 4:
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        if size < 0 or size > len(data) - pos - 4:
            return
        yield data[pos + 4 : pos + 4 + size]
        pos += 4 + size
