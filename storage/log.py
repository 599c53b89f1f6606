"""Log: one partition's batches, as segments in one directory.

Rules:

- Batches are appended to the newest segment, each with one write.
- Nothing is on disk before the first append, which writes `partition.metadata` first.
- DeleteRecords moves the log start. Segments before it are removed by `delete_old_segments`, which
  Kafka does in its retention task; until then a search by time still finds them.
- The list of segments is replaced, never changed, and files of which readers hold views are not
  shortened in place: every reader keeps a consistent view.
- A flush that the configs ask for is announced to `on_unflushed`, not waited for (flush.py); who
  acknowledges what was appended waits, if there is an `awaited_offset`.

A failing disk (full, gone) is KAFKA_STORAGE_ERROR; an append that failed has changed nothing.

A log has a reader (reading.py) and a compactor (compaction/compactor.py). Left out: when retention
runs, who flushes, the high watermark, checking what is appended. Source: the documentation's
chapter "Log"; Kafka 4.3.1's behaviour.

When a log begins a new segment. Decided before each append; without an append it never happens.

A segment that has batches takes no more of them

- if the batch would take it over `segment.bytes`;
- if the batch's largest timestamp is later than that of the segment's first batch by more than
  `segment.ms` less jitter (by `max.compaction.lag.ms`, if that is less and the log is compacted);
  where the first batch has no timestamp, if the segment was created longer ago than that;
- if one of its indexes is full, the time index keeping a slot for its final entry;

and any segment, if the batch's last offset is too far from its base for an index entry, or before
it (the segment was created for a batch after a gap, which then could not be written).

Jitter spreads the rolls of a topic's partitions. It is a function of directory and base offset
instead of a random number, so that a repeated test finds the same segments.
Source: Kafka 4.3.1; KIP-33.
"""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

from ..wire.batch import CONTROL, BatchHeader
from ..wire.errors import Error, Refused
from ..wire.primitives import Buffer
from ..wire.records import read_marker
from .availability import Availability
from .compaction.compactor import Compactor
from .config import LogConfig
from .disk.directory import Directory
from .epochs import LeaderEpochs
from .flush import FlushState, Sync, is_flush_configured
from .naming import KAFKA, Naming
from .notices import Notices
from .partition_directory import PartitionDirectory
from .producers import ProducerStates
from .reading import LogReader
from .recovery.damage_search import NO_LIMIT
from .recovery.producer_replay import end_transaction, restore_producers
from .recovery.recovery import Recovery
from .retention import LogView, RetentionPolicy, deletable, kafka_retention, next_expiry, view_of
from .segment import RELATIVE_OFFSET_MAX, Segment, containing
from .truncation import truncate_segments


def is_roll_due(
    segment: Segment,
    header: BatchHeader,
    size: int,
    config: LogConfig,
    age_ms_max: int,
    now_ms: int,
) -> bool:
    """Whether a batch of `size` bytes needs a new segment. Runs for every batch."""
    relative = header.base_offset - segment.base_offset
    if relative < 0 or relative + header.last_offset_delta > RELATIVE_OFFSET_MAX:
        return True
    filled = segment.size
    if not filled:
        return False
    if filled + size > config.segment_bytes:
        return True
    if segment.offset_index.count >= config.offset_entries_max:
        return True
    if segment.time_index.count >= config.time_entries_max:
        return True
    first = segment.first_timestamp
    age_ms = header.max_timestamp - first if first >= 0 else now_ms - segment.created_ms
    return age_ms > age_ms_max


def next_base(log_end_offset: int, header: BatchHeader) -> int:
    """The base offset of a segment that is created for this batch: the log end, so that there is no
    gap between segments; or the batch's own offset, if that is too far away."""
    is_near = header.last_offset - log_end_offset <= RELATIVE_OFFSET_MAX
    return log_end_offset if is_near else header.base_offset


def age_ms_max(config: LogConfig, directory: str, base_offset: int) -> int:
    """The age in milliseconds at which this segment is rolled."""
    jitter_ms = 0
    if config.segment_jitter_ms > 0:
        seed = crc32(f"{directory} {base_offset}".encode())
        jitter_ms = seed % min(config.segment_jitter_ms, config.segment_ms)
    return config.roll_ms - jitter_ms


