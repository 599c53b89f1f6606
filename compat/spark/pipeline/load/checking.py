"""Checks before anything is written: the first rows of each file.

They are made into records and routed as they will be, so a column that is not there, a time that is
none, a partition or topic that does not exist ends a load that has left nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..engine import Engine
from ..files import FileSplit
from .routing import Routing

_BYTES = 1 << 20
"""About what is read of each file."""
_ANY = 1 << 30


def check_files(
    splits: Iterable[FileSplit],
    topic: str | None,
    counts: Mapping[str, int],
    create: int | None,
    engine: Engine,
) -> set[str]:
    """The topics to which the first rows of the files go: `topic`, or those in their column.

    `counts`: how many partitions topics have; `create`: how many the others get. Raises
    PipelineError, PlaceError.
    """
    firsts: dict[str, FileSplit] = {}
    for split in splits:
        firsts.setdefault(split.path, split)
    task = _Check(topic, counts, create)
    found: set[str] = set() if topic is None else {topic}
    for _, topics in engine.run(task, list(firsts.values()), len(firsts) * _BYTES):
        found |= set(topics)
    return found


@dataclass(frozen=True)
class _Check:
    topic: str | None
    counts: Mapping[str, int]
    create: int | None

    def __call__(self, split: FileSplit) -> list[str]:
        records = split.first_records()
        if records is None:
            return []
        routing = Routing(
            self.topic,
            lambda topic: self.counts.get(topic, self.create or _ANY),
            source=split.origin,
        )
        return sorted({topic for (topic, _), _ in routing.route(records)})
