"""Producing batches as bytes, once each, whatever happens to connections and leaders.

Rules:
- A batch is stamped with a producer's id, epoch and sequence; so a broker recognises one that is
  sent again because its answer was lost.
- One request at a time, acks=all; what is refused for a while is sent again as it was.
- A batch must be one that a client may send: no markers, no holes between its offsets.

Source: KIP-98; the protocol guide, "Produce API".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct

from .....wire.api.init_producer_id import InitProducerIdRequest
from .....wire.api.produce import ProduceRequest
from .....wire.batch import (
    CODEC_MASK,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    checksum,
    read_header,
)
from .cluster import NOT_YET, Cluster, Place, refuse

_NEWEST = 11  # of Produce: the newest in which a producer adds partitions to transactions itself
_INIT_NEWEST = 4
_TIMEOUT_MS = 30_000
_SEQUENCES = 1 << 31
_OFFSET = Struct(">q")
_LEADER_EPOCH_AT, _LEADER_EPOCH = 12, Struct(">i")
_CRC_AT, _CRC = 17, Struct(">I")
_ATTRIBUTES_AT, _ATTRIBUTES = 21, Struct(">h")
_PRODUCER_AT, _PRODUCER = 43, Struct(">qhi")
_NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class Identity:
    """A producer's id and epoch, as a broker gave them."""

    producer_id: int
    epoch: int


def stamp(
    batch: bytearray | memoryview, identity: Identity, sequence: int, *, transactional: bool = False
) -> None:
    """Make the batch of magic 2 in these bytes one of this producer, in place, and its CRC right.

    What only brokers write is removed: offset, leader epoch, delete horizon.
    """
    (attributes,) = _ATTRIBUTES.unpack_from(batch, _ATTRIBUTES_AT)
    attributes &= CODEC_MASK | LOG_APPEND_TIME
    attributes |= TRANSACTIONAL if transactional else 0
    _OFFSET.pack_into(batch, 0, 0)
    _LEADER_EPOCH.pack_into(batch, _LEADER_EPOCH_AT, _NO_EPOCH)
    _ATTRIBUTES.pack_into(batch, _ATTRIBUTES_AT, attributes)
    _PRODUCER.pack_into(batch, _PRODUCER_AT, identity.producer_id, identity.epoch, sequence)
    _CRC.pack_into(batch, _CRC_AT, checksum(batch, 0, len(batch)))


def new_identity(cluster: Cluster) -> Identity:
    """The id of a new producer that is idempotent, not transactional."""

    def ask() -> Identity:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=-1)
        answer = cluster.ask_any(request, most=_INIT_NEWEST)
        refuse(answer.error_code, "producer id")
        return Identity(answer.producer_id, answer.producer_epoch)

    return cluster.repeated(ask, "producer id")


class Producer:
    """Sends batches in order. `sequences` are those that the producer's next batches have."""

    def __init__(
        self,
        cluster: Cluster,
        identity: Identity | None = None,
        sequences: Mapping[Place, int] | None = None,
    ) -> None:
        self._cluster = cluster
        self.identity = identity or new_identity(cluster)
        self.sequences: dict[Place, int] = dict(sequences or {})

    def send(
        self,
        batches: Mapping[Place, bytearray | memoryview],
        *,
        transactional_id: str | None = None,
    ) -> dict[Place, int]:
        """Append one batch to each of these partitions, stamped in place. Their offsets.

        With a transactional id they belong to its transaction, which must have the partitions.
        """
        following = {}
        for place, batch in batches.items():
            sequence = self.sequences.get(place, 0)
            transactional = transactional_id is not None
            stamp(batch, self.identity, sequence, transactional=transactional)
            count = read_header(batch).last_offset_delta + 1
            following[place] = (sequence + count) % _SEQUENCES
        found = produce(self._cluster, batches, transactional_id=transactional_id)
        self.sequences |= following
        return found


def produce(
    cluster: Cluster,
    batches: Mapping[Place, bytearray | memoryview],
    *,
    transactional_id: str | None = None,
) -> dict[Place, int]:
    """Append one stamped batch to each of these partitions; again until all are there.

    Returns the offset of each batch.
    """
    done: dict[Place, int] = {}

    def ask() -> None:
        left = [place for place in batches if place not in done]
        for node, places in cluster.by_leader(left).items():
            request = _request({place: batches[place] for place in places}, transactional_id)
            answer = cluster.brokers.ask(request, most=_NEWEST, node=node)
            refusals = []
            for topic in answer.responses:
                for part in topic.partition_responses:
                    place = (topic.name, part.index)
                    if part.error_code:
                        refusals.append((part.error_code, place, part.error_message))
                    else:
                        done[place] = part.base_offset
            # Those first that do not pass.
            for code, place, message in sorted(refusals, key=lambda each: each[0] in NOT_YET):
                refuse(code, f"{place[0]}-{place[1]}", message)

    names = sorted({f"{topic}-{index}" for topic, index in batches})
    cluster.repeated(ask, f"{', '.join(names)} cannot be written")
    return done


def _request(
    batches: Mapping[Place, bytearray | memoryview], transactional_id: str | None
) -> ProduceRequest:
    topics: dict[str, ProduceRequest.Topic] = {}
    for (name, index), batch in batches.items():
        topic = topics.setdefault(name, ProduceRequest.Topic(name=name, partition_data=[]))
        topic.partition_data.append(ProduceRequest.Topic.Partition(index=index, records=batch))
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=_TIMEOUT_MS,
        topic_data=list(topics.values()),
    )
