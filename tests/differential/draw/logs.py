"""Sequences about logs: batches produced and read, one producer's sequences, fetch sessions."""

from __future__ import annotations

from random import Random

from odradek.wire import Request
from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.wire.api.produce import ProduceRequest

from ..ask.records import fetch, list_offsets, produce, put
from ..engine.served import Served
from ..engine.steps import Ask, Send, Step, Steps, seen
from .batches import draw_batch, draw_producer_batch
from .requests import draw_request

_LOOKS = (ListOffsetsRequest, DeleteRecordsRequest, OffsetForLeaderEpochRequest)


def log(random: Random, served: Served) -> Steps:
    steps: Steps = []
    for _ in range(20):
        version = random.choice(served.versions(ProduceRequest))
        name, index = random.choice((("~a", 0), ("~a", 1), ("~b", 0), ("~b", 0)))
        records = draw_batch(random)
        request = produce(records, name, index, acks=random.choice((-1, 1, 0)))
        steps += acknowledged(request, version)
        for _ in range(random.choice((0, 1, 2))):
            steps.append(_look(random, served, name, index))
    return steps


def _look(random: Random, served: Served, name: str, index: int) -> Step:
    if random.random() < 0.7:
        version = random.choice(served.versions(FetchRequest))
        offset = random.choice((0, 0, 0, 1, 2, 3, 5))
        limit = random.choice((1 << 20, 1 << 20, 100, 200))
        level = random.choice((0, 1))
        return Ask(fetch(offset, name, index, max_bytes=limit, isolation_level=level), version)
    api = random.choice([api for api in _LOOKS if api in served.ranges])
    version = random.choice(served.versions(api))
    return Ask(draw_request(random, api, version), version)


def producers(random: Random, served: Served) -> Steps:
    steps: Steps = []
    for _ in range(30):
        version = random.choice(served.versions(ProduceRequest))
        steps.append(Ask(produce(draw_producer_batch(random), "~b"), version))
    return [*steps, Ask(fetch(name="~b"))]


def sessions(random: Random, served: Served) -> Steps:
    """One session that is used in order most of the time."""
    version = random.choice([v for v in served.versions(FetchRequest) if v >= 7])
    steps: Steps = []
    epoch = 0
    for _ in range(25):
        if random.random() < 0.35:
            steps.append(put(b"x", name=random.choice(["~a", "~a", "~b"]), partition=0))
            continue
        request = draw_request(random, FetchRequest, version)
        assert isinstance(request, FetchRequest)
        for topic in request.topics:
            for part in topic.partitions:
                part.partition_max_bytes = 1 << 20
        request.max_bytes = 1 << 20
        request.replica_id = -1
        if request.forgotten_topics_data:
            # One fault at a time: two faults may be answered alike but leave different states.
            request.isolation_level = max(0, min(request.isolation_level, 1))
        if random.random() < 0.9:
            request.session_id = seen("session") if epoch else 0
            request.session_epoch = epoch
            epoch += 1
        steps.append(Ask(request, version))
    return steps


def acknowledged(request: Request, version: int) -> Steps:
    """A drawn request as steps; after one without answer (acks 0) comes one with an answer."""
    if isinstance(request, ProduceRequest) and request.acks == 0:
        return [Send(request, version), Ask(list_offsets(-1, name="~a"), 5)]
    return [Ask(request, version)]
