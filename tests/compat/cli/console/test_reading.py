"""How the views read: where they end, what they pass over, and how often they ask."""

from __future__ import annotations

import socket
from collections import Counter
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.cli.console import groups, reading
from odradek.compat.cli.console.client import Brokers, ConsoleError
from odradek.compat.cli.console.group_reading import Listed
from odradek.compat.cli.console.offsets import parse_position
from odradek.compat.cli.console.reading import Reader
from odradek.compat.cli.main import main
from odradek.emulator.cluster import Cluster
from odradek.wire import Error, Request
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.records import NewRecord

from tests.compat.cli.console.support import Shell, commit, fill
from tests.requests.streams_groups import streams_beat_request, subtopology, topology
from tests.support.clock import NOW
from tests.support.cluster import at_once
from tests.support.transactional_producer import TxnClient
from tests.support.written import record, write_records


def write_in_transaction(kafka: Emulator, value: bytes, *, commit: bool | None = None) -> None:
    """One record for partition 0, by a producer called as its value; None leaves it open."""

    def write(cluster: Cluster) -> None:
        with at_once(cluster):
            producer = TxnClient(cluster, value.decode()).begin()
            assert producer.write(value, topic="orders") is Error.NONE
            if commit is not None:
                assert producer.end(commit) is Error.NONE

    kafka.run(write)


def values(shell: Shell, *options: str) -> list[str]:
    return [line[4] for line in shell("records", "orders", "--partition", "0", *options)]


def test_reading_what_is_committed_ends_before_an_open_transaction(
    kafka: Emulator, shell: Shell
) -> None:
    fill(kafka, 0, record(b"first"), record(b"second"))
    write_in_transaction(kafka, b"open")
    fill(kafka, 0, record(b"behind"))
    assert values(shell, "--committed") == ["first", "second"]
    assert values(shell, "--committed", "--from", "-1") == ["second"]
    assert values(shell, "--committed", "--from", "latest") == []
    assert values(shell) == ["first", "second", "open", "behind"]


def test_reading_what_is_committed_leaves_out_what_was_aborted(
    kafka: Emulator, shell: Shell
) -> None:
    write_in_transaction(kafka, b"aborted", commit=False)
    write_in_transaction(kafka, b"committed", commit=True)
    assert values(shell, "--committed") == ["committed"]
    assert values(shell) == ["aborted", "committed"]


@pytest.mark.parametrize("option", ["--committed", "--json"])
def test_what_compaction_took_from_the_end_ends_the_reading(
    kafka: Emulator, shell: Shell, option: str
) -> None:
    configs: dict[str, str | int] = {"cleanup.policy": "compact", "delete.retention.ms": 0}
    kafka.create_topic("compacted", configs=configs)
    write_records(kafka.bootstrap_servers, "compacted", 0, record(b"a", b"k"))
    write_records(kafka.bootstrap_servers, "compacted", 0, NewRecord(NOW, b"k", None))
    while kafka.topic("compacted").records():
        kafka.compact()
    assert kafka.topic("compacted")[0].log_end_offset == 2
    assert shell("records", "compacted", option) == []


def test_a_partition_that_an_answer_has_no_room_for_is_asked_for_again(
    kafka: Emulator, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    for partition in (0, 1):
        for n in range(3):
            fill(kafka, partition, record(b"%d-%d" % (partition, n)))
    monkeypatch.setattr(reading, "_FETCH_BYTES", 1)
    read = sorted(line[4] for line in shell("records", "orders"))
    assert read == ["0-0", "0-1", "0-2", "1-0", "1-1", "1-2"]


def test_what_is_deleted_while_it_is_read_is_passed_over(kafka: Emulator, shell: Shell) -> None:
    for n in range(3):
        fill(kafka, 0, record(b"%d" % n))
    with Brokers(kafka.bootstrap_servers) as brokers:
        topic = brokers.topic("orders")
        starts = {("orders", 0): 0}
        reader = Reader(brokers, topic, starts, committed=False, follow=False)
        shell("topics", "empty", "orders")
        fill(kafka, 0, record(b"later"))
        assert list(reader) == []


def test_an_offset_that_is_not_there_yet_is_refused(kafka: Emulator) -> None:
    with Brokers(kafka.bootstrap_servers) as brokers:
        topic = brokers.topic("orders")
        reader = Reader(brokers, topic, {("orders", 0): 7}, committed=False, follow=True)
        with pytest.raises(ConsoleError, match="orders-0: OFFSET_OUT_OF_RANGE"):
            next(iter(reader))


def test_following_asks_for_less_than_its_patience(kafka: Emulator) -> None:
    """A broker that waits for records longer than that would be taken for dead."""
    with Brokers(kafka.bootstrap_servers, timeout=0.2) as brokers:
        starts = {("orders", 0): 0}
        reader = Reader(brokers, brokers.topic("orders"), starts, committed=False, follow=True)
        assert reader._request([0]).max_wait_ms == 100


def test_groups_are_listed_once_and_each_ones_offsets_fetched_once(
    kafka: Emulator, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        commit(kafka, name, 0, 0)
    asked: Counter[type[Request]] = Counter()
    ask = Brokers.ask

    def counted(brokers: Brokers, request: Request, **more: Any) -> Any:
        asked[type(request)] += 1
        return ask(brokers, request, **more)

    monkeypatch.setattr(Brokers, "ask", counted)
    assert [line[0] for line in shell("groups")] == ["group", "a", "b", "c"]
    assert (asked[ListGroupsRequest], asked[OffsetFetchRequest]) == (1, 3)
    asked.clear()
    shell("groups", "show", "a", "b")
    assert (asked[ListGroupsRequest], asked[OffsetFetchRequest]) == (1, 2)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59.999+00:00", "1969-12-31T23:59:59.998Z"])
def test_a_time_before_1970_is_not_taken_for_the_names_of_the_ends(text: str) -> None:
    assert parse_position(text).timestamp == 0


def test_a_group_of_another_type_is_listed_and_no_more(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "list_groups", lambda _: {"g": Listed("other", "Stable")})
    assert shell("groups")[1:] == [["g", "other", "Stable", "-", "-"]]
    (line,) = shell("groups", "show", "g", status=1)
    assert " ".join(line) == "odradek: g is a group of type other, of which only the list tells"


def test_a_streams_group_and_its_members_are_shown(kafka: Emulator, shell: Shell) -> None:
    request = streams_beat_request(
        group_id="app", topology=topology(subtopology(sources=["orders"]))
    )
    fill(kafka, 1, record(b"first"))
    with Brokers(kafka.bootstrap_servers) as brokers:
        assert brokers.ask_coordinator("app", request).error_code == 0
    assert shell("groups")[1:] == [["app", "streams", "Stable", "1", "1"]]
    head, _, member, _, _, *places = shell("groups", "show", "app")
    assert head == ["app:", "Stable,", "streams"]
    assert (member[0], member[-1]) == ("a", "orders:0-1")
    assert [line[-1] for line in places] == ["a", "a"]


def test_a_consumer_group_that_has_just_gone_spares_the_list(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "list_groups", lambda _: {"g": Listed("consumer", "Empty")})
    assert shell("groups")[1:] == [["g", "consumer", "Dead", "0", "-"]]


def test_a_broker_that_is_not_where_it_says_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with Emulator(topics={"orders": 1}, port=port, advertised="127.0.0.1:1"):
        assert main(["records", f"127.0.0.1:{port}", "orders"]) == 1
    assert capsys.readouterr().err == (
        "odradek: no broker at 127.0.0.1:1: Connection refused; "
        f"127.0.0.1:{port} says that broker 1 is there\n"
    )
