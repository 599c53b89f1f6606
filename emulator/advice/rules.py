"""The rules, one function each. Each yields advice, and says in its docstring when it is silent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...wire import Error
from ..base.event import Event
from ..base.sentences import AUTO_CREATED, UNACKNOWLEDGED
from ..base.words import lasted, number_of
from .advice import Advice
from .committing import (
    commits_of_each_record,
    committed_before_output,
    last_read_offset,
    read_again,
    slow_work,
)
from .reading import read_uncommitted, started_at_the_end, unread_partitions
from .seen import Seen

MANY_REFUSALS = 20
REFUSALS_A_SECOND = 5


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


def fenced_static_members(seen: Seen) -> Iterator[Advice]:
    """A static member was put out, or not let in, because another one has its group.instance.id."""
    names = {(each.client, each.group): each.details.get("instance") for each in seen.of("joined")}
    for each in seen.of("refused", "fenced"):
        if each.error in (Error.FENCED_INSTANCE_ID, Error.UNRELEASED_INSTANCE_ID):
            instance = names.get((each.client, each.group))
            name = f"group.instance.id={instance}" if instance else "the same group.instance.id"
            yield Advice(
                "fenced static member",
                f"two consumers have {name} in group {each.group}: {each.client} was refused "
                f"{each.api} ({each.error.name})",
                "give each process a group.instance.id of its own, and close the old one before "
                "its successor starts",
                client=each.client,
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
    last_read_offset,
    committed_before_output,
    read_again,
    slow_work,
    fenced_static_members,
    read_uncommitted,
    started_at_the_end,
    unread_partitions,
    auto_created,
    acks_0,
    idle_transactions,
    retry_storm,
    older_protocol,
)
