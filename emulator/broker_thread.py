"""BrokerThread: one run of a broker, from a start to the stop after it.

- Its thread has an event loop of its own, in which everything happens. `stop` and `call` may come
  from any thread; what has ended stays so: the next start is another BrokerThread.
- A stop during the start takes effect once the broker is ready. Several stops wait for the same
  end.
- A call that comes too late to be carried out raises RuntimeError; none waits for ever.
- A process that was forked has a copy of this object, but not the thread. There `stop` does
  nothing, and `call` raises RuntimeError. The copies of the broker's sockets are given up right
  after the fork: else a connection that the broker closes would stay open as long as the child
  lives, and a port in use after the broker's end.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakSet

from .base.addresses import bracketed
from .base.real_time import monotonic
from .cluster import Cluster
from .net.server import Server
from .snapshots.downtime import check_up, exchange

if TYPE_CHECKING:
    from .zookeeper.server import ZooKeeperServer

T = TypeVar("T")
_STOP_TIMEOUT_S = 30
_STOPPED = "the broker was stopped meanwhile"
NOT_RUNNING = "the broker is not running: call start(), or use `with Emulator() as kafka:`"
_OWN_THREAD = (
    "the broker is not stopped from its own thread, where `run` and rules are carried out: "
    "stop it from another one"
)
_OWN_STATE = (
    "the broker is not killed, restarted or put back from its own thread, "
    "where `run` and rules are carried out: do it from another one"
)
FORKED = (
    "the broker runs in the process that this one was forked from: here only `bootstrap_servers` "
    "and `data_dir` can be asked for; connect a client, or start another Emulator"
)


class Serving(NamedTuple):
    server: Server
    data_dir: Path | None
    zookeeper: ZooKeeperServer | None = None

    @property
    def bootstrap(self) -> str:
        nodes = list(self.cluster.nodes.values())
        return ",".join(f"{bracketed(each.host)}:{each.port}" for each in nodes)

    @property
    def cluster(self) -> Cluster:
        """The cluster it serves now: another one after its state was put back."""
        return self.server.cluster


class BrokerThread:
    """A broker and the thread it runs in. `ready` is done when it accepts connections, or has the
    error for which it does not; then the thread is about to end."""

    def __init__(self, broker: Callable[[], AbstractAsyncContextManager[Serving]]) -> None:
        """Start the thread. Raises OSError or RuntimeError if the system has no descriptor or no
        thread left."""
        self.ready: Future[None] = Future()
        self.serving: Serving | None = None
        self._broker = broker
        self._process = os.getpid()
        self._pending: set[Future[Any]] = set()
        self._acts = False
        self._stopping = asyncio.Event()
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._run, name="odradek", daemon=True)
        try:
            self._thread.start()
        except BaseException:
            self._loop.close()
            raise
        _running.add(self)

    @property
    def is_forked(self) -> bool:
        """Whether this is the copy in a process that was forked from the broker's."""
        return os.getpid() != self._process

    def stop(self) -> None:
        """Stop it cleanly; does nothing if it has ended. Returns when the thread has ended.

        Raises RuntimeError in that thread, and if the end takes too long.
        """
        if self.is_forked:
            return
        if self.is_current:
            raise RuntimeError(_OWN_THREAD)
        with suppress(RuntimeError):  # the loop is closed: it has ended
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(_STOP_TIMEOUT_S)
        if self._thread.is_alive():
            raise RuntimeError(f"the broker did not stop within {_STOP_TIMEOUT_S} seconds")

    def call(self, action: Callable[[Cluster], T]) -> T:
        """Call `action(cluster)` in the broker's thread, and return what it returns."""
        if self.is_current:
            return action(self.running().cluster)
        self._started_here()

        def carry_out(_: Serving) -> T:
            cluster = self.running().cluster  # down or up, as it is when its turn comes
            cluster.follow()
            self._acts = True
            try:
                return action(cluster)
            finally:
                self._acts = False

        return self._call(carry_out)

    @property
    def test_acts(self) -> bool:
        """Whether this is called within what another thread has called: what a test does."""
        return self._acts and self.is_current

    def call_anyhow(self, action: Callable[[Server], T]) -> T:
        """Call `action(server)` in the broker's thread, whether the broker is up or down. Raises
        RuntimeError in that thread."""
        self._started_here()
        if self.is_current:
            raise RuntimeError(_OWN_STATE)
        return self._call(lambda serving: action(serving.server))

    def _call(self, action: Callable[[Serving], T]) -> T:
        serving = self.serving_anywhere()
        done: Future[T] = Future()
        self._pending.add(done)

        def carry_out() -> None:
            if serving.server.comes_back:  # in a moment: what is asked now waits for it
                self._loop.call_soon(carry_out)
                return
            self._pending.discard(done)
            try:
                result = action(serving)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(result)
            if not serving.server.is_down:
                serving.cluster.settle()

        try:
            self._loop.call_soon_threadsafe(carry_out)
        except RuntimeError as error:
            raise RuntimeError(_STOPPED) from error
        return done.result()

    def soon(self, action: Callable[[], object]) -> None:
        """Call it in the broker's thread: now, if this is it, else soon, or never if it ends."""
        if self.is_current:
            action()
        else:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(action)

    @property
    def is_current(self) -> bool:
        """Whether this is called in the broker's thread."""
        return threading.current_thread() is self._thread

    def exchange(self, make: Callable[[Cluster], Cluster], *, keeps_clients: bool) -> None:
        """Serve another cluster instead: see snapshots/downtime.py. If there is none to serve then,
        the broker stops. Raises RuntimeError in the broker's thread, and what `make` raises."""
        if self.is_current:
            raise RuntimeError(_OWN_STATE)

        def carry_out(_: Cluster) -> None:
            try:
                exchange(self.running().server, make, keeps_clients=keeps_clients)
            except BaseException:
                self._stopping.set()
                raise

        self.call(carry_out)

    def running(self) -> Serving:
        """The broker, if it accepts connections, and in this process. Raises RuntimeError."""
        serving = self._started_here()
        check_up(serving.server)
        return serving

    def _started_here(self) -> Serving:
        if self.is_forked:
            raise RuntimeError(FORKED)
        return self.serving_anywhere()

    def serving_anywhere(self) -> Serving:
        """The broker, also in a process that was forked from its own. Raises RuntimeError."""
        if self.serving is None:
            raise RuntimeError(NOT_RUNNING)
        return self.serving

    # The thread

    def _run(self) -> None:
        failure: BaseException | None = None
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            failure = error
        self.serving = None
        self._loop.close()
        # Calls that came too late to be carried out must not wait for ever.
        while self._pending:
            self._pending.pop().set_exception(RuntimeError(_STOPPED))
        if failure is not None:
            if self.ready.done():
                raise failure
            self.ready.set_exception(failure)

    async def _serve(self) -> None:
        async with self._broker() as self.serving:
            self.ready.set_result(None)
            await self._stopping.wait()

    def give_up_sockets(self) -> None:
        """In a process that was forked: put the null device in place of each socket. Nothing is
        closed, so that no object's idea of its descriptor becomes wrong."""
        if self.serving is None:
            return
        with suppress(OSError):
            null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            for descriptor in self.serving.server.descriptors():
                os.dup2(null, descriptor, inheritable=False)
            os.close(null)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed, else asyncio's."""
    try:
        import uvloop
    except ImportError:
        plain = asyncio.new_event_loop()
        plain.time = monotonic  # type: ignore[method-assign]  # a test may freeze what it reads
        return plain
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def running_here() -> list[BrokerThread]:
    return [each for each in list(_running) if each.serving is not None and not each.is_forked]


_running: WeakSet[BrokerThread] = WeakSet()


def _forked() -> None:
    for each in list(_running):
        each.give_up_sockets()


os.register_at_fork(after_in_child=_forked)
