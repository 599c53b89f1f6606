"""The rules, one function each. Each yields advice, and says in its docstring when it is silent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..base.call import TEST
from ..base.event import Event
from ..base.sentences import AUTO_CREATED, IN_A_TRANSACTION, READ_UNCOMMITTED, UNACKNOWLEDGED
from ..base.words import lasted, number_of
from .advice import Advice

if TYPE_CHECKING:
    from ..cluster import Cluster

MANY_COMMITS = 10
"""One by one: a test that reads three records may commit each."""
MANY_REFUSALS = 20
REFUSALS_A_SECOND = 5


class Seen:
    """What the rules look at: what happened, and what is there at the end, if the broker runs."""

    def __init__(self, events: Sequence[Event], cluster: Cluster | None) -> None:
        self.events = events
        self.cluster = cluster

    def of(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds, in order, but for what a test did itself."""
        return (each for each in self.events if each.kind in kinds and each.client != TEST)

    def after(self, event: Event, *kinds: str) -> Iterator[Event]:
        """The same, of those after an event."""
        is_after = False
        for each in self.events:
            if is_after and each.kind in kinds and each.client != TEST:
                yield each
            is_after = is_after or each is event


def not_closed(seen: Seen) -> Iterator[Advice]:
    """A consumer's connection was closed while it was a member, or was open when the test ended.
    Silent for static members, which stay on purpose, and for one that has come back."""
    for each in seen.of("left behind", "still open"):
        if "instance" in each.details or _came_back(seen, each):
            continue
        yield Advice(
            "not closed",
            f"consumer {each.client} was not closed: group {each.group} waits for it until its "
            "session times out, and gives its partitions to nobody before",
            "call consumer.close(), also when the test fails",
            client=each.client,
            group=each.group,
        )


def _came_back(seen: Seen, event: Event) -> bool:
    kinds = ("committed", "left", "joined", "left behind")
    return any(each.member == event.member for each in seen.after(event, *kinds) if each.member)


def commits_of_each_record(seen: Seen) -> Iterator[Advice]:
    """Ten commits or more, each one record further."""
    steps: dict[tuple[str, str, str, int], list[Event]] = {}
    for each in seen.of("committed"):
        if not each.transactional_id:
            key = each.client, each.group, each.topic, each.partition
            steps.setdefault(key, []).append(each)
    told = set()
    for (client, group, topic, _), commits in steps.items():
        count = sum(each.count for each in commits)
        first, last = commits[0].first_offset, commits[-1].last_offset
        if count < MANY_COMMITS or last - first != count - 1 or (client, group) in told:
            continue
        told.add((client, group))
        yield Advice(
            "commits of each record",
            f"{client} commits each record of {topic} by itself: {count} commits of one record "
            f"each in group {group}",
            "commit once for each batch that poll returns, or let enable.auto.commit=true do it",
            client=client,
            topic=topic,
            group=group,
        )


def read_uncommitted(seen: Seen) -> Iterator[Advice]:
    """A consumer has read records of transactions without isolation.level=read_committed."""
    written = {
        (each.topic, each.partition)
        for each in seen.events
        if each.kind == "appended" and each.reason == IN_A_TRANSACTION
    }
    told = set()
    for each in seen.of("fetched"):
        is_read = (each.topic, each.partition) in written and each.reason == READ_UNCOMMITTED
        if not is_read or (each.client, each.topic) in told:
            continue
        told.add((each.client, each.topic))
        yield Advice(
            "read_uncommitted",
            f"{each.client} reads {each.topic}, which is written in transactions, with "
            "isolation.level=read_uncommitted: it gets records that may be aborted",
            "set isolation.level=read_committed",
            client=each.client,
            topic=each.topic,
        )


def started_at_the_end(seen: Seen) -> Iterator[Advice]:
    """A consumer of a group found no committed offset, asked for the end, and began there though
    there were records. Silent if it has read any of them later."""
    for end in seen.of("looked up the end"):
        offset, place = end.first_offset, (end.topic, end.partition)
        began = _first(seen.of("fetched", "fetched nothing"), end.client, place)
        no_offset = _first(seen.of("found no offset"), end.client, place)
        if began is None or no_offset is None or began.first_offset != offset:
            continue
        fetches = [e for e in seen.of("fetched") if (e.topic, e.partition) == place]
        has_read = any(e.client == end.client and e.first_offset < offset for e in fetches)
        missed = offset - _start(seen, end)
        if missed <= 0 or has_read:
            continue
        yield Advice(
            "started at the end",
            f"{end.client} began to read {end.topic}-{end.partition} at its end (offset {offset})"
            f" and has missed the {number_of(missed, 'record')} before",
            "set auto.offset.reset=earliest, or produce after it was assigned its partitions "
            f"(group {no_offset.group})",
            client=end.client,
            topic=end.topic,
            group=no_offset.group,
        )


