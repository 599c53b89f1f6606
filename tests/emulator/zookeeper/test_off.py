"""ZooKeeper from the command line, and that nothing of it is loaded where nobody asks for it."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SERVE = [sys.executable, "-m", "odradek.compat.cli", "serve", "--port", "0", "--quiet"]
LOADED = """
import sys
from odradek import Emulator
with Emulator(): pass
print([each for each in sys.modules if "zookeeper" in each or "0_7" in each])
"""


def test_the_default_release_loads_nothing_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"


def test_serve_says_where_it_is(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    options = ["--kafka-version", "2.7", "--zookeeper", "0", "--ready-file", str(ready)]
    process = subprocess.Popen([*SERVE, *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"ZooKeeper at (127\.0\.0\.1):(\d+)", process.stdout.readline())
    assert found
    with socket.create_connection((found[1], int(found[2])), 30) as asked:
        asked.sendall(b"ruok")
        assert asked.makefile("rb").read() == b"imok"
    assert json.loads(ready.read_text())["zookeeper_connect"] == f"{found[1]}:{found[2]}"
    process.terminate()
    assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--zookeeper", "0"], "zookeeper: Kafka 4.3 has none, since 4.0"),
        (["--zookeeper", "70000"], "not a port: '70000'"),
        (["--kafka-version", "2.7", "--zookeeper", "/"], "/ is no dataDir of a ZooKeeper"),
    ],
)
def test_serve_refuses_it(options: list[str], said: str) -> None:
    done = subprocess.run(
        [*SERVE, *options], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert said in done.stderr
