"""As many connections as the configs say; the same was seen of a real Kafka 4.3.1."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from odradek.emulator import Emulator
from odradek.emulator.metadata.image import BROKER_RESOURCE
from odradek.emulator.net.server import Server
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest

from tests.support.cluster import open_cluster
from tests.support.configs import set_configs
from tests.support.connection import ask
from tests.support.sockets import api_versions, connect, receive

ANSWERED, SILENT, CLOSED = "answered", "silent", "closed"
PATIENCE_S = 0.4


@contextmanager
def five(configs: Mapping[str, int | str]) -> Iterator[tuple[Emulator, list[socket.socket]]]:
    with Emulator(configs) as kafka, ExitStack() as stack:
        yield kafka, [stack.enter_context(connect(kafka)) for _ in range(5)]


def asked(sock: socket.socket) -> str:
    try:
        sock.sendall(api_versions())
    except OSError:
        return CLOSED
    return heard(sock)


def heard(sock: socket.socket) -> str:
    sock.settimeout(PATIENCE_S)
    try:
        return ANSWERED if receive(sock) else CLOSED
    except TimeoutError:
        return SILENT


@pytest.mark.parametrize(
    ("configs", "allowed"),
    [
        ({"max.connections.per.ip": 3}, 3),
        ({"max.connections.per.ip": 1, "max.connections.per.ip.overrides": "localhost:4"}, 4),
        ({"max.connections.per.ip": 0, "max.connections.per.ip.overrides": "127.0.0.1:2"}, 2),
        ({"max.connections.per.ip": 2, "max.connections.per.ip.overrides": "127.0.0.9:5"}, 2),
    ],
)
def test_an_address_that_has_enough_is_refused(configs: dict[str, int | str], allowed: int) -> None:
    with five(configs) as (kafka, all_five):
        assert [asked(each) for each in all_five] == [ANSWERED] * allowed + [CLOSED] * (5 - allowed)
        all_five[0].close()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:  # until it is noticed
            with connect(kafka) as new:
                if (found := asked(new)) == ANSWERED:
                    break
        assert found == ANSWERED


def test_who_comes_when_there_are_enough_waits_until_one_leaves() -> None:
    with five({"max.connections": 3}) as (_, all_five):
        assert [asked(each) for each in all_five] == [ANSWERED] * 3 + [SILENT] * 2
        all_five[0].close()
        assert [heard(each) for each in all_five[1:]] == [SILENT, SILENT, ANSWERED, SILENT]


def test_the_configs_can_be_changed_at_run_time() -> None:
    with five({"max.connections": 6}) as (kafka, all_five):
        assert [asked(each) for each in all_five] == [ANSWERED] * 5
        lowered = IncrementalAlterConfigsRequest.Resource.Config(
            name="max.connections", config_operation=0, value="3"
        )
        resource = IncrementalAlterConfigsRequest.Resource(
            resource_type=BROKER_RESOURCE, resource_name="", configs=[lowered]
        )
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
        assert ask(kafka.bootstrap_servers, request, 1).responses[0].error_code == 0
        assert [heard(each) for each in all_five] == [CLOSED] * 2 + [SILENT] * 3


def test_brokers_with_too_many_connections_close_one_each_in_every_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = (1, 2)
    left: list[list[int]] = []
    close_excess = Server._close_excess

    def counted(server: Server) -> None:
        left.append([server.connections[node].total for node in nodes])
        close_excess(server)

    monkeypatch.setattr(Server, "_close_excess", counted)

    async def lower() -> None:
        cluster = open_cluster(tmp_path, nodes=nodes)
        server = Server(cluster)
        with ExitStack() as stack:
            for node in nodes:
                address = await server.listen("127.0.0.1", 0, node)
                for _ in range(4):
                    stack.enter_context(socket.create_connection(address))
            while len(server.protocols) < 8:
                await asyncio.sleep(0.01)
            left.clear()
            set_configs(cluster, BROKER_RESOURCE, "", {"max.connections": "1"})
            while len(server.protocols) > 2:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)  # for rounds that nobody needs
            await server.close()
        cluster.close()

    asyncio.run(asyncio.wait_for(lower(), 10))
    assert left == [[4, 4], [3, 3], [2, 2], [1, 1]]
