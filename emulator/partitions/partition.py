"""A partition: its log, its leader and replicas, and the fetches that wait for it.

Data is stored once, whatever the number of replicas; so the high watermark is the log end offset,
unless a replica in sync does not have all of the log, or too few are in sync (replicas.py). The
last stable offset follows from the open transactions of the log's producers. A reader of committed
data is woken when it moves: by plain data while nothing is open, else by a marker.
A log that has nothing on disk is opened when it is first asked for, so that a topic of ten thousand
partitions costs little before.
That the disk accepts no more is logged at most once a minute for each partition.

A topic: its name, its id, its configs and its partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...storage import Log, StoredBytes
from ...wire import Error, Refused, WireError
from ...wire.batch import (
    CONTROL,
    HEADER_SIZE,
    NO_TIMESTAMP,
    OVERHEAD,
    BatchHeader,
    place,
    read_header,
)
from ...wire.primitives import Buffer
from ...wire.records import Record, read_records
from ..base.logger import log
from ..config.configs import TopicConfig
from ..config.internal_topics import INTERNAL_TOPICS
from .replicas import Replicas

if TYPE_CHECKING:
    from .acknowledging import AckWait
    from .fetch_waits import Wait


_SAID_AGAIN_MS = 60_000
_MAGIC_AT, _MAGIC = 16, 2

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
NO_EPOCH = -1
NO_LEADER = -1


class Bounds(NamedTuple):
    """How far a replica may be read: its log end, and what readers of uncommitted and of committed
    data see records below."""

    log_end_offset: int
    high_watermark: int
    last_stable_offset: int


class Partition:
    log: Log
    __slots__ = (
        "_base_seen",
        "_complained_ms",
        "_open_log",
        "acks",
        "apart",
        "index",
        "isr",
        "leader",
        "leader_epoch",
        "log",
        "replicas",
        "restarted",
        "topic",
        "waits",
    )

    def __init__(
        self,
        topic: Topic,
        index: int,
        open_log: Callable[[], Log],
        *,
        leader: int,
        leader_epoch: int = 0,
        replicas: list[int] | None = None,
        isr: list[int] | None = None,
    ) -> None:
        self.topic = topic
        self.index = index
        self._open_log = open_log
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.replicas = [leader] if replicas is None else replicas
        self.isr = list(self.replicas) if isr is None else isr
        self.apart: Replicas | None = None
        """None while every replica has all of the log, and enough are in sync."""
        self.waits: list[Wait] = []
        self.acks: list[AckWait] = []
        self.restarted: dict[int, int] | None = None
        """Where the logs of replicas ended when their brokers started again, until they lead."""
        self._base_seen: int | None = None
        """Where the newest segment began when waiting fetches were last woken."""
        self._complained_ms: int | None = None

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def name(self) -> str:
        """Topic and number, as "orders-0"."""
        return f"{self.topic.name}-{self.index}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Log:
            """The log, at its first use. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION) if the topic
            was deleted before."""
            if name != "log":
                raise AttributeError(name)
            if self.topic.is_deleted:
                raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
            self.log = log = self._open_log()
            if self.apart is None:
                log.producers.replicated(log.log_end_offset)
            return log

    @property
    def is_log_open(self) -> bool:
        """Whether the log was opened; if not, it is empty."""
        try:
            object.__getattribute__(self, "log")
        except AttributeError:
            return False
        return True

    @property
    def log_start_offset(self) -> int:
        """The first offset that may be read."""
        return self.log.log_start_offset

    @property
    def log_end_offset(self) -> int:
        """The offset of the next record."""
        return self.log.log_end_offset

    @property
    def high_watermark(self) -> int:
        """Readers of uncommitted data see records below it."""
        apart = self.apart
        return self.log.log_end_offset if apart is None else apart.high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Readers of committed data see records below it."""
        log, apart = self.log, self.apart
        if apart is not None and apart.lags:  # whose readers need what the leader's do not
            return max(log.producers.stable_at(apart.high_watermark), log.log_start_offset)
        return max(log.producers.last_stable_offset(self.high_watermark), log.log_start_offset)

    def bounds_at(self, node_id: int) -> Bounds:
        """The offsets up to which a replica may be read, by its log and its high watermark."""
        apart, log = self.apart, self.log
        if apart is None or node_id == self.leader:
            return Bounds(log.log_end_offset, self.high_watermark, self.last_stable_offset)
        end = apart.end_at(node_id, log.log_end_offset)
        high_watermark = apart.high_watermark_at(node_id)
        stable = max(log.producers.stable_at(high_watermark), log.log_start_offset)
        return Bounds(end, high_watermark, stable)

    @property
    def least_in_sync(self) -> int:
        """How many replicas have to be in sync for a record to be acknowledged by all."""
        return min(self.topic.config.min_insync_replicas, len(self.replicas))

    def end_at(self, node_id: int) -> int:
        end = self._end()
        return end if self.apart is None else self.apart.end_at(node_id, end)

    def is_late(self, node_id: int, before: int) -> bool:
        """Whether a replica has not had everything since before that time."""
        apart = self.apart
        if apart is None or self.end_at(node_id) == self.log_end_offset:
            return False
        return apart.behind_since.get(node_id, before + 1) <= before

    def has_caught_up(self, node_id: int) -> bool:
        """Whether a replica whose broker is at work may join those in sync."""
        apart = self.apart
        if apart is None:
            return True
        if node_id in apart.kept_out or node_id in apart.standing:
            return False
        epochs = self.log.epochs.entries if self.is_log_open else []
        begun = epochs[-1].start_offset if epochs else 0
        return self.end_at(node_id) >= max(apart.high_watermark, begun)

    def check_leader(self, node_id: int) -> None:
        """Raises Refused(NOT_LEADER_OR_FOLLOWER) when another broker leads."""
        if self.leader != node_id:
            raise Refused(Error.NOT_LEADER_OR_FOLLOWER)

    def check_in_sync(self) -> None:
        """Raises Refused(NOT_ENOUGH_REPLICAS) for a record that all are to acknowledge."""
        in_sync = len(self.isr)
        config = self.topic.config
        if in_sync < config.min_insync_replicas and (
            in_sync < self.least_in_sync or not config.broker.release.caps_min_insync_replicas
        ):
            raise Refused(Error.NOT_ENOUGH_REPLICAS)

    def check_replica(self, node_id: int) -> None:
        """Raises Refused: NOT_LEADER_OR_FOLLOWER for a broker without a replica; before that
        KAFKA_STORAGE_ERROR, if the log directory is offline."""
        if self.log.availability.offline is not None:
            raise Refused(Error.KAFKA_STORAGE_ERROR)
        if self.leader != node_id and node_id not in self.replicas:
            raise Refused(Error.NOT_LEADER_OR_FOLLOWER)

    def check_read(self, node_id: int, epoch: int = NO_EPOCH, *, leader_only: bool = True) -> None:
        """Whether a broker may answer a client that sent this leader epoch, NO_EPOCH if none.

        Raises Refused: NOT_LEADER_OR_FOLLOWER; before that, at every replica, FENCED_LEADER_EPOCH
        or UNKNOWN_LEADER_EPOCH for an epoch that is older or newer.
        """
        if self.leader != node_id or self.log.availability.offline is not None:
            self.check_replica(node_id)
        if epoch not in (NO_EPOCH, self.leader_epoch):
            is_older = epoch < self.leader_epoch
            raise Refused(Error.FENCED_LEADER_EPOCH if is_older else Error.UNKNOWN_LEADER_EPOCH)
        if leader_only and self.leader != node_id:
            raise Refused(Error.NOT_LEADER_OR_FOLLOWER)

    def append(self, batch: bytearray | memoryview, header: BatchHeader, now: int) -> int:
        """Give a checked batch its offset and leader epoch in place, write it, wake readers.

        Returns the base offset. Raises Refused(KAFKA_STORAGE_ERROR) when it cannot be written.
        """
        placed = place(batch, header, self.log.log_end_offset, self.leader_epoch)
        return self._write(batch, placed, now)

    def append_messages(self, checked: Sequence[tuple[Buffer, BatchHeader]], now: int) -> int:
        """The same of checked messages of magic 0 or 1, and wrappers of some, which are stored as
        such, in one segment (wire/legacy/stored_sets.py). Returns the first one's offset."""
        from ...wire.legacy.as_batches import old_header
        from ...wire.legacy.stored_sets import placed

        base_offset, first = self.log.log_end_offset, checked[0][1]
        latest = max(header.max_timestamp for _, header in checked)
        whole = first._replace(
            batch_length=sum(header.size for _, header in checked) - OVERHEAD,
            max_timestamp=latest if self.topic.config.magic else NO_TIMESTAMP,
        )
        self.roll_if_due(whole, now)
        for entry, _ in checked:
            message = placed(entry, base_offset)
            self._write(message, old_header(message), now, rolls=False)
        self.log.date(base_offset, whole.max_timestamp)
        return base_offset

    def _write(self, batch: Buffer, placed: BatchHeader, now: int, *, rolls: bool = True) -> int:
        stored = self.log
        base_offset = placed.base_offset
        waits = self.waits
        unstable_before = stored.producers.first_unstable_offset if waits else None
        try:
            if self.topic.config.magic == _MAGIC or placed.magic < _MAGIC:
                stored.append(batch, placed, now, rolls=rolls)
            else:
                _append_old(stored, batch, self.topic.config.magic, now)
        except Refused as error:
            self._complain(error, now)
            raise
        apart = self.apart
        if apart is not None:
            has_moved = bool(apart.lags) and self._fall_behind(apart, now)
            self.advance(has_moved=has_moved)
        elif waits:
            self._appended(placed.size, unstable_before)
        if placed.attributes & CONTROL:
            stored.producers.replicated(self._least_watermark())
        return base_offset

    def _complain(self, error: Refused, now: int) -> None:
        """Log that nothing can be written, but not for every request."""
        if self.log.availability.offline is not None:
            return  # said of the whole directory
        since = self._complained_ms
        if since is None or not 0 <= now - since < _SAID_AGAIN_MS:
            self._complained_ms = now
            log.error("%r takes no records: %s", self, error)

    def roll_if_due(self, header: BatchHeader, now: int) -> None:
        """Begin a new segment if this batch needs one, before it is known whether its producer may
        write it. Raises Refused(KAFKA_STORAGE_ERROR)."""
        placed = header._replace(base_offset=self.log.log_end_offset)
        try:
            self.log.roll_if_due(placed, now)
        except Refused as error:
            self._complain(error, now)
            raise

    def _appended(self, size: int, unstable_before: int | None) -> None:
        """Notify waiting fetches that there is more to read."""
        unstable = self.log.producers.first_unstable_offset
        base = self.log.active_base_offset
        is_rolled, self._base_seen = base != self._base_seen, base
        for wait in list(self.waits):
            sees_it = wait.isolation != READ_COMMITTED or (unstable_before is None is unstable)
            if sees_it and not is_rolled:
                wait.more(size)
            elif sees_it or unstable != unstable_before:
                wait.moved()

    def upper_bound(self, isolation: int, node_id: int) -> int:
        """A reader at this isolation level, at this replica, sees records below this offset."""
        if self.apart is None and isolation != READ_COMMITTED:
            return self.log.log_end_offset
        if self.apart is not None and node_id != self.leader:
            bounds = self.bounds_at(node_id)
            if isolation == READ_COMMITTED:
                return bounds.last_stable_offset
            return bounds.high_watermark
        return self.last_stable_offset if isolation == READ_COMMITTED else self.high_watermark

    def read(
        self,
        offset: int,
        max_bytes: int,
        upto: int,
        whole_first: bool,
        *,
        keeps_cut: bool = False,
        later: bool = False,
    ) -> Buffer | StoredBytes:
        """Batches from the one that contains `offset` on, that begin before `upto`. Raises
        Refused(OFFSET_OUT_OF_RANGE).

        A first batch that is not whole is returned only with `keeps_cut`. With `later` many bytes
        are read only when they are asked for.
        """
        log = self.log
        if offset < log.log_start_offset or offset > log.log_end_offset:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if offset >= upto:
            return b""
        read = log.reader.read_later if later else log.reader.read
        # A cut first batch is of no use: since Fetch v3 nothing is sent instead.
        return read(offset, max_bytes, upto=upto, whole_first=whole_first, keeps_cut=keeps_cut)

    def replay(self, apply: Callable[[Record], None]) -> None:
        """Give a coordinator what its partition has stored, in order. A record that cannot be
        decoded is named in the broker's log and skipped; a real broker would not load the
        partition."""
        if not self.is_log_open:  # nothing is stored in it
            return
        reader = self.log.reader
        for header, chunk, pos in reader.batches_from(self.log.log_start_offset):
            for record in () if header.is_control else read_records(chunk, pos):
                try:
                    apply(record)
                except WireError as error:
                    log.error("%s: record %d skipped: %s", self.name, record.offset, error)

    def delete_records(self, before: int) -> int:
        """Move the log start offset forward; -1 means to the high watermark. Returns it.

        Raises Refused(OFFSET_OUT_OF_RANGE) for an offset above the high watermark.
        """
        target = self.high_watermark if before == -1 else before
        if target < 0 or target > self.high_watermark:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if target > self.log.log_start_offset:
            self.log.delete_records(target)
        return self.log.log_start_offset

    # Replicas

    def hold(self, node_id: int, now: int) -> None:
        """A replica gets nothing from now on: it keeps what it has."""
        self.set_apart().hold(node_id, self._end(), now)

    def follow(self, node_id: int) -> None:
        """A replica has what the log has, from now on, or what its lag leaves it."""
        if self.apart is not None and self.apart.follow(node_id):
            self.advance(has_moved=True)

    def lag(self, node_id: int, records: int | None, now: int) -> None:
        """A replica stays so many records behind the log end; None: where it is."""
        apart = self.set_apart()
        apart.lag(node_id, records, self._end(), now)
        self.advance(has_moved=self._fall_behind(apart, now))

    def lead(self, leader: int, epoch: int, replicas: list[int], isr: list[int], now: int) -> None:
        """Another leader, or other replicas. A new leader that lacks part of the log has it
        truncated, and begins its epoch there. Raises Refused(KAFKA_STORAGE_ERROR)."""
        is_new = leader != NO_LEADER and epoch > self.leader_epoch
        if set(replicas) != set(self.replicas):
            self.set_apart().replace(self.replicas, replicas, now)
        self.leader, self.leader_epoch = leader, epoch
        self.replicas, self.isr = replicas, isr
        try:
            if is_new:
                self._begin_epoch()
        finally:
            self.advance()
            for wait in list(self.waits):
                wait.led(self)
            self._look()

    def _begin_epoch(self) -> None:
        apart = self.apart
        if apart is not None:
            end = apart.lead(self.leader, self._end())
            if end < self._end():
                self.log.truncate(end)
                apart.truncate(self.log.log_end_offset)
        if self.restarted is not None and (known := self.restarted.pop(self.leader, None)):
            self.log.producers.forget_batches(known)
        self.log.start_epoch(self.leader_epoch)

    def start_again(self, node_id: int) -> None:
        """The broker of a replica starts: it knows producers by their last batches alone."""
        if self.restarted is None:
            self.restarted = {}
        self.restarted[node_id] = self.end_at(node_id)

    def advance(self, *, has_moved: bool = False) -> None:
        """Move the high watermark, if it may, and tell who waits for that, or for what a replica
        has that `has_moved`."""
        least = self.least_in_sync
        if self.apart is None and len(self.isr) >= least:
            return
        apart, end = self.set_apart(), self._end()
        has_moved = apart.advance(self.isr, least, end) or has_moved
        if not apart.is_needed and apart.high_watermark == end and len(self.isr) >= least:
            self.apart = None
        if not has_moved:
            return
        for wait in list(self.waits):
            wait.moved()
        self._look()

    def set_apart(self) -> Replicas:
        """Where its replicas are, from now on known one by one."""
        if self.apart is None:
            self.apart = Replicas(self._end())
        return self.apart

    def _fall_behind(self, apart: Replicas, now: int) -> bool:
        return apart.fall_behind(self._end(), self._start_of, now)

    def _start_of(self, offset: int) -> int:
        """Where the batch begins that has an offset; what is no batch of today is one record."""
        try:
            found = self.log.reader.read(offset, HEADER_SIZE, whole_first=False)
        except Refused:  # the disk fails, which the next read of a client says
            return offset
        if len(found) < HEADER_SIZE or found[_MAGIC_AT] < _MAGIC:
            return offset
        return min(offset, read_header(found).base_offset)

    def _least_watermark(self) -> int:
        """The least high watermark of the replicas that may be read."""
        apart = self.apart
        if apart is None:
            return self.high_watermark
        return min((apart.high_watermark, *map(apart.high_watermark_at, apart.lags)))

    def _end(self) -> int:
        return self.log.log_end_offset if self.is_log_open else 0

    def close_waiters(self) -> None:
        """Wake every waiting fetch: the partition was deleted."""
        for wait in list(self.waits):
            wait.wake()
        self._look()

    def _look(self) -> None:
        for ack in list(self.acks):
            ack.look()


def _append_old(stored: Log, batch: Buffer, magic: int, now: int) -> None:
    """Append a batch as the messages that its topic's `message.format.version` asks for. Raises
    Refused."""
    from ...wire.legacy.as_batches import old_header
    from ...wire.legacy.down_conversion import down_convert
    from ...wire.legacy.message_sets import entries

    messages = memoryview(down_convert(batch, magic, 0))
    for entry in entries(messages):
        message = messages[entry.pos : entry.pos + entry.size]
        stored.append(message, old_header(message), now)


class Topic:
    """A topic. Its partitions are a list by number."""

    __slots__ = ("config", "id", "is_deleted", "is_internal", "name", "partitions")

    def __init__(self, name: str, topic_id: bytes, config: TopicConfig) -> None:
        self.name = name
        self.id = topic_id
        self.config = config
        self.partitions: list[Partition] = []
        self.is_internal = name in INTERNAL_TOPICS
        self.is_deleted = False

    def __repr__(self) -> str:
        return f"<topic {self.name}>"
