"""Groups of ten members that come, leave, die and sleep at random: nothing is lost or given twice.

Each of Kafka's clients, with each protocol it speaks, and several clients in one group. All groups
live on one broker, several at a time; ODRADEK_CHAOS_S is how long each goes on (seconds), and
ODRADEK_CHAOS_SEED what happens in it. With ODRADEK_REAL=1 a real Kafka must pass the same tests.
"""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from odradek.compat import RealKafka, Unavailable
from odradek.compat.java.jars import jars
from odradek.compat.java.process import javac
from odradek.compat.real_kafka import VERSION
from odradek.emulator.groups.offsets.store import OffsetRecord

from tests.clients.support.broker_process import Served
from tests.clients.support.wanted import WANT_REAL

pytest.importorskip("confluent_kafka")

from tests.clients.support.chaos import rules as rules
from tests.clients.support.chaos.group import BROKER, Chaos, History, Kind

pytestmark = [pytest.mark.client, pytest.mark.slow]

SECONDS = float(os.environ.get("ODRADEK_CHAOS_S", "6"))
SEED = int(os.environ.get("ODRADEK_CHAOS_SEED", "1"))
AT_ONCE = 4

CONFLUENT, JAVA, AIOKAFKA, KAFKA_PYTHON = "confluent-kafka", "java", "aiokafka", "kafka-python"
GROUPS = {
    "confluent-classic": [Kind(CONFLUENT)],
    "confluent-consumer": [Kind(CONFLUENT, "consumer")],
    "java-classic": [Kind(JAVA)],
    "java-consumer": [Kind(JAVA, "consumer")],
    "aiokafka": [Kind(AIOKAFKA)],
    "kafka-python": [Kind(KAFKA_PYTHON)],
    "mixed": [
        Kind(CONFLUENT, assignor="range"),
        Kind(KAFKA_PYTHON),
        Kind(AIOKAFKA),
        Kind(JAVA, assignor="range"),
    ],
    "both-protocols": [Kind(CONFLUENT), Kind(CONFLUENT, "consumer")],
}
LIBRARIES = {CONFLUENT: "confluent_kafka", AIOKAFKA: "aiokafka", KAFKA_PYTHON: "kafka"}
# These say when they lost a partition, and not only when they gave it up.
TELL_LOSSES = ("confluent-classic", "confluent-consumer", "java-classic", "java-consumer")

# With a real Kafka too, these were seen to read again from before what had been committed, and to
# commit that: kafka-python 3.0.12 may take an answer to an earlier OffsetFetch for the present one,
# and a cooperative classic librdkafka among members of the new protocol may go on with partitions
# that the broker has given to another. No broker can tell such a commit from a good one.
MAY_STEP_BACK = ("kafka-python", "mixed", "both-protocols")


class Course:
    def __init__(
        self, bootstrap: str, names: list[str], work: Path, pool: ThreadPoolExecutor
    ) -> None:
        self.bootstrap = bootstrap
        self._names: dict[str, str] = {}
        self._running: dict[str, Future[History]] = {}
        self._read: dict[str, rules.Read] = {}
        for name in names:
            kinds = GROUPS[name]
            if reason := _missing(kinds):
                self._names[name] = reason
                continue
            chaos = Chaos(bootstrap, f"{name}-{uuid.uuid4().hex[:6]}", kinds, SEED, work)
            self._names[name] = chaos.group
            self._running[name] = pool.submit(chaos.run, SECONDS)

    def of(self, name: str) -> tuple[str, History, rules.Read]:
        """The group's id, its history, and what its members said."""
        if name not in self._running:
            raise Unavailable(self._names[name])
        history = self._running[name].result()
        if name not in self._read:
            self._read[name] = rules.Read(history)
        return self._names[name], history, self._read[name]


def _missing(kinds: list[Kind]) -> str:
    for kind in kinds:
        if kind.client == JAVA:
            try:
                jars(VERSION)
                javac()
            except Unavailable as reason:
                return str(reason)
        else:
            try:
                __import__(LIBRARIES[kind.client])
            except ImportError as error:
                return f"{kind.client} is not installed ({error})."
    return ""


@pytest.fixture(
    scope="module",
    params=["odradek", *([pytest.param("real", marks=pytest.mark.real)] if WANT_REAL else [])],
)
def course(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Course]:
    work = tmp_path_factory.mktemp("chaos")
    with ExitStack() as stack:
        if request.param == "real":
            bootstrap = stack.enter_context(RealKafka(config=BROKER)).bootstrap_servers
        else:
            bootstrap = stack.enter_context(Served(work / "data", BROKER)).bootstrap_servers
        pool = ThreadPoolExecutor(AT_ONCE)
        stack.callback(pool.shutdown, cancel_futures=True)
        yield Course(bootstrap, _asked_for(request), work, pool)


def _asked_for(request: pytest.FixtureRequest) -> list[str]:
    """The groups that the selected tests look at."""
    here = [item for item in request.session.items if item.path == request.path]
    names = {item.callspec.params["name"] for item in here if isinstance(item, pytest.Function)}
    return [name for name in GROUPS if name in names]


@pytest.mark.parametrize("name", GROUPS)
def test_no_record_is_lost_and_none_out_of_order(course: Course, name: str) -> None:
    _, history, read = course.of(name)
    _report(name, history, read)
    assert read.wrong == []
    assert rules.missing(history, read) == []


@pytest.mark.parametrize("name", GROUPS)
def test_a_partition_has_one_owner_in_a_generation(course: Course, name: str) -> None:
    group, history, read = course.of(name)
    assert rules.shared(read) == []
    if name in TELL_LOSSES:
        assert rules.overlapping(history, read) == []
    records = rules.written(course.bootstrap, group)
    assert list(rules.given_twice(records)) == []
    assert rules.generations_that_go_back(records) == []


@pytest.mark.parametrize("name", GROUPS)
def test_what_is_committed_never_goes_back(course: Course, name: str) -> None:
    group, history, _ = course.of(name)
    records = rules.written(course.bootstrap, group)
    if name not in MAY_STEP_BACK:
        assert rules.steps_back(records) == []
    commits = [record for record in records if isinstance(record, OffsetRecord)]
    assert {each.partition: each.offset for each in commits} == dict(enumerate(history.ends))


def _report(name: str, history: History, read: rules.Read) -> None:
    """What happened, for those who look (`pytest -s`, or after a failure)."""
    done = Counter(action.split()[2] for action in history.actions)
    generations = {generation for generation, _ in read.owners}
    print(
        f"\n{name}: {dict(done)}; {sum(history.ends)} records, {read.deliveries} delivered;"
        f" {len(generations)} generations with news, {len(read.stints)} stints"
    )
    for text, count in read.errors.most_common(6):
        print(f"    {count} x {text}")
