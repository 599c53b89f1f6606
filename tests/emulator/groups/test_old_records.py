"""Offsets and groups as brokers before 2.1 store them."""

from __future__ import annotations

import pytest
from odradek import Emulator
from odradek.emulator.groups.offsets.store import OffsetRecord, OffsetTombstone
from odradek.emulator.groups.old_records import as_before_2_1
from odradek.emulator.groups.records import encode
from odradek.wire.legacy.as_batches import logged_batches, read_logged
from odradek.wire.stored.keyed import read_value
from odradek.wire.stored.offsets import OffsetCommitValue

HOUR_MS = 3_600_000


@pytest.mark.parametrize(("version", "kept_ms", "stored"), [("2.0", HOUR_MS, 1), ("2.4", None, 3)])
def test_an_offset_has_the_time_when_it_expires(
    version: str, kept_ms: int | None, stored: int
) -> None:
    """A broker before 2.1 takes one without it for expired."""
    config = {"offsets.topic.num.partitions": 1, "offsets.retention.minutes": 60}
    with Emulator(config, version=version, topics=["t"]) as kafka:
        kafka.group("g").commit({("t", 0): 0})
        log = kafka.run(
            lambda cluster: bytes(cluster.partition("__consumer_offsets", 0).log.read(0, 9999))
        )
    values = [each.value for at, _ in logged_batches(log) for each in read_logged(log, at)]
    value, number = read_value(OffsetCommitValue, values[0] or b"")
    assert number == stored
    expires = None if value.expire_timestamp == -1 else value.expire_timestamp
    assert expires == (None if kept_ms is None else value.commit_timestamp + kept_ms)


def test_a_tombstone_stays_as_it_is() -> None:
    tombstone = encode(OffsetTombstone("g", "t", 0), 1)
    assert as_before_2_1(tombstone, HOUR_MS) == tombstone


def test_a_time_past_the_last_one_is_before_all_as_in_java() -> None:
    latest = encode(OffsetRecord("g", "t", 0, 5, -1, "", 2**63 - 1), 1)
    value, _ = read_value(OffsetCommitValue, as_before_2_1(latest, HOUR_MS).value or b"")
    assert value.expire_timestamp == HOUR_MS - 1 - 2**63
