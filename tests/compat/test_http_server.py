"""The server of ASGI apps: it starts, bounds what it takes, stops, and leaves the process alone."""

from __future__ import annotations

import http.client
import signal
import sys
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from odradek.compat import http_server
from odradek.compat.http_server import HttpServer, Receive, Send
from odradek.compat.unavailable import Unavailable
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


async def _echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


@pytest.fixture
def server() -> Iterator[HttpServer]:
    app = Starlette(routes=[Route("/echo", _echo, methods=["GET", "POST"])])
    server = HttpServer(app, body_bytes_max=100, connections_max=3)
    server.start()
    yield server
    server.stop()


def _asked(server: HttpServer, body: object = None, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(*server.address, timeout=10)
    connection.request("POST" if body else "GET", "/echo", body, headers)  # type: ignore[arg-type]
    answer = connection.getresponse()
    status, text = answer.status, answer.read()
    connection.close()
    return status, text


def test_it_answers_from_start_to_stop_and_leaves_the_process_as_it_was() -> None:
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    server = HttpServer(Starlette(routes=[Route("/echo", _echo)]))
    assert server.address == ("127.0.0.1", 0)
    server.start()
    host, port = server.address
    assert server.url == f"http://{host}:{port}"
    assert port > 0
    assert _asked(server) == (200, b"")
    assert handlers == [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    server.stop()
    server.stop()
    assert "odradek-http" not in [each.name for each in threading.enumerate()]
    with pytest.raises(ConnectionRefusedError):
        _asked(server)
    with pytest.raises(RuntimeError, match="make another one"):
        server.start()


def test_a_body_is_bounded_whether_its_length_was_announced_or_not(server: HttpServer) -> None:
    assert _asked(server, b"x" * 100) == (200, b"x" * 100)
    assert _asked(server, b"x" * 101)[0] == 413
    assert _asked(server, iter([b"x" * 60, b"x" * 60]))[0] == 413  # in chunks
    assert _asked(server, b"y") == (200, b"y")


def test_connections_are_bounded(server: HttpServer) -> None:
    held = [http.client.HTTPConnection(*server.address, timeout=10) for _ in range(2)]
    for each in held:
        each.request("GET", "/echo")
        assert each.getresponse().read() == b""
    assert _asked(server)[0] == 503
    held[0].close()
    statuses = {_asked(server)[0] for _ in range(50)}
    assert 200 in statuses
    held[1].close()


def test_a_port_that_is_taken_is_refused_by_name(server: HttpServer) -> None:
    host, port = server.address
    with pytest.raises(OSError, match=f"cannot listen on {host}:{port}: "):
        HttpServer(server._app, host, port).start()


def test_an_app_that_does_not_start_is_an_error_of_the_start() -> None:
    async def app(scope: object, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no"})

    with pytest.raises(RuntimeError, match="the app did not start"):
        HttpServer(app).start()


def test_without_uvicorn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(http_server, "find_spec", nothing)
    with pytest.raises(Unavailable, match=r"pip install 'odradek\[schemas\]'"):
        HttpServer(_echo, extra="schemas").start()  # type: ignore[arg-type]


def test_uvicorn_is_imported_only_to_serve() -> None:
    import subprocess

    code = "import sys, odradek.compat.http_server; assert 'uvicorn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)
