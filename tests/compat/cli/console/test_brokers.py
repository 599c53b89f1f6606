"""`odradek brokers`, as a person at a shell sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main

Said = Callable[..., str]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(brokers=3, racks=["a", "b", "c"]) as kafka:
        kafka.create_topic("orders", partitions=2, replicas=3)
        yield kafka


@pytest.fixture
def said(kafka: Emulator, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command against the brokers; gives what is printed, or the error."""

    def run(line: str, status: int = 0) -> str:
        view, *arguments = line.split()
        assert main([view, kafka.bootstrap_servers, *arguments]) == status
        out = capsys.readouterr()
        return out.err if status else out.out

    return run


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_brokers_are_listed(kafka: Emulator, said: Said) -> None:
    addresses = [each.address for each in kafka.brokers]
    assert words(said("brokers"))[1:] == [
        ["1", addresses[0], "a", "up", "controller", "1", "2", "2"],
        ["2", addresses[1], "b", "up", "-", "1", "2", "2"],
        ["3", addresses[2], "c", "up", "-", "0", "2", "2"],
    ]
    first = json.loads(said("brokers --json").splitlines()[0])
    assert first == {
        "broker": 1,
        "address": addresses[0],
        "rack": "a",
        "state": "up",
        "role": "controller",
        "leads": 1,
        "replicas": 2,
        "in_sync": 2,
    }
    assert said("brokers list") == said("cluster info") == said("broker health") == said("brokers")


def test_what_is_wrong_is_reported(kafka: Emulator, said: Said) -> None:
    kafka.create_topic("alone")[0].reassign([3])
    kafka.brokers[3].stop()
    lines = said("brokers").splitlines()
    assert lines[3].split()[3:] == ["fenced", "-", "0", "3", "0"]
    assert lines[4:] == ["offline: alone-0", "under-replicated: orders-0, orders-1"]
    assert words(said("brokers partitions --unavailable-partitions"))[1:] == [
        ["alone", "0", "-", "3", "nobody", "offline"]
    ]
    assert words(said("brokers partitions orders:1 --under-replicated"))[1:] == [
        ["orders", "1", "2", "2,3,1", "1,2", "under-replicated"]
    ]
    assert said("brokers partitions orders --offline").count("\n") == 1


def test_partitions_are_reported_as_json(said: Said) -> None:
    lines = [json.loads(line) for line in said("brokers partitions --json").splitlines()]
    assert lines[1] == {
        "topic": "orders",
        "partition": 1,
        "leader": 2,
        "replicas": [2, 3, 1],
        "in_sync": [2, 3, 1],
        "state": "",
    }


def test_leaders_are_elected(kafka: Emulator, said: Said) -> None:
    orders = kafka.topic("orders")
    assert said("brokers lead orders --by 3") == "orders-0 is led by 3\norders-1 is led by 3\n"
    assert [(each.leader, each.replicas) for each in orders] == [(3, [1, 2, 3]), (3, [2, 3, 1])]
    assert said("brokers elect orders:0") == "elected a leader of orders-0\n"
    assert said("brokers elect --all") == "elected a leader of orders-1\n"
    assert said("brokers elect orders:1") == "orders-1 needs no election\n"
    assert [each.leader for each in orders] == [1, 2]
    assert said("brokers transfer-leadership orders:1 --to 1") == "orders-1 is led by 1\n"


def test_an_unclean_election(kafka: Emulator, said: Said) -> None:
    orders = kafka.create_topic("lossy", replicas=2)
    orders.produce(b"kept")
    kafka.brokers[2].stop()
    orders.produce(b"lost")
    kafka.brokers[1].stop()
    kafka.brokers[2].start()
    assert "PREFERRED_LEADER_NOT_AVAILABLE" in said("brokers elect lossy", status=1)
    assert said("brokers elect lossy --unclean") == "elected a leader of lossy-0\n"
    assert orders.values() == [b"kept"]


def test_partitions_move(kafka: Emulator, said: Said) -> None:
    orders = kafka.topic("orders")
    assert said("brokers reassign orders --to 2,3").splitlines() == [
        "moved orders-0 to 2,3",
        "moved orders-1 to 2,3",
    ]
    kafka.brokers[1].stop()
    assert said("brokers move orders:0 --replicas 1,2 --no-wait") == "moving orders-0 to 1,2\n"
    assert words(said("brokers partitions --moving"))[1] == [
        *("orders", "0", "2", "1,2,3", "2,3"),
        *("under-replicated,", "moves", "to", "1,2"),
    ]
    assert "moving: orders-0" in said("brokers")
    assert "orders-0 is being moved to 1,2" in said("brokers lead orders:0 --by 3", status=1)
    output = said("brokers --timeout 0.2 move orders:0 --to 1,2", status=1)
    assert "they still move: `odradek brokers partitions --moving` shows which" in output
    assert said("brokers cancel orders") == "cancelled the move of orders-0\n"
    assert said("brokers cancel orders", status=1) == "odradek: nothing of orders moves\n"
    assert orders[0].replicas == [2, 3]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("brokers lead orders:0 --by 9", "broker 9 has no replica of orders-0, which is on 1,2,3"),
        ("brokers partitions order", "there is no topic order: is orders meant?"),
        ("brokers elect orders:7", "topic orders has partitions 0 to 1, not 7"),
        ("brokers reassign orders:0 --to 9", "moving orders-0: INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_what_cannot_be_is_said(said: Said, line: str, expected: str) -> None:
    assert expected in said(line, status=1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("brokers elect", "which? name topics, or --all"),
        ("brokers elect orders --all", "--all is for all topics: name none"),
    ],
)
def test_options_that_do_not_go_together(said: Said, line: str, expected: str) -> None:
    assert expected in said(line, status=2)


def test_an_election_of_all_that_changes_nothing_says_so(said: Said) -> None:
    assert said("brokers elect --all") == "no partition needs an election\n"


def test_a_broker_that_is_not_in_sync_does_not_lead(kafka: Emulator, said: Said) -> None:
    kafka.brokers[3].stop()
    message = "broker 3 is not in sync, and cannot lead orders-0: 1,2 can"
    assert message in said("brokers lead orders:0 --by 3", status=1)


@pytest.mark.parametrize("given", ["2,2", "", "a", "1,,2"])
def test_ids_are_checked_before_a_broker_is_asked(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["brokers", "localhost:9", "reassign", "orders", f"--to={given}"])
    assert ended.value.code == 2
    assert repr(given) in capsys.readouterr().err


def test_an_older_kafka_is_asked_what_it_serves(capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator(brokers=2, version="3.9") as kafka:
        kafka.create_topic("orders", replicas=2)
        assert main(["brokers", kafka.bootstrap_servers]) == 0
        assert words(capsys.readouterr().out)[1][2:] == ["-", "up", "controller", "1", "1", "1"]
