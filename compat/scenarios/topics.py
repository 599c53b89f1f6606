"""Topics: created by use and by name, described, deleted."""

from __future__ import annotations

from collections.abc import Callable

from ..clients import Client, NewRecord, wait_until
from ..clients.member import Member
from .parts import await_records
from .registry import new_name, scenario


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


def _refusal(attempt: Callable[[], None]) -> str:
    """Return the error that the attempt ends with, or nothing; each client has its own types."""
    try:
        attempt()
    except Exception as error:
        return repr(error)
    return ""
