"""Faults of the network in a proxy, as at an emulator, between clients and the proxy."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from odradek import Emulator, NeverMatched, Proxy
from odradek.compat.proxy import proxy as proxy_module
from odradek.emulator.base.real_time import monotonic
from odradek.emulator.net.network.link import Link
from odradek.wire.headers import RequestHeader, write_request_header

from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce_request
from tests.support.asking import Client
from tests.support.sockets import connect, framed, receive


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"t": 1}) as kafka:
        yield kafka


@pytest.fixture(params=["uvloop", "asyncio"])
def proxy(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kafka: Emulator
) -> Iterator[Proxy]:
    if request.param == "asyncio":
        monkeypatch.setattr(proxy_module, "new_event_loop", asyncio.new_event_loop)
    else:
        pytest.importorskip("uvloop")
    with Proxy(kafka.bootstrap_servers) as proxy:
        yield proxy


def a_produce(client_id: str = "test") -> bytes:
    header = write_request_header(RequestHeader(0, 9, 1, client_id))
    return framed(header + produce_request(batch(b"x")).encode(9))


def links(proxy: Proxy) -> int:
    """How many connections have something between socket and protocol."""

    def count() -> int:
        assert proxy._ports is not None
        return sum(isinstance(each._transport, Link) for each in proxy._ports.protocols)

    return proxy.run(lambda _: count())


def test_latency_for_connections_that_are_there_and_that_come(proxy: Proxy) -> None:
    with Client(proxy) as old:
        old.ask()
        with proxy.network.latency(0.1, stream="both") as slow, Client(proxy) as new:
            assert old.ask() >= 0.2
            assert new.ask() >= 0.2
            assert (slow.hits, slow.clients) == (2, ["test"])
            assert links(proxy) == 2
        assert links(proxy) == 0
        old.ask()


def test_only_a_client_with_this_id_is_cut_off_until_it_is_healed(proxy: Proxy) -> None:
    with Client(proxy, "billing") as mine, Client(proxy, "shop") as other:
        mine.ask()
        other.ask()
        cut = proxy.cut_off(client_id="billing")
        mine.send()
        assert mine.hears_nothing()
        other.ask()
        with Client(proxy, "billing") as late, Client(proxy, "shop") as another:
            late.send()
            assert late.hears_nothing()
            another.ask()
            assert (cut.hits, cut.clients) == (2, ["billing"])
            proxy.heal()
            assert mine.has_answer()
            assert late.has_answer()
    events = [each.sentence for each in proxy.events if each.kind == "network"]
    (sentence,) = events
    assert sentence.startswith("billing met kafka.network.cut_off(client_id='billing') 2 times")


def test_what_a_broker_does_not_get_is_not_carried_out(proxy: Proxy, kafka: Emulator) -> None:
    with Client(proxy) as client, proxy.network.blackhole() as hole:
        client.sock.sendall(a_produce())
        assert client.hears_nothing()
        hole.remove()
        assert client.is_reset()
    assert kafka.topic("t").values() == []


def test_connections_are_reset(proxy: Proxy, kafka: Emulator) -> None:
    with Client(proxy) as client:
        client.ask()
        with proxy.network.reset(client_id="test") as reset:
            assert client.is_reset()
            with Client(proxy) as new:
                new.sock.sendall(a_produce())
                assert new.is_reset()
            assert reset.hits == 2
    assert kafka.topic("t").values() == [], "its request came with its name"


def test_a_limit_cuts_an_answer_short(proxy: Proxy) -> None:
    with Client(proxy) as client:
        client.send()
        size = 4 + len(receive(client.sock))
    with Client(proxy) as client, proxy.network.limit(size + 74) as limit:
        client.ask()
        client.send()
        assert len(client.sock.recv(4096)) == 74
        assert client.sock.recv(1) == b""
        assert limit.hits == 1


def test_half_open(proxy: Proxy, kafka: Emulator) -> None:
    with Client(proxy) as client:
        client.ask()
        with proxy.network.half_open(), Client(proxy) as new:
            client.send()
            assert client.hears_nothing()
            new.ask()
            end = monotonic() + 30
            while len(kafka.clients()) > 1:  # the proxy has closed the other one
                assert monotonic() < end
        assert client.is_reset()


def test_a_client_learns_late_that_a_broker_has_closed(proxy: Proxy, kafka: Emulator) -> None:
    with Client(proxy) as client, proxy.network.slow_close(0.1) as slow:
        client.ask()
        begin = monotonic()
        kafka.kill()
        assert client.sock.recv(1) == b""
        assert monotonic() - begin >= 0.09
        assert slow.hits == 1


def test_refused_connections_and_a_network_that_is_down(proxy: Proxy) -> None:
    with Client(proxy) as client:
        client.ask()
        with proxy.network.refuse():
            client.ask()
            with pytest.raises(ConnectionRefusedError):
                connect(proxy)
        with proxy.network.down():
            assert client.is_reset()
            with pytest.raises(ConnectionRefusedError):
                connect(proxy)
        with Client(proxy) as new:
            new.ask()


def a_large_answer(kafka: Emulator) -> Callable[[int], bytes]:
    """What asks for almost a megabyte, by its correlation id; it is not small itself."""
    kafka.topic("t").produce(bytes(900_000))
    asking = fetch_request(asked()).encode(12)

    def request(correlation: int) -> bytes:
        header = write_request_header(RequestHeader(1, 12, correlation, "x" * 30_000))
        return framed(header + asking)

    return request


def test_large_answers_at_their_pace(proxy: Proxy, kafka: Emulator) -> None:
    """More than any buffer between holds."""
    request = a_large_answer(kafka)
    with connect(proxy) as sock, proxy.network.bandwidth(100_000_000, stream="both"):
        sock.sendall(b"".join(map(request, range(20))))
        for number in range(20):
            assert receive(sock)[:4] == number.to_bytes(4, "big")


def test_a_client_that_does_not_read_is_not_read(proxy: Proxy, kafka: Emulator) -> None:
    """Else the proxy would hold what it sends, however much that is."""
    request = a_large_answer(kafka)(1)
    with connect(proxy) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(0.5)
        with suppress(TimeoutError):
            for _ in range(1_000):
                sock.sendall(request)
            pytest.fail("the proxy takes whatever it is sent")
        sock.settimeout(30)
        assert sock.recv(8)[4:] == (1).to_bytes(4, "big")


def test_a_fault_that_nobody_meets(kafka: Emulator) -> None:
    with Proxy(kafka.bootstrap_servers) as proxy, Client(proxy) as client:
        client.ask()
        proxy.cut_off(client_id="tset")
        with pytest.raises(NeverMatched, match="was met by no client: connected were 'test'"):
            proxy.check_faults()


def test_the_end_of_async_with_tells_of_it_too(kafka: Emulator) -> None:
    async def used(error: Exception | None = None) -> None:
        async with Proxy(kafka.bootstrap_servers) as proxy:
            proxy.on("Fetch").drop_reply()
            if error is not None:
                raise error

    with pytest.raises(NeverMatched, match="There was no Fetch request"):
        asyncio.run(used())
    with pytest.raises(ZeroDivisionError):
        asyncio.run(used(ZeroDivisionError()))


def test_faults_need_a_proxy_that_runs(kafka: Emulator) -> None:
    proxy = Proxy(kafka.bootstrap_servers)
    with pytest.raises(RuntimeError, match="the proxy is not running"):
        proxy.cut_off()
    with proxy:
        with pytest.raises(ValueError, match="no such broker, but 1"):
            proxy.network.refuse(broker=9)
        proxy.network.refuse()
    with proxy, Client(proxy) as client:  # as new
        client.ask()


def test_a_broker_that_is_heard_of_while_connections_are_refused(kafka: Emulator) -> None:
    with Emulator() as second, Proxy(kafka.bootstrap_servers) as proxy:
        host, port = second.bootstrap_servers.rsplit(":", 1)

        def open_another() -> int:
            assert proxy._ports is not None
            return proxy._ports.local(2, host, int(port)).port

        with proxy.network.refuse():
            local = proxy.run(lambda _: open_another())
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", local))
        with socket.create_connection(("127.0.0.1", local)):
            pass
        with proxy.network.refuse(broker=2):
            with Client(proxy) as client:
                client.ask()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", local))


def test_a_proxy_may_end_while_clients_are_cut_off(proxy: Proxy) -> None:
    with Client(proxy) as client:
        client.ask()
        proxy.cut_off()
        client.send()
        assert client.hears_nothing()
        proxy.stop()
        assert client.sock.recv(1) == b""
