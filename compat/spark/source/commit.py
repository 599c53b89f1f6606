"""The commit of a sink: what all tasks have staged becomes the end of its partitions' logs.

Rules:

- Offsets are given in the order of Spark's tasks, by rewriting the headers of batches alone.
- Topics that are not there are created as a broker creates them, so that a real Kafka finds them in
  its metadata. A directory that a broker has open is refused, and so is a partition that ends in an
  incomplete batch.
- All partitions or none: what is to be done is noted first (`odradek-commit`, a file that brokers
  ignore). If it fails, or the driver dies, what was published is taken out again, here or before
  the next commit: each commit's segments are files of their own. Records that a broker has added
  behind them meanwhile make that impossible; then they stay.
- A stream's batches are noted by the query's id (`odradek-sink-...`): one that Spark writes again
  is dropped.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from uuid import uuid4

from ....storage.checkpoints import LOCK, PARTITION_METADATA
from ....storage.disk.directory import Directory, Locked
from ....storage.naming import DELETE, NAMINGS, STRAY, Naming, renamed_suffix
from ..segments.data_directory import make_data_directory
from ..segments.decoder import batch_heads
from ..segments.listing import PlaceError, list_segments
from ..segments.runs import last_offsets
from ..segments.writer import Staged, publish
from .topics import TopicPartition, Topics, naming_in

PLAN = "odradek-commit"
_COMMIT_LOCK = "odradek-commit.lock"
_LEDGER = "odradek-sink-{}"
_LOCK_WAIT_S = 10.0


@dataclass(frozen=True)
class Job:
    """One job of a sink: a batch, or a streaming query."""

    path: str
    """The data directory."""
    id: str
    """32 hexadecimal digits."""

    @property
    def staging(self) -> str:
        return os.path.join(self.path, f"odradek-0.{self.id}{DELETE}")

    def discard(self) -> None:
        shutil.rmtree(self.staging, ignore_errors=True)


def partition_counts(path: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    if os.path.isdir(path):
        naming = NAMINGS[naming_in(path)]
        parsed = (
            naming.parse_directory(entry.name)
            for entry in os.scandir(path)
            if entry.is_dir() and renamed_suffix(entry.name) is None
        )
        found = [key for key in parsed if key is not None]
        for topic, partition in (*found, *Topics(path).replicas()):
            counts[topic] = max(counts.get(topic, 0), partition + 1)
    return counts


def commit(
    job: Job, staged: Sequence[Staged], batch: int | None = None, partitions: int | None = None
) -> None:
    """Publish what a job's tasks have staged, in this order.

    `batch`: its number, of a streaming query. `partitions`: of topics that are created. Raises
    PlaceError, Damaged and OSError; then nothing of it is to be seen.
    """
    if not staged:
        job.discard()
        return
    home = Path(job.path)
    with _locked(home, _COMMIT_LOCK, "another job that writes to it"):
        _undo(home)
        if batch is None or _last_batch(home, job.id) < batch:
            _publish_all(home, job, staged, partitions)
            if batch is not None:
                _write(home / _LEDGER.format(job.id), str(batch))
            (home / PLAN).unlink()
    job.discard()


def _publish_all(home: Path, job: Job, staged: Sequence[Staged], partitions: int | None) -> None:
    # A broker removes the one directory when it starts, as it does to create topics, not the other.
    kept = os.path.join(home, f"odradek-0.{uuid4().hex}{STRAY}")
    os.rename(job.staging, kept)
    try:
        _create_topics(home, staged, partitions)
        moved = [
            replace(each, directory=str(home), path=each.path.replace(job.staging, kept, 1))
            for each in staged
        ]
        moved.sort(key=lambda each: (each.topic, each.partition))  # a stable sort: tasks in order
        parts = {key: [*some] for key, some in groupby(moved, _key)}
        _write(home / PLAN, json.dumps([[*key, *_span(home, key, parts[key])] for key in parts]))
        try:
            for key, some in parts.items():
                _publish(_final(home, key), some)
        except BaseException:
            _undo(home)
            raise
    finally:
        shutil.rmtree(kept, ignore_errors=True)


def _final(home: Path, key: TopicPartition) -> Path:
    """A partition's directory."""
    return home / NAMINGS[naming_in(str(home))].directory(*key)


def _key(staged: Staged) -> TopicPartition:
    return staged.topic, staged.partition


def _create_topics(home: Path, staged: Iterable[Staged], partitions: int | None) -> None:
    there = partition_counts(str(home))
    new: dict[str, int] = {}
    for topic, partition in map(_key, staged):
        if topic not in there:
            new[topic] = max(new.get(topic, partitions or 1), partition + 1)
    if new:
        make_data_directory(home, new, naming=naming_in(str(home)))


def _publish(final: Path, staged: Sequence[Staged]) -> None:
    """Publish one partition, under the topic's id."""
    metadata = final / PARTITION_METADATA
    for each in staged:
        own = Path(each.inner) / PARTITION_METADATA
        if metadata.exists():
            shutil.copyfile(metadata, own)
        else:
            own.unlink(missing_ok=True)
    publish(staged)


def _span(home: Path, key: TopicPartition, staged: Iterable[Staged]) -> tuple[int, int]:
    """The offsets that a partition's records will have."""
    start = _log_end(_final(home, key))
    return start, start + sum(each.records for each in staged)


def _log_end(final: Path) -> int:
    """The offset after the last complete batch."""
    segments = list_segments(final) if final.is_dir() else []
    if not segments:
        return 0
    lasts = last_offsets(batch_heads(segments[-1]))
    return int(lasts[-1]) + 1 if len(lasts) else segments[-1].base_offset


def _undo(home: Path) -> None:
    """Take out what a commit that came to no end has published."""
    path = home / PLAN
    if not path.exists():
        return
    spans = [
        (_final(home, (topic, partition)), start, end)
        for topic, partition, start, end in json.loads(path.read_text())
    ]
    published = [(final, start) for final, start, end in spans if start < _log_end(final) <= end]
    if published:
        with _locked(home, LOCK, "a broker"):
            for final, start in published:
                _cut(final, start, NAMINGS[naming_in(str(home))])
    path.unlink()


def _cut(final: Path, start: int, naming: Naming) -> None:
    """Remove the segments from an offset on; an empty one keeps the log end where it is."""
    for path in sorted(final.iterdir()):
        parsed = naming.parse_file(path.name)
        if parsed is not None and parsed[0] >= start:
            path.unlink()
    if not list_segments(final):
        (final / naming.log(start)).touch()


@contextmanager
def _locked(home: Path, name: str, holder: str) -> Iterator[None]:
    """Hold a lock of the directory; other writers hold it for moments."""
    until = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            lock = Directory(home).lock(name)
            break
        except Locked:
            if time.monotonic() > until:
                raise PlaceError(f"{home} is in use by {holder}") from None
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.release()


def _last_batch(home: Path, query: str) -> int:
    """The number of the query's last batch that was committed, -1 before the first."""
    path = home / _LEDGER.format(query)
    return int(path.read_text()) if path.exists() else -1


def _write(path: Path, text: str) -> None:
    """Replace a small file whole, on the disk when this returns."""
    new = path.with_name(path.name + ".tmp")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
