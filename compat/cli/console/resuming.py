"""How far an import is, in a small file: `odradek produce --resume FILE`.

Of records that say where they come from (`odradek records --json`) it is the next offset of each
partition there, so that they may come in another order the next time; of other lines, their number.
It is written after the broker has stored what came together. So after Ctrl-C nothing is missing
and nothing is there twice; after a kill what was stored last, at most a few thousand records, is
stored once more. With a transactional id it is written once, after the commit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .client import ConsoleError
from .sending import Placed


class Progress:
    """What is stored already, and the file that says so."""

    def __init__(self, path: Path, topic: str) -> None:
        """Raises ConsoleError if the file is about something else."""
        self._path = path
        self._topic = topic
        self._lines = 0
        self._sources: dict[str, dict[str, int]] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        try:
            told: Any = json.loads(self._path.read_text())
            topic, self._lines = told["topic"], int(told["lines"])
            self._sources = {
                name: {str(index): int(at) for index, at in offsets.items()}
                for name, offsets in told["sources"].items()
            }
        except OSError as error:
            raise ConsoleError(f"{self._path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ConsoleError(f"{self._path} was not written by --resume") from None
        if topic != self._topic:
            raise ConsoleError(f"{self._path} is of an import to {topic}, not to {self._topic}")

    def left(self, records: Iterable[Placed]) -> Iterator[Placed]:
        """Those that are not stored yet."""
        to_skip = self._lines
        for each in records:
            if each.source is None:
                to_skip -= 1
                if to_skip < 0:
                    yield each
                continue
            topic, partition, offset = each.source
            if offset >= self._sources.get(topic, {}).get(str(partition), 0):
                yield each

    def add(self, stored: Iterable[Placed]) -> None:
        """These are stored, too."""
        for each in stored:
            if each.source is None:
                self._lines += 1
            else:
                topic, partition, offset = each.source
                of_topic = self._sources.setdefault(topic, {})
                of_topic[str(partition)] = max(of_topic.get(str(partition), 0), offset + 1)

    def save(self) -> None:
        """Write the file in the place of the one before. Raises ConsoleError."""
        told = {"topic": self._topic, "lines": self._lines, "sources": self._sources}
        new = self._path.with_name(f"{self._path.name}.new")
        try:
            new.write_text(json.dumps(told))
            os.replace(new, self._path)
        except OSError as error:
            raise ConsoleError(f"{self._path} cannot be written: {error.strerror}") from None
