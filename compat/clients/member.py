"""A consumer that is polled by a thread of its own, as in applications.

Several of them form a group. Left out: work on the records, and commits other than after each
poll that returned some.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from .verbs import Client, Record

CLOSE_TIMEOUT_S = 60.0


class Member:
    """A consumer and its thread; it commits what it polls if it has a group.

    `seen` are the records so far, `positions` the next offset of each partition it has now.
    Leaving the block closes the consumer, and raises what went wrong in the thread.
    """

    def __init__(
        self,
        client: Client,
        bootstrap: str,
        topic: str,
        group: str | None = None,
        from_beginning: bool = True,
    ) -> None:
        self.seen: list[Record] = []
        self.positions: dict[int, int] = {}
        self._group, self._poll_s = group, client.poll_s
        self._open = partial(
            client.consumer, bootstrap, topic, group=group, from_beginning=from_beginning
        )
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"member-{topic}", daemon=True)

    def __enter__(self) -> Member:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Let the thread end after its present poll."""
        self._stop.set()

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join(CLOSE_TIMEOUT_S)
        if self._error is not None:
            raise self._error
        if self._thread.is_alive():
            raise TimeoutError(f"{self._thread.name} did not end in {CLOSE_TIMEOUT_S:.0f} s")

    def _run(self) -> None:
        try:
            with self._open() as consumer:
                while not self._stop.is_set():
                    records = consumer.poll(self._poll_s)
                    self.positions = consumer.positions()
                    self.seen += records
                    if records and self._group is not None:
                        consumer.commit()
        except BaseException as error:
            self._error = error


@contextmanager
def together(members: Sequence[Member]) -> Iterator[None]:
    with ExitStack() as stack:
        for member in members:
            stack.enter_context(member)
        try:
            yield
        finally:
            for member in members:
                member.stop()
