"""Topics with everything a mirror has to cope with, and what a consumer sees of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from odradek.compat.commands import main
from odradek.compat.spark.pipeline.broker import (
    EARLIEST,
    LATEST,
    Cluster,
    Place,
    Producer,
    create_topic,
    fetch,
    find_topics,
    offsets,
)
from odradek.compat.spark.pipeline.broker.transactions import Transactions
from odradek.compat.spark.pipeline.mirror.pieces import pieces
from odradek.wire.compression import Codec
from odradek.wire.records import NewRecord, Record, build_batch, read_records

CONFIG = {"log.retention.ms": "-1", "log.cleaner.backoff.ms": "100"}
TIME = 1_700_000_000_000


def batch(
    *values: bytes, key: bytes | None = b"k", codec: Codec = Codec.NONE, time: int = TIME
) -> bytearray:
    """Records at times that differ, with a header."""
    headers = (("h", b"x"), ("null", None))
    records = [NewRecord(time + at, key, value, headers) for at, value in enumerate(values)]
    return build_batch(records, codec=codec)


class Writer:
    """Writes to a cluster, in transactions and without."""

    def __init__(self, address: str) -> None:
        self.cluster = Cluster(address)
        self._producer = Producer(self.cluster)
        self._transactional: dict[str, tuple[Transactions, Producer]] = {}

    def write(self, place: Place, *values: bytes, **how: Any) -> None:
        self._producer.send({place: batch(*values, **how)})

    def transaction(self, name: str, place: Place, *values: bytes, commit: bool | None) -> None:
        """One transaction; None leaves it open."""
        if name not in self._transactional:
            transactions = Transactions(self.cluster, name)
            producer = Producer(self.cluster, transactions.begin_anew())
            self._transactional[name] = transactions, producer
        transactions, producer = self._transactional[name]
        transactions.add(producer.identity, [place])
        if values:
            producer.send({place: batch(*values)}, transactional_id=name)
        if commit is not None:
            before = end(self.cluster, place)
            transactions.end(producer.identity, commit=commit)
            until(lambda: end(self.cluster, place) > before)

    def close(self) -> None:
        self.cluster.close()


def end(cluster: Cluster, place: Place) -> int:
    return offsets(cluster, [place], LATEST)[place]


def until(condition: Callable[[], bool], seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def fill(writer: Writer, topic: str) -> None:
    """Two partitions with plain records, all codecs, and transactions of all kinds."""
    create_topic(writer.cluster, topic, 2, configs={"max.message.bytes": "2000000"})
    first, second = (topic, 0), (topic, 1)
    for number, codec in enumerate(Codec):
        writer.write(first, b"plain %d" % number, b"more", codec=codec)
    writer.write(second, b"null", key=None)
    writer.transaction(f"{topic}.a", first, b"committed", commit=True)
    writer.transaction(f"{topic}.a", first, b"aborted", b"aborted too", commit=False)
    writer.transaction(f"{topic}.a", first, commit=False)
    writer.transaction(f"{topic}.a", first, commit=False)
    writer.write(first, b"after")
    writer.transaction(f"{topic}.b", second, b"late", commit=None)
    writer.write(second, b"between")
    writer.transaction(f"{topic}.b", second, b"later", commit=True)
    writer.transaction(f"{topic}.b", second, b"never", commit=False)


def seen(address: str, topic: str) -> dict[int, list[Record]]:
    """What a read_committed consumer sees of each partition."""
    found: dict[int, list[Record]] = {}
    with Cluster(address) as cluster:
        (found_text,) = find_topics(cluster, [topic])
        firsts = offsets(cluster, found_text.places, EARLIEST)
        ends = offsets(cluster, found_text.places, LATEST, committed=True)
        for place in found_text.places:
            records = found.setdefault(place[1], [])
            for fetched in fetch(cluster, place, firsts[place], ends[place]):
                for piece in pieces(fetched, firsts[place], committed=True):
                    for offset, record in enumerate(read_records(piece.batch), piece.offset):
                        records.append(record._replace(offset=offset))
    return found


def bounds(address: str, topic: str) -> list[tuple[int, int]]:
    """First and next offset of each partition."""
    with Cluster(address) as cluster:
        (found,) = find_topics(cluster, [topic])
        firsts = offsets(cluster, found.places, EARLIEST)
        ends = offsets(cluster, found.places, LATEST)
        return [(firsts[place], ends[place]) for place in found.places]


def mirror(capsys: Any, source: str, target: str, *more: str, status: int = 0) -> dict[str, Any]:
    """Run the command; its summary, or the error as `error`."""
    assert main(["mirror", source, target, "--json", *more]) == status
    out = capsys.readouterr()
    if status == 2:
        return {"error": out.err}
    found: dict[str, Any] = json.loads(out.out)
    return found


def options(topic: str, *more: str) -> Sequence[str]:
    return ("--topics", topic, *more)
