"""Where reading begins, offsets by time, and large records."""

from __future__ import annotations

from ..clients import Client, NewRecord, wait_until
from ..clients.member import Member
from .parts import an_hour_ago, await_records, numbered
from .registry import new_name, scenario


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
