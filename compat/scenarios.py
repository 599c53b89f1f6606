"""What a stock client must be able to do, written once, for every client and every broker.

A scenario is a function `(client, bootstrap)` that asserts; its docstring is its line in the
support table. Each makes topics of its own, so scenarios share a broker and need no order.

The rules:

- What is asserted is what Apache Kafka guarantees, not what it happens to do: shares of a group
  are counted only after the group is stable, order only within a partition.
- Timestamps lie in the last hour, or a broker's retention would rightly delete the records.
- Consumers that run at the same time have a thread each.
- `run` gives each scenario a hard time limit, whatever its client does (`within`).

Left out: what only one client can do, and everything that needs a broker's internals.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import get_args

from .clients import (
    CLIENTS,
    Acks,
    Client,
    Codec,
    NewRecord,
    Record,
    Unavailable,
    wait_until,
    within,
)
from .clients import client as client_named
from .clients.member import Member, together
from .scenario_parts import (
    an_hour_ago,
    assert_in_order,
    await_records,
    await_shares,
    numbered,
    placed,
)

Scenario = Callable[[Client, str], None]

SCENARIOS: dict[str, Scenario] = {}
CODECS: tuple[Codec, ...] = get_args(Codec)
TIMEOUT_S = 90.0


def scenario(function: Scenario) -> Scenario:
    """Enter a scenario in the table, under its name."""
    SCENARIOS[function.__name__] = function
    return function


def run(name: str, client: Client, bootstrap: str, timeout_s: float = TIMEOUT_S) -> None:
    """Run a scenario; raise what it raises, or TimeoutError with the place where it hangs."""
    within(timeout_s, f"{name} with {client.name}", lambda: SCENARIOS[name](client, bootstrap))


def new_name(what: str, client: Client) -> str:
    """Return a name nobody else uses, for a topic, a group or a transactional id."""
    return f"{what}-{client.name}-{uuid.uuid4().hex[:8]}"


@scenario
def produces_and_consumes(client: Client, bootstrap: str) -> None:
    """Keys, nulls, empty values, headers and timestamps come back as they were sent."""
    topic = new_name("round-trip", client)
    client.create_topic(bootstrap, topic, partitions=3)
    null = None if client.sends_null_header_values else b""
    start = an_hour_ago()
    sent = [
        NewRecord(b"plain", b"key", (), start),
        NewRecord(b"no key", None, (), start + 1),
        NewRecord(None, b"a tombstone", (), start + 2),
        NewRecord(
            b"", b"", (("empty", b""), ("null", null), ("twice", b"1"), ("twice", b"2")), start
        ),
        NewRecord("дом κόσμος 家".encode(), b"\x00\xff", (("schlüssel", b"\x00"),), start - 5),
    ]
    sent += [NewRecord(b"%d" % n, b"%d" % (n % 7), (), start + n) for n in range(200)]

    places = client.produce(bootstrap, topic, sent)
    records = client.consume(bootstrap, topic)

    assert sorted(records) == sorted(map(placed, places, sent))
    assert_in_order(records)
    homes = {(record.key, partition) for record, (partition, _) in zip(sent, places, strict=True)}
    keys = {key for key, _ in homes if key is not None}
    assert len([home for home in homes if home[0] is not None]) == len(keys), "a key moved"


def _reads_back(codec: Codec | None, client: Client, bootstrap: str) -> None:
    topic = new_name(f"codec-{codec}", client)
    client.create_topic(bootstrap, topic)
    sent = numbered(100, b"many bytes that are much alike " * 20)

    places = client.produce(bootstrap, topic, sent, compression=codec)

    assert client.consume(bootstrap, topic) == list(map(placed, places, sent))


for _codec in (None, *CODECS):
    _reads = partial(_reads_back, _codec)
    _reads.__doc__ = f"Batches are {f'compressed with {_codec}' if _codec else 'uncompressed'}."
    SCENARIOS[f"reads_back_{_codec or 'uncompressed'}"] = _reads


@scenario
def acknowledges_as_asked(client: Client, bootstrap: str) -> None:
    """acks=0, acks=1 and acks=all all deliver."""
    topic = new_name("acks", client)
    client.create_topic(bootstrap, topic)
    expected: list[bytes] = []
    for acks in get_args(Acks):
        values = [b"%s-%d" % (str(acks).encode(), n) for n in range(10)]
        places = client.produce(bootstrap, topic, [NewRecord(value) for value in values], acks=acks)
        if acks != 0:
            base = len(expected)
            assert places == [(0, base + n) for n in range(10)]
        expected += values

        records = client.consume(bootstrap, topic, count=len(expected))
        assert [record.value for record in records] == expected


@scenario
def produces_idempotently(client: Client, bootstrap: str) -> None:
    """An idempotent producer's records are there once, in order."""
    topic = new_name("idempotent", client)
    client.create_topic(bootstrap, topic)
    first, second = numbered(150), numbered(150)

    places = client.produce(bootstrap, topic, first, idempotent=True)
    places += client.produce(bootstrap, topic, second, idempotent=True)

    assert places == [(0, n) for n in range(300)]
    records = client.consume(bootstrap, topic)
    assert [r.value for r in records] == [r.value for r in first + second]


