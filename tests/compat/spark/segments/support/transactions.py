"""Batches of transactions."""

from __future__ import annotations

from typing import Any

from odradek.wire.records import end_transaction_batch

from tests.compat.spark.segments.support.placed import T, numbered


def marker(offset: int, producer_id: int, commit: bool) -> bytes:
    """A commit or abort marker."""
    return bytes(
        end_transaction_batch(
            commit,
            base_offset=offset,
            timestamp=T,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=0,
        )
    )


def of_producer(base: int, count: int, producer_id: int, **more: Any) -> bytes:
    """A batch of an idempotent or transactional producer."""
    return numbered(base, count, producer_id=producer_id, producer_epoch=0, base_sequence=0, **more)
