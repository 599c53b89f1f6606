"""Producing: what comes back, codecs, acknowledgements, idempotence, transactions."""

from __future__ import annotations

from functools import partial
from typing import get_args

from ..clients import Acks, Client, Codec, NewRecord
from .parts import an_hour_ago, assert_in_order, numbered, placed
from .registry import SCENARIOS, new_name, scenario

CODECS: tuple[Codec, ...] = get_args(Codec)


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

    expected = sent if client.keeps_empty else [_without_empty(each) for each in sent]
    assert sorted(records) == sorted(map(placed, places, expected))
    assert_in_order(records)
    homes = {(record.key, partition) for record, (partition, _) in zip(sent, places, strict=True)}
    keys = {key for key, _ in homes if key is not None}
    assert len([home for home in homes if home[0] is not None]) == len(keys), "a key moved"


def _without_empty(record: NewRecord) -> NewRecord:
    headers = tuple((name, value or None) for name, value in record.headers)
    return NewRecord(record.value or None, record.key or None, headers, record.timestamp)


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
