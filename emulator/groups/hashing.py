"""Java's String.hashCode and HashMap order, where clients can see them.

The first decides which partition of __consumer_offsets keeps a group (semantics F1), the second
which protocol wins a tie (G6).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=4096)
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


def hash_map_order(names: Iterable[str]) -> list[str]:
    """Distinct strings in the order in which a java.util.HashMap lists them, which was filled in
    the given order. Buckets that Java turns into trees (more than eight names) are not modelled."""
    distinct = list(dict.fromkeys(names))
    size = 16
    while len(distinct) > size * 3 // 4:
        size *= 2

    def bucket(name: str) -> int:
        value = java_hash(name) & 0xFFFFFFFF
        return (value ^ value >> 16) & (size - 1)

    return sorted(distinct, key=bucket)
