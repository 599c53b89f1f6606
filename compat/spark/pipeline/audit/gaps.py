"""Offsets that are missing between batches: by compaction, or lost.

A log that was never compacted has none: markers and aborted records keep theirs. So a gap is damage
where the topic's policy is known and is not to compact, unless a repair has recorded it. It is a
remark where the log may have been compacted nevertheless:

- the policy is not known;
- the metadata log still has that it was another one before (a snapshot of it does not);
- batches have holes within them, or a delete horizon, which only compaction and kept offsets make.

What the cleaner's checkpoint has is no finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .....emulator.metadata.topic_repair import known_values
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
MAY_BE_COMPACTED = "they may have been compacted away, or are lost"


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
    is_rewritten: bool = False
    """Whether a batch is as only compaction writes it: offsets are missing within it, or it has a
    delete horizon. (Records with kept offsets have such batches, too.)"""
    _end: int = 0
    _next: int = -1

    def take(self, position: int, header: BatchHeader) -> None:
        """The next valid batch; damaged bytes between it and the last one tell of themselves."""
        expected = self.base_offset if self._next < 0 else self._next
        if position == self._end and header.base_offset > expected:
            self.count += 1
            if self.count <= FINDINGS_MAX:
                self.found.append(Gap(position, expected, header.base_offset))
        self.is_rewritten |= header.count <= header.last_offset_delta or header.has_delete_horizon
        self._end, self._next = position + header.size, header.last_offset + 1


class Policies:
    """The cleanup policies of topics by a data directory's metadata log."""

    def __init__(self, path: str, naming: Naming) -> None:
        self._directory, self._naming = Directory(path), naming

    def compacts(self, topic: str) -> bool | None:
        """Whether a topic is compacted; None if the metadata log does not tell."""
        if topic in COORDINATORS or topic == CLUSTER_METADATA:
            return True
        policies = self._policies.get(topic)
        return None if policies is None else COMPACT in policies[-1]

    def was_to_compact(self, topic: str) -> bool:
        return any(COMPACT in policy for policy in self._policies.get(topic, []))

    @cached_property
    def _policies(self) -> Mapping[str, Sequence[str]]:
        """Those of each topic, one after the other. Read when there is a gap, not before: that
        takes a copy of the metadata log."""
        try:
            properties = read_meta_properties(self._directory.read_bytes(META_PROPERTIES))
            return known_values(self._directory, self._naming, properties.node_id, POLICY)
        except (LogDirectoryError, Refused, WireError, CheckpointError, OSError):
            return {}


class MissingOffsets:
    """The missing offsets of one partition, its segments taken in order. Their meaning is decided
    at the end: any segment may show that the log was compacted."""

    def __init__(
        self, topic: str, policies: Policies, repaired: Sequence[tuple[int, int]], was_cleaned: bool
    ) -> None:
        self._topic, self._policies = topic, policies
        self._repaired = repaired
        self._was_cleaned = was_cleaned
        self._inside: list[tuple[str, int, list[Gap]]] = []
        """Of segments: their name, how many gaps there are, and the first of them."""
        self._at_ends: list[Finding] = []
        self._is_rewritten = False
        self._unmatched: list[Finding] = []
        """Entries of transaction indexes whose markers are not there."""

    def take(self, segment: SegmentSummary) -> None:
        gaps = segment.gaps
        if gaps is None:
            return
        self._is_rewritten |= gaps.is_rewritten
        if segment.unmatched is not None and not segment.task.is_compacted:
            self._unmatched.append(segment.unmatched)
        start = segment.task.log_start
        lost = [each for each in gaps.found if each.next > start and not self._is_known(each)]
        if lost and not segment.task.is_compacted:
            self._inside.append((segment.name, gaps.count, lost))

    def take_end(self, finding: Finding) -> None:
        self._at_ends.append(finding)

    def tell(self, findings: Findings) -> None:
        """Tell of what no compaction and no repair explains."""
        if not self._inside and not self._at_ends and not self._unmatched:
            return
        compacts = self._policies.compacts(self._topic)
        was_compacted = compacts is not False or self._is_rewritten or self._was_cleaned
        if not was_compacted and not self._policies.was_to_compact(self._topic):
            for finding in self._unmatched:
                findings.add(finding)
        if compacts or self._was_cleaned:
            self._inside.clear()
        elif compacts is None or self._is_rewritten or self._policies.was_to_compact(self._topic):
            self._remark(findings)
            return
        for name, _, lost in self._inside:
            for each in lost:
                findings.add(Finding(findings.partition, name, _missing(each), *each))
        for finding in self._at_ends:
            findings.add(finding)

    def _remark(self, findings: Findings) -> None:
        for name, count, (first, *_) in self._inside:
            what = f"{_missing(first)}{_more(count - 1)}: {MAY_BE_COMPACTED}"
            findings.remark(what, file=name, byte=first.byte, offset=first.first)
        for finding in self._at_ends:
            what = f"{finding.what}: {MAY_BE_COMPACTED}"
            findings.remark(what, file=finding.file, byte=finding.byte, offset=finding.offset)

    def _is_known(self, gap: Gap) -> bool:
        return after_gaps(list(self._repaired), gap.first) >= gap.next


def _more(count: int) -> str:
    return f", and {count} more gap{'s' * (count > 1)}" if count else ""


def _missing(gap: Gap) -> str:
    last = gap.next - 1
    if last == gap.first:
        return f"offset {last} is missing"
    return f"offsets {gap.first} to {last} are missing"
