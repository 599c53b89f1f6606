"""An import that is interrupted, and goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main

COUNT = 30_000
LIMIT_S = 60.0


def lines(count: int) -> list[str]:
    """What `records --json` prints of two partitions, with all that a record may be."""
    odd = [{"name": "h", "value": None}, {"name": "h", "value_base64": "/wA="}, {"name": "h"}]
    entries = [
        {
            "topic": "orders",
            "partition": number % 2,
            "offset": number // 2,
            "timestamp": 1_700_000_000_000 + number,
            "key": None if number % 5 == 0 else f"k{number}",
            "value": None if number % 7 == 0 else f"v{number}",
            "headers": odd if number % 3 == 0 else [],
        }
        for number in range(count)
    ]
    return [f"{json.dumps(each)}\n" for each in entries]


def started(kafka: Emulator, state: Path, file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "odradek", "produce", kafka.bootstrap_servers, "copy"]
    return subprocess.Popen(
        [*command, "--json", "--resume", str(state), "--rate", "20000", str(file)],
        stderr=subprocess.PIPE,
    )


def stored(kafka: Emulator) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for partition in kafka.topic("copy"):
        for each in partition.records():
            found[partition.index, each.timestamp, each.key, each.value, tuple(each.headers)] += 1
    return found


def wait_for_state(state: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not state.exists():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_import_goes_on_where_it_was(tmp_path: Path, how: signal.Signals) -> None:
    file, state = tmp_path / "in", tmp_path / "state"
    file.write_text("".join(lines(COUNT)))
    with Emulator({"log.retention.ms": -1}, topics={"copy": 2, "whole": 2}) as kafka:
        process = started(kafka, state, file)
        wait_for_state(state, process)
        os.kill(process.pid, how)
        status = process.wait(LIMIT_S)
        assert process.stderr is not None
        process.stderr.close()
        assert status == (130 if how == signal.SIGINT else -how)
        before = sum(stored(kafka).values())
        assert 0 < before < COUNT
        # The lines of another run may come in another order.
        file.write_text(
            "".join(sorted(lines(COUNT), key=lambda line: json.loads(line)["partition"]))
        )
        process = started(kafka, state, file)
        assert process.wait(LIMIT_S) == 0
        process.stderr.close() if process.stderr else None
        found = stored(kafka)
        assert len(found) == COUNT  # nothing is missing
        twice = sum(found.values()) - COUNT
        assert twice == 0 if how == signal.SIGINT else twice <= 5000
        process = started(kafka, state, file)  # all is there
        assert process.wait(LIMIT_S) == 0
        assert process.stderr is not None
        assert process.stderr.read().startswith(b"0 records")
        process.stderr.close()
        assert stored(kafka) == found


def test_an_export_is_imported_again(kafka: Emulator, tmp_path: Path) -> None:
    """What a million records do: python -m tests.export_import."""
    address, given = kafka.bootstrap_servers, lines(2000)
    first, again = tmp_path / "first", tmp_path / "again"
    first.write_text("".join(given))
    assert main(["produce", address, "orders", "--json", str(first)]) == 0
    assert main(["records", address, "orders", "--output", str(again)]) == 0

    def content(text: str) -> list[str]:
        entries = map(json.loads, text.splitlines())
        # A header without a value is one whose value is null.
        headers = [
            each | {"headers": [{"value": None, **header} if len(header) == 1 else header
                                for header in each["headers"]]}
            for each in entries
        ]  # fmt: skip
        return sorted(json.dumps(each, sort_keys=True) for each in headers)

    assert content(again.read_text()) == content("".join(given))


def test_lines_without_offsets_are_counted(
    kafka: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, state = tmp_path / "in", tmp_path / "state"
    given = ["produce", kafka.bootstrap_servers, "orders", "--resume", str(state), str(file)]
    file.write_text("a\nb\n")
    assert main(given) == 0
    file.write_text("a\nb\nc\n")
    assert main(given) == 0
    assert sorted(map(str, kafka.topic("orders").values())) == ["b'a'", "b'b'", "b'c'"]
    assert json.loads(state.read_text()) == {"topic": "orders", "lines": 3, "sources": {}}
    other = [*given[:2], "copy", "--create-topic", "1", *given[3:]]
    assert main(other) == 1
    assert "is of an import to orders, not to copy" in capsys.readouterr().err
    state.write_text("[]")
    assert main(given) == 1
    assert "was not written by --resume" in capsys.readouterr().err
    assert main([*given[:-1], "--generate", "1", "x"]) == 1


def test_a_transaction_is_noted_when_it_is_committed(kafka: Emulator, tmp_path: Path) -> None:
    file, state = tmp_path / "in", tmp_path / "state"
    given = ["produce", kafka.bootstrap_servers, "orders", "--resume", str(state), str(file)]
    file.write_text("a\nb:c\n")
    in_one = ["--transactional-id", "t", "-K", ":"]
    assert main([*given, *in_one]) == 1  # the first line has no separator
    assert not state.exists()
    file.write_text("a:b\nb:c\n")
    assert main([*given, *in_one]) == 0
    assert main([*given, *in_one]) == 0
    assert len(kafka.topic("orders").values()) == 2
