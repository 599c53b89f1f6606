"""A partition of a broker's topic, checked as its batches are fetched: one task each.

A broker has no files to compare; batches, offsets, epochs, sequences, transactions and times are
checked as those of a segment are, and the records are looked at. Without the topic's policy a gap
between batches counts as compaction's: it is a remark.

The audit of topics of a broker: one task a partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .....wire.batch import BatchHeader, batches, checksum
from .....wire.errors import WireError
from ...segments.damaged import Damaged
from ...segments.decoder import read_bytes
from ...segments.outcomes import Outcomes
from ...segments.wanted import Wanted
from ..broker import EARLIEST, LATEST, Cluster, fetch, offsets
from ..topics import Topics, partition_sizes
from .batches import MAY_BE_COMPACTED, BatchChecks, SegmentSummary, SegmentTask
from .findings import Findings, in_order
from .joining import Audit, Run
from .partition_check import PartitionSummary
from .records_check import COLUMNS, RecordsSummary, skew


@dataclass(frozen=True)
class TopicTask:
    """One partition, from one offset up to another. Picklable."""

    addresses: str
    topic: str
    partition: int
    start: int
    end: int
    size: int = 0
    jump_ms: int = 3_600_000

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass
class TopicSummary:
    """The summary of a partition. Picklable, and small."""

    task: TopicTask
    findings: Findings
    batches: int
    records: int
    first_offset: int
    next_offset: int
    open_transactions: int
    content: RecordsSummary = field(default_factory=RecordsSummary)


def check_topic(task: TopicTask) -> TopicSummary:
    """Fetch and check one partition. Raises BrokerError."""
    findings = Findings(task.name)
    segment = SegmentTask(
        "", task.topic, task.partition, task.start, task.end, jump_ms=task.jump_ms
    )
    check = _TopicCheck(SegmentSummary(segment, "", findings, next_offset=task.start))
    with Cluster(task.addresses) as cluster:
        place = task.topic, task.partition
        for fetched in fetch(cluster, place, task.start, task.end, committed=False):
            check.take(fetched.records)
    return check.finish(task)


class _TopicCheck:
    def __init__(self, summary: SegmentSummary) -> None:
        self.summary = summary
        self.findings = summary.findings
        self.checks = BatchChecks(summary)
        self.gap: tuple[int, int] | None = None
        self.gaps = 0
        self._wanted = Wanted(columns=COLUMNS, isolation="read_uncommitted")

    def take(self, data: memoryview) -> None:
        wrong: list[int] = []
        for at, header in self._headers(data):
            wrong += [] if self._batch(data, at, header) else [at]
        task = self.summary.task

        def tell(damaged: Damaged) -> None:
            if damaged.position not in wrong:
                what = f"its records cannot be read: {damaged.what}"
                self.findings.damage(what, offset=damaged.offset)

        place = task.topic, task.partition
        for batch in read_bytes(data, *place, self._wanted, Outcomes(), on_damage=tell):
            self.summary.content.add(batch, "")

    def _headers(self, data: memoryview) -> Iterator[tuple[int, BatchHeader]]:
        try:
            yield from batches(data)
        except WireError:
            return  # messages of magic 0 and 1: the decoder checks them

    def _batch(self, data: memoryview, at: int, header: BatchHeader) -> bool:
        offset = header.base_offset
        if checksum(data, at, header.size) != header.crc:
            self.findings.damage("a batch has a wrong checksum", offset=offset)
            return False
        if offset < self.summary.next_offset and self.summary.batches:
            what = f"offsets out of order: {self.summary.next_offset} was expected"
            self.findings.damage(what, offset=offset)
            return False
        if offset > self.summary.next_offset:
            self.gaps += 1
            self.gap = self.gap or (self.summary.next_offset, offset)
            self.summary.has_gaps = True
        self.checks.take(None, header, data, at)
        self.summary.next_offset = header.last_offset + 1
        return True

    def finish(self, task: TopicTask) -> TopicSummary:
        summary, producers = self.summary, self.summary.producers
        self.checks.finish()
        if self.gap is not None:
            what = f"offsets {self.gap[0]} to {self.gap[1] - 1} are missing"
            more = f", and {self.gaps - 1} more gaps" if self.gaps > 1 else ""
            self.findings.remark(f"{what}{more}: {MAY_BE_COMPACTED}", offset=self.gap[0])
        for producer_id, first in producers.opened.items():
            what = f"an unfinished transaction of producer {producer_id}"
            self.findings.remark(what, offset=first)
        return TopicSummary(
            *(task, self.findings, summary.batches, summary.records, summary.first_offset),
            *(summary.next_offset, len(producers.opened), summary.content),
        )


def plan_topics(topics: Topics, jump_ms: int) -> list[TopicTask]:
    """A task for each partition, up to its end of now. Raises BrokerError."""
    with Cluster(topics.addresses) as cluster:
        places = list(topics.places(cluster))
        first = offsets(cluster, places, EARLIEST)
        after = offsets(cluster, places, LATEST)
        sizes = partition_sizes(cluster, places)
    return [
        TopicTask(
            *(topics.addresses, *place, first[place], after[place], sizes.get(place, 0), jump_ms)
        )
        for place in places
    ]


def audit_topics(
    text: str,
    tasks: Sequence[TopicTask],
    run: Run,
    advance: Callable[[int], None] = lambda by: None,
) -> Audit:
    """Audit these partitions. Raises BrokerError."""
    audit = Audit(text)
    keys: dict[str, RecordsSummary] = {}
    contents: dict[str, dict[int, RecordsSummary]] = {}
    for number, summary in run(check_topic, tasks, sum(task.size for task in tasks)):
        task = tasks[number]
        audit.add(summary.findings)
        audit.partitions.append(
            PartitionSummary(
                *(task.topic, task.partition, 0, summary.batches, summary.records, task.size),
                *(summary.first_offset, summary.next_offset, summary.open_transactions),
                summary.findings,
            )
        )
        keys.setdefault(task.topic, RecordsSummary()).join(summary.content)
        contents.setdefault(task.topic, {})[task.partition] = summary.content.without_keys()
        advance(task.size)
    audit.partitions.sort(key=lambda each: (each.topic, each.partition))
    audit.findings.sort(key=in_order)
    for topic, partitions in sorted(contents.items()):
        found = Findings(topic)
        for finding in skew(topic, keys[topic], partitions):
            found.add(finding)
        audit.add(found)
    return audit
