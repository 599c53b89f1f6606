"""Into topics over the wire, each record once.

Each piece has a producer id of its own, which is written down before anything is sent. Its records
go to their partitions in the order of the file, numbered by the producer's sequences. So a broker
knows how many of them it has: a piece that was interrupted asks for that (DescribeProducers), and
leaves out as many. A batch that is sent again because its answer was lost is recognised, too.

Brokers forget producers that have written nothing for `producer.id.expiration.ms`, a day: a load
must be resumed before.

Source: KIP-98, KIP-664.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from ...segments.encoder import encode
from ..broker import BrokerError, Cluster, Identity, Producer, create_topic, find_topics
from ..broker.producers import last_sequences
from ..broker.producing import new_identity
from ..engine import Engine
from ..errors import PipelineError
from ..files import FileSplit
from ..places import is_pattern
from ..progress import Progress
from ..retention import Oldest
from ..state import State
from ..stored import to_plain
from ..topics import Topics
from .checking import check_files
from .routing import Place, Routing

_Piece: TypeAlias = tuple[int, FileSplit, Identity]
"""Its number, where it is, and the producer that writes it."""


def write_topics(
    options: argparse.Namespace,
    topics: Topics,
    state: State,
    splits: list[FileSplit],
    engine: Engine,
    bar: Progress,
) -> None:
    """Write the pieces that are not done yet."""
    if state.plan is None:
        state.begin(_plan(options, topics, splits, engine))
    plan = state.plan
    task = _Write(
        topics.addresses,
        topics.topic,
        New.of(options),
        options.codec,
        plan["now_ms"],
        plan["counts"],
    )
    bar.begin(f"load into {topics.text}", sum(split.size for split in splits))
    bar.advance(sum(splits[number].size for number in state.done))
    pieces = [
        (number, split, Identity(*plan["producers"][number]))
        for number, split in enumerate(splits)
        if number not in state.done
    ]
    # One piece after the other: each partition, and so each key, has the order of the files.
    for these in [pieces] if options.unordered else [[piece] for piece in pieces]:
        _write(task, these, state, engine, bar)


def _plan(
    options: argparse.Namespace, topics: Topics, splits: list[FileSplit], engine: Engine
) -> dict[str, Any]:
    """The plan is written down before anything is sent. Topics are created last, when nothing else
    can be refused."""
    if topics.topic is not None and is_pattern(topics.topic):
        raise PipelineError(f"{topics.topic} is no name of a topic")
    new = New.of(options)
    with Cluster(topics.addresses) as cluster:
        names = ["*", *([] if topics.topic is None else [topics.topic])]
        there = {each.name: len(each.partitions) for each in find_topics(cluster, names, none=True)}
        if topics.topic is not None and topics.topic not in there:
            new.check(cluster, topics.topic)
        named = check_files(splits, topics.topic, there, new.partitions, engine)
        missing = sorted(named - set(there))
        for name in missing:
            new.check(cluster, name)
        identities = [new_identity(cluster) for _ in splits]
        found = {name: new.partitions_of(cluster, name) for name in missing}
    counts = there | found
    return {
        "splits": to_plain(splits),
        "producers": [[each.producer_id, each.epoch] for each in identities],
        "counts": {} if topics.topic is None else {topics.topic: counts[topics.topic]},
        "now_ms": int(time.time() * 1000),
    }


def _write(task: _Write, pieces: list[_Piece], state: State, engine: Engine, bar: Progress) -> None:
    """Write these pieces, at once if the engine can."""
    for index, result in engine.run(task, pieces, sum(split.size for _, split, _ in pieces)):
        number, split, _ = pieces[index]
        state.finish_piece(number, result)
        bar.advance(split.size)


@dataclass(frozen=True)
class New:
    partitions: int | None
    """How many they get; None: none is created."""
    configs: Mapping[str, str]

    @classmethod
    def of(cls, options: argparse.Namespace) -> New:
        return cls(options.create_topic, dict(options.topic_config))

    def check(self, cluster: Cluster, topic: str) -> None:
        """Raises BrokerError for a topic that is not there and would not be created."""
        if self.partitions is None:
            try:
                find_topics(cluster, [topic])
            except BrokerError as error:
                raise BrokerError(f"{error} (--create-topic PARTITIONS makes it)") from None

    def partitions_of(self, cluster: Cluster, topic: str) -> int:
        """How many partitions a topic has; it is created if it is not there."""
        self.check(cluster, topic)
        found = find_topics(cluster, [topic], none=True)
        if not found:
            try:
                create_topic(cluster, topic, self.partitions or 1, configs=self.configs)
            except BrokerError as error:  # by another task, perhaps
                if "TOPIC_ALREADY_EXISTS" not in str(error):
                    raise
            found = find_topics(cluster, [topic])
        return len(found[0].partitions)


@dataclass(frozen=True)
class _Write:
    """The task: one piece of a file, as one producer."""

    addresses: str
    topic: str | None
    new: New
    codec: str
    now_ms: int
    counts: Mapping[str, int]

    def __call__(self, piece: _Piece) -> dict[str, Any]:
        number, split, identity = piece
        with Cluster(self.addresses) as cluster:
            writing = _Writing(self, cluster, identity)
            routing = Routing(self.topic, writing.count, turn=number, source=split.origin)
            rows, oldest = 0, Oldest()
            for records in split.records():
                rows += records.num_rows
                routed = dict(routing.route(records))
                for (topic, _), some in routed.items():
                    oldest.add(topic, some)
                writing.send(routed)
        return {"rows": rows, "oldest": oldest.by_topic}


@dataclass
class _Writing:
    task: _Write
    cluster: Cluster
    identity: Identity
    _to_skip: dict[Place, int] = field(default_factory=dict)
    """How many records of the piece a partition has already."""
    _producer: Producer | None = None

    def count(self, topic: str) -> int:
        """How many partitions the topic has; also asks how far the producer has come in them."""
        known = self.task.counts.get(topic)
        count = known or self.task.new.partitions_of(self.cluster, topic)
        places = [(topic, index) for index in range(count)]
        found = last_sequences(self.cluster, places, self.identity)
        self._to_skip |= {place: last + 1 for place, last in found.items()}
        if self._producer is None:
            self._producer = Producer(self.cluster, self.identity)
        self._producer.sequences |= {place: last + 1 for place, last in found.items()}
        return count

    def send(self, routed: Mapping[Place, pa.RecordBatch]) -> None:
        """Write records, all partitions at once."""
        waiting = {}
        for place, records in routed.items():
            there = min(self._to_skip.get(place, 0), records.num_rows)
            if there:
                self._to_skip[place] -= there
                records = records.slice(there)
            encoded = encode(
                records, codec=self.task.codec, leader_epoch=-1, now_ms=self.task.now_ms
            )
            waiting[place] = [bytearray(batch) for batch in encoded]
        while any(waiting.values()):
            assert self._producer is not None
            self._producer.send({place: left.pop(0) for place, left in waiting.items() if left})
