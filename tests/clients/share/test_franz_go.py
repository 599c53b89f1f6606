"""A share consumer of franz-go: accepted, released and rejected records. The first time, Go takes
minutes to build it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import NewRecord, RealKafka
from odradek.compat import client as client_named
from odradek.compat.applications.application import asked_version

from tests.bench.programs import built
from tests.clients.share.work import Work
from tests.clients.support.rows import ACKNOWLEDGES, SHARES
from tests.clients.support.wanted import WANT_REAL
from tests.share_chaos.verdict import lag

pytestmark = [pytest.mark.client, pytest.mark.long]


@pytest.fixture(scope="module", params=["odradek", pytest.param("real", marks=pytest.mark.real)])
def bootstrap(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "real" and not WANT_REAL:
        pytest.skip("ODRADEK_REAL is not set")
    with ExitStack() as stack:
        broker: Any = Emulator() if request.param == "odradek" else RealKafka()
        yield stack.enter_context(broker).bootstrap_servers


def test_franz_go_accepts_releases_and_rejects(bootstrap: str, seen_by: Any) -> None:
    version = asked_version("github.com/twmb/franz-go", Path(__file__).parent / "franz")
    for row in (SHARES, ACKNOWLEDGES):
        seen_by("franz-go", version, row)
    program = built("franz", Path(__file__).parent)
    work = Work(bootstrap, values=2)
    records = [NewRecord(value) for value in (b"again", b"bad", b"last")]
    client_named("confluent-kafka").produce(bootstrap, work.topic, records, partition=0)
    done = subprocess.run(
        [str(program), *work.names, "5"], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    found = {(int(offset), int(count)): value for offset, count, value in lines}
    assert found == {
        (0, 1): "0",
        (1, 1): "1",
        (2, 1): "again",
        (2, 2): "again",
        (3, 1): "bad",
        (4, 1): "last",
    }
    assert len(lines) == len(found)
    assert lag(bootstrap, work.group, work.topic, 1) == 0
