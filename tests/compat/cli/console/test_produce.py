"""`odradek produce`: what a person gives it, what is stored then, and what it says."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from threading import Thread
from threading import enumerate as enumerate_threads
from types import SimpleNamespace
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.cli.console.produce import Shown, chunks
from odradek.compat.cli.console.sending import Placed
from odradek.compat.cli.main import main
from odradek.wire import Error
from odradek.wire.records import NewRecord

from tests.compat.cli.console.support import Shell

Produce = Callable[..., str]


@pytest.fixture
def produce(
    kafka: Emulator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Produce:
    """Runs it with these lines as its standard input; gives what it says."""

    def run(
        *arguments: str, lines: str | bytes = "", status: int = 0, topic: str = "orders"
    ) -> str:
        given = lines.encode() if isinstance(lines, str) else lines
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert main(["produce", kafka.bootstrap_servers, topic, *arguments]) == status
        return capsys.readouterr().err.strip()

    return run


def test_each_line_is_a_record(kafka: Emulator, produce: Produce) -> None:
    before = kafka.now
    output = produce(lines="one\r\n\ntwo ☕\nlast")
    assert output == "4 records to orders (2 to orders-0, 2 to orders-1)"
    records = kafka.topic("orders").records()
    assert sorted(record.value or b"" for record in records) == [
        b"",
        b"last",
        b"one",
        "two ☕".encode(),
    ]
    assert {record.key for record in records} == {None}
    assert all(before <= record.timestamp <= kafka.now for record in records)
    assert all(record.producer_id >= 0 for record in records)  # sent again, it would be there once


def test_keys_headers_nulls_and_times(kafka: Emulator, produce: Produce) -> None:
    options = ["-K", ":", "-H", "a=1", "-H", "b=", "--null", "NULL", "--timestamp", "1700000000000"]
    produce(*options, lines="k:v:w\nk:NULL\n")
    first, second = kafka.topic("orders").records()
    assert (first.key, first.value, first.timestamp) == (b"k", b"v:w", 1_700_000_000_000)
    assert first.headers == [("a", b"1"), ("b", b"")]
    assert (second.key, second.value) == (b"k", None)
    assert first.partition == second.partition


def test_a_tab_may_be_written_as_an_escape(kafka: Emulator, produce: Produce) -> None:
    produce("-K", r"\t", lines="k\tv\n")
    assert kafka.topic("orders").by_key() == {b"k": b"v"}


def test_files_one_after_another(kafka: Emulator, produce: Produce, tmp_path: object) -> None:
    paths = []
    for name in "ab":
        path = f"{tmp_path}/{name}"
        with open(path, "w") as file:
            file.write(f"{name}1\n{name}2\n")
        paths.append(path)
    produce("-p", "1", paths[0], "-", paths[1], lines="between\n")
    assert kafka.topic("orders")[1].values() == [b"a1", b"a2", b"between", b"b1", b"b2"]


def test_what_records_prints_is_taken_in_again(
    kafka: Emulator, produce: Produce, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = kafka.topic("orders")
    headers = {"text": "t", "bytes": b"\xff", "null": None}
    orders.produce(b"\xfe", b"k", headers=headers, timestamp=5, partition=1)
    orders.produce(None, "☕", timestamp=1_700_000_000_000, partition=0)
    orders.produce(b"", timestamp=7, partition=1)
    kafka.create_topic("copy", partitions=2)
    assert main(["records", kafka.bootstrap_servers, "orders", "--json"]) == 0
    produce("--json", lines=capsys.readouterr().out, topic="copy")

    def as_stored(name: str) -> list[object]:
        return [
            (each.partition, each.offset, each.timestamp, each.key, each.value, each.headers)
            for each in kafka.topic(name).records()
        ]

    assert as_stored("copy") == as_stored("orders")


def test_json_that_a_person_writes(kafka: Emulator, produce: Produce) -> None:
    produce("--json", lines='{"key": "a", "value": {"n": 1}}\n{"value": [1, "☕"]}\n{"key": 5}\n')
    records = kafka.topic("orders").records()
    assert {(each.key, each.value) for each in records} == {
        (b"a", b'{"n": 1}'),
        (None, '[1, "☕"]'.encode()),
        (b"5", None),
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nothing", "this is no JSON"),
        ("[1]", "a record is a JSON object, not [1]"),
        ('{"valeu": 1}', "there is no field 'valeu' of a record"),
        ('{"value_base64": "?"}', "value_base64 is not base64: '?'"),
        ('{"timestamp": "now"}', "timestamp is a whole number, not 'now'"),
        ('{"headers": {"a": 1}}', 'a header is {"name": ..., "value": ...}, not "a"'),
        ('{"partition": 7}', "topic orders has no partition 7: it has 2"),
    ],
)
def test_a_wrong_line_is_named_and_those_before_it_are_stored(
    kafka: Emulator, produce: Produce, line: str, expected: str
) -> None:
    said = produce("--json", lines=f'{{"value": "good"}}\n{line}\n', status=1).splitlines()
    assert expected in said[-1]
    if "partition" not in line:
        assert said[-1].startswith("odradek: standard input, line 2: ")
        assert kafka.topic("orders").values() == [b"good"]


def test_test_data_from_a_template(kafka: Emulator, produce: Produce) -> None:
    template = '{"id": {seq:10}, "who": {name}, "at": "{city}", "ok": {bool}, "n": {int:5..6}}'
    options = ["--generate", "20", template, "-k", "k{seq}", "--seed", "7"]
    produce(*options, "-p", "0")
    produce(*options, "-p", "1")
    orders = kafka.topic("orders")
    found = [json.loads(value or b"") for value in orders[0].values()]
    assert [each["id"] for each in found] == list(range(10, 30))
    assert {type(each["ok"]) for each in found} == {bool}
    assert {each["n"] for each in found} == {5, 6}
    assert orders[0].keys() == [f"k{n}".encode() for n in range(20)]
    assert orders[0].values() == orders[1].values()  # the same seed


def test_copies(kafka: Emulator, produce: Produce) -> None:
    produce("--copies", "3", "-p", "0", lines="a\nb\n")
    assert kafka.topic("orders").values() == [b"a"] * 3 + [b"b"] * 3


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_codecs(kafka: Emulator, produce: Produce, codec: str) -> None:
    produce("--codec", codec, "--generate", "2000", "always the same", "-p", "0")
    assert kafka.topic("orders").values() == [b"always the same"] * 2000
    assert kafka.topic("orders").size < 20_000  # of 44,000


def test_a_transaction_is_committed_or_nothing_of_it(kafka: Emulator, produce: Produce) -> None:
    produce("--transactional-id", "all", lines="a\nb\n")
    assert set(kafka.topic("orders").values()) == {b"a", b"b"}
    output = produce("--transactional-id", "all", "-K", ":", lines="k:c\nwrong\n", status=1)
    assert output.splitlines()[0] == "1 record to orders, aborted (1 to orders-0)"
    assert set(kafka.topic("orders").values()) == {b"a", b"b"}
    (transaction,) = kafka.transactions()
    assert transaction.state == "CompleteAbort"
    produce("--transactional-id", "all")  # of no record
    assert set(kafka.topic("orders").values()) == {b"a", b"b"}


def test_what_is_sent_again_is_stored_once(kafka: Emulator, produce: Produce) -> None:
    lost = kafka.on("Produce").once().disconnect("after")
    moved = kafka.on("Produce").after(1).once().fail(Error.NOT_LEADER_OR_FOLLOWER)
    produce("-p", "0", lines="a\nb\n")
    assert (lost.hits, moved.hits) == (1, 1)
    assert kafka.topic("orders").values() == [b"a", b"b"]


def test_a_refusal_says_what_and_why(kafka: Emulator, produce: Produce) -> None:
    kafka.create_topic("small", config={"max.message.bytes": "100"})
    said = produce(lines="x" * 200, topic="small", status=1)
    assert "odradek: 1 record to small-0: MESSAGE_TOO_LARGE" in said
    assert produce(lines="x", topic="nope", status=1).endswith("there is no topic nope")
    said = produce("-p", "9", lines="x", status=1)
    assert said.endswith("topic orders has no partition 9: it has 2")


def test_a_topic_that_does_not_exist_is_made_if_asked(kafka: Emulator, produce: Produce) -> None:
    produce("--create-topic", "3", "-p", "2", lines="x", topic="new")
    produce("--create-topic", "1", "-p", "2", lines="y", topic="new")  # it is there
    assert kafka.topic("new")[2].values() == [b"x", b"y"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--generate", "x", "y"], "not a whole number"),
        (["--generate", "1", "{sequence}"], "there is no field {sequence}: seq, int"),
        (["--generate", "1", "{int:a}"], "{int:a} is wrong: int is a whole number"),
        (["-H", "a"], "not of the form NAME=VALUE: 'a'"),
        (["--rate", "0"], "not a number of records a second: '0'"),
        (["--timestamp", "latest"], "not a time: 'latest'"),
        (["-K", ""], "a separator is not empty"),
    ],
)
def test_wrong_options_are_refused_before_a_broker_is_asked(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["produce", "127.0.0.1:1", "orders", *arguments])
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err


def test_records_are_sent_as_they_come() -> None:
    def forever() -> Iterator[Placed]:
        number = 0
        while True:
            yield Placed(NewRecord(0, None, b"%d" % number))
            number += 1

    found = chunks(forever(), None)  # which does not wait for an end
    first, second = next(found), next(found)
    values = [int(bytes(each.record.value or b"")) for each in [*first, *second]]
    assert values == list(range(len(values)))
    found.close()
    assert not any(each.name == "odradek-input" and ends_not(each) for each in enumerate_threads())


def ends_not(thread: Thread) -> bool:
    thread.join(30)
    return thread.is_alive()


def test_what_it_has_sent_is_read_by_the_view(produce: Produce, shell: Shell) -> None:
    produce("-p", "0", "-k", "42", lines="espresso\n")
    (line,) = shell("records", "orders")
    assert line[-2:] == ["42", "espresso"]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_it_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    sender: Any = SimpleNamespace(sent={0: 1200, 1: 34}, topic="orders")
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    seldom = Shown(sender, quiet=False)
    quiet = Shown(sender, quiet=True, every_s=0)
    for each in (seldom, quiet):
        each.look()
        each.clear()
    assert screen.getvalue() == ""
    often = Shown(sender, quiet=False, every_s=0)
    often.look()
    assert re.fullmatch(r"1,234 records to orders, [0-9,]+ a second", shown := screen.getvalue())
    often.clear()
    assert screen.getvalue() == f"{shown}\r{' ' * len(shown)}\r"
    monkeypatch.setattr(sys, "stderr", file := io.StringIO())
    elsewhere = Shown(sender, quiet=False, every_s=0)
    elsewhere.look()
    assert file.getvalue() == ""
