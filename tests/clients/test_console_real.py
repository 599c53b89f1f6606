"""The views for people, of a real Kafka and of ours: the same commands, the same lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.cli.main import main
from odradek.wire.records import NewRecord

from tests.support.clock import NOW
from tests.support.real_kafka import CONFIG
from tests.support.written import record, write_records

Shell = Callable[..., str]

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def addresses(real_kafka: RealKafka) -> Iterator[tuple[str, str]]:
    """A real Kafka's and an emulator's."""
    with Emulator(CONFIG) as ours:
        yield real_kafka.bootstrap_servers, ours.bootstrap_servers


@pytest.fixture
def shell(addresses: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs a command against both; gives what both said, which is the same."""

    def run(view: str, *arguments: str, status: int = 0) -> str:
        said = []
        for address in addresses:
            assert main([view, address, *arguments]) == status
            out = capsys.readouterr()
            said.append(out.err if status else out.out)
        real, ours = said
        assert ours == real
        return real

    return run


def test_a_topics_life(shell: Shell, addresses: tuple[str, str]) -> None:
    shell("topics", "create", "life", "--partitions", "2", "--set", "segment.ms=7000")
    for address in addresses:
        write_records(address, "life", 1, record(b"espresso", b"42", table=b"7"), record(b"tea"))
    assert "segment.ms=7000" in shell("topics", "show", "life")
    assert "espresso  [table=7]" in shell("records", "life")
    assert "tea" in shell("records", "life", "--from", "-1", "--json")
    shell("topics", "grow", "life", "--partitions", "3")
    shell("topics", "grow", "life", "--partitions", "2", status=1)
    shell("topics", "empty", "life")
    assert shell("records", "life") == ""
    shell("topics", "create", "life", status=1)
    shell("topics", "delete", "life")
    shell("topics", "--timeout", "0.5", "show", "life", status=1)


def test_a_groups_offsets(shell: Shell, addresses: tuple[str, str]) -> None:
    shell("topics", "create", "read", "--partitions", "2")
    for address in addresses:
        write_records(address, "read", 0, *(record(b"%d" % n) for n in range(10)))
    shell("groups", "reset", "billing", "--to", "-3", "--topic", "read", "--dry-run")
    shell("groups", "reset", "billing", "--to", "-3", "--topic", "read")
    assert "billing  classic  Empty" in shell("groups")
    assert shell("groups", "show", "billing").splitlines()[2].split()[2:5] == ["7", "10", "3"]
    shell("groups", "reset", "billing", "--to", "earliest")
    shell("groups", "forget", "billing", "--topic", "read:0")
    shell("groups", "delete", "billing")
    shell("groups", "show", "billing", status=1)


def test_configs(shell: Shell) -> None:
    shell("topics", "create", "set")
    assert "5000" in shell("configs", "topic", "set", "--set", "retention.ms=5000")
    assert shell("configs", "topic", "set", "--all").count("\n") > 30
    shell("configs", "topic", "set", "--set", "retention.ms=soon", status=1)
    shell("configs", "topic", "set", "--unset", "retention.ms")
    shell("configs", "broker")


def test_what_is_committed_ends_before_an_open_transaction(
    shell: Shell, addresses: tuple[str, str]
) -> None:
    shell("topics", "create", "open")
    open_ones = []
    for address in addresses:
        write_records(address, "open", 0, record(b"first"), NewRecord(NOW, None, None, ()))
        producer = Producer({"bootstrap.servers": address, "transactional.id": "t"})
        producer.init_transactions()
        producer.begin_transaction()
        producer.produce("open", b"of the transaction", timestamp=NOW)
        producer.flush()
        open_ones.append(producer)
    assert len(shell("records", "open", "--committed").splitlines()) == 2
    assert len(shell("records", "open").splitlines()) == 3
    for producer in open_ones:
        producer.abort_transaction()


def test_records_are_produced(shell: Shell, addresses: tuple[str, str], tmp_path: Path) -> None:
    shell("topics", "create", "made", "--partitions", "2")
    lines = tmp_path / "lines"
    lines.write_text("a:one\nb:two\nc:NULL\n")
    at = ["--timestamp", f"{NOW}"]
    shell("produce", "made", *at, "-K", ":", "--null", "NULL", "-H", "n=1", f"{lines}")
    shell("produce", "made", *at, "-z", "zstd", "--transactional-id", "t", "-k", "d", f"{lines}")
    aborted = "produce", "made", *at, "--transactional-id", "t", "-K", ";", "-k", "d", f"{lines}"
    assert "line 1: there is no separator ';'" in shell(*aborted, status=1)
    template = '{"n": {seq}, "in": {city}}'
    shell("produce", "made", *at, "--seed", "1", "--generate", "30", template, "-p", "1")
    exported = tmp_path / "exported"
    exported.write_text(shell("records", "made", "--committed", "--json"))
    assert len(exported.read_text().splitlines()) == 36
    shell("produce", "again", "--create-topic", "2", "--json", f"{exported}")
    shell("produce", "nope", f"{lines}", status=1)
    shell("produce", "made", "-p", "7", f"{lines}", status=1)
    there = shell("records", "made", "--committed").splitlines()
    again = shell("records", "again", "--committed").splitlines()
    assert sorted(line.split()[3:] for line in again) == sorted(line.split()[3:] for line in there)
