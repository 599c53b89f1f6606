"""Event: one thing that happened at the broker, as a test sees it.

What an error says to somebody who looks for the reason of a failed test.

`QUIET` is normal traffic: a client learns the next step, and does it.

What happened, in sentences: one for each kind of event.

Between braces stands what `_words` makes of an event, or one of its details. A repeated event says
how often it happened, in how much time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...wire import Error
from .words import lasted, number_of

QUIET = frozenset(
    {
        Error.MEMBER_ID_REQUIRED,
        Error.REBALANCE_IN_PROGRESS,
        Error.COORDINATOR_LOAD_IN_PROGRESS,
        Error.COORDINATOR_NOT_AVAILABLE,
        Error.FETCH_SESSION_ID_NOT_FOUND,
        Error.INVALID_FETCH_SESSION_EPOCH,
        Error.LEADER_NOT_AVAILABLE,
    }
)

QUIET_OF = frozenset(
    {
        ("ApiVersions", Error.UNSUPPORTED_VERSION),
        ("ConsumerGroupDescribe", Error.GROUP_ID_NOT_FOUND),
        ("GetTelemetrySubscriptions", Error.UNSUPPORTED_VERSION),
    }
)
"""By the request too: one of a newer client, answered with what an older broker knows."""

FENCED = frozenset(
    {
        Error.PRODUCER_FENCED,
        Error.INVALID_PRODUCER_EPOCH,
        Error.FENCED_INSTANCE_ID,
        Error.FENCED_MEMBER_EPOCH,
        Error.ILLEGAL_GENERATION,
    }
)

MEANINGS = {
    Error.CONCURRENT_TRANSACTIONS: "the end of the transaction before is still being written",
    Error.FENCED_INSTANCE_ID: "another client has joined with the same group.instance.id",
    Error.FENCED_MEMBER_EPOCH: "the group has gone on without it, it has to join again",
    Error.GROUP_ID_NOT_FOUND: "there is no such group",
    Error.ILLEGAL_GENERATION: "the group has rebalanced without it",
    Error.INVALID_PRODUCER_EPOCH: "a newer producer has its transactional id, or it was timed out",
    Error.INVALID_TXN_STATE: "its transaction is in another state, for instance timed out",
    Error.NOT_COORDINATOR: "another broker coordinates it now",
    Error.NOT_LEADER_OR_FOLLOWER: "the broker that was asked does not lead the partition",
    Error.OFFSET_OUT_OF_RANGE: "there is no such offset, or no more",
    Error.OUT_OF_ORDER_SEQUENCE_NUMBER: "records of this producer before it are missing",
    Error.PRODUCER_FENCED: "a newer producer has its transactional id, or it was timed out",
    Error.STALE_MEMBER_EPOCH: "the member has not yet heard of the last rebalance",
    Error.UNKNOWN_MEMBER_ID: "it is no member of the group, or no more",
    Error.UNKNOWN_PRODUCER_ID: "nothing of this producer is left in the log",
    Error.UNKNOWN_TOPIC_ID: "there is no topic with this id, it may have been deleted",
    Error.UNKNOWN_TOPIC_OR_PARTITION: "there is no such topic or partition",
}


SENTENCES = {
    # Clients
    "connected": "{client} connected{software}",
    "closed": "{client} closed its last connection",
    "left behind": "{client} closed its connection without leaving group {group}{because}",
    "large request": "{client} sent a large {api}, of which nothing more is logged",
    "and more": '{client}: {number} more of "{kind}"',
    "still open": "{client} was not closed: it is still a member of group {group}",
    "log-in failed": "{client}: {reason}",
    "logged in again": "{client} logged in again, on a connection that was open",
    "malformed": "the connection of {client} was closed: {reason}",
    # The application under test
    "service": "{client} {reason}",
    "output": "{client}: {reason}",
    # Topics
    "topic created": "{client}{principal} created topic {topic} with {partitions}{because}",
    "topic deleted": "{client}{principal} deleted topic {topic}",
    "partitions added": "{client}{principal} added partitions to topic {topic}: "
    "it has {partitions} now",
    "records deleted": "{client}{principal} deleted the records of {place} before offset {last}",
    # Records
    "appended": "{client} appended {offsets} to {place}{because}",
    "duplicate": "{client} sent {offsets} of {place} again, already appended: not stored twice",
    "fetched": "{client} fetched {offsets} from {place}",
    "fetched nothing": "{client} fetched 0 records from {place}",
    "looked up the end": "{client} looked up the end of {place} (offset {last})",
    # Groups
    "found no offset": "{client} found no committed offset of {place} in group {group}",
    "found offset": "{client} found offset {last} of {place} committed in group {group}",
    "committed": "{client} committed {commits} of {place} in group {group}",
    "joined": "{client} joined group {group}{as_instance} ({members})",
    "left": "{client} left group {group}{because} ({members} remaining)",
    "away": "{client} left group {group} for a while, as static member {instance}",
    "kicked": "{client} was removed from group {group}{because} ({members} remaining)",
    "session timed out": "{client} was removed from group {group}: {reason} ({members} remaining)",
    "rebalance begun": "group {group} began to rebalance: {reason}",
    "rebalance finished": "group {group} finished its rebalance: "
    "generation {generation}, {members}",
    "not ready": "group {group} cannot be assigned yet: {reason}",
    # Share groups
    "took": "{client} took {offsets} of {place} in group {group}, delivery {delivery}",
    "acknowledged": "{client} acknowledged {offsets} of {place} in group {group}",
    "released": "{client} released {offsets} of {place} in group {group}{because}",
    "rejected": "{client} rejected {offsets} of {place} in group {group}",
    "lock expired": "{client} did not acknowledge {offsets} of {place} in group {group} in time",
    "archived": "group {group} gets {offsets} of {place} no more{because}",
    # Transactions
    "transaction begun": "transaction of {id} began",
    "transaction committed": "transaction of {id} was committed",
    "transaction aborted": "transaction of {id} was aborted{because}",
    "transaction timed out": "transaction of {id} was aborted: {reason}",
    # Rules of the test
    "rule": "{client} met a rule with its {api}{at}: {reason}",
    # Faults of the test
    "network": "{client} met {reason}",
    "disk": "the disk's {reason}",
    # The process
    "killed": "the broker was killed{because}",
    "power cut": "the broker lost power{because}",
    "stopped": "the broker was stopped",
    "started again": "the broker started again{because}",
    "broker stopped": "broker {node} was stopped",
    "broker killed": "broker {node} was killed",
    "broker paused": "broker {node} was paused",
    "broker resumed": "broker {node} was resumed",
    "broker started again": "broker {node} started again",
    # Replicas
    "replica lags": "the replica of {place} at broker {node} lags{because}",
    "replica caught up": "the replica of {place} at broker {node} lags no more",
    "replica kept out": "the replica of {place} at broker {node} is kept from being in sync",
    "replica let in": "the replica of {place} at broker {node} may be in sync again",
    "records lost": "{offsets} of {place} were lost: broker {node}, which leads now, lacked them",
    "broker added": "broker {node} was added",
    "broker removed": "broker {node} was removed",
    # Between brokers
    "brokers partitioned": "the network between brokers was broken: {reason}",
    "brokers joined": "the network between brokers is whole again",
    "controllers lost": "the controllers were lost",
    "controllers back": "the controllers are back",
    # Refusals
    "denied": "{client} was denied: {reason}",
    "throttled": "{client} was throttled for {milliseconds} ms by a quota",
    "refused": "{client} was refused {api}{about}{at}: {error}{because}",
    "fenced": "{client} was fenced on {api}{about}{at}: {error}{because}",
}
"""By the kind of the event."""

UNACKNOWLEDGED = "acks=0, not acknowledged"
IN_A_TRANSACTION = "in a transaction"
READ_UNCOMMITTED = "read_uncommitted"
AUTO_CREATED = "because its metadata was asked for"
"""Reasons that tests and advice ask for."""

_SHARED = frozenset({"took", "acknowledged", "released", "rejected", "lock expired", "archived"})
ONCE = frozenset({"appended", "fetched"}) | _SHARED
"""Kinds whose sentence says how much in all: of these "in 3 requests", not "3 times"."""


def sentence(event: Event) -> str:
    """The event as a clause without its time."""
    text = SENTENCES.get(event.kind)
    words = _words(event)
    clause = f"{words['client']}: {event.kind}" if text is None else text.format_map(words)
    if event.count == 1:
        return clause
    is_once = event.kind in ONCE
    number = f"in {event.count:,} requests" if is_once else f"{event.count:,} times"
    return f"{clause} {number} in {lasted(event.until - event.elapsed)}"


def _words(event: Event) -> defaultdict[str, str]:
    words: defaultdict[str, str] = defaultdict(str)
    words.update({name: str(value) for name, value in event.details.items()})
    members, partitions = event.details.get("members"), event.details.get("partitions")
    words.update(
        client=event.client or "a client without an id",
        topic=event.topic,
        place=_place(event),
        group=event.group,
        offsets=_offsets(event),
        commits=_commits(event),
        last=str(event.last_offset),
        reason=event.reason,
        because=f": {event.reason}" if event.reason and event.error else "",
        api=event.api,
        about=_about(event),
        error=event.error.name if event.error is not None else "",
        id=event.transactional_id,
        members="" if members is None else number_of(members, "member"),
        partitions="" if partitions is None else number_of(partitions, "partition"),
    )
    if "broker" in event.details:
        words["at"] = f" at broker {event.details['broker']}"
    if event.reason and event.error is None:
        words["because"] = f" ({event.reason})"
    return words


def _place(event: Event) -> str:
    if not event.topic:
        return "several topics"
    return event.topic if event.partition < 0 else f"{event.topic}-{event.partition}"


def _offsets(event: Event) -> str:
    first, last = event.first_offset, event.last_offset
    if last < first:
        return f"records from offset {first} on"
    if last == first:
        return f"offset {first}"
    return f"offsets {first} to {last}"


def _commits(event: Event) -> str:
    first, last = event.first_offset, event.last_offset
    return f"offset {last}" if first == last else f"offsets from {first} to {last}"


def _about(event: Event) -> str:
    """The subject of a request that was refused."""
    about = [_place(event)] if event.topic else []
    if event.group:
        about.append(f"group {event.group}")
    if event.transactional_id:
        about.append(f"transactional id {event.transactional_id}")
    return f" ({', '.join(about)})" if about else ""


NO_DETAILS: Mapping[str, Any] = MappingProxyType({})


@dataclass(slots=True, repr=False)
class Event:
    """One thing that happened, or the same thing several times with nothing else between.

    `str(event)` is a sentence with its time. What does not apply is empty, or -1.
    """

    kind: str
    """A word or two: "connected", "appended", "fetched nothing", "joined": a key of `SENTENCES`."""
    time: int
    """By the broker's clock, in ms since 1970; of several the first."""
    elapsed: float
    """Real seconds since the broker was first started; of several the first."""
    until: float
    """The same of the last one."""
    count: int = 1
    client: str = ""
    """The client id, with a number if another client or member has the same: "billing-app#2"; "the
    test" for what a test did itself."""
    topic: str = ""
    partition: int = -1
    first_offset: int = -1
    last_offset: int = -1
    group: str = ""
    member: str = ""
    transactional_id: str = ""
    api: str = ""
    """Of a request that was refused: "Produce", "JoinGroup", ..."""
    error: Error | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=lambda: NO_DETAILS)
    """Other details of this kind, by name."""
    moved: float = -1.0
    """Of commits: real seconds, as in `until`, of the last one that had another offset than the one
    before it."""

    def __str__(self) -> str:
        return f"+{self.elapsed:.3f} s  {sentence(self)}"

    def __repr__(self) -> str:
        return f"<{self}>"

    @property
    def sentence(self) -> str:
        """The event as a sentence, without the time."""
        return sentence(self)

    def concerns(self, topic: str | None = None, group: str | None = None) -> bool:
        """Whether it is about this topic or this group."""
        return bool((topic and topic == self.topic) or (group and group == self.group))
