"""What one client produces is read by every other."""

from __future__ import annotations

from ..clients import CLIENTS, Client, NewRecord, Record, Unavailable
from ..clients import client as client_named
from .parts import an_hour_ago, placed
from .records import CODECS
from .registry import new_name, scenario


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


def _installed(name: str) -> Client | None:
    try:
        return client_named(name)
    except Unavailable:
        return None
