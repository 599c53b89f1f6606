"""`odradek records`: as a member of a group, the last ones, filters, formats, kinds of values."""

from __future__ import annotations

import json
import struct
import threading
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.console import joining, reading
from odradek.compat.cli.console.client import Brokers
from odradek.compat.cli.console.filters import condition
from odradek.compat.cli.console.formats import format_of
from odradek.compat.cli.console.offsets import parse_position, resolve
from odradek.compat.cli.console.reading import Reader
from odradek.compat.cli.console.records import GroupReader
from odradek.compat.cli.main import main

from tests.compat.cli.console.support import commit, fill
from tests.support.clock import NOW
from tests.support.written import record

Said = Callable[..., str]
VALUES = ["--format", "%s\\n"]


@pytest.fixture
def said(kafka: Emulator, capsys: pytest.CaptureFixture[str]) -> Said:
    def run(view: str, *arguments: str, status: int = 0) -> str:
        done = main([view, kafka.bootstrap_servers, *arguments])
        out = capsys.readouterr()
        assert done == status, out
        return out.err if status else out.out

    return run


# Groups.


def test_a_group_goes_on_where_it_was(kafka: Emulator, said: Said) -> None:
    fill(kafka, 0, record(b"a"), record(b"b"))
    fill(kafka, 1, record(b"c"))
    assert said("consume", "orders", "-g", "billing", *VALUES).split() == ["a", "b", "c"]
    assert said("consume", "orders", "-g", "billing", *VALUES) == ""
    fill(kafka, 1, record(b"d"))
    assert said("consume", "orders", "-g", "billing", *VALUES) == "d\n"
    billing = kafka.group("billing")
    assert billing.lag() == 0
    assert billing.state == "Empty"  # it has left


def test_a_group_commits_what_was_shown_and_no_more(kafka: Emulator, said: Said) -> None:
    fill(kafka, 0, *(record(b"%d" % number) for number in range(5)))
    assert said("consume", "orders", "-g", "billing", "-n", "2", *VALUES).split() == ["0", "1"]
    assert said("consume", "orders", "-g", "billing", *VALUES).split() == ["2", "3", "4"]


def test_a_filter_is_done_with_what_it_leaves_out(kafka: Emulator, said: Said) -> None:
    fill(kafka, 0, record(b"a"), record(b"b"))
    assert said("consume", "orders", "-g", "billing", "--value", "a", *VALUES) == "a\n"
    assert said("consume", "orders", "-g", "billing", *VALUES) == ""


def test_where_a_group_begins(kafka: Emulator, said: Said) -> None:
    fill(kafka, 0, record(b"a"), record(b"b"))
    fill(kafka, 1, record(b"c"), record(b"d"))
    commit(kafka, "billing", 0, 1)
    assert said("consume", "orders", "-g", "billing", "--from", "latest", *VALUES) == "b\n"


def test_two_members_share_the_partitions(kafka: Emulator, said: Said) -> None:
    """The other one is a stock client, which offers the assignor that both know."""
    confluent = pytest.importorskip("confluent_kafka")
    fill(kafka, 0, record(b"a"))
    fill(kafka, 1, record(b"b"))
    config = kafka.client_config("confluent", "consumer")
    theirs = confluent.Consumer(config | {"group.id": "billing", "auto.offset.reset": "earliest"})
    theirs.subscribe(["orders"])
    assert theirs.poll(30) is not None
    seen: list[str] = []
    ours = threading.Thread(
        target=lambda: seen.append(said("consume", "orders", "-g", "billing", "-n", "1", "-f",
                                        *VALUES))
    )  # fmt: skip
    ours.start()
    try:
        while len(theirs.assignment()) != 1:
            theirs.poll(0.1)
        (kept,) = theirs.assignment()
        while not seen:
            fill(kafka, 1 - kept.partition, record(b"for us"))
            theirs.poll(0.1)
    finally:
        theirs.close()
        ours.join()
    assert len(seen) == 1


