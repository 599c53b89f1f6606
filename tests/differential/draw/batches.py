"""Batches drawn from a seed: valid ones, and ones with a single fault."""

from __future__ import annotations

from random import Random
from typing import Any

from ..ask.batches import TIME, batch, joined, record_bytes
from ..engine.steps import now

HOUR_MS = 3_600_000
_VALUES = [b"v", b"v", b"", None, b"x" * 100]
_KEYS = [b"k", b"k", b"", None]
_TIMES: list[Any] = [TIME, TIME, TIME + 5, TIME - 3, 0, -1, now(), now(2 * HOUR_MS), -5]
_HEADERS: list[tuple[Any, ...]] = [(), (), (("h", b"v"),), (("h", None), ("", b""))]

_EDITS: dict[str, list[int]] = {
    "base_offset": [1, -1, 2**40],
    "batch_length": [0, 13, 14, 48, 49, 1000, -1],
    "leader_epoch": [0, 5, 2**31 - 1],
    "magic": [0, 1, 3, -1],
    "crc": [0, 1],
    "attributes": [0x08, 0x10, 0x20, 0x40, 0x80, 5, 6, 7, 1, -32768],
    "last_offset_delta": [0, 1, 7, -1],
    "base_timestamp": [0, -1, TIME + 9],
    "max_timestamp": [0, -1, TIME + 99],
    "producer_id": [4_000_009, -2],
    "producer_epoch": [0, 3],
    "base_sequence": [0, 5],
    "count": [0, 1, 2, -1, 2**31 - 1],
}


def draw_batch(random: Random) -> Any:
    """A batch of one to four records, valid most of the time."""
    times = [random.choice(_TIMES[:6]) for _ in range(random.choice((1, 1, 2, 4)))]
    if random.random() < 0.1:
        times[0] = random.choice(_TIMES)
    options: dict[str, Any] = {}
    if random.random() < 0.3:
        options["codec"] = random.choice((1, 2, 3, 4))
    if random.random() < 0.2:
        # A batch that is refused for its sequence may still roll the segment if it is much newer.
        times = [TIME] * len(times)
        options |= {
            "producer_id": 4_000_001,
            "producer_epoch": 0,
            "sequence": random.choice((0, 1)),
        }
    if random.random() < 0.25:
        field = random.choice(list(_EDITS))
        options["edits"] = {field: random.choice(_EDITS[field])}
        options["checked"] = field != "batch_length" and random.random() < 0.9
    elif random.random() < 0.12:
        options |= _odd(random)
    made = batch(
        *(random.choice(_VALUES) for _ in times),
        key=random.choice(_KEYS),
        times=tuple(times),
        headers=random.choice(_HEADERS),
        **options,
    )
    return joined(made, batch(b"second")) if random.random() < 0.03 else made


def _odd(random: Random) -> dict[str, Any]:
    lies: dict[str, Any] = {
        random.choice(("key_length", "value_length", "length")): random.choice((-2, -1, 0, 1, 90))
    }
    return random.choice(
        (
            {"cut": random.choice((1, 5, 60))},
            {"extra": bytes(random.choice((1, 11, 12, 16, 17, 40)))},
            {"payload": record_bytes(**lies)},
            {"payload": random.randbytes(random.choice((1, 10, 30)))},
        )
    )


def draw_producer_batch(random: Random) -> Any:
    """A batch of one of two producers, with a sequence near the one that is next."""
    big = 2**31 - 1
    return batch(
        *[b"v"] * random.choice((1, 1, 1, 2, 3)),
        producer_id=random.choice((4_000_001, 4_000_001, 4_000_002)),
        producer_epoch=random.choice((0,) * 8 + (1, 1, 2, -1)),
        sequence=random.choice((0, 0, 1, 2, 3, 4, 5, 6, 7, big - 1, big)),
        codec=random.choice((0, 0, 0, 1)),
    )
