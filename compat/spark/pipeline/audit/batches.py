"""What is compared from batch to batch, wherever they come from: epochs, times, producers.

Also what is left of them, `SegmentSummary`, which the rest of a partition has to know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .....storage.recovery.producer_replay import find_marker
from .....storage.repairs.faults import EpochCheck, wrong_epoch
from .....wire.batch import CONTROL, NO_TIMESTAMP, BatchHeader
from .....wire.primitives import Buffer
from .aborted_check import AbortedCheck
from .findings import Finding, Findings
from .producers import Producers
from .records_check import RecordsSummary

if TYPE_CHECKING:
    from .gaps import Gaps

EPOCHS_MAX = 1_000
COORDINATORS = ("__consumer_offsets", "__transaction_state", "__share_group_state")
"""Topics in which a coordinator writes for producers, each batch with sequence 0."""


@dataclass(frozen=True)
class SegmentTask:
    """What to check: one segment, and what is known of it from outside. Picklable."""

    directory: str
    """The data directory."""
    topic: str
    partition: int
    base_offset: int
    limit: int | None = None
    """The next segment's base; None for the newest one."""
    was_killed: bool = False
    """Whether the broker that wrote the newest segment was not stopped cleanly, or still runs."""
    is_in_use: bool = False
    """Whether a broker has the directory open."""
    is_compacted: bool = False
    log_start: int = 0
    """The partition's, as its checkpoint has it."""
    jump_ms: int = 3_600_000
    """By how much times may go back."""
    size: int = 0
    """Bytes of its log, as it was when the audit was planned."""

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.topic}-{self.partition}, segment {self.base_offset}"

    @property
    def is_growing(self) -> bool:
        """Whether a broker may be writing to it at this moment."""
        return self.is_in_use and self.limit is None


@dataclass
class SegmentSummary:
    """What is left of a segment once it was checked. Picklable, and small."""

    task: SegmentTask
    name: str
    findings: Findings
    size: int = 0
    batches: int = 0
    records: int = 0
    first_offset: int = -1
    next_offset: int = 0
    has_gaps: bool = False
    """Whether offsets are missing between its batches, as after compaction."""
    gaps: Gaps | None = None
    """Where; None if that was not looked at."""
    damaged_end: bool = False
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """Each leader epoch and the first offset that has it, where it rises."""
    raised_at: int | None = None
    """The byte of the last batch, if the epoch rises there: it may be wrong."""
    unmatched: Finding | None = None
    """An entry of the transaction index whose marker is not there; compaction removes markers."""
    producers: Producers = field(default_factory=Producers)
    first_time: int = NO_TIMESTAMP
    latest_time: int = NO_TIMESTAMP
    content: RecordsSummary = field(default_factory=RecordsSummary)

    @property
    def is_compacted(self) -> bool:
        """Whether compaction may have removed records from it."""
        return self.task.is_compacted or self.has_gaps


class BatchChecks:
    """Fills a summary from its batches, which are taken in order."""

    def __init__(self, summary: SegmentSummary) -> None:
        self.summary = summary
        self.findings = summary.findings
        self.missing = Findings(summary.findings.partition, summary.name)
        self._epochs = EpochCheck()
        summary.producers.are_numbered = summary.task.topic not in COORDINATORS

    def take(
        self,
        position: int | None,
        header: BatchHeader,
        chunk: Buffer,
        at: int,
        aborted: AbortedCheck | None = None,
    ) -> None:
        """The next valid batch, which begins at `at` in `chunk`; `position`: its byte in a file."""
        self._batch(position, header)
        if header.producer_id >= 0:
            self._producer(position, header, chunk, at, aborted)

    def finish(self) -> None:
        """No more batches come."""
        self._epochs.settle()
        self.summary.epochs = self._epochs.starts[:EPOCHS_MAX]
        raised = self._epochs.raised
        self.summary.raised_at = None if raised is None else raised[0][0]
        for (byte, offset), epoch, right in self._epochs.wrong:
            self.findings.damage(wrong_epoch(epoch, right), byte=byte, offset=offset)
        if not self.summary.is_compacted:
            self.findings.join(self.missing)
        if self.summary.producers.not_followed:
            count = self.summary.producers.not_followed
            self.findings.remark(f"too many producers: sequences of {count} batches not compared")

    def _batch(self, position: int | None, header: BatchHeader) -> None:
        summary = self.summary
        if not summary.batches:
            summary.first_offset = header.base_offset
            summary.first_time = header.max_timestamp
        summary.batches += 1
        if not header.attributes & CONTROL:
            summary.records += header.count
            self._time(position, header)  # a marker's time is when its broker wrote it
        offset = header.base_offset
        self._epochs.batch((position, offset), header.leader_epoch, offset)

    def _time(self, position: int | None, header: BatchHeader) -> None:
        time, latest = header.max_timestamp, self.summary.latest_time
        if time < NO_TIMESTAMP:
            what = f"a time before 1970: {time} ms"
            self.findings.remark(what, byte=position, offset=header.base_offset)
        elif NO_TIMESTAMP < time < latest - self.summary.task.jump_ms:
            what = f"times go back by {span(latest - time)}"
            self.findings.remark(what, byte=position, offset=header.base_offset)
        elif latest == NO_TIMESTAMP or time > latest:
            self.summary.latest_time = max(time, latest)

    def _producer(
        self,
        position: int | None,
        header: BatchHeader,
        chunk: Buffer,
        at: int,
        aborted: AbortedCheck | None,
    ) -> None:
        producers = self.summary.producers
        if not header.attributes & CONTROL:
            producers.data(position, header, self.findings, self.missing)
            if header.is_transactional and aborted is not None:
                aborted.data_batch(header)
            return
        marker = find_marker(memoryview(chunk)[at : at + header.size], header)
        if marker is not None:
            producers.marker(position, header, marker)
            if aborted is not None:
                aborted.marker(header, marker)


def span(ms: int) -> str:
    """A time for people."""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if ms >= size:
            return f"{ms / size:.4g} {unit}"
    return f"{ms} ms"
