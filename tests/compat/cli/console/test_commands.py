"""`odradek topics | groups | records | configs`, as a person at a shell sees them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading

import pytest
from confluent_kafka import Consumer
from odradek import Emulator
from odradek.compat.cli.console.offsets import parse_position
from odradek.compat.cli.console.tables import print_table, ranges
from odradek.compat.cli.main import main
from odradek.compat.clients import wait_until
from odradek.wire.records import NewRecord

from tests.compat.cli.console.support import Shell, commit, fill
from tests.support.clock import NOW
from tests.support.written import record


def test_a_command_of_the_shell_imports_nothing_of_the_broker() -> None:
    look = """
import sys
from odradek.compat.cli.main import main
main(["topics", "127.0.0.1:1"])
broker = [f"odradek.emulator.{each}" for each in ("cluster", "emulator", "handlers")]
print([each for each in broker if each in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


# Topics.


def test_topics_are_listed_with_partitions_and_offsets(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, record(b"a"), record(b"b"))
    fill(kafka, 1, record(b"c"))
    assert shell("topics") == [
        ["topic", "partitions", "replicas", "offsets"],
        ["orders", "2", "1", "3"],
    ]


def test_a_topic_is_created_grown_shown_and_deleted(shell: Shell) -> None:
    assert shell("topics", "create", "a", "--partitions", "2", "--set", "segment.ms=7000") == [
        ["created", "a"]
    ]
    shell("topics", "grow", "a", "--partitions", "3")
    shown = shell("topics", "show", "a")
    assert shown[0] == ["segment.ms=7000"]
    assert [line[:3] for line in shown[2:]] == [["a", str(n), "1"] for n in range(3)]
    assert shell("topics", "delete", "a") == [["deleted", "a"]]
    assert [line[0] for line in shell("topics")] == ["topic", "orders"]


def test_an_emptied_topic_keeps_its_offsets(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, record(b"a"), record(b"b"))
    shell("topics", "empty", "orders")
    assert shell("topics", "show", "orders")[1][-3:] == ["2", "2", "0"]
    assert kafka.topic("orders")[0].records() == []


def test_what_the_broker_refuses_is_said_in_its_words(shell: Shell) -> None:
    (line,) = shell("topics", "create", "orders", status=1)
    assert " ".join(line) == (
        "odradek: topic orders: TOPIC_ALREADY_EXISTS (Topic 'orders' already exists.)"
    )


def test_one_topic_that_is_refused_spares_the_others(
    kafka: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", kafka.bootstrap_servers, "delete", "orders", "nope"]) == 1
    out = capsys.readouterr()
    assert out.out == "deleted orders\n"
    assert "topic nope: UNKNOWN_TOPIC_OR_PARTITION" in out.err


def test_records_before_an_offset_are_deleted(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, *(record(b"%d" % n) for n in range(10)))
    assert shell("topics", "empty", "orders", "--before", "4") == [
        ["orders-0", "begins", "at", "offset", "4"],
        ["orders-1", "begins", "at", "offset", "0"],
    ]
    assert shell("topics", "empty", "orders", "--before", "-2")[0][-1] == "8"
    assert shell("topics", "empty", "orders") == [["emptied", "orders"]]
    assert shell("topics")[1][3] == "0"


# Groups.


def test_groups_are_listed_with_their_lag(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, *(record(b"%d" % n) for n in range(10)))
    commit(kafka, "billing", 0, 4)
    assert shell("groups")[1] == ["billing", "classic", "Empty", "0", "6"]
    assert shell("groups", "show", "billing")[2] == ["orders", "0", "4", "10", "6", "-"]


def test_the_lag_of_a_group_that_has_committed_nothing(kafka: Emulator, shell: Shell) -> None:
    """It is that of the partitions that its members have; without members nobody knows it."""
    fill(kafka, 0, *(record(b"%d" % n) for n in range(5)))
    config = kafka.client_config("confluent", "consumer")
    with Consumer(config | {"group.id": "new", "enable.auto.commit": False}) as consumer:
        consumer.subscribe(["orders"])
        wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), "it is a member", 20)
        assert shell("groups")[1] == ["new", "classic", "Stable", "1", "5"]
        assert shell("top", "--times", "1")[-1][:4] == ["new", "Stable", "1", "5"]
    assert shell("groups")[1:] in ([], [["new", "classic", "Empty", "0", "-"]])


def test_a_dry_run_commits_nothing(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, *(record(b"%d" % n) for n in range(10)))
    commit(kafka, "billing", 0, 4)
    shown = shell("groups", "reset", "billing", "--to", "-3", "--dry-run")
    assert shown[1] == ["orders", "0", "4", "7"]
    assert shell("groups", "show", "billing")[2][2] == "4"


def test_a_group_starts_again_where_it_is_asked_to(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, *(record(b"%d" % n) for n in range(10)))
    shell("groups", "reset", "new", "--to", "latest", "--topic", "orders:0")
    assert shell("groups", "show", "new")[2][2] == "10"
    shell("groups", "reset", "new", "--to", "earliest")
    assert shell("groups", "show", "new")[2][2] == "0"


def test_a_group_that_is_not_there_is_not_shown(shell: Shell) -> None:
    assert " ".join(shell("groups", "show", "nope", status=1)[0]) == (
        "odradek: there is no group nope"
    )


def test_one_group_that_is_not_there_spares_the_others(
    kafka: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(kafka, "billing", 0, 0)
    assert main(["groups", kafka.bootstrap_servers, "delete", "nope", "billing"]) == 1
    out = capsys.readouterr()
    assert out.out == "deleted billing\n"
    assert "group nope: GROUP_ID_NOT_FOUND (there is no such group)" in out.err


def test_only_the_offsets_that_are_named_are_forgotten(kafka: Emulator, shell: Shell) -> None:
    commit(kafka, "billing", 0, 0)
    commit(kafka, "billing", 1, 0)
    (line,) = shell("groups", "forget", "billing", "--topic", "orders:1")
    assert " ".join(line) == "billing has no offsets of orders:1 any more"
    assert [row[1] for row in shell("groups", "show", "billing")[2:]] == ["0"]


def test_a_topic_that_is_not_there_is_named(shell: Shell) -> None:
    for command in (["topics", "show"], ["records"]):
        (line,) = shell(*command, "nope", status=1)
        assert " ".join(line) == "odradek: there is no topic nope"


def test_a_partition_that_is_not_there_is_named(shell: Shell) -> None:
    (line,) = shell("records", "orders", "--partition", "9", status=1)
    assert " ".join(line) == "odradek: topic orders has no partition 9"
    (line,) = shell("groups", "reset", "g", "--to", "0", "--topic", "orders:7", status=1)
    assert " ".join(line) == "odradek: topic orders has no partition 7"


# Records.


def test_records_are_shown_with_key_value_and_headers(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 1, record(b"espresso", b"42", table=b"7"))
    ((partition, offset, _, key, value, headers),) = shell("records", "orders")
    assert (partition, offset, key, value, headers) == ("1", "0", "42", "espresso", "[table=7]")


def test_records_are_filtered(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, record(b"tea", b"1", a=b"x"), record(b"espresso", b"2"))
    fill(kafka, 0, record(b"tea", b"3", a=b"y", b=b"x"))
    values = [line[4] for line in shell("records", "orders", "--value", "^esp")]
    assert values == ["espresso"]
    assert [line[3] for line in shell("records", "orders", "--key", "[12]")] == ["1", "2"]
    assert [line[1] for line in shell("records", "orders", "--header", "a=x")] == ["0"]
    assert [line[1] for line in shell("records", "orders", "--from", "-2", "--max", "1")] == ["1"]


def test_json_keeps_every_byte(kafka: Emulator, capsys: pytest.CaptureFixture[str]) -> None:
    fill(kafka, 0, NewRecord(NOW, None, b"\xff\0", (("h", None),)))
    assert main(["records", kafka.bootstrap_servers, "orders", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "topic": "orders",
        "partition": 0,
        "offset": 0,
        "timestamp": NOW,
        "key": None,
        "value_base64": "/wA=",
        "headers": [{"name": "h", "value": None}],
    }


def test_following_shows_what_comes_later(kafka: Emulator, shell: Shell) -> None:
    is_seen = threading.Event()

    def write() -> None:  # again and again: what comes before the reader looks is not late
        while not is_seen.wait(0.2):
            fill(kafka, 0, record(b"late"))

    writing = threading.Thread(target=write)
    writing.start()
    shown = shell("records", "orders", "--from", "latest", "--follow", "--max", "1")
    is_seen.set()
    writing.join()
    assert [line[4] for line in shown] == ["late"]


def test_offsets_that_compaction_left_empty_end_the_reading(kafka: Emulator, shell: Shell) -> None:
    fill(kafka, 0, record(b"a"))
    shell("topics", "empty", "orders")
    assert shell("records", "orders") == []


def test_records_of_internal_topics_are_decoded(kafka: Emulator, shell: Shell) -> None:
    commit(kafka, "billing", 0, 4)
    text = " ".join(shell("records", "__consumer_offsets")[0])
    assert "offset of billing in orders-0" in text


# Configs.


def test_a_config_is_set_shown_and_unset(shell: Shell) -> None:
    assert shell("configs", "topic", "orders", "--set", "retention.ms=5000")[1] == [
        "retention.ms",
        "5000",
        "topic",
    ]
    assert shell("configs", "topic", "orders", "--unset", "retention.ms")[0][0] == "nothing"
    assert len(shell("configs", "topic", "orders", "--all")) > 30


# Around them.


def test_a_port_where_nobody_listens_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert main(["topics", f"127.0.0.1:{port}"]) == 1
    assert f"no broker at 127.0.0.1:{port}" in capsys.readouterr().err


def test_somebody_who_says_nothing_is_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert main(["topics", address, "--timeout", "0.2"]) == 1
        assert f"{address} does not answer" in capsys.readouterr().err


def test_the_second_address_is_tried_when_the_first_is_gone(
    kafka: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", f"127.0.0.1:1,{kafka.bootstrap_servers}"]) == 0
    assert "orders" in capsys.readouterr().out


def test_positions_are_read_as_people_write_them() -> None:
    assert parse_position("earliest").timestamp == -2
    assert parse_position("latest").timestamp == -1
    assert parse_position("17").offset == 17
    assert parse_position("-3").before_end == 3
    moment = parse_position("2020-09-13T12:26:40+00:00").timestamp
    assert moment == NOW
    hour, two = parse_position("1h").timestamp, parse_position("2h").timestamp
    assert hour is not None
    assert two is not None
    assert 3_599_000 < hour - two < 3_601_000


def test_neighbours_are_joined() -> None:
    assert ranges([3, 1, 2, 7]) == "1-3,7"
    assert ranges([]) == "-"


def test_a_name_cannot_break_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["name", "n"], [["a\nb", 1]])
    assert capsys.readouterr().out == "name  n\na\\nb  1\n"
