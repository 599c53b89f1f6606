"""The source of views: a broker that answers Kafka's requests, and verbs of an emulator alone.

A `Source` needs no more than a client has, so that the same views work on any broker. The verbs
that no request of Kafka's has are `EmulatorVerbs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from ...emulator.base.event import Event
from ...emulator.base.words import number_of
from ...wire import Error, Refused, Request, WireError
from .clients import SeenClient, SeenExtent, SeenTraffic
from .members import SeenInFlight
from .record import Raw
from .segments import SeenSegment
from .waiting import WaitSource

if TYPE_CHECKING:
    from ...emulator.control.request_metrics import Counted
    from ..schemas.reading import Reader


class EmulatorVerbs(Protocol):
    """Verbs for which Kafka has no request. Methods raise Refused for what is not there."""

    def segments(self, topic: str, partition: int) -> list[SeenSegment]:
        """The segments of a partition, the oldest first."""

    def retain(self, topic: str, partition: int | None) -> int:
        """Apply retention now, to one partition or to all (None); return how many segments were
        deleted."""

    def compact(self, topic: str, partition: int | None) -> int:
        """Compact now, whatever ratio and lag; return how many partitions had something to
        compact."""

    def shrink_isr(self, topic: str, partition: int, node_id: int) -> None:
        """Keep a follower from being in sync."""

    def grow_isr(self, topic: str, partition: int, node_id: int) -> None:
        """Have a follower in sync again."""

    def rebalance(self, group_id: str) -> None:
        """Have the members of a group rebalance."""

    def share_in_flight(self, group_id: str) -> list[SeenInFlight]:
        """The records that members of a share group have acquired, by topic, partition and
        offset."""

    def expire_share_locks(self, group_id: str, member_id: str | None) -> int:
        """End the locks of a member of a share group, or of all (None); return of how many
        records."""

    def redeliver(self, group_id: str, member_id: str | None) -> int:
        """Release what a member of a share group has acquired, or all (None); return how many
        records."""

    def poison_share(self, group_id: str, topic: str, partition: int, offset: int) -> None:
        """Have every member of a share group that accepts a record release it instead."""

    def clients(self) -> list[SeenClient]:
        """The connections there are, in the order in which they came."""

    def traffic(self) -> dict[int, SeenTraffic]:
        """By broker, what it was asked since it began to listen."""

    def extents(self) -> dict[tuple[str, int], SeenExtent]:
        """By topic and partition, what there is, of all topics. No log is opened for it."""

    def request_metrics(self) -> Counted:
        """Requests by API and by topic: counted from the first time on that this is asked, and no
        more when nobody has asked for some minutes."""


class Sharing(Protocol):
    """Records that several waits read together."""

    def since(
        self, topic: str, partition: int | None, start: Mapping[int, int], isolation: str
    ) -> dict[int, tuple[list[Raw], int]]:
        """By partition, the records from an offset on that a reader at this isolation level sees,
        and the offset to go on from. Raises Refused."""


class Source(WaitSource, Protocol):
    """A broker, or a cluster of them, that answers requests."""

    timeout: float
    """How many seconds a wait takes that is given no other time."""
    new_reader: Callable[[], Reader] | None
    """The reader of values by a registry's schemas, as they are now; None where there is none."""

    @property
    def powers(self) -> EmulatorVerbs:
        """The verbs of an emulator. Raises an error that says that this is none."""

    @property
    def sharing(self) -> Sharing | None:
        """The records that a wait reads together with others; None if it reads for itself."""

    def ask(self, request: Request, version: int) -> Any:
        """The answer to a request, in this version. It is for the source to find the broker that
        leads the partitions in the request, or coordinates its group."""

    def topic_name(self, name: str) -> str:
        """The broker's name of a topic that a test names: another one, where topics of several
        tests are in one broker."""

    def now(self) -> int:
        """The broker's time, in ms since 1970."""

    def generation(self, group_id: str) -> int | None:
        """The generation of a classic group, of which no request tells; None if it is not
        known."""

    def broker_state(self, node_id: int) -> str | None:
        """The state of a broker, "up" if all is well; None if it is not known."""

    def software(self, client_id: str, host: str) -> tuple[str, str] | None:
        """Name and version of a client's software, None if they are not known, or if clients of
        that id and host have different ones."""

    def events(self) -> list[Event]:
        """The events, in order, as far as the source knows."""


def check(code: int, what: str, message: str | None = None) -> None:
    """Raises Refused for an error code in an answer, saying what was asked for."""
    if code:
        raise Refused(Error(code), f"{what}: {message}" if message else what)


def no_topic(name: str, names: Iterable[str]) -> Refused:
    """There is no topic of this name, but of these; those of the broker itself are not named."""
    there = ", ".join(each for each in names if not each.startswith("__")) or "none"
    text = f"there is no topic {name!r}; there are {there}"
    return Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, text)


def no_partition(topic: str, index: int, count: int) -> str:
    has = f"{number_of(count, 'partition')}, {'number 0' if count == 1 else f'0 to {count - 1}'}"
    return f"topic {topic} has {has}: there is no partition {index}"


def described(head: str, details: Callable[[], str]) -> str:
    """A repr: `head`, and details if the broker can be asked for them."""
    try:
        return f"<{head}: {details()}>"
    except (Refused, WireError, RuntimeError, OSError):
        return f"<{head}>"


def unique_name(beginning: str) -> str:
    """A name that begins so, and that no other topic has."""
    return f"{beginning}-{uuid4().hex[:8]}"
