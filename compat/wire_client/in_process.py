"""InProcessCluster: the emulator in this process as a `Source`, and its `EmulatorVerbs`.

A request is carried out in the broker's thread by the handler that serves clients. It does not pass
the chain of steps (base/chain.py), so that rules and faults which a test has set for its clients do
not meet the test itself; and it is no connection that `clients` shows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_futures
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ...emulator.base.call import ANONYMOUS, NO_REPLY, PARKED, TEST, Call, ClientSoftware
from ...emulator.base.event import Event
from ...emulator.groups.classic.group import ClassicGroup
from ...emulator.handlers.registry import SERVED
from ...emulator.net.serving import handle
from ...emulator.replication.lagging import grow_isr, shrink_isr
from ...emulator.security.listeners import PLAINTEXT
from ...storage.retention import view_of
from ...wire import Error, Refused, Request, Response, WireError
from ...wire.api import response_class
from ...wire.api.produce import ProduceRequest
from ...wire.frames import pieces
from . import share_powers
from .clients import SeenClient, SeenExtent, SeenTraffic
from .leading import are_led, refused_now, unled
from .members import SeenInFlight
from .record_tail import Shared
from .routed import joined, parts_of
from .routes import BY_LEADER, Place
from .segments import SeenSegment
from .waiting import TIMEOUT_S, Wait, bounds, done_within, in_thread, seconds_of, timed_out
from .watching import Watching

if TYPE_CHECKING:
    from ...emulator.cluster import Cluster
    from ...emulator.control.request_metrics import Counted, RequestMetrics
    from ...emulator.embedded.embedded import Embedded
    from ...emulator.net.protocol import ClientProtocol
    from ...emulator.net.server import Server
    from ...emulator.partitions.partition import Partition
    from ..schemas.reading import Reader
    from .waiting import WaitTimeout

T = TypeVar("T")
CLIENT_ID = "odradek"
_SOFTWARE = ClientSoftware("odradek", "test")
_HOST = "127.0.0.1"
_TIMEOUT_S = 30
_PIECE = 1 << 20
_LOOKING = (
    "ConsumerGroupDescribe",
    "Describe",
    "Fetch",
    "List",
    "Metadata",
    "OffsetFetch",
    "ShareGroupDescribe",
    "StreamsGroupDescribe",
)
"""How the names of requests begin that change nothing."""


class InProcessCluster:
    """The broker of this process. `run` calls a function in its thread; `server` has its
    connections."""

    def __init__(
        self,
        run: Callable[[Callable[[Cluster], Any]], Any],
        server: Callable[[], Server],
        *,
        is_alone: bool = True,
    ) -> None:
        self._run = run
        self.is_alone = is_alone
        """Whether there is no other broker in its cluster."""
        self._server = server
        self._watching: Watching | None = None
        self._request_metrics: RequestMetrics | None = None
        self.timeout = TIMEOUT_S
        self.new_reader: Callable[[], Reader] | None = None
        """The reader of values by a registry's schemas, as they are now."""

    @property
    def powers(self) -> InProcessCluster:
        return self

    @property
    def sharing(self) -> Shared | None:
        """The records that waits read together while they look in the broker's thread."""
        watching = self._watching
        return watching.shared if watching is not None and watching.is_looking else None

    def ask(self, request: Request, version: int) -> Any:
        """The broker's answer; of several, that of those whom a client would ask. What only looks
        is asked again if the broker went down instead, and came back. Raises ConnectionError,
        RuntimeError."""
        try:
            return self._ask_those(request, version)
        except ConnectionError:
            if not type(request).__name__.startswith(_LOOKING):
                raise
            return self.ask(request, version)

    def _ask_those(self, request: Request, version: int) -> Any:
        if self.is_alone:
            return self._ask(None, request, version)
        if isinstance(request, ProduceRequest):
            self._await_leaders(list(BY_LEADER[ProduceRequest].places(request)))
        parts = self._call(lambda cluster: parts_of(cluster, request))
        return joined(request, [self._ask(node, part, version) for node, part in parts])

    def _await_leaders(self, places: list[Place]) -> None:
        """Wait as a client does until partitions are led by who runs. Raises WaitTimeout,
        Refused(NOT_LEADER_OR_FOLLOWER) where nobody will, and in the broker's own thread."""
        __tracebackhide__ = True
        thread = threading.get_ident()

        def is_led(cluster: Cluster) -> bool:
            if are_led(cluster, places):
                return True
            if threading.get_ident() == thread:
                raise refused_now(cluster, places)
            return False

        if not self._call(is_led):
            names = ", ".join(f"{topic}-{index}" for topic, index in places)
            topics = {topic for topic, _ in places}
            wait = Wait(
                f"a leader of {names}",
                lambda: self._call(lambda cluster: are_led(cluster, places)),
                lambda: self._call(lambda cluster: unled(cluster, places)),
                topic=topics.pop() if len(topics) == 1 else None,
            )
            self.wait(wait)

    def _ask(self, node_id: int | None, request: Request, version: int) -> Any:
        body = bytearray(request.encode(version))  # a copy, which the broker may write into
        asked = type(request).decode(body, version)
        answer: Future[bytes] = Future()
        thread = threading.get_ident()

        def begin(cluster: Cluster) -> None:
            cluster.asked.add(answer)
            answer.add_done_callback(cluster.asked.discard)
            if threading.get_ident() == thread:  # then nobody else can go on with it
                wake, cluster.turns.wake = cluster.turns.wake, None
                try:
                    _Caller(cluster, node_id, answer).begin(asked, version)
                finally:
                    cluster.turns.wake = wake
            else:
                _Caller(cluster, node_id, answer).begin(asked, version)
            if threading.get_ident() == thread and not answer.done():
                name = type(request).__name__
                raise RuntimeError(f"a {name} has to wait, which the broker's own thread cannot")

        self._run(begin)
        try:
            body_of_answer = answer.result(_TIMEOUT_S)
        except TimeoutError:
            raise TimeoutError(self._unanswered(request)) from None
        found, _ = response_class(request.api_key).decode_from(body_of_answer, version, 0)
        return found

    def _unanswered(self, request: Request) -> str:
        text = f"{type(request).__name__} was not answered within {_TIMEOUT_S} s"
        if not self.is_alone:
            text += ": a replica in sync may lag, or its broker be paused"
        if self._call(lambda cluster: cluster.has_manual_clock):
            text += "; the clock stands still before kafka.advance()"
        return text

    def topic_name(self, name: str) -> str:
        return name

    def now(self) -> int:
        """The broker's time."""
        return self._call(lambda cluster: cluster.clock.now())

    def generation(self, group_id: str) -> int | None:
        """The generation of a classic group, None if there is none."""

        def found(cluster: Cluster) -> int | None:
            for node_id in cluster.nodes:
                for shard in cluster.groups.at(node_id).shards.values():
                    group = shard.visible(group_id)
                    if isinstance(group, ClassicGroup):
                        return group.generation
            return None

        return self._call(found)

    def broker_state(self, node_id: int) -> str | None:
        """Of a broker of this cluster. Raises ValueError for an id that none has."""
        return self._call(lambda cluster: str(cluster.replication.broker(node_id)))

    def software(self, client_id: str, host: str) -> tuple[str, str] | None:
        """Of the connections of this client id and host, if they agree."""
        found = {
            (each.software_name, each.software_version)
            for each in self.clients()
            if (each.client_id, each.host) == (client_id, host.removeprefix("/"))
        }
        return found.pop() if len(found) == 1 else None

    def events(self) -> list[Event]:
        return self._call(lambda cluster: cluster.journal.events())

    # Waiting

    def wait(self, wait: Wait[T], timeout: float | None = None) -> T:
        """Wait in the caller's thread."""
        __tracebackhide__ = True
        with bounds(wait, seconds_of("timeout", timeout, self.timeout)) as seconds:
            return self._wait(wait, seconds)

    def _wait(self, wait: Wait[T], seconds: float) -> T:
        __tracebackhide__ = True
        if wait.reads_records and (found := wait.look()) is not None:
            return found
        future: Future[T] = Future()
        self._begin_wait(wait, future)
        try:
            wait_for_futures([future], seconds)
            if not future.done():
                self._end_wait(future)
        except BaseException:
            with suppress(RuntimeError):  # the broker has stopped
                self._end_wait(future)
            raise
        if future.cancelled():
            raise self._timed_out(wait, seconds)
        return future.result()

    async def wait_async(self, wait: Wait[T], timeout: float | None = None) -> T:
        """Wait in a coroutine: what blocks, if only for a moment, is done in another thread."""
        __tracebackhide__ = True
        with bounds(wait, seconds_of("timeout", timeout, self.timeout)) as seconds:
            return await self._wait_async(wait, seconds)

    async def _wait_async(self, wait: Wait[T], seconds: float) -> T:
        __tracebackhide__ = True
        if wait.reads_records and (found := await in_thread(wait.look)) is not None:
            return found
        future: Future[T] = Future()
        try:
            await in_thread(partial(self._begin_wait, wait, future))
            if not await done_within(future, seconds):
                await in_thread(partial(self._end_wait, future))
            if future.cancelled():
                raise await in_thread(partial(self._timed_out, wait, seconds))
            return future.result()
        finally:
            future.cancel()  # if this coroutine was: the next look forgets it

    def _begin_wait(self, wait: Wait[Any], future: Future[Any]) -> None:
        thread = threading.get_ident()

        def begin(cluster: Cluster) -> None:
            if threading.get_ident() == thread:
                what = f"a wait for {wait.what} in the broker's own thread"
                raise RuntimeError(f"{what} would stop what it waits for: wait in another one")
            server = self._server()
            if self._watching is None or self._watching.server is not server:
                shared = Shared(self, lambda: server.cluster)
                self._watching = Watching(server, shared)
            self._watching.begin(wait, future)

        self._run(begin)

    def _end_wait(self, future: Future[Any]) -> None:
        def end(_: Cluster) -> None:
            assert self._watching is not None
            self._watching.end(future)

        self._run(end)

    def _timed_out(self, wait: Wait[Any], seconds: float) -> WaitTimeout:
        found = self.events()
        if wait.topic is not None or wait.group is not None:
            found = [each for each in found if each.concerns(wait.topic, wait.group)]
        return timed_out(wait, seconds, found)

    # EmulatorVerbs

    def segments(self, topic: str, partition: int) -> list[SeenSegment]:
        def found(cluster: Cluster) -> list[SeenSegment]:
            log = cluster.partition(topic, partition).log
            return [SeenSegment(*each) for each in view_of(log.segments, log.log_end_offset)]

        return self._call(found)

    def retain(self, topic: str, partition: int | None) -> int:
        def done(cluster: Cluster) -> int:
            retain = cluster.log_manager.retain
            return sum(retain(each) for each in _partitions(cluster, topic, partition))

        return self._call(done)

    def compact(self, topic: str, partition: int | None) -> int:
        def done(cluster: Cluster) -> int:
            policy = cluster.topic(topic).config.cleanup_policy
            if "compact" not in policy:
                has = f"topic {topic} has cleanup.policy={','.join(sorted(policy))}"
                todo = 'create it with config={"cleanup.policy": "compact"}'
                raise Refused(Error.POLICY_VIOLATION, f"{has}, so it is not compacted: {todo}")
            partitions = _partitions(cluster, topic, partition)
            return cluster.log_manager.cleaner.compact(partitions)

        return self._call(done)

    def shrink_isr(self, topic: str, partition: int, node_id: int) -> None:
        """Keep a follower from being in sync."""
        self._call(
            lambda each: shrink_isr(each.replication, each.partition(topic, partition), node_id)
        )

    def grow_isr(self, topic: str, partition: int, node_id: int) -> None:
        """Have a follower in sync again."""
        self._call(
            lambda each: grow_isr(each.replication, each.partition(topic, partition), node_id)
        )

    def rebalance(self, group_id: str) -> None:
        def done(cluster: Cluster) -> None:
            for node_id in cluster.nodes:
                for shard in cluster.groups.at(node_id).shards.values():
                    if group_id in shard.groups:
                        cluster.groups.at(node_id).rebalance(group_id)
                        return
            raise Refused(Error.GROUP_ID_NOT_FOUND, f"there is no group {group_id!r}")

        self._call(done)

    def share_in_flight(self, group_id: str) -> list[SeenInFlight]:
        return self._call(lambda cluster: share_powers.in_flight(cluster, group_id))

    def expire_share_locks(self, group_id: str, member_id: str | None) -> int:
        return self._call(lambda each: share_powers.expire_locks(each, group_id, member_id))

    def redeliver(self, group_id: str, member_id: str | None) -> int:
        return self._call(lambda each: share_powers.redeliver(each, group_id, member_id))

    def poison_share(self, group_id: str, topic: str, partition: int, offset: int) -> None:
        self._call(lambda each: share_powers.poison(each, group_id, topic, partition, offset))

    def clients(self) -> list[SeenClient]:
        def found(cluster: Cluster) -> list[SeenClient]:
            now = cluster.clock.now()
            there = self._server().protocols
            return [_seen(each, now) for each in there if each.connection.is_open]

        return self._call(found)

    def traffic(self) -> dict[int, SeenTraffic]:
        def found(cluster: Cluster) -> dict[int, SeenTraffic]:
            server = self._server()
            sums = {node_id: each.ended for node_id, each in server.connections.items()}
            for each in server.protocols:
                if each.node_id in sums:  # else its broker was removed
                    more = each.connection.requests, each.received, each.sent
                    sums[each.node_id] = sums[each.node_id].and_also(*more)
            return {node_id: SeenTraffic(*each) for node_id, each in sums.items()}

        return self._call(found)

    def extents(self) -> dict[tuple[str, int], SeenExtent]:
        """By topic and partition, what there is."""
        return self._call(
            lambda cluster: {
                (topic.name, each.index): _extent(each)
                for topic in cluster.topics
                for each in topic.partitions
            }
        )

    def request_metrics(self) -> Counted:
        """From the first time on that it is asked."""
        from ...emulator.control.request_metrics import RequestMetrics

        if self._request_metrics is None:
            self._request_metrics = RequestMetrics(lambda: self._server().cluster)
        step = self._request_metrics
        return self._call(lambda _: step.counted())

    def _call(self, action: Callable[[Cluster], T]) -> T:
        found: T = self._run(action)
        return found


