"""The producers of one segment: sequences that do not continue, transactions, their summary.

Within an epoch a producer's batches continue each other's sequence numbers. A batch whose numbers
were there before was written twice; one that leaves numbers out misses some (compaction makes such
gaps, and a producer that its broker had forgotten). An epoch never goes back.

`ProducerRun` is what the rest of the partition has to know of a producer here: where it began and
where it ended. There is one for each producer, up to `PRODUCERS_MAX`; later ones are not followed,
and that is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .....storage.producers import MAX_SEQUENCE
from .....wire.batch import BatchHeader
from .....wire.records import Marker
from .findings import Findings

PRODUCERS_MAX = 50_000
NONE = -1


@dataclass(slots=True)
class ProducerRun:
    """One producer's batches in a segment, or in all segments up to one."""

    first_epoch: int
    first_sequence: int
    """-1 if there are only markers."""
    first_last_sequence: int
    """The last sequence of the first batch."""
    first_offset: int
    first_byte: int | None
    epoch: int
    sequence: int = NONE
    """Of the last record in this epoch; -1 if there is none."""
    last_offset: int = NONE
    """Of the last data batch in this epoch; -1 if there is none."""


@dataclass
class Producers:
    """The producers of a segment, and what its transactions leave open or end."""

    runs: dict[int, ProducerRun] = field(default_factory=dict)
    opened: dict[int, int] = field(default_factory=dict)
    """Producer id -> first offset of the transaction that is open at the end."""
    ended: set[int] = field(default_factory=set)
    """Producers with a marker here whose transaction had no data here before it."""
    aborts: int = 0
    has_aborted_data: bool = False
    are_numbered: bool = True
    """Whether their batches have sequence numbers that mean something."""
    not_followed: int = 0
    """Batches of producers that are too many to be followed."""

    def data(
        self, position: int | None, header: BatchHeader, findings: Findings, missing: Findings
    ) -> None:
        """The next data batch of a producer. Sequences that it leaves out go to `missing`."""
        producer_id, epoch, sequence = header[9], header[10], header[11]
        if header.is_transactional:
            self.opened.setdefault(producer_id, header.base_offset)
        run = self.runs.get(producer_id)
        if run is None:
            if len(self.runs) >= PRODUCERS_MAX:
                self.not_followed += 1
                return
            run = self.runs[producer_id] = ProducerRun(
                *(epoch, sequence, header.last_sequence, header.base_offset, position, epoch)
            )
        elif run.first_sequence == NONE and epoch == run.epoch:
            run.first_epoch, run.first_sequence = epoch, sequence
            run.first_last_sequence = header.last_sequence
            run.first_offset, run.first_byte = header.base_offset, position
        batch = epoch, sequence, header.last_sequence
        where = None, position, header.base_offset
        if self.are_numbered:
            tell_sequence(run, batch, producer_id, where, findings, missing)
        run.epoch = epoch
        run.sequence, run.last_offset = header.last_sequence, header.last_offset

    def marker(self, position: int | None, header: BatchHeader, marker: Marker) -> int | None:
        """A marker; returns where its transaction began if that is in this segment."""
        producer_id, epoch = header.producer_id, header.producer_epoch
        run = self.runs.get(producer_id)
        if run is None:
            if len(self.runs) < PRODUCERS_MAX:
                run = ProducerRun(epoch, NONE, NONE, header.base_offset, position, epoch)
                self.runs[producer_id] = run
        elif epoch > run.epoch:
            run.epoch, run.sequence, run.last_offset = epoch, NONE, NONE
        begun = self.opened.pop(producer_id, None)
        if begun is None:
            self.ended.add(producer_id)
        if not marker.commit:
            self.aborts += 1
            self.has_aborted_data |= begun is not None
        return begun


def tell_sequence(
    run: ProducerRun,
    batch: tuple[int, int, int],
    producer_id: int,
    where: tuple[str | None, int | None, int],
    findings: Findings,
    missing: Findings,
) -> None:
    """Tell if a batch (epoch, first and last sequence) does not continue what was before.

    `where`: file (None: that of the findings), byte and offset. What is missing goes to `missing`.
    """
    (epoch, first, last), (file, byte, offset) = batch, where
    who = f"producer {producer_id}, epoch {epoch}"
    if epoch < run.epoch:
        what = f"{who}: written after a batch or marker of epoch {run.epoch}"
        findings.damage(what, file=file, byte=byte, offset=offset)
        return
    if epoch > run.epoch or NONE in (run.sequence, first):
        return
    ahead = (first - run.sequence - 1) & MAX_SEQUENCE
    if ahead > MAX_SEQUENCE // 2:
        what = f"{who}: sequence {first} to {last} again, {run.sequence} was written before"
        findings.damage(what, file=file, byte=byte, offset=offset)
    elif ahead:
        numbers = f"{(run.sequence + 1) & MAX_SEQUENCE} to {(first - 1) & MAX_SEQUENCE}"
        what = f"{who}: sequence {numbers} is missing before this batch"
        missing.remark(what, file=file, byte=byte, offset=offset)
