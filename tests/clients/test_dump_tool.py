"""Kafka's own dump tool, over a directory that a broker wrote for stock clients: no complaint."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from odradek.compat import CLIENTS, Client, NewRecord, Unavailable
from odradek.compat import client as client_named
from odradek.compat.clients import Codec
from odradek.compat.jars import jars
from odradek.compat.real_kafka import VERSION, run_tool

from .served import Served

pytestmark = [pytest.mark.real, pytest.mark.slow]

DUMP = "org.apache.kafka.tools.DumpLogSegments"
DUMPED = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
INDEXES = (".index", ".timeindex")
COMPLAINTS = re.compile(
    r"mismatch|out of order|non-consecutive|invalid bytes|isvalid: false|found |exception|error"
    r"|corrupt|unknown|skip",
    re.I,
)
BATCH = re.compile(r"^baseOffset: (\d+) lastOffset: (\d+) count: (\d+) .*$", re.M)
CODECS: tuple[Codec | None, ...] = (None, *get_args(Codec))
RECORDS = 150  # of each client and codec, in each of two ways
RANDOM = random.Random(1)


class Written:
    """A directory, and what was put into it."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.records = 0
        self.committed: dict[str, int] = {}  # by group, for partition 0 of `t`

    def files(self, directory: str, suffixes: tuple[str, ...] = DUMPED) -> list[Path]:
        found = sorted((self.data_dir / directory).iterdir())
        return [path for path in found if path.suffix in suffixes]


@pytest.fixture(scope="module")
def _archives() -> None:
    try:
        jars(VERSION)
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")


@pytest.fixture(scope="module", params=["stopped", "killed", "recovered"])
def written(
    request: pytest.FixtureRequest, _archives: None, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    """A directory after a clean stop; after a kill; after a kill, a start, and a clean stop."""
    written = Written(tmp_path_factory.mktemp("dump") / "data")
    with Served(written.data_dir) as served:
        fill(served.bootstrap_servers, written)
        if request.param == "stopped":
            served.restart()
            fill(served.bootstrap_servers, written)
            served.stop()
        else:
            served.kill()
        if request.param == "recovered":
            served.start()
            served.stop()
    return written


def fill(bootstrap: str, written: Written) -> None:
    """Let every client write in every codec, idempotently and not, and commit for a group."""
    clients = list(installed())
    if "t" not in clients[0].list_topics(bootstrap):
        clients[0].create_topic(bootstrap, "t", 1, {"segment.bytes": "1048576"})
    for client in clients:
        for codec in CODECS:
            for idempotent in (False, True):
                sent = [NewRecord(RANDOM.randbytes(500), b"%d" % n) for n in range(RECORDS)]
                client.produce(bootstrap, "t", sent, compression=codec, idempotent=idempotent)
                written.records += RECORDS
        group = f"group of {client.name}"
        client.consume(bootstrap, "t", group=group, count=100 * (1 + len(client.name)))
        written.committed |= {
            group: offset for offset in client.committed(bootstrap, group, "t").values()
        }


def installed() -> Iterator[Client]:
    missing: Unavailable | None = None
    for name in CLIENTS:
        try:
            yield client_named(name)
        except Unavailable as reason:
            missing = reason
    if missing is not None:
        pytest.skip(f"unavailable: {missing}")


def dump(files: list[Path], *options: str) -> str:
    done = run_tool(VERSION, DUMP, *options, "--files", ",".join(map(str, files)))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_look(written: Written) -> None:
    print(dump(written.files("t-0"))[:6000])
    print(dump(written.files("t-0"))[-6000:])
    for path in sorted(written.data_dir.glob("__consumer_offsets-*")):
        print(dump(written.files(path.name), "--offsets-decoder")[:3000])
    print(dump(written.files("__cluster_metadata-0"), "--cluster-metadata-decoder")[:3000])
    print(dump(written.files("t-0", INDEXES), "--index-sanity-check"))
    print(dump(written.files("t-0", INDEXES), "--verify-index-only"))
    assert 0
