"""A partition's state of each producer: epoch, last batches, open transaction.

Rules, per producer id (the caller leaves out batches with a negative producer id: they are plain,
whatever epoch and sequence they carry):

- A batch of the current epoch whose (first, last) sequence equals that of one of the last five
  batches is a duplicate: it is answered as that one was, and not appended. Only sequences are
  compared.
- A batch of a lower epoch is refused. A higher epoch must start at sequence 0; from then on the
  batches of the epoch before are forgotten.
- Within an epoch a batch continues the sequence of the last one; 0 follows 2147483647.
- While the epoch is -1, sequences are not checked, neither in that epoch nor in the one that
  follows it. A producer not known here counts as one of epoch -1, so its first batch may have any
  sequence.
- While a producer's transaction is open here, its plain batches are refused.
- A marker ends the transaction and sets the producer's epoch and coordinator epoch. One of the same
  epoch keeps the batches, so that sequences go on; one of a higher epoch forgets them.

Most producers write for a short time and are kept for a day. So only those that wrote last are
objects, at most `UNPACKED_MAX`; the others are packed into bytes, a fifth of the size, until they
are asked for again:

    epoch int16, coordinatorEpoch int32, lastTimestamp int64, currentTxnFirstOffset int64, and for
    each batch firstSequence int32, lastSequence int32, baseOffset, lastOffset, maxTimestamp int64

Nothing here reads a clock, checks batches at replay, or reads a record. A snapshot keeps only the
last data batch of each producer, so after a restart four duplicates fewer are recognised. It is

    version int16 = 1, crc uint32 (CRC-32C of all that follows), count int32, and count times
    producerId int64, epoch int16, lastSequence int32, lastOffset int64, offsetDelta int32,
    lastTimestamp int64, coordinatorEpoch int32, currentTxnFirstOffset int64

with -1 for a missing value (offsetDelta: 0). The order of producers has no meaning.

- Before a transaction's first batch here, the coordinator is asked whether it may be appended
  (`note_verification`). Until then a batch that begins above the lowest sequence asked for is out
  of order: an earlier one has not arrived yet. A client that raises its epoch with every
  transaction must begin one at sequence 0 if no batch of it is known here.

Left out: whether a transaction contains this partition (the transaction coordinator knows).
Source: KIP-98, KIP-360 (no state), KIP-890 (epoch bumps); run side by side with Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from struct import Struct
from typing import NamedTuple, TypeAlias

from ..wire.checksum import crc32c
from ..wire.errors import Error, Refused
from ..wire.primitives import Buffer
from ..wire.records import TRANSACTIONAL, BatchHeader

_PREFIX = Struct(">hI")
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
_VERSION = 1

BATCHES_KEPT = 5
_PACKED = [Struct(">hiqq" + "iiqqq" * count) for count in range(BATCHES_KEPT + 1)]
_PACKED_BATCH = Struct(">iiqqq")
UNPACKED_MAX = 256
"""How many producers of a partition are objects; half of them are packed when there are more."""
MAX_SEQUENCE = (1 << 31) - 1
NONE = -1

Batch: TypeAlias = tuple[int, int, int, int, int]
"""First sequence, last sequence, base offset, last offset, max timestamp. A plain tuple: one is
made for each batch, and making a named tuple takes several times as long."""


class SnapshotError(ValueError):
    """These bytes are not a complete producer snapshot."""


class Duplicate(NamedTuple):
    """The batch is in the log already: answer success, with its offset and timestamp."""

    base_offset: int
    timestamp: int


class AbortedTransaction(NamedTuple):
    """One entry of a `.txnindex`; last_offset is the marker's."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class ProducerState:
    """One producer, as of its last batch or marker. Only this module changes it.

    `last_timestamp` is the largest timestamp in the last batch (or the marker's), in milliseconds,
    not the time of its arrival. `batches` holds the last five data batches of this epoch, the
    oldest first.
    """

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp", "txn_first_offset")

    def __init__(
        self,
        epoch: int,
        coordinator_epoch: int = NONE,
        last_timestamp: int = NONE,
        txn_first_offset: int = NONE,
    ) -> None:
        self.epoch = epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        self.txn_first_offset = txn_first_offset
        self.batches: list[Batch] = []

    @property
    def last_sequence(self) -> int:
        """Of the last data batch in this epoch; -1 if there is none."""
        return self.batches[-1][1] if self.batches else NONE

    @property
    def last_offset(self) -> int:
        """Of the last data batch in this epoch; -1 if there is none. Markers do not change it."""
        return self.batches[-1][3] if self.batches else NONE

    def forget_batches(self, before: int) -> None:
        """Keep those from an offset on, and the last one below it."""
        older = sum(batch[3] < before for batch in self.batches)
        del self.batches[: max(0, older - 1)]