class Log:
    """One partition's log. Open it with `Log.open`.

    Read these, but do not set them: `log_start_offset`, `log_end_offset` (after the last batch),
    `segments` (oldest first; the last takes the appends), `recovery_point` (batches before it need
    no check after a crash), `notices` (what opening found and repaired), `availability` (of the log
    directory).

    `on_unflushed`, if set, is called after each append while the configs ask for flushes.
    """

    def __init__(
        self,
        home: PartitionDirectory,
        *,
        topic_id: bytes | None,
        config: LogConfig,
        log_start_offset: int,
        now_ms: int,
    ) -> None:
        self.topic = home.topic
        self.partition = home.partition
        self.topic_id = topic_id
        self.epochs = LeaderEpochs()
        self.producers = ProducerStates()
        self.log_start_offset = self.log_end_offset = self.recovery_point = log_start_offset
        self.notices = Notices()
        self.on_unflushed: Callable[[Log], None] | None = None
        self._flushes = FlushState(log_start_offset)
        self._config = config
        self._home = home
        self.availability = home.availability
        self.reader = LogReader(self, home)
        self.compactor = Compactor(self, home)
        self.removed_bytes = 0
        """Records that retention, compaction and truncation have taken away since it was opened."""
        self._older_bytes = 0
        self._active = self._new_segment(log_start_offset, now_ms)
        self.replace_segments([self._active])

    @classmethod
    def open(
        cls,
        directory: Directory,
        topic: str,
        partition: int,
        *,
        topic_id: bytes | None,
        config: LogConfig,
        now_ms: int,
        clean: bool,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        cleaned_offset: int | None = None,
        naming: Naming = KAFKA,
        availability: Availability | None = None,
    ) -> Log:
        """Open the partition's log in the log directory `directory`, recovering what is there.

        `topic_id`: None where directories of partitions have none, as with ZooKeeper.
        `clean`: the last stop was clean, so only the newest segment is checked. `recovery_point`,
        `log_start_offset`, `cleaned_offset`: what the checkpoints have. Raises Refused
        (KAFKA_STORAGE_ERROR) when the disk fails.
        """
        log = cls(
            PartitionDirectory(directory, topic, partition, naming, availability),
            topic_id=topic_id,
            config=config,
            log_start_offset=log_start_offset,
            now_ms=now_ms,
        )
        log.compactor.cleaned_offset = cleaned_offset
        if log._home.exists:
            with log._home.client_errors():
                log._recover(clean, recovery_point, now_ms)
        return log

    @property
    def config(self) -> LogConfig:
        """The topic's configs, which may be replaced at any time."""
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self._active.index_interval_bytes = config.index_interval_bytes
        self.replace_segments(self.segments)

    @property
    def exists(self) -> bool:
        """Whether anything is on disk."""
        return self._home.exists

    @property
    def size(self) -> int:
        """Bytes of all batches in all segments."""
        return self._older_bytes + self._active.size

    @property
    def active_base_offset(self) -> int:
        """Where the newest segment begins. Reads of older offsets end before it."""
        return self._active.base_offset

    # Reading.

    def read(
        self, offset: int, max_bytes: int, *, upto: int | None = None, whole_first: bool = True
    ) -> Buffer:
        """Read batches from `offset` on: see `LogReader.read`."""
        return self.reader.read(offset, max_bytes, upto=upto, whole_first=whole_first)

    # Appending.

    def append(
        self, batch: Buffer, header: BatchHeader, now_ms: int, *, rolls: bool = True
    ) -> None:
        """Write one batch that has its offset and leader epoch and has passed every check.

        Its base offset is the log end or, leaving a gap, higher. Rolls first if that is due, unless
        it belongs to the one before (not `rolls`). Raises
        Refused (KAFKA_STORAGE_ERROR); ValueError if batch, header and log end do not match,
        WireError for a producer's control batch that is no marker.
        """
        base_offset = header.base_offset
        size = len(batch)
        if base_offset < self.log_end_offset or size != header.size:
            raise ValueError(f"not a batch for offset {self.log_end_offset}: {header}")
        marker = None
        if header.attributes & CONTROL and header.producer_id >= 0:
            marker = read_marker(batch)
        if self._flushes.failure is not None:
            raise self._home.storage_error(self._flushes.failure)
        try:
            if self.availability.checked_ms != now_ms:
                self._look_at_file(now_ms)
            if not self._home.exists:
                self._home.create(self.topic_id, self.epochs)
            epoch, end_offset = header.leader_epoch, self.log_end_offset
            if epoch >= 0 and not self.epochs.is_written(epoch, end_offset):
                self.epochs.assign(epoch, base_offset)
                self._home.store_epochs(self.epochs)
            config = self._config
            if rolls and is_roll_due(self._active, header, size, config, self._age_ms_max, now_ms):
                self._roll(next_base(self.log_end_offset, header), now_ms)
            self._active.append(batch, header, now_ms)
        except OSError as error:
            raise self._home.storage_error(error) from error
        self.log_end_offset = base_offset + header.last_offset_delta + 1
        if marker is not None:
            aborted = end_transaction(self.producers, header, marker)
            if aborted is not None:
                self._active.transaction_index.append(aborted)
        elif header.producer_id >= 0:
            self.producers.update(header)
        if self._flush_asked:
            self._flushes.appended(now_ms, self._config, self.recovery_point, self.log_end_offset)
            if self.on_unflushed is not None:
                self.on_unflushed(self)

    def roll_if_due(self, header: BatchHeader, now_ms: int) -> None:
        """Roll if this batch, its base offset assigned, needs a segment of its own. Kafka does so
        before it knows whether the producer is refused. Raises Refused (KAFKA_STORAGE_ERROR)."""
        active, config = self._active, self._config
        if is_roll_due(active, header, header.size, config, self._age_ms_max, now_ms):
            with self._home.client_errors():
                self._roll(next_base(self.log_end_offset, header), now_ms)

    def date(self, offset: int, timestamp: int) -> None:
        """What begins at `offset` was written at once, and is of this time (ms) at the latest: the
        newest segment is as old as that, if it begins there."""
        if self._active.base_offset == offset:
            self._active.first_timestamp = timestamp

    def _look_at_file(self, now_ms: int) -> None:
        """Raise OSError if the log directory is offline; say so if the file is gone."""
        self.availability.check()
        self.availability.checked_ms = now_ms
        if self._active.file.is_removed():
            self.availability.removed(self._home.name)

    def start_epoch(self, epoch: int) -> None:
        """Record that an epoch starts at the log end. It is stored with the first batch, so that a
        start does not write a file for each of thousands of partitions."""
        self.epochs.assign(epoch, self.log_end_offset)

    def _roll(self, base_offset: int, now_ms: int) -> None:
        """Begin a new segment. An OSError leaves everything as it was."""
        self._home.check_open()
        old, segment = self._active, self._new_segment(base_offset, now_ms)
        if not old.size:
            old.remove()
            self.replace_segments([*self.segments[:-1], segment])
            return
        old.finish()
        if self._flush_asked:
            self._flushes.sync(old.file)
        self._home.take_snapshot(base_offset, self.producers)
        old.seal(old.offset_index.count, old.time_index.count)
        self.recovery_point = base_offset
        self.replace_segments([*self.segments, segment])

    def start_at(self, offset: int, now_ms: int) -> None:
        """Make an empty log begin at an offset, as that of a copy which begins where its source
        does. Raises Refused (KAFKA_STORAGE_ERROR); ValueError if the log has batches.
        """
        if self.size or offset < self.log_end_offset:
            raise ValueError(f"not an empty log that may begin at {offset}")
        with self._home.client_errors():
            if not self._home.exists:
                self._home.create(self.topic_id, self.epochs)
            self._roll(offset, now_ms)
            self._active.create_file()  # else no file says where the log ends
        self.log_start_offset = self.log_end_offset = self.recovery_point = offset

    # Removing.

    def delete_records(self, before: int) -> None:
        """Move the log start to `before`, unless it is there or later already.

        Raises Refused: OFFSET_OUT_OF_RANGE above the log end, KAFKA_STORAGE_ERROR.
        """
        if before > self.log_end_offset:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if before > self.log_start_offset:
            self.log_start_offset = before
            if self.epochs.truncate_from_start(before):
                with self._home.client_errors():
                    self._home.store_epochs(self.epochs)

    def delete_old_segments(
        self,
        now_ms: int,
        *,
        high_watermark: int | None = None,
        policy: RetentionPolicy = kafka_retention,
    ) -> int:
        """Remove as many of the oldest segments as `policy` says; return how many that were.

        Segments that reach the high watermark (default: the log end) stay. The log then starts no
        earlier than its first segment. The files end in `.deleted` until `unlink_deleted`. Raises
        Refused (KAFKA_STORAGE_ERROR), and what the policy raises.
        """
        limit = self.log_end_offset if high_watermark is None else high_watermark
        segments = view_of(self.segments, self.log_end_offset)
        view = LogView(self.topic, self.partition, self._config, self.log_start_offset, segments)
        count = deletable(view, policy, now_ms, limit)
        if count:
            with self._home.client_errors():
                self._drop(self.segments[:count], now_ms)
        return count

    def next_expiry_ms(self) -> int | None:
        """When the age of the oldest segment makes it removable, by Kafka's policy; None for
        never."""
        return next_expiry(view_of(self.segments[:2], self.log_end_offset), self._config)

    def begin_segment(self, now_ms: int) -> None:
        """Roll, if the active segment has batches. Raises OSError."""
        if self._active.size:
            self._roll(self.log_end_offset, now_ms)

    def _drop(self, segments: list[Segment], now_ms: int) -> None:
        if segments[-1] is self._active:
            self.begin_segment(now_ms)
        self._active.create_file()  # else no file says where the log ends
        try:
            for segment in segments:
                self._home.retire(segment, now_ms + self._config.file_delete_delay_ms)
        finally:
            self.replace_segments([segment for segment in self.segments if not segment.is_retired])
            start = self.segments[0].base_offset
            self.recovery_point = max(self.recovery_point, start)
            self.delete_records(start)

    def unlink_deleted(self, now_ms: int) -> None:
        """Remove the files of segments that were removed `file.delete.delay.ms` ago.

        Raises Refused (KAFKA_STORAGE_ERROR); files that are left are removed at the next start.
        """
        with self._home.client_errors():
            self._home.unlink_retired(now_ms)

    def truncate(self, offset: int) -> None:
        """Remove every batch that contains `offset` or comes after it.

        The log then ends after the last batch left (Kafka: at `offset`), and starts no later.
        Write a checkpoint before the next append. Raises Refused (KAFKA_STORAGE_ERROR).
        """
        if offset >= self.log_end_offset:
            return
        came = self.size + self.removed_bytes
        with self._home.client_errors():
            segments = truncate_segments(self.segments, offset, self._home)
            if not segments:
                segments = [self._new_segment(offset, self._active.created_ms)]
            self.replace_segments(segments)
            self.removed_bytes = came - self.size  # the last segment left was cut before
            self.log_end_offset = end = self._active.next_offset
            self.log_start_offset = min(self.log_start_offset, end)
            self.recovery_point = min(self.recovery_point, end)
            self._flushes.truncated(end)
            self.compactor.truncated(end)
            self.epochs.truncate(self.log_start_offset, end)
            self._home.store_epochs(self.epochs)
            restore_producers(self._home, segments, self.producers, self.notices)
            # Else what was truncated may come back after a crash, followed by newer batches.
            self._home.sync(segments[-2:])

    def delete(self, unique: bytes, later: bool = False) -> str | None:
        """Close the log and remove its directory, renaming it first as Kafka does.

        `unique` (16 bytes) makes the new name unique; if a crash interrupts this, the next start
        removes the directory. `later`: the caller gets the new name and removes the directory.
        Raises Refused (KAFKA_STORAGE_ERROR)."""
        self._close_files()
        with self._home.client_errors():
            return self._home.delete(unique, later)

    # Flushing and closing.

    def flush_due_ms(self) -> int | None:
        """When the configs ask for the next flush; in the past if it is due by record count."""
        return self._flushes.due_ms(self._config, self.recovery_point, self.log_end_offset)

    @property
    def awaited_offset(self) -> int | None:
        """Records below this offset may be acknowledged when it is flushed; None if it is."""
        return self._flushes.awaited_offset

    @property
    def synced_offset(self) -> int:
        """Below this offset everything was synced."""
        return self._flushes.synced_offset

    @property
    def flush_failure(self) -> Refused | None:
        """Why a flush has failed, after which the log takes no more batches; or None."""
        failure = self._flushes.failure
        return None if failure is None else self._home.storage_error(failure)

    @property
    def is_flush_pending(self) -> bool:
        """Whether there are batches that the configs ask to flush sooner or later."""
        return self._flushes.is_pending

    def begin_flush(self) -> Sync:
        """Begin a flush of every batch: `run` it in any thread, then pass it to `end_flush`."""
        segments = self.segments[containing(self.segments, self._flushes.synced_offset) :]
        try:
            sync = Sync(self._home.handles(segments), self.log_end_offset)
        except OSError as error:
            sync = Sync([], self.log_end_offset, error)
        self._flushes.begin(sync)
        return sync

    def end_flush(self, sync: Sync) -> None:
        """Move the recovery point to the end of the flush.

        Raises Refused (KAFKA_STORAGE_ERROR) if it failed; so does every append from then on.
        """
        with self._home.client_errors():
            if self._flushes.end(sync):
                self.recovery_point = max(self.recovery_point, sync.end_offset)

    def flush(self) -> None:
        """Return when every batch is on disk. Raises Refused as `end_flush` does."""
        sync = self.begin_flush()
        sync.run()
        self.end_flush(sync)

    def checkpoint(self) -> None:
        """Write what is only in memory for speed: indexes, leader epochs.

        Raises Refused (KAFKA_STORAGE_ERROR).
        """
        if self._home.exists and not self._home.closed:
            with self._home.client_errors():
                self._active.store_indexes()
                self._home.store_epochs(self.epochs, self.log_end_offset)

    def image(self) -> dict[str, bytes | None]:
        """The files of its directory after a clean stop now: the bytes of each, None for what the
        file has already. What is appended later goes to a copy of the newest segment's file.

        Raises Refused (KAFKA_STORAGE_ERROR).
        """
        if not self._home.exists:
            return {}
        with self._home.client_errors():
            if self._flushes.failure is not None:
                raise self._flushes.failure
            end, segments = self.log_end_offset, self.segments
            files = self._home.image(segments, end, self.producers, self.epochs)
            self._share()
            return files

    def _share(self) -> None:
        self._active.share(synced=self._flush_asked)

    def close(self, *, clean: bool = True) -> None:
        """Close the log. A clean stop completes the indexes and writes a snapshot at the log end.

        Without `clean` the directory is left as a kill would leave it. The files are closed even if
        this raises Refused (KAFKA_STORAGE_ERROR), and later appends fail; a second close does
        nothing.
        """
        home = self._home
        finish = clean and home.exists and not home.closed
        home.closed = True
        try:
            if finish:
                with home.client_errors():
                    if self._flushes.failure is not None:
                        raise self._flushes.failure
                    self._active.finish(home.files.names())
                    home.store_epochs(self.epochs, self.log_end_offset)
                    home.take_snapshot(self.log_end_offset, self.producers)
                    home.remove_old_snapshots(self.segments)
                if self._flush_asked and self._flushes.synced_offset < self.log_end_offset:
                    self.flush()
                self.recovery_point = self.log_end_offset
        finally:
            self._close_files()

    def _close_files(self) -> None:
        self.compactor.cancel()
        self._home.close()
        for segment in self.segments:
            segment.close()

    # Helpers.

    def _recover(self, clean: bool, recovery_point: int, now_ms: int) -> None:
        interval = self._config.index_interval_bytes
        compacted_to = NO_LIMIT if self._config.compact else self.compactor.cleaned_offset or 0
        facts = interval, now_ms, self.notices, compacted_to
        recovery = Recovery(self._home, clean, recovery_point, *facts)
        segments = recovery.run(self.topic_id, self.log_start_offset)
        self._home.recovered()
        self.log_start_offset = recovery.log_start_offset
        self.producers, self.epochs = recovery.producers, recovery.epochs
        if segments:
            self.log_end_offset = self.recovery_point = end = segments[-1].next_offset
            self._flushes.synced_offset = end if clean else min(recovery_point, end)
            self.replace_segments(segments)
            if self._flush_asked and self._flushes.synced_offset < end:
                # A producer may ask for these again, and learns that they are there.
                self._flushes.appended(now_ms, self._config, self.recovery_point, end)
            if self._active.on_disk and self._home.files.is_shared(self._active.name):
                self._share()
        elif self.log_start_offset:
            self._active.create_file()  # else the next start would assign these offsets again

    def _new_segment(self, base_offset: int, now_ms: int) -> Segment:
        interval = self._config.index_interval_bytes
        return self._home.segment(base_offset, now_ms=now_ms, index_interval_bytes=interval)

    def replace_segments(self, segments: list[Segment]) -> None:
        """Make this the list of segments, oldest first; the last takes the appends."""
        before = self.size
        self.segments = segments
        self._active = segments[-1]
        self._older_bytes = sum(segment.size for segment in segments[:-1])
        self.removed_bytes += max(0, before - self.size)
        self._flush_asked = is_flush_configured(self._config)
        if self._flush_asked:  # then a power cut counts: only what was flushed is safe
            synced = max(self._flushes.synced_offset, segments[0].base_offset)
            self.recovery_point = min(self.recovery_point, synced)
        self._age_ms_max = age_ms_max(self._config, self._home.name, self._active.base_offset)
