"""Two takes of the same sequence: whether Kafka has answered the same both times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.differential.allowed import allowances_for
from tests.differential.engine.engine import Engine, SequenceRun
from tests.differential.engine.normalize import Normalizer
from tests.differential.engine.served import Served
from tests.differential.engine.side import Key
from tests.differential.engine.steps import Ask, Raw, Sequence, Step, World

from .side import Changed, TapeSide
from .take import Take

_LONGEST = 200


def changes(before: Take, now: Take, sequence: Sequence, served: Served) -> list[str]:
    """What differs, in words; nothing if only what may differ from run to run does."""
    engine = _Pair((before, now), served)
    try:
        result = engine.follow(_PairRun(engine, sequence, before.namespace, before.now_ms))
    except Changed as changed:
        return [f"asks something else: {_cut(str(changed))}"]
    return [
        f"step {found.step + 1}, {found.difference.path}: {_cut(found.difference.real)}"
        f" -> {_cut(found.difference.ours)}"
        for found in result.findings
    ]


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class _Pair(Engine):
    """Two takes."""

    times_answers = False

    def __init__(self, takes: tuple[Take, Take], served: Served) -> None:
        self.sides = TapeSide(takes[0]), TapeSide(takes[1])
        self.served = replace(served, clusters=tuple(take.cluster for take in takes))
        self.allowances = allowances_for(served)
        self.sequences = self.requests = self.fields = 0


class _PairRun(SequenceRun):
    """A sequence of which there are two takes."""

    def run(self) -> None:
        self.tapes = [side for side in self.engine.sides if isinstance(side, TapeSide)]
        takes = [tape.take for tape in self.tapes]
        self.worlds = [World(take.namespace, take.now_ms) for take in takes]
        self.normalizers = [
            Normalizer(take.namespace, take.now_ms, take.addresses, take.cluster) for take in takes
        ]
        super().run()
        if not self.result.findings and not self.is_over:
            for tape in self.tapes:
                tape.end_all()

    def take(self, index: int, step: Step) -> None:
        """Look what was recorded of a step."""
        for tape in self.tapes:
            tape.begin(index + 1)
        if isinstance(step, Ask | Raw):
            super().take(index, step)
        else:
            self.gather(None, 0)

    def settle(self, index: int, step: Step) -> None:
        """Nothing has changed."""

    def gather(self, own: Key | None, limit_s: float) -> None:
        """Receive what was recorded of this step."""
        for tape in self.tapes:
            tape.receive()