def _partitions(cluster: Cluster, topic: str, index: int | None) -> list[Partition]:
    if index is None:
        return cluster.topic(topic).partitions
    return [cluster.partition(topic, index)]


def _extent(partition: Partition) -> SeenExtent:
    if not partition.is_log_open:
        return SeenExtent(0, 0, 0, 0)
    log = partition.log
    appended = log.size + log.removed_bytes
    return SeenExtent(log.log_start_offset, partition.high_watermark, log.size, appended)


def _seen(client: ClientProtocol, now: int) -> SeenClient:
    connection = client.connection
    call = connection.current
    request = "" if call is None else SERVED[call.api_key].request.__name__
    return SeenClient(
        *(connection.client_id, *connection.software, client.connection.client_host, client.port),
        *(client.connected_at, client.received, client.sent, connection.requests),
        connection.frames.count() + (call is not None),
        request.removesuffix("Request") or None,
        0 if call is None else now - call.now,
        *(str(connection.principal), connection.listener),
    )


class _Caller:
    """The sender of one request, in place of a connection."""

    software = _SOFTWARE
    client_host = _HOST
    listener = PLAINTEXT
    principal = ANONYMOUS
    is_open = True
    name = TEST

    def __init__(self, cluster: Cluster, node_id: int | None, answer: Future[bytes]) -> None:
        self._cluster = cluster
        self._answer = answer
        self.node_id = cluster.controller_id if node_id is None else node_id

    def ends(self) -> None:
        """There is no socket."""

    def begin(self, request: Request, version: int) -> None:
        """Call the handler, and keep its answer, now or later."""
        served = SERVED[request.api_key]
        now = self._cluster.clock.now()
        call = Call(self, request.api_key, version, 0, CLIENT_ID, now)
        if served.is_logged and self._cluster.journal.is_on:
            call.request = request
        outcome = handle(self._cluster, call, served, request)
        if isinstance(outcome, Response):
            self.answer(call, outcome)
        elif outcome is NO_REPLY:
            self.close()
        else:
            assert outcome is PARKED

    def mute(self, milliseconds: int) -> None:
        """The test itself is not held to it."""

    def answer(self, call: Call, response: Response | None) -> None:
        if self._answer.done():
            return
        try:
            assert response is not None
            # Joined here: records may lie in files that this thread alone may read.
            parts = response.parts(call.version)
            if call.request is not None:
                self._cluster.tracker.answered(call, call.request, response)
            self._answer.set_result(b"".join(pieces(parts, lambda: _PIECE)))
        except (WireError, OSError, AssertionError) as error:
            self._answer.set_exception(error)

    def close(self) -> None:
        """The handler has failed, which was logged."""
        if not self._answer.done():
            text = "the broker has failed to answer, and has logged why"
            self._answer.set_exception(RuntimeError(text))


def source_of(kafka: Embedded) -> InProcessCluster:
    return InProcessCluster(kafka.run, lambda: kafka._server, is_alone=kafka._is_alone)