@pytest.mark.parametrize("group", [None, "billing"])
def test_new_partitions_are_read_too(
    kafka: Emulator, group: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_METADATA_EVERY_S", 0.1)
    monkeypatch.setattr(joining, "_BEAT_S", 0.1)
    fill(kafka, 0, record(b"old"))
    with Brokers(kafka.bootstrap_servers) as brokers:
        topic = brokers.topic("orders")
        start = parse_position("earliest")
        reader: Reader | GroupReader
        if group is None:
            starts = resolve(brokers, [topic], start)
            reader = Reader(brokers, topic, starts, committed=False, follow=True)
        else:
            reader = GroupReader(
                brokers, topic, group, start, committed=False, follow=True, flush=lambda: None
            )
        found = iter(reader)
        assert next(found)[1].value == b"old"
        kafka.topic("orders").add_partitions(1)
        fill(kafka, 2, record(b"new"))
        partition, new = next(found)
        assert (partition, new.value) == (2, b"new")


# From where on, up to where.


def test_the_last_ones_of_all_partitions(kafka: Emulator, said: Said) -> None:
    for number in range(8):
        value = b"%d" % number
        fill(kafka, number % 2, record(value)._replace(timestamp=NOW + number))
    assert said("records", "orders", "--last", "3", *VALUES).split() == ["5", "6", "7"]
    assert said("records", "orders", "--last", "2", "--value", "[02]", *VALUES).split() == [
        "0",
        "2",
    ]
    assert len(said("records", "orders", "--last", "99").splitlines()) == 8


def test_up_to_an_offset(kafka: Emulator, said: Said) -> None:
    fill(kafka, 0, *(record(b"%d" % number) for number in range(5)))
    shown = said("records", "orders", "--from", "1", "--to", "3", *VALUES)
    assert shown.split() == ["1", "2"]


def test_what_is_beyond_the_end_is_said(
    kafka: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(kafka, 0, record(b"a"))
    for start, why in (
        ("7", "offset 7 is beyond the end: orders-0 at 1, orders-1 at 0"),
        ("2999-01-01", "no record of orders is of that time or later"),
    ):
        assert main(["records", kafka.bootstrap_servers, "orders", "--from", start]) == 0
        assert why in capsys.readouterr().err
    assert main(["records", kafka.bootstrap_servers, "orders", "--from", "1"]) == 0
    assert "orders-0" not in capsys.readouterr().err


def test_what_contradicts_is_refused(said: Said) -> None:
    said_ = said("records", "orders", "--last", "3", "--from", "4", status=1)
    assert "--last and --from contradict each other" in said_


def test_the_metadata_log_is_not_for_clients(said: Said) -> None:
    assert "is served to controllers alone" in said("records", "__cluster_metadata", status=1)


# Filters.


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (".city=Oslo", True),
        ("city=Oslo", True),
        ("$.city!=Oslo", False),
        (".city~^Os", True),
        (".items[0].price>4", True),
        (".items[0].price>=5.5", False),
        ("items[*].price<=3", True),
        ("items[*].price<3", False),
        ('["a.b"]=true', True),
        (".none", False),
        (".none!=1", False),
        (".nothing", True),
        (".nothing=null", True),
        (".zip=0123", True),
        (".zip==0123", True),
        (".items[1].price==3", True),
        (".items[1].price==5", False),
        (".city == 'Oslo'", True),
        (".city=~^Os", True),
        (".city<P", True),
        (".city<5", False),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    value = {
        "city": "Oslo",
        "items": [{"price": 5}, {"price": 3}],
        "a.b": True,
        "nothing": None,
        "zip": "0123",
    }
    assert condition(text).holds(value) is holds


@pytest.mark.parametrize("text", ["[", ".a[", ".city[0", "=5", ""])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not like"):
        condition(text)


def test_records_by_what_their_json_says(kafka: Emulator, said: Said) -> None:
    fill(kafka, 0, record(b'{"id": 1}'), record(b"no json"), record(b'{"id": 2}'))
    assert said("records", "orders", "--where", ".id>1", "--format", "raw") == '{"id": 2}\n'
    for same in ("=2", "==2", "===2", "!==1"):
        assert (
            said("records", "orders", "--where", f".id{same}", "--format", "raw") == '{"id": 2}\n'
        )


# Formats.


def test_a_template_of_kcat_and_one_of_names(kafka: Emulator, said: Said) -> None:
    fill(kafka, 1, record(b"tea", b"42", table=b"7"), record(b"tea")._replace(value=None))
    shown = said("records", "orders", "-f", "%t/%p/%o %k=%s (%K %S) %h %T%%\\n")
    assert shown == f"orders/1/0 42=tea (2 3) table=7 {NOW}%\norders/1/1 = (-1 -1)  {NOW}%\n"
    names = "{topic}-{partition}@{offset}:{key}\\t{value}\\x00"
    assert said("records", "orders", "--format", names) == (
        "orders-1@0:42\ttea\x00orders-1@1:\t\x00"
    )


def test_a_format_that_there_is_not_is_answered_with_those_that_are() -> None:
    with pytest.raises(Exception, match=r"no field \{offest\}"):
        format_of("{offest}")
    with pytest.raises(Exception, match="is table meant"):
        format_of("tabel")


def test_kinds_of_keys_and_values(kafka: Emulator, said: Said) -> None:
    fill(kafka, 0, record(struct.pack(">q", -5), struct.pack("<i", 7)), record(b"short", b"k"))
    how = ["-s", "int64", "-s", "key=<i", "--format", "%k:%s\\n"]
    assert said("records", "orders", *how) == "7:-5\nk:short\n"
    assert said("records", "orders", "-s", "hex", "-n", "1", *VALUES) == "fffffffffffffffb\n"
    shown = json.loads(said("records", "orders", "-s", "q", "-n", "1", "--json"))
    assert shown["value"] == -5


# An export that goes on.


def test_a_file_is_gone_on_with(kafka: Emulator, said: Said, tmp_path: Path) -> None:
    file = tmp_path / "orders.jsonl"
    fill(kafka, 0, record(b"a"), record(b"b"))
    said("records", "orders", "--output", f"{file}")
    first = file.read_text()
    fill(kafka, 1, record(b"c"))
    file.write_text(first.splitlines(keepends=True)[0] + '{"topic": "orders", "part')  # killed
    said("records", "orders", "--output", f"{file}")
    found = [json.loads(line) for line in file.read_text().splitlines()]
    assert sorted((each["partition"], each["offset"], each["value"]) for each in found) == [
        (0, 0, "a"),
        (0, 1, "b"),
        (1, 0, "c"),
    ]
    file.write_text("something else\n")
    assert "line 1: this is no record of orders" in said(
        "records", "orders", "--output", f"{file}", status=1
    )
    assert file.read_text() == "something else\n"
