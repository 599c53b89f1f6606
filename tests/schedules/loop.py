"""Consume, transform, produce: the loop that is correct, and five that are not."""

from __future__ import annotations

import time
from collections.abc import Callable

from odradek import Emulator

from tests.schedules.pipes.pipe import Batch, Broken, Failed, Pipe

CORRECT = "correct"
READ_UNCOMMITTED = "read-uncommitted"
VARIANTS = (
    CORRECT,
    "commit-first",
    "no-transaction",
    "no-idempotence",
    "offsets-outside",
    READ_UNCOMMITTED,
)
STALLED, STALLED_S = "nothing was read for some seconds", 5.0
NOT_TRANSACTIONAL = ("no-transaction", "no-idempotence")


class Loop:
    """Works until it is done. What ends a pipe is followed by another one, as a service is
    restarted."""

    def __init__(self, kafka: Emulator, pipe: type[Pipe], variant: str) -> None:
        self._kafka = kafka
        self._pipe = pipe
        self._variant = variant
        self.aborted = 0
        self.restarted = 0
        self.errors: list[str] = []
        """Why it was restarted."""

    def run(self, is_done: Callable[[], bool]) -> None:
        """Raises what is not among the errors of a client."""
        while not is_done():
            pipe = self._pipe(
                self._kafka,
                transactional=self._variant not in NOT_TRANSACTIONAL,
                idempotent=self._variant != "no-idempotence",
            )
            try:
                pipe.start()
                read = time.monotonic()
                while not is_done():
                    batch = pipe.poll()
                    if batch is not None:
                        self._process(pipe, batch)
                        read = time.monotonic()
                    elif time.monotonic() > read + STALLED_S:
                        raise Broken(STALLED)
                pipe.stop()
            except (Broken, Failed) as error:
                self.restarted += 1
                self.errors.append(str(error))
                pipe.drop()
            except BaseException:
                pipe.drop()
                raise

    def _process(self, pipe: Pipe, batch: Batch) -> None:
        values = [value.upper() for value in batch.values]
        if self._variant in NOT_TRANSACTIONAL:
            pipe.send(values)
            pipe.commit_offsets(batch.positions)
            return
        if self._variant == "commit-first":
            pipe.commit_offsets(batch.positions)
        pipe.begin()
        try:
            pipe.send(values)
            if self._variant in (CORRECT, READ_UNCOMMITTED):
                pipe.send_offsets(batch.positions)
            pipe.commit()
        except Failed:
            self.aborted += 1
            pipe.abort()
            pipe.rewind()
            return
        if self._variant == "offsets-outside":
            pipe.commit_offsets(batch.positions)
