"""Offsets that are missing between the batches of a segment: by compaction, or lost.

A log that is not compacted has none: markers and aborted records keep theirs. So a gap is damage
where the topic's policy is known and is not to compact, unless a repair has recorded it. Where the
policy is not known, or batches have holes within them, which only compaction and kept offsets make,
it is a remark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .....emulator.metadata.topic_repair import known_configs
from .....storage import LogDirectoryError
from .....storage.checkpoints import META_PROPERTIES, CheckpointError, read_meta_properties
from .....storage.damage import after_gaps
from .....storage.disk.directory import Directory
from .....storage.naming import CLUSTER_METADATA, Naming
from .....wire.batch import BatchHeader
from .....wire.errors import Refused, WireError
from .batches import COORDINATORS, SegmentSummary
from .findings import FINDINGS_MAX, Finding, Findings

POLICY = "cleanup.policy"
COMPACT = "compact"


class Gap(NamedTuple):
    """Offsets, [first, next), that no batch has."""

    byte: int
    """Where the batch after them begins."""
    first: int
    next: int


@dataclass
class Gaps:
    """Those of one segment, its batches taken in order. Picklable, and small."""

    base_offset: int
    found: list[Gap] = field(default_factory=list)
    """The first `FINDINGS_MAX`."""
    count: int = 0
    has_holes: bool = False
    """Whether offsets are missing within a batch."""
    _end: int = 0
    _next: int = -1

    def take(self, position: int, header: BatchHeader) -> None:
        """The next valid batch; damaged bytes between it and the last one tell of themselves."""
        expected = self.base_offset if self._next < 0 else self._next
        if position == self._end and header.base_offset > expected:
            self.count += 1
            if self.count <= FINDINGS_MAX:
                self.found.append(Gap(position, expected, header.base_offset))
        self.has_holes |= header.count <= header.last_offset_delta
        self._end, self._next = position + header.size, header.last_offset + 1


class Policies:
    """What a data directory's metadata log says of its topics' cleanup policies."""

    def __init__(self, path: str, naming: Naming) -> None:
        self._directory, self._naming = Directory(path), naming

    def compacts(self, topic: str) -> bool | None:
        """Whether a topic is compacted; None if the metadata log does not tell."""
        if topic in COORDINATORS or topic == CLUSTER_METADATA:
            return True
        configs = self._configs.get(topic)
        return None if configs is None else COMPACT in configs.get(POLICY, "")

    @cached_property
    def _configs(self) -> Mapping[str, Mapping[str, str]]:
        """Read when there is a gap, not before: that takes a copy of the metadata log."""
        try:
            properties = read_meta_properties(self._directory.read_bytes(META_PROPERTIES))
            return known_configs(self._directory, self._naming, properties.node_id)
        except (LogDirectoryError, Refused, WireError, CheckpointError, OSError):
            return {}


def tell_gaps(
    segment: SegmentSummary,
    compacts: bool | None,
    repaired: Sequence[tuple[int, int]],
    findings: Findings,
) -> None:
    """Tell of the gaps of a segment that no compaction and no repair explains."""
    gaps = segment.gaps
    if compacts or segment.task.is_compacted or gaps is None:
        return
    start = segment.task.log_start
    lost = [each for each in gaps.found if each.next > start and not _is_known(each, repaired)]
    if not lost:
        return
    if compacts is None or gaps.has_holes:
        more = _more(gaps.count - 1)
        what = f"{_missing(lost[0])}{more}: by compaction, or lost"
        findings.remark(what, file=segment.name, byte=lost[0].byte, offset=lost[0].first)
        return
    for each in lost:
        findings.add(Finding(findings.partition, segment.name, _missing(each), *each))


def _is_known(gap: Gap, repaired: Sequence[tuple[int, int]]) -> bool:
    return after_gaps(list(repaired), gap.first) >= gap.next


def _more(count: int) -> str:
    return f", and {count} more gap{'s' * (count > 1)}" if count else ""


def _missing(gap: Gap) -> str:
    last = gap.next - 1
    if last == gap.first:
        return f"offset {last} is missing"
    return f"offsets {gap.first} to {last} are missing"
