"""Brokers whose data directories are handed from one to the other: their settings, and when a
directory is ready for it.
"""

from __future__ import annotations

from pathlib import Path

from odradek.compat.clients import wait_until

from tests.clients.support.filled_directory import Filled

SMALL = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "2"}
SOON = {"log.retention.check.interval.ms": "500", "log.initial.task.delay.ms": "200"}
KAFKA = {
    **SMALL,
    **SOON,
    "log.index.size.max.bytes": "102400",  # preallocated, so copying a directory is not heavy
    "log.cleaner.backoff.ms": "50",
    # Else a kill makes records that were deleted within the last minute return.
    "log.flush.start.offset.checkpoint.interval.ms": "200",
    # A start after a kill waits until the session of before is over.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
}
OURS = {**SMALL, **SOON, "group.initial.rebalance.delay.ms": "0"}
UNCLEANED = {"log.cleaner.enable": "false"}


def await_cleaner(data: Path) -> None:
    """Wait until the log cleaner has been through `compacted`."""
    path = data / "cleaner-offset-checkpoint"
    wait_until(lambda: "compacted 0" in path.read_text(), "the cleaner has cleaned")


def await_retention(data: Path, filled: Filled) -> None:
    """Wait until no segment of `deleted` lies in front of the log start: it would be searched."""

    def is_done() -> bool:
        bases = sorted(int(path.stem) for path in (data / "deleted-0").glob("*.log"))
        return len(bases) < 2 or bases[1] > filled.deleted_before

    wait_until(is_done, "deleted records are gone from disk")
