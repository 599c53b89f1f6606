"""A real Kafka, as it was recorded: one side of a comparison."""

from __future__ import annotations

from odradek.wire import Response

from tests.differential.engine.side import CLOSED, Arrived, Asked, Key, Side, decoded

from .take import Came, Sent, Take


class Changed(AssertionError):
    """A sequence does not ask any more what was asked when it was recorded."""


class TapeSide(Side):
    """A real Kafka, as it was recorded."""

    def __init__(self, take: Take) -> None:
        self.arrived = {}
        self.take = take
        self._step = 0
        self.began_ms = 0
        self._asked: dict[Key, Asked] = {}
        self._to_send: list[Sent] = []
        self._to_come: list[Came] = []

    @property
    def addresses(self) -> list[tuple[str, int]]:
        return self.take.addresses

    @property
    def is_waiting(self) -> bool:
        return False

    def begin(self, step: int) -> None:
        """A step begins."""
        self.end()
        lines = list(self.take.of(step))
        self.began_ms = lines[0].ms if lines else 0
        self._step = step
        self._to_send = [line for line in lines if isinstance(line, Sent)]
        self._to_come = [line for line in lines if isinstance(line, Came)]

    @property
    def next_frame(self) -> bytes | None:
        """The frame that is to be sent next in this step."""
        return self._to_send[0].data if self._to_send else None

    def closes_next(self, on: str) -> bool:
        """Whether a connection ends in the next step."""
        lines = self.take.of(self._step + 1)
        return any(isinstance(line, Came) and line.key == (on, CLOSED) for line in lines)

    def end(self) -> None:
        """Raise Changed unless all of a step was sent."""
        if self._to_send:
            raise Changed(f"step {self._step} does not send {self._to_send[0].what}")

    def end_all(self) -> None:
        """Raise Changed unless all was sent."""
        self.end()
        if self.take.lines[-1].step > self._step:
            raise Changed(f"step {self._step + 1} was recorded, and is no more")

    def send(self, on: str, frame: bytes, correlation_id: int, asked: Asked | None) -> None:
        """Hold a frame against the recorded one."""
        if asked is not None:
            self._asked[on, correlation_id] = asked
        self.send_raw(on, frame)

    def send_raw(self, on: str, data: bytes) -> None:
        """Hold bytes against the recorded ones."""
        if not self._to_send:
            raise Changed(f"step {self._step} was recorded without a request")
        sent = self._to_send.pop(0)
        if (sent.on, sent.data) != (on, data):
            text = f"step {self._step} sends {data.hex()} over {on}"
            raise Changed(f"{text}, and when it was recorded {sent.data.hex()} over {sent.on}")

    def close(self, on: str) -> None:
        """Nothing is to be closed."""

    def close_all(self) -> None:
        """Nothing is to be closed."""

    def receive(self) -> None:
        """Let everything come that came during this step."""
        for came in self._to_come:
            asked = self._asked.pop(came.key, None)
            answer: Response | str = came.word
            if not came.word and asked is not None:
                answer = decoded(bytearray(came.data), asked)
            elif not came.word:
                answer = f"unasked: {came.data.hex()}"
            self.arrived[came.key] = Arrived(asked, answer, came.data, came.ms / 1000)
        self._to_come = []
