"""Directories of old brokers, upgraded here: real brokers of later releases go on with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.real_kafka import RealKafka
from odradek.wire.legacy.as_batches import logged_batches, read_logged
from odradek.wire.legacy.message_sets import build_set

from tests.differential.ask.records import produce

from .brokers import VERSIONS
from .old_directories import LOGS, SMALL, ZOOKEEPER, Old, T, answers, retried, unpack

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.long]
UPGRADES = [
    ("0.10.2", "0.10.2", "1.1", "2.7", "3.9", "4.3"),
    ("0.11.0", "1.1", "2.7"),
    ("1.1", "2.7", "3.9", "4.3"),
    ("2.7", "2.7", "3.9", "4.3"),
]
"""The release of the directory, and those in which it is opened in turn, first here, then by a real
broker."""

UNUSED = ("message.format.version", "segment.bytes")
"""4.x does not know the one, and takes no such small value for the other."""


@contextmanager
def ours(release: str, home: Path) -> Iterator[Old]:
    beside: dict[str, Any] = {} if release == "4.3" else {"zookeeper": home / ZOOKEEPER}
    with Emulator(version=release, data_dir=home / LOGS, **beside) as kafka:
        yield from asked(kafka.bootstrap_servers, release)
        assert not kafka.notices


@contextmanager
def real(release: str, home: Path) -> Iterator[Old]:
    with RealKafka(VERSIONS[release], SMALL, data_dir=home / LOGS) as kafka:
        yield from asked(kafka.bootstrap_servers, release)


def asked(address: str, release: str) -> Iterator[Old]:
    old = Old(address, release)
    try:
        yield old
    finally:
        old.close()


def add(old: Old, text: bytes) -> None:
    """A record more, as its oldest producers write it."""
    for topic in ("plain", "oldest"):
        request: Any = produce(build_set([(0, T, text, text)], 1), topic, 0)
        if not old.serves(type(request), 2):
            return
        part = old.ask(request, 2).responses[0].partition_responses[0]
        assert not part.error_code, part


def same(seen: dict[str, Any], before: dict[str, Any]) -> None:
    """What both brokers answer of the same: all that is in both, but for times of messages that
    have none, in releases that say so."""
    for what in seen.keys() & before.keys():
        assert told(seen[what], what) == told(before[what], what), what


def told(answer: Any, what: str) -> Any:
    if what.startswith("oldest"):
        return {key: each for key, each in answer.items() if key != f"offset of {T + 2}"}
    if what.startswith("table"):  # a cleaner may have run meanwhile
        return latest(bytes.fromhex(answer["records"]))
    if what.startswith("configs of"):
        return {key: each for key, each in answer.items() if key not in UNUSED}
    return answer


def latest(records: bytes) -> dict[bytes | None, bytes | None]:
    at = [position for position, _ in logged_batches(records)]
    return {each.key: each.value for position in at for each in read_logged(records, position)}


@pytest.mark.parametrize("path", UPGRADES, ids="-".join)
def test_real_brokers_go_on_with_it(path: tuple[str, ...], tmp_path: Path) -> None:
    """Ours opens it in the later release, reads what was there, and writes; the real one reads all
    of it, and writes; and so on."""
    expected = unpack(path[0], tmp_path)
    for release in path[1:]:
        for brokers in (ours, real):
            with brokers(release, tmp_path) as old:
                retried(lambda old=old, expected=expected: same(answers(old), expected))
                add(old, f"{brokers.__name__} {release}".encode())
                expected = answers(old)
