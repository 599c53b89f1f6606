"""Reading as a member of a group: from what it has committed, and committing what was shown.

What counts as done is committed once a second, when the group rebalances, and at the end. So after
Ctrl-C nothing is shown twice; what was shown after the last commit is shown again if the process is
killed, or if the group gave the partitions to another member meanwhile.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from ....wire.api.metadata import MetadataResponse
from ....wire.records import Record
from .client import Brokers, ConsoleError
from .joining import Membership, Rebalanced
from .offsets import Place, Position, resolve
from .reading import Reader

_COMMIT_S = 1.0
_IDLE_S = 0.3


class GroupReader:
    """Iterate over it: (partition, record). `done` and `close` at the end."""

    def __init__(
        self,
        brokers: Brokers,
        topic: MetadataResponse.Topic,
        group: str,
        start: Position,
        *,
        committed: bool,
        follow: bool,
        flush: Callable[[], None],
    ) -> None:
        """`start`: of partitions without a committed offset. `flush` is called before a commit."""
        self._brokers = brokers
        self._topic = topic.name or ""
        self._start = start
        self._committed = committed
        self._follow = follow
        self._flush = flush
        self._member = Membership(brokers, group, self._topic)
        self._reader: Reader | None = None
        self._told: dict[int, int] = {}
        self._told_at = time.monotonic()

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        while True:
            mine = self._member.join()
            try:
                self._reader = self._new_reader(mine)
                yield from self._reader
                if not self._follow:
                    return
                while True:  # nothing is assigned
                    self._between()
                    time.sleep(_IDLE_S)
            except Rebalanced:
                self._commit_what_may_be()

    @property
    def done(self) -> dict[int, int]:
        """How far each partition is: the caller adds the last record it has shown."""
        return {} if self._reader is None else self._reader.done

    def close(self) -> None:
        """Commit, and leave the group. Raises ConsoleError."""
        self._commit_what_may_be()
        self._member.leave()

    def _new_reader(self, mine: list[int]) -> Reader:
        self._told = {}
        topic = self._brokers.topic(self._topic)
        topic.partitions = [each for each in topic.partitions if each.partition_index in mine]
        starts = resolve(self._brokers, [topic], self._start, committed=self._committed)
        starts |= self._went_on(starts)
        return Reader(
            self._brokers,
            topic,
            starts,
            committed=self._committed,
            follow=self._follow,
            grows=False,
            between=self._between,
        )

    def _went_on(self, starts: dict[Place, int]) -> dict[Place, int]:
        return {place: at for place, at in self._member.committed().items() if place in starts}

    def _between(self) -> None:
        self._member.beat()
        if time.monotonic() - self._told_at > _COMMIT_S:
            self._commit()

    def _commit(self) -> None:
        self._told_at = time.monotonic()
        new = {index: at for index, at in self.done.items() if self._told.get(index) != at}
        if new:
            self._flush()
            self._member.commit(new)
            self._told |= new

    def _commit_what_may_be(self) -> None:
        """Commit; say so if others have the partitions already."""
        try:
            self._commit()
        except Rebalanced:
            print(
                f"odradek: group {self._member.group} rebalanced before the last records shown "
                "were committed: they are shown again",
                file=sys.stderr,
            )
        except ConsoleError as error:
            print(f"odradek: {error}: the last records shown are not committed", file=sys.stderr)
