"""A replay at full speed on Spark: each stream is a task, with a producer of its own.

A task sends its stream's records in their order, numbered by its producer's sequences. So the
broker knows how many of them it has: a task that is run again asks for that, and leaves out as
many. What is done is written into the state.

Source: KIP-98, KIP-664.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...segments.wanted import Wanted
from ..broker import Cluster, Identity, Producer
from ..broker.producers import last_sequences
from ..engine import Engine
from ..progress import Progress
from ..retention import Oldest
from ..state import State
from .playing import STREAM_BYTES, STREAM_ROWS, Ended
from .sending import Changes, Sender
from .streams import Plan, Position, Stream


@dataclass(frozen=True)
class SendStream:
    """The task: a whole stream, as fast as it goes."""

    addresses: str
    wanted: Wanted
    partitions: Mapping[str, int]
    """How many each topic of the target has."""
    changes: Changes

    def __call__(self, piece: tuple[int, Plan, Identity]) -> dict[str, Any]:
        _, plan, identity = piece
        stream = Stream(plan, self.wanted, Position())
        with Cluster(self.addresses) as cluster:
            topic = self.changes.topic or stream.place[0]
            places = [(topic, index) for index in range(self.partitions[topic])]
            there = {
                place: last + 1 for place, last in last_sequences(cluster, places, identity).items()
            }
            producer = Producer(cluster, identity, there)
            sender = Sender(producer, self.partitions, self.changes, there)
            while (taken := stream.take(math.inf, STREAM_ROWS, STREAM_BYTES)) is not None:
                sender.send([taken])
        return {
            "records": sender.sent,
            "bytes": sender.sent_bytes,
            "oldest": sender.oldest.by_topic,
        }


def send_streams(
    task: SendStream, plans: Sequence[Plan], state: State, engine: Engine, bar: Progress
) -> Ended:
    """Send the streams that are not sent yet. `state.plan` has their producers."""
    sizes = [sum(split.size for split in plan.splits) for plan in plans]
    bar.begin("replay", sum(sizes))
    bar.advance(sum(sizes[number] for number in state.done))
    pieces = [
        (number, plan, Identity(*state.plan["producers"][number]))
        for number, plan in enumerate(plans)
        if number not in state.done
    ]
    left = sum(sizes[number] for number, _, _ in pieces)
    for index, result in engine.run(task, pieces, left):
        number = pieces[index][0]
        state.finish_piece(number, result)
        bar.advance(sizes[number])
    oldest, done = Oldest(), state.done.values()
    for each in done:
        oldest.join(each["oldest"])
    records, size = (sum(each[name] for each in done) for name in ("records", "bytes"))
    return Ended(records, size, oldest.by_topic)
