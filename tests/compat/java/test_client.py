"""The Java clients of one JVM: what is closed leaves nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.clients import wait_until
from odradek.compat.java.client import JavaClients
from odradek.compat.real_kafka import VERSION

pytestmark = pytest.mark.client
MANY = 20


@pytest.fixture
def java() -> Iterator[JavaClients]:
    with JavaClients(VERSION) as java:
        yield java


def test_what_is_closed_has_no_thread_any_more(java: JavaClients) -> None:
    assert java._process is not None
    tasks = Path(f"/proc/{java._process.pid}/task")
    if not tasks.is_dir():
        pytest.skip("the threads of a process are told by Linux alone")
    with Emulator() as kafka:
        config = kafka.client_config("java")
        java.producer(config).close()
        before = len(list(tasks.iterdir()))
        for _ in range(MANY):
            java.producer(config).close()
        wait_until(lambda: len(list(tasks.iterdir())) < before + MANY // 2, "threads have ended")
