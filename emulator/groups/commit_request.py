"""What OffsetCommit and TxnOffsetCommit ask for. Each type of group decides who may commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...wire.primitives import NO_ID

NO_LEADER_EPOCH = -1
NO_RETENTION = -1
NO_TIME = -1


class OffsetCommit(NamedTuple):
    """One partition of an OffsetCommit or TxnOffsetCommit."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str | None = ""
    topic_id: bytes = NO_ID
    timestamp: int = NO_TIME
    """When it was committed (ms); -1 means now. Only OffsetCommit v1 sends another."""


class CommitRequest(NamedTuple):
    """OffsetCommit or TxnOffsetCommit, of partitions that exist. `retention_ms` is -1 for the
    broker's own; only OffsetCommit v2-4 sends another."""

    version: int
    member_id: str
    instance_id: str | None
    generation: int
    commits: Sequence[OffsetCommit]
    retention_ms: int = NO_RETENTION
