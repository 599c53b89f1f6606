"""Actor: a simulated client, written as a generator.

It yields what it waits for: `Ask` some requests, sent one after another on its connection without
waiting in between, or `Sleep`. It gets a list of answers, None for each request whose answer is
lost. What an actor does over is up to it, as it is for a real client.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from odradek.wire import Error, Request

if TYPE_CHECKING:
    from tests.simulation.network import Link
    from tests.simulation.world import World

T = TypeVar("T")


class Ask(NamedTuple):
    """Requests with their versions."""

    requests: list[tuple[Request, int]]


class Sleep(NamedTuple):
    """For so many milliseconds."""

    ms: int


Step: TypeAlias = Ask | Sleep
Doing: TypeAlias = Generator[Step, list[Any], T]

FENCED = frozenset(
    {
        Error.PRODUCER_FENCED,
        Error.INVALID_PRODUCER_EPOCH,
        Error.INVALID_PRODUCER_ID_MAPPING,
    }
)
"""What tells a producer that another has taken its place."""


class Actor:
    """One client process. `play` is its life; one that dies begins again with `reborn`."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.random = Random(world.random.getrandbits(64))
        self.lives = 0
        self.link: Link | None = None
        self.doing: Doing[None] | None = None
        self.is_done = False

    def play(self) -> Doing[None]:
        """What it does from its start to its end."""
        raise NotImplementedError

    def reborn(self) -> None:
        """Its process has died: it forgets what was only in memory."""

    # What plays are made of

    def ask(self, request: Request, version: int) -> Doing[Any]:
        """Send a request; returns its answer, None if that is lost."""
        (answer,) = yield Ask([(request, version)])
        return answer

    def until(
        self, make: Callable[[], Request], version: int, error_of: Callable[[Any], int]
    ) -> Doing[Any]:
        """Send a request again and again until its answer is no error that is worth a retry."""
        while True:
            answer = yield from self.ask(make(), version)
            if answer is not None and not Error(error_of(answer)).retriable:
                return answer
            yield from self.pause()

    def pause(self, most_ms: int = 200) -> Doing[None]:
        """Wait a little before the next attempt."""
        yield Sleep(20 + self.random.randrange(most_ms))

    def tell(self, what: str, *more: object) -> None:
        """Into the trace."""
        self.world.tell(self.name, what, *more)
