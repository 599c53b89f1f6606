"""World: one simulation: its time, its broker and its actors, and who does what next."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.emulator.partitions.partition import Partition

from tests.simulation.actor import Actor, Ask, Sleep
from tests.simulation.book import Book, Broken, Place
from tests.simulation.network import Exchange, Link
from tests.simulation.plan import Plan
from tests.simulation.process import Process
from tests.simulation.state import State, check_same, state_of
from tests.support.clock import NOW

PATIENCE_MS = 300_000
"""How long all may take once the misfortunes are over."""
IDLE_MS = 1000
ROLLED = "keyed", "retained"
"""Topics of small segments."""
CONFIGS = {
    "group_min_session_timeout_ms": "1000",
    "group_consumer_min_session_timeout_ms": "1000",
    "group_consumer_session_timeout_ms": "6000",
    "group_consumer_min_heartbeat_interval_ms": "500",
    "group_consumer_heartbeat_interval_ms": "1000",
    "log_retention_check_interval_ms": "10000",
    "log_initial_task_delay_ms": "5000",
    "transaction_abort_timed_out_transaction_cleanup_interval_ms": "2000",
}


class World:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.weather = plan.weather
        self.random = Random(plan.seed + 1)
        self.book = Book()
        self.trace: list[tuple[object, ...]] = []
        self.process = Process(NOW, CONFIGS, durable=plan.is_durable)
        self.actors: list[Actor] = []
        self.writers: list[Actor] = []
        self.places: list[Place] = []
        self.groups: list[str] = []
        self.late = 0
        """Requests that nobody waits for any more, and that have not arrived yet."""
        self._has_stopped = False
        self._exchanges: dict[Actor, Exchange] = {}
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._changes = -1
        self._left: State | None = None

    # Time

    @property
    def now(self) -> int:
        """Milliseconds since 1970."""
        return self.process.now()

    def tell(self, who: str, what: str, *more: object) -> None:
        self.trace.append((self.now - NOW, who, what, *more))

    def at(self, when: int, action: Callable[[], None]) -> None:
        """Do something at that time, after what was to be done then before."""
        self._count += 1
        heappush(self._heap, (when, self._count, action))

    def run(self) -> None:
        """Play until every actor is done. Raises Broken."""
        for actor in self.actors:
            self.at(self.now + self.random.randrange(50), self._beginning(actor))
        limit = self.now + PATIENCE_MS
        while any(not actor.is_done for actor in self.actors):
            when, action = self.now + IDLE_MS, None
            if self._heap:
                when, _, action = heappop(self._heap)
            self._pass_until(when)
            if action is not None:
                action()
                self._look()
            if self.now > limit:
                left = [actor.name for actor in self.actors if not actor.is_done]
                raise Broken(f"not done after {PATIENCE_MS} ms: {', '.join(left)}")
        self._restart()

    def _pass_until(self, when: int) -> None:
        if when > self.now:
            if self.process.cluster is None:
                self.process.set_time(when)
            else:
                self.process.cluster.advance(when - self.now)
                self._look()

    def _look(self) -> None:
        """After each event: has the broker died in it, and is what it shows possible?"""
        if self.process.twin is not None:
            self.dies(lambda disk: disk, is_whole=False)
        cluster, disk = self.process.cluster, self.process.disk
        if cluster is not None and disk.changes != self._changes:
            self._changes = disk.changes
            for place in self.places:
                partition = self.partition(place)
                if partition is not None:
                    marks = partition.high_watermark, partition.last_stable_offset
                    self.book.marks_are(place, *marks)

    # The broker

    def cluster(self) -> Cluster:
        assert self.process.cluster is not None
        return self.process.cluster

    def partition(self, place: Place) -> Partition | None:
        cluster = self.process.cluster
        return None if cluster is None else cluster.partition(*place)

    def starts(self) -> None:
        """The broker starts; if it died between two requests it is as it was before."""
        cluster = self.process.start()
        self._changes = -1
        self.tell("broker", "started")
        if self._left is not None:
            check_same(self._left, state_of(cluster, self.places, self.groups))
            self._left = None
        self._look()

    def stops(self) -> None:
        """The broker stops cleanly."""
        before = state_of(self.cluster(), self.places, self.groups)
        self.tell("broker", "stops")
        if self.process.stop() and not self.process.was_ill:
            self._left = before
        self._has_stopped = True
        self._cut_off()
        self.at(self.now + self.random.choice((0, 1000)), self._restart)

    def dies(self, after: Callable[[Any], Any], *, is_whole: bool) -> None:
        """The broker dies; `is_whole`: between two requests, and with its disk in order."""
        if self.process.cluster is None:
            return
        if is_whole and not self.process.was_ill:
            self._left = state_of(self.cluster(), self.places, self.groups)
        self.tell("broker", "dies")
        self.process.die(after)
        self._cut_off()
        self.at(self.now + self.random.choice((50, 500, 3000)), self._restart)

    def _restart(self) -> None:
        if self.process.cluster is None:
            self.starts()

    def _cut_off(self) -> None:
        for actor, exchange in list(self._exchanges.items()):
            exchange.link.is_up = False
            self.at(self.now + 1, exchange.broken)
            actor.link = None
        for actor in self.actors:
            actor.link = None

    def may_forget_batches(self, topic: str) -> bool:
        """Whether the broker may know of a producer its last batch alone, as snapshots have no
        more, and those of a new segment or a clean stop count: one before that is no duplicate to
        it, but out of order. So it is in Kafka."""
        return self._has_stopped or (self.process.starts > 1 and topic in ROLLED)

    # The actors

    @property
    def is_written(self) -> bool:
        """Whether nobody writes any more: what is late may write, too."""
        return not self.late and all(actor.is_done for actor in self.writers)

    def is_drained(self, group: str, topic: str, count: int) -> bool:
        """Whether a group has committed all that there will be in a topic."""
        if self.late or not all(
            each.is_done for each in self.writers if not hasattr(each, "member")
        ):
            return False
        for index in range(count):
            partition = self.partition((topic, index))
            if partition is None or partition.last_stable_offset < partition.high_watermark:
                return False
            if self.book.reached.get((group, (topic, index)), 0) < partition.high_watermark:
                return False
        return True

    def resume(self, actor: Actor, answers: list[Any]) -> None:
        """Go on with an actor, which has waited for these answers."""
        self._exchanges.pop(actor, None)
        assert actor.doing is not None
        try:
            step = actor.doing.send(answers)
        except StopIteration:
            actor.is_done, actor.doing = True, None
            self.tell(actor.name, "is done")
            return
        self._take(actor, step)

    def dies_client(self, actor: Actor) -> None:
        """A client's process dies, and is started again."""
        if actor.doing is None:
            return
        self.tell(actor.name, "dies")
        actor.doing.close()
        actor.doing = None
        exchange = self._exchanges.pop(actor, None)
        if exchange is not None:
            exchange.is_over = True
            exchange.link.hang_up()
        actor.link = None
        actor.reborn()
        actor.lives += 1
        self.at(self.now + self.random.choice((50, 2000)), self._beginning(actor))

    def _beginning(self, actor: Actor) -> Callable[[], None]:
        def begin() -> None:
            actor.doing = actor.play()
            self.resume(actor, None)  # type: ignore[arg-type]  # what a generator is begun with

        return begin

    def _take(self, actor: Actor, step: Ask | Sleep) -> None:
        life = actor.lives
        if isinstance(step, Sleep):
            self.at(self.now + step.ms, lambda: self._wakes(actor, life))
        elif self.process.cluster is None:
            lost = [None] * len(step.requests)
            self.at(self.now + 50, lambda: self._wakes(actor, life, lost))
        else:
            if actor.link is None or actor.link.is_closed:
                actor.link = Link(self.process.cluster, actor.name)
            self._exchanges[actor] = Exchange(self, actor, actor.link, step)

    def _wakes(self, actor: Actor, life: int, answers: list[Any] | None = None) -> None:
        if actor.doing is not None and actor.lives == life:
            self.resume(actor, answers or [])
