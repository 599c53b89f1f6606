"""docs/limits.md says what the source says: each bound stands in its row, with its number."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.base.release import KAFKA_4_3
from odradek.emulator.base.turns import QUANTUM_S
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.control.traffic import sink
from odradek.emulator.control.traffic.traffic import FRAME_BYTES, MOST, MOST_BYTES
from odradek.emulator.metadata.topic_rules import LARGEST_REQUEST
from odradek.emulator.net import server
from odradek.emulator.net.connection import UNSENT_BYTES
from odradek.emulator.net.receive_budget import ROOM_BYTES
from odradek.emulator.partitions import produced_batches
from odradek.emulator.partitions.fetch_sessions import SIZE_MAX
from odradek.wire.codec.reader_source import REQUEST_ITEMS_MAX
from odradek.wire.frames import SMALL

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "limits.md").read_text()
DIFFERENCES = (ROOT / "docs" / "differences.md").read_text()


def config(name: str) -> int:
    value: int = BrokerConfig({}, KAFKA_4_3).get(name)
    return value


def size(number: int) -> str:
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number >> 10} KiB"


def row(start: str) -> str:
    found = [line for line in PAGE.splitlines() if line.startswith(f"| {start}")]
    assert len(found) == 1, start
    return found[0]


def test_the_journal_of_requests() -> None:
    said = row("The journal of requests")
    for bound in (f"{MOST:,} requests", size(MOST_BYTES), size(FRAME_BYTES)):
        assert bound in said


def test_the_journal_in_a_file() -> None:
    assert size(sink._WAITING_BYTES) in row("A journal that is written")


DECOMPRESSED = size(produced_batches.DECOMPRESSED_MAX)


@pytest.mark.parametrize(
    ("start", "bounds"),
    [
        ("A Produce request that names", [f"{REQUEST_ITEMS_MAX:,} items", size(SMALL)]),
        ("CreateTopics of", [f"{LARGEST_REQUEST:,} in one request"]),
        ("A produced batch of", [DECOMPRESSED]),
        ("A request |", ["`socket.request.max.bytes`", size(config("socket.request.max.bytes"))]),
        ("Small requests", [size(SMALL)]),
        ("Large requests", [size(ROOM_BYTES)]),
        ("Items of", [f"{REQUEST_ITEMS_MAX:,}"]),
        ("A compressed batch", [DECOMPRESSED, size(produced_batches._SMALL_MAX)]),
        ("A partition's part", [DECOMPRESSED]),
        ("An answer's records", ["`fetch.max.bytes`", size(config("fetch.max.bytes"))]),
        ("Answers that", [size(UNSENT_BYTES)]),
        ("Pieces of", [f"{size(server._PIECE_BYTES)} each", size(server._UNSENT_BYTES)]),
        (
            "Fetch sessions",
            [f"{config('max.incremental.fetch.session.cache.slots'):,}", f"{SIZE_MAX:,}"],
        ),
    ],
)
def test_a_bound_is_that_of_the_source(start: str, bounds: list[str]) -> None:
    assert [bound for bound in bounds if bound not in row(start)] == []


def test_the_turn_and_the_largest_batch_are_those_of_the_source() -> None:
    assert f"a turn takes about {QUANTUM_S * 1000:.0f} ms" in PAGE
    assert f"`max.message.bytes` long, {size(config('message.max.bytes'))} unless" in PAGE


def test_the_room_is_what_a_config_replaces() -> None:
    assert config("queued.max.request.bytes") == -1


def test_the_page_of_differences_says_the_same() -> None:
    assert f"may name {REQUEST_ITEMS_MAX:,} items" in DIFFERENCES
    assert f"may hold {DECOMPRESSED} when decompressed" in DIFFERENCES
    assert "(limits.md)" in DIFFERENCES
