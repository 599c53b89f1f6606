"""Java's hash codes and HashMap order, where clients can see them.

String.hashCode decides which partition of __consumer_offsets keeps a group (semantics F1). The
order of a HashMap decides which protocol wins a tie (G6), and which member and partition come first
when a broker assigns partitions (G22).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

K = TypeVar("K")


@lru_cache(maxsize=1024)
def java_hash(text: str) -> int:
    """String.hashCode: over UTF-16 code units, a signed 32-bit number."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(units), 2):
        value = (value * 31 + (units[i] << 8 | units[i + 1])) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def partition_for(group_id: str, partitions: int) -> int:
    """The partition of __consumer_offsets that keeps this group."""
    value = java_hash(group_id)
    # Java's abs() of the smallest int is itself; Kafka takes 0 for it.
    return 0 if value == -(1 << 31) else abs(value) % partitions


_ROOM = 16  # buckets of a new HashMap
_GOLDEN = 0x9E3779B97F4A7C15  # what Kafka's own hash maps multiply hash codes with


def hash_map_order(names: Iterable[str], *, room: int = _ROOM, beside: int = 0) -> list[str]:
    """Distinct strings in the order in which a java.util.HashMap lists them that was filled in the
    given order. Buckets that Java turns into trees (more than eight names) are not modelled.
    `room`: the number of buckets it was created with; `beside`: how many other names are in it."""
    return _in_buckets(names, java_hash, room=room, beside=beside)


def timeline_order(names: Iterable[str], *, size: int) -> list[str]:
    """The same for a TimelineHashMap of a broker's coordinator, in which the newest of a bucket
    come first. `size`: how many names there were when it last looked whether it is too small."""
    buckets = 2
    while size * 3 > buckets * 4:
        buckets *= 2
    shift = 65 - buckets.bit_length()

    def bucket(name: str) -> int:
        return (java_hash(name) * _GOLDEN & 0xFFFFFFFFFFFFFFFF) >> shift

    newest_first = list(names)[::-1]
    return sorted(newest_first, key=bucket)


def id_order(ids: Iterable[bytes], *, presized: bool = False) -> list[bytes]:
    """The same for topic ids. `presized`: the map was created for this many, as a copy of another
    collection is."""
    return _in_buckets(ids, _id_hash, presized=presized)


def int_order(numbers: Iterable[int], *, presized: bool = False, room: int = _ROOM) -> list[int]:
    """The same for partition numbers."""
    return _in_buckets(numbers, lambda number: number, presized=presized, room=room)


def id_partition_order(keys: Iterable[tuple[bytes, int]], *, room: int) -> list[tuple[bytes, int]]:
    """The same for partitions by topic id and number, in a map with so many buckets."""
    return _in_buckets(keys, lambda key: 31 * _id_hash(key[0]) + key[1], room=room)


def room_for(size: int) -> int:
    """The buckets of a HashMap that one of Kafka's assignors creates for this many."""
    wanted, room = int((size + 1) / 0.75 + 1), 1
    while room < wanted:
        room *= 2
    return room


def partition_order(keys: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The same for TopicPartitions: topic and number."""
    return _in_buckets(keys, lambda key: 31 * (31 + key[1]) + java_hash(key[0]))


def _id_hash(topic_id: bytes) -> int:
    """Kafka's Uuid.hashCode."""
    number = int.from_bytes(topic_id[:8], "big") ^ int.from_bytes(topic_id[8:], "big")
    return (number >> 32 ^ number) & 0xFFFFFFFF


def _in_buckets(
    keys: Iterable[K],
    hash_code: Callable[[K], int],
    *,
    presized: bool = False,
    room: int = _ROOM,
    beside: int = 0,
) -> list[K]:
    distinct = list(dict.fromkeys(keys))
    if len(distinct) < 2:
        return distinct
    size = room
    wanted = len(distinct) * 4 // 3 + 1 if presized else 0
    while len(distinct) + beside > size * 3 // 4 or size < wanted:
        size *= 2

    def bucket(key: K) -> int:
        value = hash_code(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & (size - 1)

    return sorted(distinct, key=bucket)
