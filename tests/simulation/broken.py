"""Brokers that are broken on purpose: each breaks a guarantee, and the simulation has to see it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

from odradek.emulator.groups.classic.group import ClassicGroup
from odradek.emulator.groups.consumer.group import ConsumerGroup
from odradek.emulator.groups.offsets.store import Offsets
from odradek.emulator.handlers import fetch_run
from odradek.emulator.partitions.partition import Partition
from odradek.emulator.transactions.coordinator import TransactionCoordinator
from odradek.storage import retention
from odradek.storage.flush import Sync
from odradek.storage.producers import ProducerStates
from odradek.wire import Error


class Breakage(NamedTuple):
    """How a broker is broken, who notices, and in what words."""

    name: str
    cast: tuple[str, ...]
    finding: str
    patches: Callable[[], AbstractContextManager[Any]]
    is_cut_off: bool = False
    """Whether it takes a power cut, where every record is flushed."""


def _nothing(*_: Any, **__: Any) -> None:
    """What a broken broker does."""


def _run_late(self: Any) -> None:
    for handle in self._handles:
        handle.close()


def _aborts_count(self: Any, producer_id: int, commit: bool) -> None:
    _end_transaction(self, producer_id, True)


def _half(self: Any, known: Any) -> Any:
    """All markers but the first."""
    _write_markers(self, replace(known, partitions=frozenset(sorted(known.partitions)[1:])))
    return (), Error.NONE


_end_transaction = Offsets.end_transaction
_write_markers = TransactionCoordinator._write_markers

_ALWAYS_ONE = property(lambda _: 1, _nothing)

MEMBERS = "producer", "classic group"
WRITERS = "writer 1", "writer 2", "committed reader"

BREAKAGES = (
    Breakage(
        "duplicates are appended again",
        ("producer", "producer", "reader"),
        "is at",
        lambda: patch.object(ProducerStates, "check", _nothing),
    ),
    Breakage(
        "a restart forgets producers",
        ("producer", "producer", "reader"),
        "before a restart",
        lambda: patch.object(ProducerStates, "load", _nothing),
    ),
    Breakage(
        "syncs do nothing",
        ("producer", "producer", "reader"),
        "before a restart",
        lambda: patch.object(Sync, "run", _run_late),
        is_cut_off=True,
    ),
    Breakage(
        "what is open can be read",
        WRITERS,
        "was aborted, and is read",
        lambda: patch.object(Partition, "last_stable_offset", Partition.high_watermark),
    ),
    Breakage(
        "no list of what was aborted",
        WRITERS,
        "was aborted, and is read",
        lambda: patch.object(fetch_run, "_aborted", lambda *_: []),
    ),
    Breakage(
        "a marker is left out",
        WRITERS,
        "not done",
        lambda: patch.object(TransactionCoordinator, "_write_markers", _half),
    ),
    Breakage(
        "every generation is the first",
        MEMBERS,
        "belongs to",
        lambda: patch.object(
            ClassicGroup, "generation", property(lambda _: 1, _nothing), create=True
        ),
    ),
    Breakage(
        "offsets of aborted transactions count",
        ("producer", "modern pipe 2"),
        "has written",
        lambda: patch.object(Offsets, "end_transaction", _aborts_count),
    ),
    Breakage(
        "a classic group takes any commit",
        MEMBERS,
        "committed",
        lambda: patch.object(ClassicGroup, "check_commit", _nothing),
    ),
    Breakage(
        "a consumer group takes any commit",
        ("producer", "modern group"),
        "committed",
        lambda: patch.object(ConsumerGroup, "check_commit", _nothing),
    ),
    Breakage(
        "segments go before their time",
        ("producer", "reader", "retained producer"),
        "is lost",
        lambda: patch.object(retention, "expired", lambda segments, *_: len(segments) - 1),
    ),
)
