"""`odradek serve` as a user runs it."""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.cli import main as cli
from odradek.compat.cli import serve as module
from odradek.compat.cli.main import main
from odradek.wire import Error
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.groups import join_request
from tests.requests.produce import batch, produce
from tests.requests.topics import create_topics, new_topic
from tests.support.connection import Connection

LOGGED = [
    "by hand connected",
    "by hand created topic orders with 1 partition",
    "by hand was refused Produce (none-0): UNKNOWN_TOPIC_OR_PARTITION: "
    "there is no such topic or partition",
]
pytestmark = pytest.mark.slow  # most start a process

SERVE = [sys.executable, "-m", "odradek.compat.cli", "serve"]


def serve(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SERVE, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_line_when_ready_and_a_clean_stop(number: signal.Signals, tmp_path: Path) -> None:
    process = serve("--port", "0", "--topic", "orders:3", "--data-dir", str(tmp_path / "data"))
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.match(r"odradek ready at 127\.0\.0\.1:(\d+)", line)
    assert found, line
    socket.create_connection(("127.0.0.1", int(found[1])), timeout=30).close()
    process.send_signal(number)
    rest, errors = process.communicate(timeout=60)
    assert (process.returncode, rest, errors) == (0, "", "")
    assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()


def test_it_stops_while_members_of_many_groups_wait() -> None:
    process = serve("--port", "0", "--topic", "orders:3", "--quiet")
    assert process.stdout is not None
    address = process.stdout.readline().split()[3]
    first = FetchRequest.Topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1)
    orders = FetchRequest.Topic(topic="orders", partitions=[first])
    parked = FetchRequest(max_wait_ms=600_000, min_bytes=1, topics=[orders])
    with ExitStack() as open_ones:
        for number in range(60):
            member, reader = (open_ones.enter_context(Connection(address)) for _ in range(2))
            if not number:
                member.ask(FindCoordinatorRequest(coordinator_keys=["g-0"]), 4)
            member.send(join_request(group_id=f"g-{number}"), 3)
            reader.send(parked, 4)
            reader.send(parked, 4)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_several_brokers(tmp_path: Path) -> None:
    options = ("--brokers", "3", "--racks", "a,b", "--rack", "c", "--data-dir", str(tmp_path))
    process = serve("--port", "0", "--advertised", "localhost:{port}", "--topic", "t:3", *options)
    assert process.stdout is not None
    addresses = process.stdout.readline().split()[3].split(",")
    assert len(addresses) == 3
    with Connection(addresses[2]) as client:
        found = client.ask(MetadataRequest(topics=[]), 9).brokers
    assert [f"{each.host}:{each.port}" for each in found] == addresses
    assert [(each.node_id, each.rack) for each in found] == [(1, "a"), (2, "b"), (3, "c")]
    assert all(each.host == "localhost" for each in found)
    process.terminate()
    assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--brokers", "2", "--rack", "a"], "--racks: 1 is given for 2 brokers"),
        (["--listen", "h:1,h:2", "--brokers", "3"], "--listen: 2 are given for 3 brokers"),
        (["--listen", "h:1", "--port", "1"], "--listen and --port both say where to listen"),
        (["--listen", "h"], "not an address of the form HOST:PORT: 'h'"),
        (["--advertised", "kafka-{node}:9092"], "are {id} and {port}, not node"),
        (["--brokers", "0"], "not a whole number from 1 to 1000: '0'"),
        (["--rack", "a,,b"], "not a list of names: 'a,,b'"),
    ],
)
def test_brokers_that_cannot_be(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--no-file", *options])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("is_quiet", [False, True])
def test_it_logs_what_clients_do(is_quiet: bool) -> None:
    process = serve("--port", "0", *["--quiet"] * is_quiet)
    assert process.stdout is not None
    address = process.stdout.readline().split()[3]
    with Connection(address) as client:
        create_topics(client, new_topic("orders"))
        produce(client, batch(b"x"), topic="orders")
        produce(client, batch(b"x"), topic="none")
    process.terminate()
    _, errors = process.communicate(timeout=60)
    sentences = [line.split("  ", 1)[1] for line in errors.splitlines()]
    assert sentences[:3] == ([] if is_quiet else LOGGED)


def test_it_takes_the_time_of_a_real_node() -> None:
    process = serve("--port", "0", "--quiet", "--timing", "kafka")
    assert process.stdout is not None
    look = FindCoordinatorRequest(coordinator_keys=["billing"])
    with Connection(process.stdout.readline().split()[3]) as client:
        (found,) = client.ask(look, 4).coordinators
    process.terminate()
    process.communicate(timeout=60)
    assert found.error_code == Error.COORDINATOR_NOT_AVAILABLE


def test_signals_during_a_long_start_and_a_long_stop_end_it_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = serve("--port", "0", "--topic", "orders:2000", "--data-dir", str(data))
    while not (data / ".lock").exists():  # then the start is under way
        assert process.poll() is None
        time.sleep(0.001)
    marker = data / ".kafka_cleanshutdown"
    while not marker.exists() and process.poll() is None:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.01)
    line, errors = process.communicate(timeout=60)
    assert line.startswith("odradek ready at ")
    assert (process.returncode, errors) == (0, "")
    assert marker.exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--set", "num.partitions"], "CONFIG=VALUE"),
        (["--topic", "orders:none"], "none"),
        (["--topic", "a:0"], "not a number of partitions: '0'"),
        (["--topic", "a:²"], "not a number of partitions: '²'"),
        (["--topic", "a:2147483648"], "not a number of partitions: '2147483648'"),
        (["--topic", "a:1", "--topic", "a:5"], "a is given two different values"),
        (["--port", "99999"], "99999"),
        (["--port", "²"], "not a port: '²'"),
        (["--advertised", "nowhere"], "nowhere"),
        (["--advertised", "nowhere:0"], "nowhere:0"),
        (["--feature", "group.version"], "group.version"),
        (["--feature", "group.version=²"], "not of the form NAME=LEVEL"),
        (["--scan-limit=-1"], "neither a number of records nor `all`: '-1'"),
        (["--scan-limit", "²"], "neither a number of records nor `all`: '²'"),
        (["--kafka-version", "0.6"], "no release '0.6'"),
        (["--naming", "x"], "invalid choice: 'x'"),
        (["--timing", "slow"], "invalid choice: 'slow'"),
    ],
)
def test_a_wrong_option_is_named(
    options: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *options])
    assert ended.value.code == 2
    assert named in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "status", "named"),
    [
        (["--set", "num.partitions=many"], 2, "num.partitions"),
        (["--topic", "no/slash"], 2, "no/slash"),
        (["--topic", ""], 2, "the empty string is not allowed"),
        (["--host", "203.0.113.1"], 1, "203.0.113.1"),
        (["--host", ""], 2, "host is a name or an address"),
        (["--data-dir", "/dev/null"], 1, "/dev/null"),
        (["--data-dir", ""], 2, "data_dir is the path of a directory"),
        (["--set", "authorizer.class.name=x"], 2, "no other class is there"),
        (["--feature", "nonsense=1"], 2, "Unknown feature: nonsense"),
    ],
)
def test_what_cannot_be_served_is_named(
    options: list[str], status: int, named: str, command: Callable[..., Any]
) -> None:
    ended = command("serve", "--port", "0", *options)
    assert (ended.status, ended.output) == (status, "")
    assert named in ended.errors
    assert "Traceback" not in ended.errors


def test_with_standard_output_closed_it_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    command = " ".join([*SERVE, "--port", "0", ">&-"])
    done = subprocess.run(
        command,
        timeout=60,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 1
    assert "nobody reads the standard output" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_version() -> None:
    done = subprocess.run([*SERVE[:-1], "--version"], capture_output=True, text=True)
    assert re.fullmatch(r"odradek \d+\.\d+\.\d+(rc\d+)?\n", done.stdout)


def test_ctrl_c_while_it_is_being_loaded_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    assert main(["topics", "127.0.0.1:1"]) == 130


class Periods(threading.Event):
    """Is set after so many waits."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._left = count

    def wait(self, timeout: float | None = None) -> bool:
        self._left -= 1
        return self._left < 0


@pytest.mark.parametrize(("jobs", "collections"), [([], 30), (["a long request"], 3)])
def test_full_collections_wait_for_long_requests_but_not_for_ever(
    jobs: list[str], collections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[None] = []
    monkeypatch.setattr(gc, "collect", lambda: collected.append(None))
    module._collect_until(Periods(30), jobs)
    assert len(collected) == collections
