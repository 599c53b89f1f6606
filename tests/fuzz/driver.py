"""Sends requests to a broker over several links at once: sequences of valid ones on links of their
own, and on others batches of mutated ones, each ending with one that has to be answered."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from random import Random

from odradek.wire.frames import SIZE

from tests.differential.engine.served import Served

from .arena import Arena
from .events import Event, frames_in
from .link import Link, Taken, Waiting
from .mutations import Mutations, with_correlation
from .seeds import Seed, Source
from .sequences import Runner
from .spared import is_spared

LOOK_EVERY_S = 0.25
PATIENCE_S = (0.01, 0.2)
"""How long a link is left waiting where an answer may be held back: between these."""
_UNMUTATED = 0.15
_SIZES = (-1, -(2**31), 0, 1, 2**31 - 1, 104857600, 104857601)


class Driver:
    """Everything that is sent in one era. `history` is what was done so far."""

    def __init__(self, arena: Arena, served: Served, seed: str, connections: int) -> None:
        self.arena = arena
        self.history: list[Event] = []
        self.frames = self.answers = self.closed = 0
        self.source = Source(Random(f"{seed}/sequences"), served)
        self._random = Random(f"{seed}/mutations")
        keys = [api.api_key for api in served.ranges]
        self._mutations = Mutations(self._random, self.source.recent, keys)
        self._selector = selectors.DefaultSelector()
        self._attackers: list[Link | None] = [None] * connections
        self._patience: dict[Link, float] = {}
        self._runners = [Runner(self) for _ in range(max(1, connections // 2))]
        self._links = self._correlation = 0
        self._look_at = 0.0

    def run(self, frames: int, progress: Callable[[Driver], None]) -> None:
        """Send so many frames. Raises Over (arena.py)."""
        while self.frames < frames:
            now = time.monotonic()
            for slot in range(len(self._attackers)):
                self._step(slot, now)
            for runner in self._runners:
                runner.step(now)
            self._receive()
            if now >= self._look_at:
                self._look_at = now + LOOK_EVERY_S
                self.arena.look()
                progress(self)
        for key in list(self._selector.get_map().values()):
            self.close(key.data)
        self._selector.close()

    # For runners

    def open(self) -> Link:
        self._links += 1
        link = Link(self._links, self.arena.broker.address, self.history)
        self._selector.register(link.socket, selectors.EVENT_READ, link)
        return link

    def close(self, link: Link, *, is_reset: bool = False) -> None:
        self._selector.unregister(link.socket)
        self._patience.pop(link, None)
        self.answers += link.answers
        link.waiting.clear()
        link.is_open = False
        link.close(is_reset=is_reset)

    def correlation(self) -> int:
        """A number that was not used."""
        self._correlation += 1
        return self._correlation

    def send(self, link: Link, event: Event, taken: Taken | None = None) -> bool:
        """Send an event; `taken` is given the answer to its last frame. Returns whether the link is
        still open."""
        data = event.data
        sent = list(frames_in(data))
        link.is_desynced |= len(data) != sum(map(len, sent)) + 4 * len(sent)
        self.frames += len(sent)
        asked = [
            Waiting(
                int.from_bytes(frame[4:8], "big", signed=True), int.from_bytes(frame[:2], "big")
            )
            for frame in sent
        ]
        if taken is not None:
            asked[-1] = asked[-1]._replace(taken=taken)
        try:
            link.send(event, asked)
        except OSError:
            self._hung_up(link)
        return link.is_open

    def flush(self, link: Link) -> None:
        """Send the next piece of what a link has to send."""
        try:
            link.flush()
        except OSError:
            self._hung_up(link)

    # Attackers

    def _step(self, slot: int, now: float) -> None:
        link = self._attackers[slot]
        if link is None or not link.is_open:
            self._attackers[slot] = link = self.open()
        if link.is_sending:
            self.flush(link)
        elif not link.waiting and not link.is_desynced:
            self._attack(link)
        elif now >= self._patience[link]:
            self._wait_no_longer(link, now)

    def _wait_no_longer(self, link: Link, now: float) -> None:
        if link.may_wait:
            self.close(link, is_reset=self._random.random() < 0.2)
        elif now > link.sent_at + self.arena.setup.hang_s:
            self.arena.over("hang", f"API {link.held_by()}", f"link {link.number} waits")

    def _attack(self, link: Link) -> None:
        random = self._random
        count = random.choice((1, 1, 1, 1, 2, 2, 3, 8))
        frames = [frame for _ in range(count) if (frame := self._any_frame()) is not None]
        if random.random() < 0.003:
            frames += [self._prompt() for _ in range(100)]
        frames.append(self._prompt())
        data = b"".join(map(_sized, frames))
        chance = random.random()
        if chance < 0.04:
            at = random.choice((0, len(_sized(frames[0]))))
            size = random.choice((*_SIZES, len(frames[0]) + 1, max(0, len(frames[0]) - 1)))
            data = data[:at] + SIZE.pack(size) + data[at + 4 :]
        elif chance < 0.07:
            data = data[: random.randrange(1, len(data))]
        low, high = PATIENCE_S
        self._patience[link] = time.monotonic() + random.uniform(low, high)
        is_open = self.send(link, Event(link.number, "send", self._pieces(data)))
        if is_open and 0.07 <= chance < 0.1:
            self.close(link, is_reset=chance < 0.085)

    def _any_frame(self) -> bytes | None:
        seed = self._random.choice(self.source.recent)
        if self._random.random() < _UNMUTATED:
            frame = with_correlation(seed.frame, self.correlation())
        else:
            frame = self._mutations.mutated(seed, self.correlation())
        return None if is_spared(frame) else frame

    def _prompt(self) -> bytes:
        """A request that is answered at once."""
        while True:
            seed: Seed = self._random.choice(self.source.prompt)
            if not is_spared(seed.frame):
                return with_correlation(seed.frame, self.correlation())

    def _pieces(self, data: bytes) -> list[bytes]:
        random = self._random
        if random.random() > 0.15:
            return [data]
        cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.choice((1, 1, 2, 5))))
        pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        return [piece for piece in pieces if piece]

    # Answers

    def _receive(self) -> None:
        for key, _ in self._selector.select(0.002):
            link: Link = key.data
            try:
                for finding in link.receive():
                    self.arena.note(finding)
            except (OSError, EOFError):
                self._hung_up(link)

    def _flush(self, link: Link) -> None:
        try:
            link.flush()
        except OSError:
            self._hung_up(link)

    def _hung_up(self, link: Link) -> None:
        self.closed += 1
        self.close(link)


def _sized(frame: bytes) -> bytes:
    return SIZE.pack(len(frame)) + frame
