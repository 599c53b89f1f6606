"""The recorder: writes down what the engine sends to a real Kafka, and what that answers.

A sequence in which the emulator differs is not recorded: it ends there.
"""

from __future__ import annotations

import time

from tests.differential.engine.engine import SequenceRun
from tests.differential.engine.side import Arrived, Key
from tests.differential.engine.steps import Ask, Raw, Step

from .take import Began, Came, Sent, Take


class TapeRecorder:
    """Has the takes of the sequences that an engine has run, by name."""

    def __init__(self) -> None:
        self.takes: dict[str, Take] = {}
        self._take: Take
        self._step = 0
        self._began_s = 0.0

    def begin(self, run: SequenceRun) -> None:
        """A sequence begins."""
        side, cluster = run.engine.sides[0], run.engine.served.clusters[0]
        name = run.result.sequence.name
        self._take = Take(name, run.now_ms, run.namespace, side.addresses, cluster)
        self._step, self._began_s = 0, time.monotonic()

    def step(self, step: Step) -> None:
        """Its next step begins."""
        self._step += 1
        if not isinstance(step, Ask | Raw):
            what = type(step).__name__.lower()
            self._take.lines.append(Began(self._step, self._ms(), what))

    def sent(self, on: str, what: str, data: bytes) -> None:
        """A frame, or bytes, of the connection of that name."""
        self._take.lines.append(Sent(self._step, self._ms(), on, what, data))

    def arrived(self, key: Key, arrived: Arrived) -> None:
        """An answer, which belongs to the step that began last."""
        word = "" if isinstance(key[1], int) else str(arrived.answer)
        came = Came(self._step, self._ms(arrived.at_s), key, arrived.frame, word)
        self._take.lines.append(came)

    def end(self, run: SequenceRun) -> None:
        """The sequence is over."""
        if not run.result.findings:
            self.takes[self._take.name] = self._take

    def _ms(self, at_s: float | None = None) -> int:
        now_s = time.monotonic() if at_s is None else at_s
        return int((now_s - self._began_s) * 1000)
