"""Crash points: a scenario again and again, each time with a crash at another of its steps."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ...storage import MemoryDisk
from ...storage.naming import Naming
from ...wire import Request, Response
from ...wire.api import api_keys
from ..base.call import Call
from ..base.chain import Outcome
from ..base.chain import Step as ChainStep
from ..base.journal import Journal
from ..cluster import Cluster
from ..control.disk_rules import DiskRules
from ..state.downtime import PowerCut, Wreck, start_again
from .facet import Facet, Thread

if TYPE_CHECKING:
    from ..state.snapshot import Snapshot

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
KINDS = ("request", "append", "sync", "answer")
_ONLY_LOOK = api_keys(
    *("api_versions", "metadata", "find_coordinator", "describe_cluster", "describe_groups"),
    *("fetch", "list_offsets", "offset_fetch", "heartbeat", "get_telemetry_subscriptions"),
)
_WAIT_S = 2.0


class Point(NamedTuple):
    """A step of the broker: the n-th of its kind."""

    kind: str
    """"request", "append", "sync" or "answer"."""
    name: str
    """The topic, or the request, for instance "Produce"."""
    number: int
    """From 1 on."""

    def __str__(self) -> str:
        nth = _nth(self.number)
        if self.kind == "request":
            return f"before the {nth} {self.name} was carried out"
        if self.kind == "answer":
            return f"before the {nth} {self.name} was answered"
        return f"before the {nth} {self.kind} {'to' if self.kind == 'append' else 'of'} {self.name}"


class Crash:
    """One crash: the scenario has ended, and the broker has come back. As a context manager it
    names its point in what is raised within."""

    def __init__(self, point: Point) -> None:
        self.point = point
        self.happened = False
        """Whether the scenario came to that step again."""
        self.error: BaseException | None = None
        """What the scenario has raised, which may well be, as its broker has crashed."""

    def __str__(self) -> str:
        return f"crash {self.point}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            error.add_note(str(self))


class CrashPoints(Facet):
    """Crashes at every step of a scenario."""

    # What of Emulator is used here.
    _disk: MemoryDisk | None
    _disk_rules: DiskRules
    _journal: Journal
    _naming: Naming
    _started: Callable[[], Thread]
    _reopened: Callable[[Cluster], Cluster]
    snapshot: Callable[[], Snapshot]
    restore: Callable[[Snapshot], None]

    def crash_points(
        self,
        scenario: Callable[[Any], object],
        *,
        steps: Sequence[str] = KINDS,
        power: bool = False,
        sample: int | None = None,
        seed: int = 0,
    ) -> Iterator[Crash]:
        """Run a scenario with a crash at each of its steps in turn:

            for crash in kafka.crash_points(place_orders):
                with crash:
                    assert kafka.topic("orders").values() == ...

        scenario    a function of the broker; it is run once without a crash, to count the steps
        steps       "request": a client's request is about to be carried out (those that only look
                    do not count); "append" and "sync": of a topic's records; "answer": a request
                    was carried out, and is not yet answered
        power       False: the broker is killed; True: it loses power, and the seed decides what is
                    left of what was not synced
        sample      how many of the steps are tried, chosen by the seed; None: all

        Each time the broker begins as it is when this is called. It comes back at once after the
        crash, so that clients go on; when they are done, or have raised something (`crash.error`),
        it is for the loop to check what is there. Raises what the first run raises; ValueError;
        LogDirectoryError or OSError if the broker does not start again after a crash.
        """
        _check_steps(steps)
        if sample is not None and sample < 1:
            raise ValueError(f"sample is how many crashes there are, not {sample}")
        with self.snapshot() as state:
            points = self._count(scenario, steps)
            if sample is not None and sample < len(points):
                chosen = Random(seed).sample(range(len(points)), sample)
                points = [points[index] for index in sorted(chosen)]
            for number, point in enumerate(points):
                self.restore(state)
                yield self._crash_at(scenario, steps, point, _cut(power, seed + number))
            self.restore(state)

    def crash_at(
        self,
        scenario: Callable[[Any], object],
        part: float,
        *,
        steps: Sequence[str] = KINDS,
        power: bool = False,
        seed: int = 0,
    ) -> Crash:
        """One crash, at the step that lies so far within the scenario: at 0.5, half of the steps
        are before it. Otherwise as `crash_points`. Raises ValueError too if there is no step."""
        _check_steps(steps)
        if not 0 <= part < 1:
            raise ValueError(f"part is a number from 0 on and below 1, not {part}")
        with self.snapshot() as state:
            points = self._count(scenario, steps)
            if not points:
                raise ValueError(f"the scenario has no step of these: {', '.join(steps)}")
            self.restore(state)
            point = points[int(part * len(points))]
            return self._crash_at(scenario, steps, point, _cut(power, seed))

    def _count(self, scenario: Callable[[Any], object], steps: Sequence[str]) -> list[Point]:
        run = _Run(self, steps, None, None)
        run.of(scenario)
        return run.points

    def _crash_at(
        self,
        scenario: Callable[[Any], object],
        steps: Sequence[str],
        point: Point,
        cut: PowerCut | None,
    ) -> Crash:
        run, crash = _Run(self, steps, point, cut), Crash(point)
        try:
            run.of(scenario)
        except Exception as error:
            crash.error = error
            if not run.has_crashed:
                raise
        if run.failure is not None:
            run.failure.add_note(str(crash))
            raise run.failure
        crash.happened = run.has_crashed
        return crash


def _check_steps(steps: Sequence[str]) -> None:
    if set(steps) - set(KINDS) or not steps:
        raise ValueError(f"steps are of {', '.join(KINDS)}, not {steps!r}")


def _cut(power: bool, seed: int) -> PowerCut | None:
    return PowerCut(seed) if power else None


class _Run:
    """One run of a scenario: its steps, as they come, and the crash at one of them."""

    def __init__(
        self, kafka: CrashPoints, steps: Sequence[str], point: Point | None, cut: PowerCut | None
    ) -> None:
        self.points: list[Point] = []
        self.has_crashed = False
        self.failure: Exception | None = None
        """Why the broker did not come back."""
        self._kafka = kafka
        self._steps = steps
        self._point = point
        self._cut = cut
        self._counts: Counter[tuple[str, str]] = Counter()
        self._guard = threading.Lock()

    def of(self, scenario: Callable[[Any], object]) -> None:
        """Run it. Raises what it raises."""
        kafka, step = self._kafka, _Requests(self)
        kafka.run(lambda cluster: cluster.chain.append(step))
        kafka._disk_rules.watch_by(self._operation)
        try:
            scenario(kafka)
        finally:
            kafka._disk_rules.watch_by(None)
            kafka._started().call_anyhow(lambda server: server.cluster.chain.remove(step))

    def _operation(self, operation: str, path: str, size: int) -> None:
        """Called by storage, in any thread."""
        above, _, name = path.rpartition("/")
        if operation == "write" and size and name.endswith(self._kafka._naming.log_suffix):
            operation = "append"
        topic = self._kafka._naming.parse_directory(above or name)
        if operation in ("append", "sync") and topic is not None:
            self.comes(operation, topic[0])

    def comes(self, kind: str, name: str) -> None:
        """The broker is about to do something."""
        if kind not in self._steps:
            return
        with self._guard:
            if self.has_crashed:
                return
            self._counts[kind, name] += 1
            point = Point(kind, name, self._counts[kind, name])
            self.points.append(point)
            if point != self._point:
                return
            self.has_crashed = True
        thread = self._kafka._started()
        if thread.is_current:
            self._crash()
            return
        is_done = threading.Event()

        def crash() -> None:
            self._crash()
            is_done.set()

        thread.soon(crash)
        is_done.wait(_WAIT_S)

    def _crash(self) -> None:
        """In the broker's thread: end here, and come back when that has returned to its loop."""
        kafka, cut = self._kafka, self._cut
        server = kafka._started().running().server
        kind = "killed" if cut is None else "power cut"
        kafka._journal.add(kind, reason=str(self._point))
        wreck = Wreck(server, kafka._disk, cut)
        server.comes_back = True

        def finish() -> None:
            server.comes_back = False
            try:
                wreck.finish()
                start_again(server, kafka._reopened)
                kafka._journal.add("started again")
            except Exception as error:
                self.failure = error

        server.call_soon(finish)


class _Requests(ChainStep):
    """Tells of requests and answers."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def before(self, call: Call, request: Request) -> Outcome:
        if call.api_key not in _ONLY_LOOK:
            self._run.comes("request", _name(request))
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        if call.api_key not in _ONLY_LOOK and call.is_open:
            self._run.comes("answer", _name(request))
        return None


def _name(request: Request) -> str:
    return type(request).__name__.removesuffix("Request")


def _nth(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{_ENDINGS.get(number % 10, 'th')}"
