"""Kafka Streams with exactly_once_v2 counts each word of its input once, whatever becomes of the
brokers and of its instances.

With ODRADEK_REAL=1 the same test runs at three nodes of Apache Kafka too.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odradek.compat.clients import wait_until

from tests.clients.streams.word_count import WordCount
from tests.clients.support.ground import IDS, Emulated, Ground, Real
from tests.clients.support.wanted import WANT_REAL

confluent_kafka = pytest.importorskip("confluent_kafka")

pytestmark = [pytest.mark.client, pytest.mark.slow]

WORDS = ["ristretto", "espresso", "lungo", "doppio", "macchiato", "cortado"]
PARTITIONS = 3
LINES = 60
COUNTED_S = 120.0


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
    """Starts one more instance."""
    made: list[WordCount] = []

    def start() -> WordCount:
        made.append(WordCount(ground.bootstrap_servers, tmp_path / f"{len(made)}"))
        return made[-1]

    yield start
    for each in made:
        each.kill()


class Text:
    """Lines that are written, with the count of their words."""

    def __init__(self, bootstrap: str) -> None:
        self.counts: Counter[str] = Counter()
        self._drawn = random.Random(1)
        self._producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True}
        )

    def write(self, lines: int = LINES) -> None:
        """So many more lines of three words."""
        for _ in range(lines):
            words = self._drawn.choices(WORDS, k=3)
            self.counts.update(words)
            self._producer.produce(
                "lines", " ".join(words), partition=self._drawn.randrange(PARTITIONS)
            )
        assert self._producer.flush(COUNTED_S) == 0

    def counted_once(self) -> dict[str, list[int]]:
        """What the output holds then."""
        return {word: list(range(1, count + 1)) for word, count in self.counts.items()}


class Counted:
    """What a consumer that reads committed records finds in the output: for each word its counts,
    in order."""

    def __init__(self, bootstrap: str) -> None:
        self.found: dict[str, list[int]] = defaultdict(list)
        config = {"bootstrap.servers": bootstrap, "group.id": "counted"}
        self._consumer = confluent_kafka.Consumer(
            {**config, "isolation.level": "read_committed", "enable.auto.commit": False}
        )
        places = [confluent_kafka.TopicPartition("counted", n, 0) for n in range(PARTITIONS)]
        self._consumer.assign(places)

    def read_until(self, counts: Counter[str]) -> None:
        """Wait until each word has been counted so often."""

        def is_there() -> bool:
            for message in self._consumer.consume(500, 0.2):
                if message.error() is None:
                    self.found[message.key().decode()].append(int(message.value()))
            return all(len(self.found[word]) >= count for word, count in counts.items())

        wait_until(is_there, f"all is counted: {counts}, {self.found}", COUNTED_S)

    def close(self) -> None:
        self._consumer.close()


def test_each_word_is_counted_once_while_brokers_restart_and_one_dies(
    ground: Ground, start: Callable[[], WordCount]
) -> None:
    text, counted = Text(ground.bootstrap_servers), Counted(ground.bootstrap_servers)
    text.write()
    counting = start()
    counting.await_running()
    _restart_each(ground, text)
    counted.read_until(text.counts)
    _kill_one(ground, text)
    counted.read_until(text.counts)
    counting.close()
    counted.close()
    assert counted.found == text.counted_once()


@pytest.mark.long
def test_each_word_is_counted_once_though_an_instance_dies_too(
    ground: Ground, start: Callable[[], WordCount]
) -> None:
    """The other one takes over its partitions and their stores."""
    text, counted = Text(ground.bootstrap_servers), Counted(ground.bootstrap_servers)
    text.write()
    first, second = start(), start()
    first.await_running()
    second.await_running()
    _restart_each(ground, text)
    text.write()
    first.kill()
    text.write()
    counted.read_until(text.counts)
    _kill_one(ground, text)
    third = start()
    third.await_running()
    text.write()
    counted.read_until(text.counts)
    for each in (second, third):
        each.close()
    counted.close()
    assert counted.found == text.counted_once()


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