class ProducerStates:
    """All producers of one partition, and its open transactions."""

    def __init__(self) -> None:
        # Each producer is in one of these; the first is in the order in which they were unpacked.
        self._states: dict[int, ProducerState] = {}
        self._packed: dict[int, bytes] = {}
        # First offset -> producer id, in the order of offsets, since logs only grow.
        self._open: dict[int, int] = {}
        # First offset -> marker's offset, of ended transactions that replicas may not have yet.
        self._unreplicated: dict[int, int] = {}
        # Producer id -> epoch and lowest sequence about which the coordinator was asked, and
        # whether the client raises its epoch with every transaction.
        self._asked: dict[int, tuple[int, int, bool]] = {}

    @property
    def states(self) -> Mapping[int, ProducerState]:
        """Producer id -> state, read only. A state may be a copy: look at it, and let go of it."""
        return _States(self._states, self._packed)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction without a marker begins, or None."""
        return next(iter(self._open), None)

    def last_stable_offset(self, high_watermark: int) -> int:
        """How far a read_committed consumer may read, at most up to `high_watermark`.

        A transaction whose marker is above the high watermark also holds it back. The result may be
        below a log start that DeleteRecords has raised; the caller corrects that.
        """
        if self._unreplicated:
            self.replicated(high_watermark)
        return min((high_watermark, *self._unreplicated, *islice(self._open, 1)))

    def stable_at(self, high_watermark: int) -> int:
        """The same for a replica that knows of a lower high watermark than the leader: what has
        ended is not forgotten."""
        ended = (each for each, marker in self._unreplicated.items() if marker >= high_watermark)
        return min((high_watermark, *ended, *islice(self._open, 1)))

    def replicated(self, high_watermark: int) -> None:
        """The high watermark is this, and does not go back: markers below it are no more watched.
        To be called after a marker, or what has ended would be kept until a reader asks."""
        unreplicated = self._unreplicated
        for first in [each for each, marker in unreplicated.items() if marker < high_watermark]:
            del unreplicated[first]

    def has_open_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether the producer's transaction, in this epoch, has data here already."""
        state = self._find(producer_id)
        return state is not None and state.txn_first_offset >= 0 and state.epoch == epoch

    def knows_later_epoch(self, producer_id: int, epoch: int) -> bool:
        """Whether the producer has written here, or a marker of it, in a later epoch."""
        state = self._find(producer_id)
        return state is not None and state.epoch > epoch

    def note_verification(
        self, producer_id: int, epoch: int, sequence: int, *, transaction_v2: bool
    ) -> None:
        """The coordinator is asked whether the producer's transaction may begin here, for a batch
        with this first sequence. `transaction_v2`: it came in a Produce v12 or later; what counts
        is the first time since the last transaction."""
        question = self._asked.get(producer_id)
        if question is None:
            question = (epoch, sequence, transaction_v2)
        elif epoch > question[0] or (epoch == question[0] and sequence < question[1]):
            question = (epoch, sequence, question[2])
        self._asked[producer_id] = question

    def check(self, header: BatchHeader) -> Duplicate | None:
        """Check a producer's data batch before it is appended; a Duplicate must not be appended.

        Raises Refused: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE.
        """
        producer_id = header.producer_id
        state = self._states.get(producer_id) or self._find(producer_id) or _UNKNOWN
        epoch, first = header.producer_epoch, header.base_sequence
        batches = state.batches
        if epoch == state.epoch:
            previous = batches[-1][1] if batches else NONE
            in_order = first == previous + 1 or (first == 0 and previous == MAX_SEQUENCE)
            if not in_order or epoch == NONE:  # five batches do not go once around
                last = header.last_sequence
                for batch in batches:
                    if batch[0] == first and batch[1] == last:
                        return Duplicate(batch[2], batch[4])
        elif epoch > state.epoch:
            in_order = first == 0
        else:
            raise Refused(Error.INVALID_PRODUCER_EPOCH)
        if self._asked and (question := self._asked.get(header.producer_id)) is not None:
            _, lowest, transaction_v2 = question
            if first > lowest or (transaction_v2 and first and not batches):
                raise Refused(Error.OUT_OF_ORDER_SEQUENCE_NUMBER)
        if not in_order and state.epoch != NONE:
            raise Refused(Error.OUT_OF_ORDER_SEQUENCE_NUMBER)
        if state.txn_first_offset >= 0 and not header.attributes & TRANSACTIONAL:
            raise Refused(Error.INVALID_TXN_STATE)
        return None

    def check_marker(
        self, producer_id: int, epoch: int, coordinator_epoch: int, *, transaction_version: int
    ) -> None:
        """Check a marker before it is appended. Producers not known here count as of epoch -1.

        With transaction version 2 each end raises the epoch, so the marker of an open transaction
        must have a higher one; without an open transaction it may be the same marker, sent again.
        Raises Refused: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
        """
        state = self._find(producer_id) or _UNKNOWN
        bumps = transaction_version >= 2 and state.txn_first_offset >= 0
        if epoch < state.epoch or (bumps and epoch == state.epoch):
            raise Refused(Error.INVALID_PRODUCER_EPOCH)
        if coordinator_epoch < state.coordinator_epoch:
            raise Refused(Error.TRANSACTION_COORDINATOR_FENCED)

    def update(self, header: BatchHeader) -> None:
        """Apply a data batch that is in the log, just appended or replayed. Checks nothing."""
        state = self._state_in_epoch(header)
        base, timestamp = header.base_offset, header.max_timestamp
        last = base + header.last_offset_delta
        batches = state.batches
        batches.append((header.base_sequence, header.last_sequence, base, last, timestamp))
        if len(batches) > BATCHES_KEPT:
            del batches[0]
        state.last_timestamp = timestamp
        if header.attributes & TRANSACTIONAL:
            self._asked.pop(header.producer_id, None)
            if state.txn_first_offset < 0:
                state.txn_first_offset = base
                self._open[base] = header.producer_id

    def end_transaction(
        self, header: BatchHeader, *, commit: bool, coordinator_epoch: int
    ) -> AbortedTransaction | None:
        """Apply a marker that is in the log, just appended or replayed. Checks nothing.

        Returns the entry for the `.txnindex` of the marker's segment: None for a commit, and if no
        transaction was open here. The caller leaves out a marker whose record compaction has
        removed (count 0).
        """
        state = self._state_in_epoch(header)
        self._asked.pop(header.producer_id, None)
        state.coordinator_epoch = coordinator_epoch
        state.last_timestamp = header.max_timestamp
        first, marker = state.txn_first_offset, header.last_offset
        if first < 0:
            return None
        state.txn_first_offset = NONE
        self._open.pop(first, None)
        self._unreplicated[first] = marker
        if commit:
            return None
        stable = next(iter(self._open), marker + 1)
        return AbortedTransaction(header.producer_id, first, marker, stable)

    def _state_in_epoch(self, header: BatchHeader) -> ProducerState:
        """The producer's state, moved to this batch's epoch. A new epoch starts without batches."""
        state = self._states.get(header.producer_id) or self._find(header.producer_id)
        if state is None:
            state = self._states[header.producer_id] = ProducerState(header.producer_epoch)
            if len(self._states) > UNPACKED_MAX:
                self._pack(UNPACKED_MAX // 2)
        elif state.epoch != header.producer_epoch:
            state.epoch = header.producer_epoch
            state.batches = []
        return state

    def _find(self, producer_id: int) -> ProducerState | None:
        """A producer's state, which is unpacked from now on; None if it is not known here."""
        state = self._states.get(producer_id)
        if state is None and (packed := self._packed.pop(producer_id, None)) is not None:
            state = self._states[producer_id] = _unpacked(packed)
            if len(self._states) > UNPACKED_MAX:
                self._pack(UNPACKED_MAX // 2)
        return state

    def _pack(self, count: int) -> None:
        """Pack those that were unpacked first."""
        for producer_id in list(islice(self._states, count)):
            self._packed[producer_id] = _packed(self._states.pop(producer_id))

    def oldest_timestamp(self) -> int | None:
        """The least of the last timestamps of all producers without an open transaction."""
        self._pack(len(self._states))
        heads = map(_PACKED[0].unpack_from, self._packed.values())
        return min((head[2] for head in heads if head[3] < 0), default=None)

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forget producers without an open transaction whose last batch is that old, and questions
        to the coordinator that no batch has followed. Returns how many producers those were."""
        self._asked.clear()
        self._pack(len(self._states))
        before = len(self._packed)
        for producer_id, packed in list(self._packed.items()):
            _, _, last_timestamp, txn_first_offset = _PACKED[0].unpack_from(packed)
            if txn_first_offset < 0 and now_ms - last_timestamp >= expiration_ms:
                del self._packed[producer_id]
        return before - len(self._packed)

    def forget_batches(self, before: int) -> None:
        """Of the batches below an offset each producer's last one alone is remembered: what a
        broker knows that has restarted when its log ended there."""
        for state in self._states.values():
            state.forget_batches(before)
        for producer_id, packed in self._packed.items():
            state = _unpacked(packed)
            state.forget_batches(before)
            self._packed[producer_id] = _packed(state)

    def clear(self) -> None:
        """Forget everything, as before a replay."""
        self._states.clear()
        self._packed.clear()
        self._open.clear()
        self._unreplicated.clear()
        self._asked.clear()

    def snapshot(self) -> bytes:
        """The content of a `.snapshot` file."""
        packed = self._packed | {key: _packed(state) for key, state in self._states.items()}
        body = bytearray(_COUNT.pack(len(packed)))
        for producer_id, each in sorted(packed.items()):
            epoch, coordinator_epoch, timestamp, txn_first = _PACKED[0].unpack_from(each)
            sequence, base, last = NONE, NONE, NONE
            if len(each) > _PACKED[0].size:
                _, sequence, base, last, _ = _PACKED_BATCH.unpack_from(each, -_PACKED_BATCH.size)
            body += _ENTRY.pack(
                producer_id,
                epoch,
                sequence,
                last,
                last - base,
                timestamp,
                coordinator_epoch,
                txn_first,
            )
        return _PREFIX.pack(_VERSION, crc32c(body)) + body

    def load(self, snapshot: Buffer) -> None:
        """Replace everything by what `snapshot` holds.

        Raises SnapshotError, and changes nothing, if it is damaged.
        """
        states: dict[int, bytes] = {}
        opened: list[tuple[int, int]] = []
        for entry in _entries(snapshot):
            producer_id, epoch, sequence, last, delta, time, coordinator, first = entry
            state = ProducerState(epoch, coordinator, time, first)
            if last >= 0:
                state.batches.append((_back(sequence, delta), sequence, last - delta, last, time))
            if first >= 0:
                opened.append((first, producer_id))
            states[producer_id] = _packed(state)
        self.clear()
        self._packed.update(states)
        self._open.update(sorted(opened))


_UNKNOWN = ProducerState(NONE)
"""The state of a producer that has written nothing here. Shared, so it is never changed."""


class _States(Mapping[int, ProducerState]):
    """All producers of a partition, packed or not."""

    def __init__(self, unpacked: dict[int, ProducerState], packed: dict[int, bytes]) -> None:
        self._unpacked_ones = unpacked
        self._packed_ones = packed

    def __getitem__(self, producer_id: int) -> ProducerState:
        state = self._unpacked_ones.get(producer_id)
        return _unpacked(self._packed_ones[producer_id]) if state is None else state

    def __iter__(self) -> Iterator[int]:
        yield from self._packed_ones
        yield from self._unpacked_ones

    def __len__(self) -> int:
        return len(self._packed_ones) + len(self._unpacked_ones)


def _packed(state: ProducerState) -> bytes:
    return _PACKED[len(state.batches)].pack(
        state.epoch,
        state.coordinator_epoch,
        state.last_timestamp,
        state.txn_first_offset,
        *chain.from_iterable(state.batches),
    )


def _unpacked(packed: bytes) -> ProducerState:
    head = _PACKED[0]
    state = ProducerState(*head.unpack_from(packed))
    state.batches[:] = _PACKED_BATCH.iter_unpack(packed[head.size :])
    return state


def _entries(snapshot: Buffer) -> list[tuple[int, ...]]:
    """The entries of a snapshot. Raises SnapshotError on any other bytes."""
    size = len(snapshot)
    if size < _PREFIX.size + _COUNT.size:
        raise SnapshotError(f"{size} bytes are too few for a producer snapshot")
    version, crc = _PREFIX.unpack_from(snapshot)
    if version != _VERSION:
        raise SnapshotError(f"producer snapshot of unknown version {version}")
    with memoryview(snapshot) as view, view[_PREFIX.size :] as body:
        if crc32c(body) != crc:
            raise SnapshotError("producer snapshot with a wrong checksum")
        (count,) = _COUNT.unpack_from(body)
        if len(body) != _COUNT.size + count * _ENTRY.size:
            raise SnapshotError(f"producer snapshot of {count} entries has {size} bytes")
        return list(_ENTRY.iter_unpack(body[_COUNT.size :]))


def _back(sequence: int, steps: int) -> int:
    """The sequence number `steps` before this one; 2147483647 precedes 0."""
    return (sequence - steps) & MAX_SEQUENCE
