"""Groups of consumers: commits, shares, both protocols."""

from __future__ import annotations

from ..clients import Client, wait_until
from ..clients.member import Member, together
from .parts import assert_in_order, await_records, await_shares, numbered
from .registry import new_name, scenario


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
