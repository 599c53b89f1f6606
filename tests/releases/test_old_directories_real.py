"""Directories of old brokers, upgraded here: real brokers of later releases go on with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.real_kafka import RealKafka
from odradek.wire import Error
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.legacy.as_batches import logged_batches, read_logged
from odradek.wire.legacy.message_sets import build_set

from tests.differential.ask.records import produce

from .brokers import VERSIONS
from .old_directories import (
    LOGS,
    SMALL,
    ZOOKEEPER,
    Old,
    T,
    answers,
    fill,
    idempotent,
    retried,
    unpack,
)

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
"""4.x does not know the one, and takes no small value of the other."""


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


def same(seen: dict[str, Any], before: dict[str, Any], who: str) -> None:
    """What `who` answers is what the broker before did: all that is in both, but for times of
    messages that have none, in releases that say so."""
    forgets = who in ("real 0.10.2", "real 0.11.0")  # the kind of groups without members
    known = {what for what in before if before[what]}  # 0.10.2 tells no configs
    for what in seen.keys() & known - ({"groups"} if forgets else set()):
        assert comparable(seen[what], what) == comparable(before[what], what), f"{who}: {what}"


def compare(old: Old, before: dict[str, Any], who: str) -> None:
    same(answers(old), before, who)


def enlarge(old: Old) -> None:
    """Have segments of a size that 4.x takes: it does not start where a topic has smaller ones."""
    config = IncrementalAlterConfigsRequest.Resource.Config(
        name="segment.bytes", config_operation=0, value=str(1 << 20)
    )
    table = IncrementalAlterConfigsRequest.Resource(
        resource_type=2, resource_name="table", configs=[config]
    )
    request = IncrementalAlterConfigsRequest(resources=[table], validate_only=False)
    assert not old.ask(request, 0).responses[0].error_code


def comparable(answer: Any, what: str) -> Any:
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
                who = f"{brokers.__name__} {release}"
                retried(partial(compare, old, expected, who))
                add(old, who.encode())
                if release == "3.9":
                    enlarge(old)
                expected = answers(old) | {"groups": expected["groups"]}


@pytest.mark.parametrize("release", ["0.10.2", "1.1", "2.7"])
def test_real_brokers_go_on_with_what_began_here(release: str, tmp_path: Path) -> None:
    """With the files of the ZooKeeper that was beside it."""
    with ours(release, tmp_path) as old:
        fill(old)
        expected = answers(old)
    with real(release, tmp_path) as old:
        retried(partial(compare, old, expected, f"real {release}"))
        if release != "0.10.2":
            assert idempotent(old, "oldest") == Error.UNSUPPORTED_FOR_MESSAGE_FORMAT
