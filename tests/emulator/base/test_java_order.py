"""Java's hashes, and the order of its hash maps."""

from __future__ import annotations

import pytest
from odradek.emulator.base.java_order import (
    hash_map_order,
    id_order,
    int_order,
    java_hash,
    partition_for,
)


@pytest.mark.parametrize(
    ("group_id", "partition"),
    [
        ("test-group", 12),
        ("g1", 42),
        ("polygenelubricants", 0),
        ("grüppe", 12),
        ("😀", 49),
        ("a b", 7),
        ("", 0),
    ],
)
def test_a_group_is_kept_where_kafka_keeps_it(group_id: str, partition: int) -> None:
    assert partition_for(group_id, 50) == partition


def test_javas_hash_is_signed() -> None:
    assert java_hash("polygenelubricants") == -(2**31)
    assert java_hash("range") == 108280125


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("range", "roundrobin"),
        ("range", "cooperative-sticky"),
        ("sticky", "cooperative-sticky"),
        ("sticky", "range"),
    ],
)
def test_a_hash_map_has_an_order_of_its_own(first: str, second: str) -> None:
    assert hash_map_order([second, first]) == [first, second]
    assert hash_map_order([first, second, first]) == [first, second]


def test_a_hash_map_grows_beyond_twelve_names() -> None:
    names = list("nopqrstuvwxyz")  # hashes 110 to 122: sixteen buckets begin anew at p
    assert hash_map_order(names[:12]) == list("pqrstuvwxyno")
    assert hash_map_order(names) == list("nopqrstuvwxyz")


def test_numbers_and_ids_stand_in_the_order_of_a_hash_map() -> None:
    assert int_order([17, 3, 16, 0]) == [16, 0, 17, 3]
    assert int_order([17, 3, 16, 0], presized=True) == [16, 0, 17, 3]
    first, second = bytes(15) + b"\x01", bytes(15) + b"\x02"
    assert id_order([second, first]) == [first, second]
