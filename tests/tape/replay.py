"""The replay: a sequence is run again, its requests are held against those of its take, and what
the emulator answers against what a real Kafka has answered.

The clock of the emulator is moved to the time at which each step began. When it owes an answer that
Kafka has given it gets as long as in the engine, in its own time; so nothing waits, and a case that
sleeps for five seconds takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsResponse

from tests.differential.allowed import Allowances, allowances_for
from tests.differential.engine.engine import GRACE_S, Engine, SequenceRun
from tests.differential.engine.results import Result
from tests.differential.engine.served import Served, advertised
from tests.differential.engine.side import CLOSED, Key, Side
from tests.differential.engine.steps import Ask, Restart, Sequence, Sleep, Step, World

from .compressors import fingerprint, take_over_records
from .memory import MemoryBroker, MemorySide
from .side import Changed, TapeSide
from .take import Tape


class ReplayEngine(Engine):
    """A tape, and the emulator in process."""

    def __init__(
        self,
        tape: Tape,
        allowances: Allowances | None = None,
        release: Release = KAFKA_4_3,
    ) -> None:
        self.tape = tape
        first_ms = min((take.now_ms for take in tape.takes.values()), default=0)
        self.broker = MemoryBroker(first_ms, release)
        real = ApiVersionsResponse.decode(tape.serves, 0)
        ours = advertised(release)
        self.served = Served.common((real, ours), ("", ""))
        self.allowances = allowances or allowances_for(self.served, release)
        self.compresses_otherwise = fingerprint() != tape.compressed
        self.sequences = self.requests = self.fields = 0

    def in_order(self, sequences: Iterable[Sequence]) -> list[Sequence]:
        """Those that were not recorded, then the others, in the order in which they were: the
        broker's clock does not go back."""
        takes = self.tape.takes

        def recorded_at(sequence: Sequence) -> int:
            return takes[sequence.name].now_ms if sequence.name in takes else 0

        return sorted(sequences, key=recorded_at)

    def run(self, sequence: Sequence) -> Result:
        """Replay a sequence. Raises Changed if it is another than that which was recorded."""
        self.sequences += 1
        take = self.tape.takes.get(sequence.name)
        if take is None:
            raise Changed("it was not recorded")
        self.broker.begin(take.now_ms)
        self.sides = TapeSide(take), MemorySide(self.broker)
        self.served = replace(self.served, clusters=(take.cluster, self.broker.cluster.cluster_id))
        return self.follow(ReplayRun(self, sequence, take.namespace, take.now_ms))

    def close(self) -> None:
        """Stop the emulator."""
        self.broker.close()

    def restart(self, is_killed: bool = False) -> None:
        """Restart the emulator."""
        _, ours = self.sides
        ours.close_all()
        if is_killed:
            ours.broker.kill()
        ours.broker.restart()


class ReplayRun(SequenceRun):
    """A sequence that is being replayed."""

    engine: ReplayEngine
    frame: bytes | None = None

    def run(self) -> None:
        tape, ours = self.engine.sides
        assert isinstance(tape, TapeSide)
        assert isinstance(ours, MemorySide)
        self.tape, self.ours = tape, ours
        ours.notices_later = tape.closes_next
        super().run()
        if not self.result.findings and not self.is_over:
            tape.end_all()

    def settle(self, index: int, step: Step) -> None:
        """Time passes when the next step begins."""

    def take(self, index: int, step: Step) -> None:
        """Do what a step says, at the time at which it was done."""
        self.tape.begin(index + 1)
        broker = self.ours.memory
        broker.pass_until(self.tape.began_ms)
        if isinstance(step, Sleep):
            broker.pass_until(broker.ms + round(step.seconds * 1000))
            self.gather(None, 0)
        elif isinstance(step, Restart):
            self.engine.restart(step.is_killed)
        else:
            super().take(index, step)

    def request_of(self, world: World, step: Ask) -> Request:
        """What a broker is asked by a step."""
        request = super().request_of(world, step)
        frame = self.tape.next_frame if world is self.worlds[0] else self.frame
        self.frame = frame
        if frame is not None and self.engine.compresses_otherwise:
            take_over_records(request, frame)
        return request

    def gather(self, own: Key | None, limit_s: float) -> None:
        """Receive what was recorded of this step; let the emulator answer the same."""
        broker = self.ours.memory
        self.tape.receive()
        wanted = self.tape.arrived.keys()
        if own is not None and not _has(self.tape, own):
            broker.pass_until(broker.ms + round(limit_s * 1000))
        until = broker.ms + round(GRACE_S * 1000)
        self.ours.receive()
        while not wanted <= self.ours.arrived.keys() and broker.ms < until:
            broker.pass_on(until)
            self.ours.receive()


def _has(side: Side, key: Key) -> bool:
    return key in side.arrived or (key[0], CLOSED) in side.arrived
