"""Exactly once with stock clients: what a small application reads it writes once, whatever ends
its transactions: a commit, an abort, another instance, a crash of its own or of the broker."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from odradek.compat import Client, NewRecord
from odradek.compat import client as client_named

from tests.clients.support.broker_process import Served
from tests.clients.support.transactional_apps import TRANSFORMERS, Fenced, Transformer
from tests.requests.committed_offsets import committed
from tests.requests.fetch import fetch
from tests.support.connection import BrokerAt
from tests.support.consumer import delivered

pytestmark = [pytest.mark.client, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
VALUES = [b"a", b"b", b"c", b"d", b"e", b"f"]
_numbers = count()
Start = Callable[..., Transformer]


class Work:
    """Two topics, a group, a transactional id; and what is to be seen of them."""

    def __init__(self, client: Client, bootstrap: str) -> None:
        number = next(_numbers)
        self.client = client
        self.bootstrap = bootstrap
        self.source, self.target = f"source-{number}", f"target-{number}"
        self.group, self.name = f"group-{number}", f"transformer-{number}"
        client.create_topic(bootstrap, self.source)
        client.create_topic(bootstrap, self.target)
        client.produce(bootstrap, self.source, [NewRecord(v) for v in VALUES], partition=0)

    @property
    def arguments(self) -> tuple[str, str, str, str, str]:
        return self.bootstrap, self.name, self.group, self.source, self.target

    def committed(self) -> tuple[list[bytes | None], int]:
        """What a committed reader of the target sees now, and where the group is."""
        broker = BrokerAt(self.bootstrap)
        answer = fetch(broker, topic=self.target, isolation_level=1)
        values, _ = delivered(bytes(answer.records or b""), answer.aborted_transactions or [], 0)
        found = committed(broker, topic=self.source, group=self.group, version=7)
        return values, max(found.committed_offset, 0)

    def consumed(self) -> list[bytes | None]:
        """What the client itself reads of the target once nothing is open."""
        found = self.client.consume(self.bootstrap, self.target, isolation="read_committed")
        return [record.value for record in found]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A broker on a port and a directory that it keeps."""
    with Served(tmp_path_factory.mktemp("transactions") / "data") as served:
        yield served


@pytest.fixture(params=TRANSFORMERS)
def work(request: pytest.FixtureRequest, served: Served) -> Work:
    return Work(client_named(request.param), served.bootstrap_servers)


@pytest.fixture
def start(work: Work) -> Iterator[Start]:
    """Start instances of the application; they are closed at the end."""
    started: list[Transformer] = []

    def begin() -> Transformer:
        started.append(TRANSFORMERS[work.client.name](*work.arguments))
        return started[-1]

    yield begin
    for each in started:
        each.close()


def test_committed_work_is_seen_once_and_aborted_work_is_done_again(
    work: Work, start: Start
) -> None:
    application = start()
    application.work(2)
    assert work.committed() == ([], 0)
    application.end(commit=True)
    assert work.committed() == ([b"A", b"B"], 2)
    application.work(3)
    application.end(commit=False)
    assert work.committed() == ([b"A", b"B"], 2)
    application.work(4)
    application.end(commit=True)
    assert work.committed() == ([b"A", b"B", b"C", b"D", b"E", b"F"], 6)
    assert work.consumed() == [b"A", b"B", b"C", b"D", b"E", b"F"]


def test_a_zombie_is_fenced(work: Work, start: Start) -> None:
    zombie = start()
    zombie.work(2)
    successor = start()
    with pytest.raises(Fenced):
        zombie.end(commit=True)
    successor.work(6)
    successor.end(commit=True)
    assert work.committed() == ([b"A", b"B", b"C", b"D", b"E", b"F"], 6)


def test_an_application_that_dies_is_taken_over(work: Work, start: Start) -> None:
    command = [sys.executable, "-m", "tests.clients.support.transactional_apps", work.client.name]
    process = subprocess.Popen(
        [*command, *work.arguments, "3"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    process.kill()
    process.wait()
    process.stdout.close()
    assert work.committed() == ([], 0)
    successor = start()
    successor.work(6)
    successor.end(commit=True)
    assert work.committed() == ([b"A", b"B", b"C", b"D", b"E", b"F"], 6)


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
def test_a_broker_that_comes_back_goes_on(
    work: Work, start: Start, served: Served, kill: bool
) -> None:
    application = start()
    application.work(3)
    served.kill() if kill else served.stop()
    served.start()
    application.end(commit=True)
    assert work.committed() == ([b"A", b"B", b"C"], 3)
    application.work(3)
    application.end(commit=False)
    assert work.committed() == ([b"A", b"B", b"C"], 3)
