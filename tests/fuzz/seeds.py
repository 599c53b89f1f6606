"""Valid requests: sequences of steps as the differential tests draw them, and their frames.

The sequences share a few namespaces, so that what one has created another deletes, writes to, or
asks for. What answers teach about a namespace (ids of topics, members, sessions, producers) is used
by all its later requests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from odradek.wire import Request
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.headers import RequestHeader, write_request_header

from tests.differential.draw.requests import draw_request
from tests.differential.draw.sequences import draw_sequence
from tests.differential.engine.served import Served
from tests.differential.engine.steps import Ask, Steps, World

NAMESPACES = 4
SEEDS_KEPT = 400
FROM_SCHEMAS = 0.3
MAY_WAIT = frozenset(cls.api_key for cls in (FetchRequest, JoinGroupRequest, SyncGroupRequest))
"""The APIs whose answers a broker may hold back."""


class Seed(NamedTuple):
    """A valid request, and its frame without the size."""

    request: Request
    version: int
    frame: bytes

    @property
    def is_answered_at_once(self) -> bool:
        """Whether an answer has to come, and without waiting for anything."""
        request = self.request
        if request.api_key in MAY_WAIT:
            return False
        return not isinstance(request, ProduceRequest) or request.acks != 0


class Source:
    """Draws sequences, and remembers the last requests that were made of them."""

    def __init__(self, random: Random, served: Served) -> None:
        self.served = served
        self.recent: deque[Seed] = deque(maxlen=SEEDS_KEPT)
        self.prompt: deque[Seed] = deque(maxlen=SEEDS_KEPT)
        self._random = random
        self.worlds = [World(f"z{number}-") for number in range(NAMESPACES)]
        self.every = self._each_version()
        while len(self.prompt) < SEEDS_KEPT // 4:
            world, steps = self.sequence()
            for step in steps:
                if isinstance(step, Ask):
                    self.seed(world, step)

    def sequence(self) -> tuple[World, Steps]:
        """Steps, and the namespace in which they are to be carried out."""
        world = self._random.choice(self.worlds)
        if self._random.random() < FROM_SCHEMAS:
            return world, [next(self.every) for _ in range(40)]
        return world, list(draw_sequence(self._random.randrange(1 << 40), self.served).steps)

    def seed(self, world: World, step: Ask) -> Seed:
        """The request of a step as it is now, with what is known of its namespace."""
        request = world.resolve(step.request)
        version = self.served.version(step)
        header = RequestHeader(request.api_key, version, 0, world.resolve(step.client_id))
        seed = Seed(request, version, write_request_header(header) + request.encode(version))
        self.recent.append(seed)
        if seed.is_answered_at_once:
            self.prompt.append(seed)
        return seed

    def _each_version(self) -> Iterator[Ask]:
        """A request of each version of each API, drawn from its schema, in any order, for ever."""
        pairs = [
            (api, version) for api in self.served.ranges for version in self.served.versions(api)
        ]
        while True:
            self._random.shuffle(pairs)
            for api, version in pairs:
                yield Ask(draw_request(self._random, api, version), version)
