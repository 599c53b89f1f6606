"""Kafka Streams with exactly_once_v2 counts each word of its input once, whatever becomes of the
brokers and of its instances.

With ODRADEK_REAL=1 the same test runs at three nodes of Apache Kafka too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.streams.counted import Output, Text
from tests.clients.streams.word_count import WordCount
from tests.clients.support.ground import IDS, Emulated, Ground, Real
from tests.clients.support.wanted import WANT_REAL

pytestmark = [pytest.mark.client, pytest.mark.slow]


@pytest.fixture(
    params=["odradek", *([pytest.param("real", marks=pytest.mark.real)] if WANT_REAL else [])]
)
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    with Real() if request.param == "real" else Emulated() as ground:
        for topic in ("lines", "counted"):
            ground.create(topic, (1, 2, 3), (2, 3, 1), (3, 1, 2))
        yield ground


@pytest.fixture
def start(ground: Ground, tmp_path: Path) -> Iterator[Callable[[], WordCount]]:
    made: list[WordCount] = []

    def start() -> WordCount:
        made.append(WordCount(ground.bootstrap_servers, tmp_path / f"{len(made)}"))
        return made[-1]

    yield start
    for each in made:
        each.kill()


def test_each_word_is_counted_once_while_brokers_restart_and_one_dies(
    ground: Ground, start: Callable[[], WordCount]
) -> None:
    text, counted = Text(ground.bootstrap_servers), Output(ground.bootstrap_servers, "counted")
    text.write()
    counting = start()
    counting.await_running()
    _restart_each(ground, text)
    counted.read(text.counts.total())
    _kill_one(ground, text)
    counted.read(text.counts.total())
    counting.close()
    counted.close()
    assert counted.counts() == text.counted_once()


@pytest.mark.long
def test_each_word_is_counted_once_though_an_instance_dies_too(
    ground: Ground, start: Callable[[], WordCount]
) -> None:
    """The other one takes over its partitions and their stores."""
    text, counted = Text(ground.bootstrap_servers), Output(ground.bootstrap_servers, "counted")
    text.write()
    first, second = start(), start()
    first.await_running()
    second.await_running()
    _restart_each(ground, text)
    text.write()
    first.kill()
    text.write()
    counted.read(text.counts.total())
    _kill_one(ground, text)
    third = start()
    third.await_running()
    text.write()
    counted.read(text.counts.total())
    for each in (second, third):
        each.close()
    counted.close()
    assert counted.counts() == text.counted_once()


def _restart_each(ground: Ground, text: Text) -> None:
    for node_id in IDS:
        text.write()
        ground.do("stop", node_id)
        text.write()
        ground.start_all()


def _kill_one(ground: Ground, text: Text) -> None:
    text.write()
    ground.do("kill", ground.place("lines").leader)
    text.write()
    ground.start_all()
