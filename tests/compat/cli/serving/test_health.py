"""GET /health, the file that says that a broker is ready, and `odradek health`."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.cli.serving import health as module
from odradek.compat.cli.serving.health import Health
from odradek.compat.cli.serving.start import ReadyFile, ready_line

from tests.support.ended import Ended


def get(port: int, path: str = "/health", method: str = "GET") -> tuple[int, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            body = answer.read()
            return answer.status, json.loads(body) if body else None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_it_is_well_while_the_broker_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with Emulator(topics={"t": 3}) as kafka:
        health = Health(kafka, "127.0.0.1", 0)
        try:
            well = {
                "status": "ok",
                "bootstrap_servers": kafka.bootstrap_servers,
                "topics": 1,
                "partitions": 3,
                "offline": 0,
            }
            assert get(health.port) == (200, well)
            assert get(health.port, "/healthz?x=1") == (200, well)
            assert get(health.port, method="HEAD") == (200, None)
            assert get(health.port, "/") == (
                404,
                {"status": "unknown", "reason": "ask for /health"},
            )
            monkeypatch.setattr(module, "_WITHIN_S", 0.1)
            go_on, began = Event(), Event()

            def stand_still(_: object) -> None:
                began.set()
                go_on.wait(30)

            thread = Thread(target=kafka.run, args=(stand_still,))
            thread.start()
            assert began.wait(30)
            assert get(health.port) == (503, {"status": "busy", "reason": "no answer within 0.1 s"})
            go_on.set()
            thread.join()
            monkeypatch.setattr(module, "_WITHIN_S", 30.0)
            assert get(health.port)[0] == 200
            kafka.stop()
            assert get(health.port)[0] == 503
        finally:
            health.close()


@pytest.mark.parametrize(
    ("given", "health_port", "said"),
    [
        ({}, None, r"127\.0\.0\.1:\d+"),
        ({}, 8080, r"127\.0\.0\.1:\d+ \(health at port 8080\)"),
        (
            {"advertised": "kafka:9092"},
            None,
            r"kafka:9092 \(listening at 127\.0\.0\.1:(?!9092)\d+\)",
        ),
        (
            {"brokers": 2, "advertised": "kafka-{id}:1", "host": "::1", "scan_limit": 5},
            1,
            r"kafka-1:1,kafka-2:1 \(listening at \[::1\]:\d+,\[::1\]:\d+, health at port 1, "
            r"records scanned up to 5 a batch\)",
        ),
    ],
)
def test_the_ready_line(given: dict[str, Any], health_port: int | None, said: str) -> None:
    with Emulator(**{"scan_limit": None, **given}) as kafka:
        assert re.fullmatch(f"odradek ready at {said}", ready_line(kafka, health_port))


def test_a_ready_file_is_whole_and_goes(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    ready = ReadyFile(str(path), {"pid": 1})
    assert json.loads(path.read_text()) == {"pid": 1}
    ready.remove()
    ready.remove()
    assert list(tmp_path.iterdir()) == []


def test_the_command(command: Callable[..., Ended]) -> None:
    with Emulator(topics={"t": 3}) as kafka:
        address = kafka.bootstrap_servers
        assert command("health", address) == (
            0,
            f"{address} is well: 1 broker, 1 topic, 3 partitions\n",
            "",
        )
        body = json.loads(command("health", address, "--json").output)
        assert body["healthy"]
        assert (body["partitions"], body["under_replicated"], body["controller"]) == (3, 0, 1)
    ended = command("health", address, "--wait", "0.3")
    assert (ended.status, ended.output) == (1, "")
    assert ended.errors.startswith(f"odradek: no broker at {address}")


def test_a_partition_without_a_leader_is_not_well(command: Callable[..., Ended]) -> None:
    with Emulator(brokers=2) as kafka:
        kafka.create_topic("alone", 2, replicas=1)
        kafka.create_topic("both", 1, replicas=2)
        kafka.brokers[2].stop()
        address = kafka.brokers[1].address
        assert command("health", address, "--wait", "0.3") == (
            1,
            f"{address} is not well, 1 partition without a leader: "
            "1 broker, 2 topics, 3 partitions, 2 of them under-replicated\n",
            "",
        )
        kafka.brokers[2].start()
        assert command("health", address, "--wait", "30").status == 0
