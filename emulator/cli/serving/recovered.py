"""What `odradek serve` says of a data directory that was not closed: one line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ....storage.checkpoints import META_PROPERTIES
from ...base.words import lasted, number_of
from ...cluster import Cluster
from ...emulator import Emulator


class _Found(NamedTuple):
    was_closed: bool
    partitions: int
    records: int
    findings: int


def holds_data(data_dir: str) -> bool:
    """Whether a broker has used this directory before."""
    return (Path(data_dir) / META_PROPERTIES).exists()


def recovery(kafka: Emulator, took_s: float) -> str | None:
    """What was recovered, after the stop was not clean; None if it was. `took_s`: the start."""
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
