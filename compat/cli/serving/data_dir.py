"""The data directory of `odradek serve`: whether it may be used, and what is said of one that was
not closed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ....emulator.base.words import lasted, number_of
from ....emulator.cluster import Cluster
from ....emulator.embedded.embedded import Embedded
from ....storage.checkpoints import CLEAN_SHUTDOWN, LOCK, META_PROPERTIES, PARTITION_METADATA
from ....storage.naming import NAMINGS, is_future, renamed_suffix

_OURS = {CLEAN_SHUTDOWN, LOCK, "bootstrap.checkpoint"}
_CHECKPOINT = "-checkpoint"
_NOBODYS = {"lost+found", ".gitignore", ".gitkeep", ".keep", ".DS_Store"}
_NAMED_MOST = 3


class _Found(NamedTuple):
    was_closed: bool
    partitions: int
    records: int
    findings: int


def holds_data(data_dir: str) -> bool:
    """Whether a broker has used this directory before."""
    return (Path(data_dir) / META_PROPERTIES).exists()


def refusal(data_dir: str) -> str | None:
    """Why a directory is not written to: it has things in it that are no broker's. None if it may
    be: it is not there, or empty, or a broker has used it before. Raises OSError."""
    path = Path(data_dir)
    if not data_dir or not path.is_dir() or holds_data(data_dir):
        return None
    others = sorted(each.name for each in path.iterdir() if not _is_of_brokers(each))
    if not others:
        return None
    named = ", ".join(others[:_NAMED_MOST])
    if len(others) > _NAMED_MOST:
        named += f" and {len(others) - _NAMED_MOST} more"
    return (
        f"{data_dir} is no data directory: it has no {META_PROPERTIES}, but {named}; name one that "
        f"is empty or not there yet, such as {path / 'kafka-data'}"
    )


def _is_of_brokers(path: Path) -> bool:
    name = path.name
    if name in _OURS | _NOBODYS or name.endswith(_CHECKPOINT):
        return True
    if renamed_suffix(name) or is_future(name):
        return True
    for naming in NAMINGS.values():
        if naming.parse_directory(name) is not None and path.is_dir():
            files = {each.name for each in path.iterdir()}
            return not files or PARTITION_METADATA in files or any(map(naming.parse_file, files))
    return False


def recovery(kafka: Embedded, took_s: float) -> str | None:
    """The report of a recovery, after a stop that was not clean; else None. `took_s`: the start."""
    found: _Found = kafka.run(_look)
    if found.was_closed:
        return None
    findings = "nothing was damaged"
    if found.findings:
        findings = f"{number_of(found.findings, 'finding')} above"
    logs, records = number_of(found.partitions, "partition"), number_of(found.records, "record")
    return (
        f"recovered in {lasted(took_s)}, because the last stop was not clean: "
        f"{logs} with {records}; {findings}"
    )


def _look(cluster: Cluster) -> _Found:
    log_dir = cluster.log_dir
    topics = [topic for topic in cluster.topics if not topic.is_internal]
    logs = [partition.log for topic in topics for partition in topic.partitions]
    return _Found(
        log_dir.clean,
        len(logs),
        sum(log.log_end_offset - log.log_start_offset for log in logs),
        len(log_dir.notices),
    )
