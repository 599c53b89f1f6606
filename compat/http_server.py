"""HttpServer: an ASGI app, served over HTTP from a thread of its own.

- `start` returns when the port answers, `stop` when the thread has ended. The app runs in that
  thread's event loop, and so do not wait there for the thread that called `start`.
- No handlers of signals, no log of accesses, no colours: the process belongs to somebody else.
- Bounded: connections (more are answered 503), bytes of a body (413, before the app reads on), and
  seconds without a request on a connection.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Future
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from ..emulator.base.addresses import bracketed
from ..emulator.base.real_time import monotonic
from .unavailable import Unavailable

if TYPE_CHECKING:
    import uvicorn

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_START_TIMEOUT_S = 30


Refusal: TypeAlias = Callable[[int], tuple[str, bytes]]
"""From the most bytes that a body may have to the content type and the body of an answer."""


def _too_large(body_bytes_max: int) -> tuple[str, bytes]:
    text = f'{{"error_code":413,"message":"the body is larger than {body_bytes_max} bytes"}}'
    return "application/json", text.encode()


class HttpServer:
    """Serves `app` at host:port from `start` to `stop`, once. Port 0 takes a free one."""

    def __init__(
        self,
        app: App,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        extra: str = "console",
        connections_max: int = 200,
        body_bytes_max: int = 16 << 20,
        idle_seconds: int = 60,
        too_large: Refusal = _too_large,
    ) -> None:
        """`extra` of Odradek brings uvicorn, says the error where it is missing. `too_large` makes
        the answer to a body over the limit: its content type, and its body."""
        self._app = limited(app, body_bytes_max, too_large)
        self._address = (host, port)
        self._extra = extra
        self._limits = {"limit_concurrency": connections_max, "timeout_keep_alive": idle_seconds}
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port; the port is 0 before `start`, where 0 was asked for."""
        return self._address

    @property
    def url(self) -> str:
        """http://HOST:PORT, without a slash at its end."""
        host, port = self.address
        return f"http://{bracketed(host)}:{port}"

    def start(self) -> None:
        """Listen. Raises OSError, which names the address, where it cannot be had; Unavailable
        without uvicorn; RuntimeError where the app does not start, or is started again."""
        if self._thread is not None:
            raise RuntimeError("this server was started before: make another one")
        if find_spec("uvicorn") is None:
            raise Unavailable(f"uvicorn is not installed: pip install 'odradek[{self._extra}]'")
        listening = _listening(*self._address)
        self._address = listening.getsockname()[:2]
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(listening, ready), name="odradek-http", daemon=True
        )
        self._thread.start()
        ready.result(_START_TIMEOUT_S)

    def stop(self, timeout: float = 5) -> None:
        """Answer what was asked, for at most `timeout` seconds, and end; does nothing if it does
        not run. Raises RuntimeError where the thread goes on."""
        thread, server = self._thread, self._server
        if thread is None or server is None or not thread.is_alive():
            return
        server.config.timeout_graceful_shutdown = max(1, int(timeout) - 1)
        server.should_exit = True
        thread.join(timeout + 1)
        if thread.is_alive():
            raise RuntimeError(f"{self.url} did not stop within {timeout:g} seconds")

    def _run(self, listening: socket.socket, ready: Future[None]) -> None:
        import uvicorn

        class Reporting(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                ready.set_result(None)

        config = uvicorn.Config(
            self._app,
            log_config=None,
            log_level="critical",
            access_log=False,
            http="h11",
            ws="none",
            server_header=False,
            **self._limits,  # type: ignore[arg-type]  # both are numbers
        )
        self._server = Reporting(config)
        try:
            with asyncio.Runner(loop_factory=_new_loop) as runner:
                runner.run(self._server.serve([listening]))
        except BaseException as error:
            if ready.done():
                raise
            text = "the app did not start: its lifespan raised an error"
            ready.set_exception(RuntimeError(text) if isinstance(error, SystemExit) else error)
        finally:
            listening.close()


def limited(app: App, body_bytes_max: int, too_large: Refusal) -> App:
    """The app, which reads no more of a body than this: a request with more is answered 413."""

    async def serve(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        left, answered = body_bytes_max, False

        async def receive_within() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise _TooLarge
            return message

        async def send_noted(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            if _announced(scope) > body_bytes_max:
                raise _TooLarge
            await app(scope, receive_within, send_noted)
        except _TooLarge:
            if not answered:
                await _refuse(send, *too_large(body_bytes_max))

    return serve


class _TooLarge(BaseException):
    """A body is larger than the limit; no app's `except Exception` keeps it."""


def _announced(scope: MutableMapping[str, Any]) -> int:
    length: bytes = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() else 0


async def _refuse(send: Send, content_type: str, body: bytes) -> None:
    headers = [(b"content-type", content_type.encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _new_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.SelectorEventLoop()
    loop.time = monotonic  # type: ignore[method-assign]  # a test may freeze what it reads
    return loop


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, or asyncio leaves Nagle's algorithm on: 40 ms an answer on a kept connection.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot listen on {bracketed(host)}:{port}: {reason}") from None
    return listening