@scenario
def keeps_transactions_apart(client: Client, bootstrap: str) -> None:
    """An aborted transaction is read with read_uncommitted only; a committed one always."""
    topic, name = new_name("transactions", client), new_name("transactional", client)
    client.create_topic(bootstrap, topic)
    for value, abort in ((b"kept", False), (b"dropped", True), (b"kept too", False)):
        client.produce(
            bootstrap, topic, [NewRecord(value)], transactional_id=name, abort=abort, partition=0
        )

    everything = client.consume(bootstrap, topic)
    committed = client.consume(bootstrap, topic, isolation="read_committed")

    assert [r.value for r in everything] == [b"kept", b"dropped", b"kept too"]
    assert [r.value for r in committed] == [b"kept", b"kept too"]
    assert client.end_offsets(bootstrap, topic) == {0: 6}, "each transaction ends with a marker"


@scenario
def a_group_resumes_where_it_committed(client: Client, bootstrap: str) -> None:
    """A group commits, and its next consumer goes on from there."""
    topic, group = new_name("resume", client), new_name("group", client)
    client.create_topic(bootstrap, topic, partitions=3)
    client.produce(bootstrap, topic, numbered(50))

    first = client.consume(bootstrap, topic, group=group, count=30)
    committed = client.committed(bootstrap, group, topic)
    second = client.consume(bootstrap, topic, group=group)

    assert len(first) == 30
    assert sum(committed.values()) == 30
    assert len(second) == 20
    assert {r.value for r in first + second} == {r.value for r in numbered(50)}
    assert client.committed(bootstrap, group, topic) == client.end_offsets(bootstrap, topic)


@scenario
def a_group_without_commits_starts_over(client: Client, bootstrap: str) -> None:
    """What is read but not committed is read again."""
    topic, group = new_name("forgetful", client), new_name("group", client)
    client.create_topic(bootstrap, topic)
    client.produce(bootstrap, topic, numbered(10))

    first = client.consume(bootstrap, topic, group=group, count=10, commit=False)
    second = client.consume(bootstrap, topic, group=group, count=10)

    assert first == second
    assert client.committed(bootstrap, group, topic) == {0: 10}


@scenario
def four_members_share_twelve_partitions(client: Client, bootstrap: str) -> None:
    """Four consumers get three partitions each, and each record once, in order."""
    topic, group = new_name("shared", client), new_name("group", client)
    client.create_topic(bootstrap, topic, partitions=12)
    members = [Member(client, bootstrap, topic, group) for _ in range(4)]
    with together(members):
        await_shares(members, [3, 3, 3, 3])
        shares = [set(member.positions) for member in members]
        places = client.produce(bootstrap, topic, numbered(360))
        await_records(members, 360)

    assert sorted(p for share in shares for p in share) == list(range(12))
    for share, member in zip(shares, members, strict=True):
        assert {record.partition for record in member.seen} <= share
        assert_in_order(member.seen)
    assert sorted((r.partition, r.offset) for m in members for r in m.seen) == sorted(places)


@scenario
def a_later_member_takes_its_share(client: Client, bootstrap: str) -> None:
    """A consumer that joins later gets half of the partitions, and gives them back."""
    topic, group = new_name("late", client), new_name("group", client)
    client.create_topic(bootstrap, topic, partitions=4)
    client.produce(bootstrap, topic, numbered(40))
    with Member(client, bootstrap, topic, group) as first:
        wait_until(
            lambda: sum(client.committed(bootstrap, group, topic).values()) == 40,
            "the first member has committed 40 records",
        )
        with Member(client, bootstrap, topic, group) as second:
            await_shares([first, second], [2, 2])
            shares = [set(first.positions), set(second.positions)]
            places = client.produce(bootstrap, topic, numbered(40))
            await_records([first, second], 80)
        await_shares([first], [4])

    assert shares[0] | shares[1] == {0, 1, 2, 3}
    later = first.seen[40:] + second.seen
    assert sorted((r.partition, r.offset) for r in later) == sorted(places)
    assert {r.partition for r in second.seen} <= shares[1]


@scenario
def shares_by_the_new_protocol(client: Client, bootstrap: str) -> None:
    """A group of the new protocol (KIP-848): joins, shares, gives back, commits, resumes."""
    client = client.speaking("consumer")
    topic, group = new_name("new-protocol", client), new_name("group", client)
    client.create_topic(bootstrap, topic, partitions=4)
    places = client.produce(bootstrap, topic, numbered(40))
    with Member(client, bootstrap, topic, group) as first:
        await_records([first], 40)
        with Member(client, bootstrap, topic, group) as second:
            await_shares([first, second], [2, 2])
            shares = [set(first.positions), set(second.positions)]
            places += client.produce(bootstrap, topic, numbered(40))
            await_records([first, second], 80)
        await_shares([first], [4])
    resumed = client.produce(bootstrap, topic, numbered(10))
    last = client.consume(bootstrap, topic, group=group, count=10)

    assert shares[0] | shares[1] == {0, 1, 2, 3}
    assert {record.partition for record in second.seen} <= shares[1]
    seen = first.seen + second.seen
    assert sorted((r.partition, r.offset) for r in seen) == sorted(places)
    assert sorted((r.partition, r.offset) for r in last) == sorted(resumed)
    assert client.committed(bootstrap, group, topic) == client.end_offsets(bootstrap, topic)


