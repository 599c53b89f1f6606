"""Listening: a broker that stops in the midst of a client's arrival."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest
from odradek.emulator.broker_thread import new_event_loop
from odradek.emulator.net.server import Server

from tests.support.cluster import open_cluster


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, new_event_loop])
@pytest.mark.parametrize("turns", range(8))
def test_a_stop_while_a_client_arrives_ends(
    new_loop: Callable[[], asyncio.AbstractEventLoop], turns: int
) -> None:
    """So many rounds of the loop after the client has connected."""

    async def arrive_and_stop() -> bool:
        cluster = open_cluster()
        server = Server(cluster)
        host, port = server.listen("127.0.0.1", 0, 1)
        with socket.create_connection((host, port)):
            for _ in range(turns):
                await asyncio.sleep(0)
            async with asyncio.timeout(30):
                await server.close()
        cluster.close()
        return not server.protocols

    loop = new_loop()
    try:
        assert loop.run_until_complete(arrive_and_stop())
    finally:
        loop.close()
