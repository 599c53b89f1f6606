"""Connections without sockets: requests and answers travel for a while, in their order.

What may befall a request, drawn from the seed:

- its connection breaks before it arrives, or before its answer does; then all that follows on that
  connection is lost too;
- it is late: the client has given the connection up and asks again on another one, and meanwhile
  the request still arrives. So requests of one client pass each other, as on a real network where
  the broker reads from two sockets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from odradek.emulator.cluster import Cluster
from odradek.wire import Request

from tests.simulation.actor import Actor, Ask
from tests.support.cluster import Client

if TYPE_CHECKING:
    from odradek.wire.frames import Part

    from tests.simulation.world import World

MISSING = object()
TIMEOUT_MS = 10_000
"""`request.timeout.ms`: then a client gives a connection up."""
LATE_MS = (300, 1500, 4000)


class Link(Client):
    """One connection of an actor. A client that has given it up may still have requests on it."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        super().__init__(cluster, name)
        self.is_up = True
        """Whether the broker still reads from it."""
        self.arrival = 0
        self._waiting: list[Callable[[Any], None]] = []

    def deliver(self, request: Request, version: int, answered: Callable[[Any], None]) -> None:
        """A request arrives at the broker."""
        if self.is_up and not self.is_closed:
            self._waiting.append(answered)
            self.send(request, version)

    def send_parts(self, parts: list[Part]) -> None:
        super().send_parts(parts)
        for answer in self.answers():
            self._waiting.pop(0)(answer)

    def hang_up(self) -> None:
        """The broker learns that the client has gone."""
        if self.is_up:
            self.is_up = False
            self.connection.lost()
            self.cluster.settle()


class Exchange:
    """Requests of an actor that are under way, and the answers so far."""

    def __init__(self, world: World, actor: Actor, link: Link, asked: Ask) -> None:
        self.world, self.actor, self.link = world, actor, link
        self.answers: list[Any] = [MISSING] * len(asked.requests)
        self.is_over = False
        self._last = 0
        random, weather = world.random, world.weather
        world.at(world.now + TIMEOUT_MS, self.broken)
        for index, (request, version) in enumerate(asked.requests):
            fate = random.random()
            when = max(link.arrival, world.now + random.choice((0, 1, 1, 3, 20)))
            link.arrival = when
            if fate < weather.lost:
                world.tell(actor.name, "lost", _name(request))
                self._breaks(when + 10)
                return
            if fate < weather.lost + weather.late:
                self._late(request, version, when)
                return
            drops = fate < weather.lost + weather.late + weather.unanswered
            world.at(when, self._arrival(index, request, version, drops=drops))

    def _late(self, request: Request, version: int, when: int) -> None:
        """The client gives up; the request arrives later, and then the end of the connection."""
        world, link = self.world, self.link
        later = when + world.random.choice(LATE_MS)
        name, what = self.actor.name, _name(request)
        world.tell(name, "late", what)
        world.late += 1

        def arrive() -> None:
            world.late -= 1
            world.tell(name, "arrives late", what)
            link.deliver(request, version, lambda answer: None)
            link.hang_up()

        world.at(later, arrive)
        self._breaks(when + 10, hangs_up=False)

    def _arrival(
        self, index: int, request: Request, version: int, *, drops: bool
    ) -> Callable[[], None]:
        def answered(answer: Any) -> None:
            if drops:
                self.world.tell(self.actor.name, "answer lost", _name(request))
                self._breaks(self.world.now + 5)
            elif not self.is_over:
                self._last = max(self._last, self.world.now + self.world.random.choice((0, 1, 5)))
                self.world.at(self._last, lambda: self._answered(index, answer))

        def arrive() -> None:
            self.link.deliver(request, version, answered)
            if self.link.is_closed:
                self._breaks(self.world.now)

        return arrive

    def _answered(self, index: int, answer: Any) -> None:
        if not self.is_over and self.link.is_up:
            self.answers[index] = answer
            if MISSING not in self.answers:
                self._end()

    def _breaks(self, when: int, *, hangs_up: bool = True) -> None:
        self.world.at(when, lambda: self.broken(hangs_up=hangs_up))

    def broken(self, *, hangs_up: bool = True) -> None:
        """The connection is of no use any more."""
        if self.is_over and self.link is self.actor.link:
            return
        if hangs_up:
            self.link.hang_up()
        if not self.is_over:
            if self.actor.link is self.link:
                self.actor.link = None
            self._end()

    def _end(self) -> None:
        self.is_over = True
        answers = [None if each is MISSING else each for each in self.answers]
        self.world.resume(self.actor, answers)


def _name(request: Request) -> str:
    return type(request).__name__.removesuffix("Request")