@scenario
def a_new_reader_starts_at_the_end(client: Client, bootstrap: str) -> None:
    """A consumer that starts at the latest offset sees only what comes after."""
    topic = new_name("latest", client)
    client.create_topic(bootstrap, topic)
    client.produce(bootstrap, topic, numbered(5))
    with Member(client, bootstrap, topic, from_beginning=False) as reader:
        wait_until(lambda: reader.positions == {0: 5}, "the reader stands at the end")
        client.produce(bootstrap, topic, [NewRecord(b"new")])
        await_records([reader], 1)

    assert [(r.offset, r.value) for r in reader.seen] == [(5, b"new")]


@scenario
def finds_offsets_by_timestamp(client: Client, bootstrap: str) -> None:
    """The offset of the first record at or after a time, or none."""
    topic = new_name("times", client)
    client.create_topic(bootstrap, topic, partitions=2)
    start = an_hour_ago()
    sent = [NewRecord(b"%d" % n, None, (), start + 1000 * n) for n in range(20)]
    client.produce(bootstrap, topic, sent, partition=0)

    def at(timestamp_ms: int) -> dict[int, int | None]:
        return client.offsets_for_time(bootstrap, topic, timestamp_ms)

    assert at(start - 1) == {0: 0, 1: None}
    assert at(start + 7000) == {0: 7, 1: None}
    assert at(start + 7001) == {0: 8, 1: None}
    assert at(start + 60_000) == {0: None, 1: None}


@scenario
def carries_a_large_record(client: Client, bootstrap: str) -> None:
    """A record of 900 KB, between small ones."""
    topic = new_name("large", client)
    client.create_topic(bootstrap, topic)
    large = bytes(range(256)) * (900_000 // 256)
    sent = [NewRecord(b"before"), NewRecord(large, b"key"), NewRecord(b"after")]

    client.produce(bootstrap, topic, sent)

    assert [r.value for r in client.consume(bootstrap, topic)] == [b"before", large, b"after"]


@scenario
def producing_creates_a_topic(client: Client, bootstrap: str) -> None:
    """A topic that does not exist is created by producing to it."""
    topic = new_name("made-by-producing", client)

    assert client.produce(bootstrap, topic, [NewRecord(b"first")]) == [(0, 0)]

    assert topic in client.list_topics(bootstrap)
    assert [r.value for r in client.consume(bootstrap, topic)] == [b"first"]


@scenario
def consuming_creates_a_topic(client: Client, bootstrap: str) -> None:
    """A topic that does not exist is created by consuming it, and then read."""
    topic = new_name("made-by-consuming", client)
    with Member(client, bootstrap, topic) as reader:
        wait_until(lambda: topic in client.list_topics(bootstrap), "the topic is listed")
        client.produce(bootstrap, topic, [NewRecord(b"first")])
        await_records([reader], 1)

    assert [(r.offset, r.value) for r in reader.seen] == [(0, b"first")]


@scenario
def manages_topics(client: Client, bootstrap: str) -> None:
    """A topic is created, described, refused a second time, and deleted."""
    topic = new_name("managed", client)

    client.create_topic(bootstrap, topic, partitions=5, configs={"retention.ms": "3600000"})
    assert client.partitions(bootstrap, topic) == [0, 1, 2, 3, 4]
    assert client.end_offsets(bootstrap, topic) == dict.fromkeys(range(5), 0)

    assert "exist" in _refusal(lambda: client.create_topic(bootstrap, topic)).lower()

    client.delete_topic(bootstrap, topic)
    assert topic not in client.list_topics(bootstrap)


@scenario
def is_read_by_every_other_client(client: Client, bootstrap: str) -> None:
    """What it produces, in each codec, reads the same with every other client."""
    topic = new_name("cross", client)
    client.create_topic(bootstrap, topic)
    headers = (("name", b"value"), ("again", b""))
    start = an_hour_ago()
    expected: list[Record] = []
    for codec in (None, *CODECS):
        name = str(codec).encode()
        sent = [NewRecord(b"%s %d" % (name, n) * 9, name, headers, start + n) for n in range(30)]
        places = client.produce(bootstrap, topic, sent, compression=codec)
        expected += map(placed, places, sent)

    readers = [other for name in CLIENTS if name != client.name and (other := _installed(name))]
    assert readers, "no other client is installed"
    for reader in readers:
        assert reader.consume(bootstrap, topic) == expected, f"as read by {reader.name}"


def _refusal(attempt: Callable[[], None]) -> str:
    """Return the error that the attempt ends with, or nothing; each client has its own types."""
    try:
        attempt()
    except Exception as error:
        return repr(error)
    return ""


def _installed(name: str) -> Client | None:
    try:
        return client_named(name)
    except Unavailable:
        return None
