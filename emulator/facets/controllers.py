"""The controllers of a cluster, and the network between its brokers, which a test breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from ..cluster import Cluster
from .facet import Facet


class Broken:
    """What a test has broken between the brokers, until `heal`, or the end of its `with` block.
    `str` is the sentence that made it."""

    def __init__(self, sentence: str, mend: Callable[[], None]) -> None:
        self._sentence = sentence
        self._mend: Callable[[], None] | None = mend

    def __repr__(self) -> str:
        return self._sentence

    def heal(self) -> None:
        """End it. Does nothing if it has ended."""
        mend, self._mend = self._mend, None
        if mend is not None:
            mend()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.heal()


class BetweenBrokers:
    """What is broken between the brokers of one Emulator. No client meets it by itself, so nobody
    is told of it that has not met it."""

    def __init__(self, run: Callable[[Callable[[Cluster], Any]], Any]) -> None:
        self.faults: list[Any] = []
        self.unfinished: list[str] = []
        self._run = run

    def partition(self, sides: Sequence[Collection[int]]) -> Broken:
        """Break the network into sides."""
        told = ", ".join("{" + ", ".join(map(str, sorted(each))) + "}" for each in sides)

        def begin(cluster: Cluster) -> None:
            whole = _sides(sides, list(cluster.nodes))
            if cluster.replication.quorum.sides:
                raise RuntimeError("the network between brokers is broken already: heal it first")
            cluster.replication.break_network(whole)
            cluster.journal.add("brokers partitioned", reason=" | ".join(map(_told, whole)))

        self._run(begin)
        return Broken(f"kafka.partition_network({told})", self._join)

    def lose_quorum(self) -> Broken:
        """Have no controllers."""

        def begin(cluster: Cluster) -> None:
            if cluster.replication.quorum.is_lost:
                raise RuntimeError("the controllers are lost already: heal that first")
            cluster.replication.lose_quorum(is_lost=True)
            cluster.journal.add("controllers lost")

        self._run(begin)
        return Broken("kafka.without_quorum()", self._bring_back)

    def heal(self) -> None:
        """Make everything whole."""
        self._join()
        self._bring_back()

    def excuse(self) -> None:
        """Nobody is told of it."""

    def forget_all(self) -> None:
        """The broker is as new."""

    def _join(self) -> None:
        def end(cluster: Cluster) -> None:
            if cluster.replication.quorum.sides:
                cluster.replication.break_network(())
                cluster.journal.add("brokers joined")

        with suppress(RuntimeError):  # it has stopped, and what was broken with it
            self._run(end)

    def _bring_back(self) -> None:
        def end(cluster: Cluster) -> None:
            if cluster.replication.quorum.is_lost:
                cluster.replication.lose_quorum(is_lost=False)
                cluster.journal.add("controllers back")

        with suppress(RuntimeError):  # it has stopped, and what was broken with it
            self._run(end)


class Controllers(Facet):
    """Verbs about controllers, and the network between brokers."""

    _between_brokers: BetweenBrokers

    @property
    def controller(self) -> int:
        """The id of the broker that is the controller; -1 while there is none. It stays the
        controller until it ends."""
        return self.run(lambda cluster: cluster.replication.quorum.leader)

    def partition_network(self, *sides: Iterable[int]) -> Broken:
        """Break the network between brokers into sides, each given by the ids of its brokers; those
        that are not named are one more side. Clients reach all of them. Followers get nothing from
        a leader on another side. Brokers on a side that is not more than half of all reach no
        controller, and are fenced when their sessions end: others lead then.

            with kafka.partition_network({1}, {2, 3}):

        Raises TypeError, ValueError for what are not sides, RuntimeError if it is broken already.
        """
        return self._between_brokers.partition([_side(each) for each in sides])

    def without_quorum(self) -> Broken:
        """Have no controllers, until it is healed or the end of a `with` block. Leaders and
        replicas in sync stay as they are, whatever brokers do; what is asked of the controller
        (creating topics, changing configs, elections) is not answered before they are back. What
        the test itself would change raises Refused(REQUEST_TIMED_OUT). Raises RuntimeError if they
        are lost already."""
        return self._between_brokers.lose_quorum()


def _side(given: Iterable[int]) -> frozenset[int]:
    """Raises TypeError."""
    is_set = isinstance(given, set | frozenset | list | tuple)
    if not is_set or not all(type(each) is int for each in given):
        raise TypeError(f"a side of the network is a set of the ids of brokers, not {given!r}")
    return frozenset(given)


def _sides(given: Sequence[Collection[int]], there: Sequence[int]) -> list[frozenset[int]]:
    """All sides. Raises ValueError."""
    named = [each for side in given for each in side]
    for each in named:
        if each not in there:
            raise ValueError(f"there is no broker {each}, but {_told(there)}")
        if named.count(each) > 1:
            raise ValueError(f"broker {each} is on two sides of the network")
    found = [frozenset(side) for side in (*given, set(there) - set(named)) if side]
    if len(found) < 2:
        raise ValueError("a broken network has at least two sides: partition_network({1}, {2, 3})")
    return found


def _told(ids: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(ids)))
