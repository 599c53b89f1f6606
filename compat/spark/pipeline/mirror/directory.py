"""A data directory as a mirror's target: the source's bytes, at its offsets.

The directory is opened by this package's own broker, for as long as the mirror runs: so it has
topics with configs, indexes and producers' states, and a real Kafka opens it. Nobody else can
meanwhile.

Batches are appended as they were fetched, markers and aborted records too, with only the leader's
epoch changed, which is this broker's. Gaps stay gaps: nothing has to be filled. Messages of the old
formats are built again as batches. With `read_committed` what is after the last stable offset is
left for later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from .....emulator.cluster import Cluster as EmulatorsCluster
from .....emulator.embedded.embedded import Embedded
from .....storage.log_directory import LogDirectoryError
from .....wire import Refused, WireError
from .....wire.batch import MAGIC, assign, read_header
from .....wire.legacy.as_batches import logged_batches, read_logged
from .....wire.records import NewRecord, build_batch
from ...segments.data_directory import make_partitions
from ..broker import EARLIEST, LATEST, Cluster, Fetched, Place, offsets
from ..errors import PipelineError

CONFIG = {
    # What is copied is not removed meanwhile: that is up to the broker that uses the directory.
    "log.retention.check.interval.ms": 2**62,
    "log.cleaner.enable": False,
    "auto.create.topics.enable": False,
    "group.initial.rebalance.delay.ms": 0,
}


class DirectoryTarget:
    """See above. Raises PipelineError if the directory cannot be used."""

    def __init__(self, path: str) -> None:
        self._emulator = Embedded(CONFIG, data_dir=path, max_events=0)
        try:
            self._emulator.start()
        except (LogDirectoryError, OSError, Refused) as error:
            raise PipelineError(f"the directory cannot be used: {error}") from None
        self.cluster = Cluster(self._emulator.bootstrap_servers)
        self.written = self.filled = 0
        self._path = Path(path)
        self._opened: set[str] = set()
        self._starts: dict[Place, int] = {}
        """Of partitions that are still empty: where they begin."""

    def open(self, places: list[Place]) -> dict[Place, int | None]:
        self._opened |= {name for name, _ in places}
        firsts = offsets(self.cluster, places, EARLIEST)
        ends = offsets(self.cluster, places, LATEST)
        return {
            place: None if ends[place] == firsts[place] == 0 else ends[place] for place in places
        }

    def start_at(self, place: Place, offset: int) -> None:
        self._starts[place] = offset

    def write(self, fetched: Mapping[Place, tuple[Fetched, int]]) -> None:
        batches = {}
        for place, (each, position) in fetched.items():
            # The first batch is taken whole, also if the log begins within it.
            batches[place] = list(_batches(each, 0 if place in self._starts else position))
        starts = {place: self._starts.pop(place) for place in batches if place in self._starts}
        self._emulator.run(lambda cluster: _append(cluster, batches, starts))
        for found in batches.values():
            heads = map(read_header, found)
            self.written += sum(header.count for header in heads if not header.is_control)

    def caught_up(self, positions: Mapping[Place, int]) -> None:
        """Gaps need no records."""

    def close(self) -> None:
        self.cluster.close()
        topics, ids = self._emulator.run(self._topics)
        self._emulator.stop()
        make_partitions(self._path, topics, ids)

    def _topics(self, cluster: EmulatorsCluster) -> tuple[dict[str, int], dict[str, bytes]]:
        """The topics that were opened: how many partitions they have, and their ids."""
        found = [topic for name in sorted(self._opened) if (topic := cluster.topics.get(name))]
        counts = {topic.name: len(topic.partitions) for topic in found}
        return counts, {topic.name: topic.id for topic in found}


def _batches(fetched: Fetched, position: int) -> Iterator[bytearray]:
    """The batches that begin at or after an offset, as they were fetched."""
    data = fetched.records
    try:
        for at, header in logged_batches(data):
            if header.base_offset < position:
                continue  # written before: a batch is appended as a whole
            if header.magic == MAGIC:
                yield bytearray(data[at : at + header.size])
            else:
                records = read_logged(data, at)
                yield build_batch(
                    [NewRecord(*record[1:]) for record in records],
                    base_offset=records[0].offset,
                    offsets=[record.offset - records[0].offset for record in records],
                    codec=header.codec,
                )
    except WireError as error:
        raise PipelineError(
            f"{fetched.topic}-{fetched.partition}: what follows offset {position} cannot be read: "
            f"{error}"
        ) from None


def _append(
    cluster: EmulatorsCluster,
    batches: Mapping[Place, list[bytearray]],
    starts: Mapping[Place, int],
) -> None:
    now = cluster.clock.now()
    for place, found in batches.items():
        partition = cluster.partition(*place)
        log, start = partition.log, starts.get(place)
        if start is not None and found:
            log.start_at(min(start, read_header(found[0]).base_offset), now)
        for batch in found:
            header = read_header(batch)
            if header.base_offset > log.log_end_offset:
                # The source has compacted what was before: as its cleaner's checkpoint says.
                log.compactor.cleaned_offset = header.base_offset
            if header.count <= header.last_offset_delta:
                log.compactor.cleaned_offset = header.last_offset + 1
            assign(batch, 0, header.base_offset, partition.leader_epoch)
            log.append(batch, read_header(batch), now)
        log.producers.replicated(log.log_end_offset)
        if start is not None and found:
            log.delete_records(start)