def _first(events: Iterable[Event], client: str, place: tuple[str, int]) -> Event | None:
    for each in events:
        if each.client == client and (each.topic, each.partition) == place:
            return each
    return None


def _start(seen: Seen, end: Event) -> int:
    if seen.cluster is None:
        return 0
    topic = seen.cluster.topics.get(end.topic)
    if topic is None or end.partition >= len(topic.partitions):
        return end.first_offset
    return topic.partitions[end.partition].log_start_offset


def auto_created(seen: Seen) -> Iterator[Advice]:
    """Topics that were created because a client asked for them."""
    for each in seen.of("topic created"):
        if each.reason == AUTO_CREATED:
            has = number_of(each.details["partitions"], "partition")
            yield Advice(
                "auto-created",
                f"topic {each.topic} was created because {each.client} asked for it: a misspelled "
                f"name would go unnoticed, and it has {has}",
                f'create it first, kafka.create_topic("{each.topic}"), or set '
                "auto.create.topics.enable=false",
                client=each.client,
                topic=each.topic,
            )


def acks_0(seen: Seen) -> Iterator[Advice]:
    """A producer that asks for no answer."""
    for client in dict.fromkeys(e.client for e in seen.of("appended") if _is_unacknowledged(e)):
        yield Advice(
            "acks=0",
            f"{client} produces with acks=0: it does not hear of records that were not stored",
            "set acks=all",
            client=client,
        )


def _is_unacknowledged(event: Event) -> bool:
    return event.reason == UNACKNOWLEDGED


def idle_transactions(seen: Seen) -> Iterator[Advice]:
    """Transactions that have timed out, or that nobody will end any more: their producer's last
    connection is closed."""
    for each in seen.of("transaction timed out"):
        yield _idle(each.transactional_id, f"was aborted: {each.reason}")
    if seen.cluster is None:
        return
    clients = {each.client for each in seen.of("connected")}
    gone = {each.client for each in seen.of("closed")}
    is_anybody_here = bool(clients - gone)
    for known in seen.cluster.transactions.all():
        if known.state.name == "ONGOING" and not is_anybody_here:
            yield _idle(known.transactional_id, "was left open when its producer was closed")


def _idle(transactional_id: str, what: str) -> Advice:
    return Advice(
        "idle transaction",
        f"the transaction of {transactional_id} {what}; until then, consumers that read committed "
        "records wait at its first one",
        "call commit_transaction or abort_transaction, also when the test fails",
        client=transactional_id,
    )


def retry_storm(seen: Seen) -> Iterator[Advice]:
    """The same refused twenty times and more, several times a second."""
    for each in seen.of("refused", "fenced"):
        seconds = max(each.until - each.elapsed, 0.001)
        if each.count < MANY_REFUSALS or each.count / seconds < REFUSALS_A_SECOND:
            continue
        assert each.error is not None
        often = f"{each.count} times in {lasted(seconds)}"
        yield Advice(
            "retry storm",
            f"{each.client} was refused the same {each.api} {often} ({each.error.name})",
            "raise retry.backoff.ms"
            if each.error.retriable
            else "do not retry, for this error stays: look for its cause",
            client=each.client,
            topic=each.topic,
            group=each.group,
        )


def older_protocol(seen: Seen) -> Iterator[Advice]:
    """A client that speaks a version which this release does not serve any more."""
    for each in seen.of("malformed"):
        if each.reason.endswith("is not served"):
            yield Advice(
                "older protocol",
                f"{each.client} speaks an older protocol than this release serves ({each.reason})",
                'use a newer client, or Emulator(version="3.9"), which serves older ones',
                client=each.client,
            )


RULES: tuple[Callable[[Seen], Iterable[Advice]], ...] = (
    not_closed,
    commits_of_each_record,
    read_uncommitted,
    started_at_the_end,
    auto_created,
    acks_0,
    idle_transactions,
    retry_storm,
    older_protocol,
)
