"""What the views write survives any terminal, file and reader, and what is written is one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.wire.records import NewRecord

from tests.compat.cli.console.support import KEPT, Shell, fill
from tests.support.clock import NOW
from tests.support.written import record, write_records

ODRADEK = [sys.executable, "-m", "odradek.compat.cli"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with Emulator(KEPT, topics={"orders": 1, "none": 1}) as emulator:
        address = emulator.bootstrap_servers
        write_records(address, "orders", 0, record("é漢".encode()))
        write_records(address, "orders", 0, *(record(b"x" * 1000) for _ in range(500)))
        yield address


def run(command: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    """A shell's command; `odradek` in it is ours."""
    return subprocess.run(
        command.replace("odradek", " ".join(ODRADEK)),
        shell=True,
        capture_output=True,
        encoding=encoding,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )


@pytest.mark.slow
def test_what_an_encoding_does_not_have_is_escaped(address: str) -> None:
    done = run(f"odradek records {address} orders --max 1", "latin-1")
    assert done.returncode == 0
    assert done.stdout.rstrip().endswith("é\\u6f22")


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_ends_the_reading(address: str) -> None:
    done = run(f"(odradek records {address} orders; echo $? >&2) | head -1")
    assert done.stdout.startswith("  0        0")
    assert done.stderr == "0\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "why"),
    [
        (">&-", "the standard output is closed"),
        ("> /dev/full", "the standard output cannot be written: No space left on device"),
    ],
)
def test_output_that_goes_nowhere_is_an_error(address: str, where: str, why: str) -> None:
    done = run(f"odradek records {address} orders {where}")
    assert (done.returncode, done.stderr) == (1, f"odradek: {why}\n")


@pytest.mark.slow
def test_ctrl_c_ends_the_following_of_a_topic_without_an_error(address: str) -> None:
    # A shell starts what it puts into the background, such as tests, with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*ODRADEK, "records", address, "orders", "--follow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    assert "é漢" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_nulls_empty_values_and_what_would_move_the_cursor_are_distinguished(
    kafka: Emulator, shell: Shell
) -> None:
    fill(kafka, 0, NewRecord(NOW, None, None, ()), NewRecord(NOW, b"", b"", (("h", None),)))
    fill(kafka, 0, NewRecord(NOW, b"\xff", b"a\n\x1b[31m", (("b\nc", b"\xe2\x80\xae"), ("", b""))))
    assert [line[3:] for line in shell("records", "orders")] == [
        ["null", "null"],
        ["[h=null]"],
        ["\\xff", "a\\n\\x1b[31m", "[b\\nc=\\u202e", "=]"],
    ]


def test_a_topic_without_records_shows_nothing(shell: Shell) -> None:
    assert shell("records", "orders") == []
    assert shell("records", "orders", "--json", "--committed", "--from", "latest") == []


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb"])
def test_a_name_in_a_message_cannot_break_its_line(shell: Shell, name: str) -> None:
    (line,) = shell("topics", "create", name, status=1)
    assert repr(name)[1:-1] in " ".join(line)


def test_a_name_that_is_no_unicode_is_refused(shell: Shell) -> None:
    (line,) = shell("topics", "show", "\udcff", status=1)
    assert " ".join(line).startswith("odradek: no broker can be asked that:")
