"""Commands of transcripts that read, at any broker:

    read 3 from=2 version=12 rack=c      a fetch at broker 3
    park 3 from=2                        one that waits; `parked` tells what came of it
    ends 3                               ListOffsets -1 at broker 3, by replica id -2: its log end
    list -1 version=5 isolation=1        ListOffsets at the leader, for a timestamp
    epoch_end 0                          OffsetForLeaderEpoch at the leader

`read` may also have `epoch` (the leader epoch that the client knows), `last` (that of what it
fetched last), `isolation`, and `wait` in ms. What is told:

    read: NONE hw=2 lso=2 start=0 records=0-1
    read: NONE hw=2 lso=2 start=0 records=- prefers=3
    read: NONE hw=2 lso=2 start=0 records=- diverges=0/2
    read: NOT_LEADER_OR_FOLLOWER hw=-1 lso=-1 start=-1 records=- leads=2/1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from odradek.wire import NO_ID, Error, Request
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.fetch import FetchRequest, FetchResponse
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.wire.batch import batches

_WAIT_MS = 20_000
_ENOUGH = 1 << 20
_DEBUGGER = -2
_IDS_SINCE = 13
_NONE = -1

Options = dict[str, str]


class Asked(Protocol):
    def ask(self, node_id: int, request: Request, version: int) -> Any:
        """What a broker answers."""

    def park(self, node_id: int, request: Request, version: int) -> Callable[[], Any]:
        """Ask what has to wait. Returns what tells the answer, or in a word why there is none."""


class Reading:
    def __init__(self, ground: Asked, topic: str) -> None:
        self._ground: Any = ground
        self._topic = topic
        self._parked: Callable[[], Any] = str

    def _leader(self) -> int:
        raise NotImplementedError

    def do_read(self, node_id: str, *words: str) -> list[str]:
        request, version = self._fetch(_options(words))
        return [_line("read", self._ground.ask(int(node_id), request, version))]

    def do_park(self, node_id: str, *words: str) -> list[str]:
        request, version = self._fetch({"wait": str(_WAIT_MS), **_options(words)})
        self._parked = self._ground.park(int(node_id), request, version)
        return []

    def do_parked(self) -> list[str]:
        found = self._parked()
        return [f"parked: {found}" if isinstance(found, str) else _line("parked", found)]

    def _fetch(self, options: Options) -> tuple[FetchRequest, int]:
        version = int(options.get("version", "12"))
        asked = FetchRequest.Topic
        place = asked.Partition(
            partition=0,
            fetch_offset=int(options.get("from", "0")),
            partition_max_bytes=_ENOUGH,
            current_leader_epoch=int(options.get("epoch", "-1")),
            last_fetched_epoch=int(options.get("last", "-1")),
        )
        topic_id = self._topic_id() if version >= _IDS_SINCE else NO_ID
        request = FetchRequest(
            max_wait_ms=int(options.get("wait", "0")),
            min_bytes=1,
            isolation_level=int(options.get("isolation", "0")),
            rack_id=options.get("rack", ""),
            topics=[asked(topic=self._topic, topic_id=topic_id, partitions=[place])],
        )
        return request, version

    def _topic_id(self) -> bytes:
        topics = [DescribeTopicPartitionsRequest.Topic(name=self._topic)]
        at = self._ground.running()[0]
        answer = self._ground.ask(at, DescribeTopicPartitionsRequest(topics=topics), 0)
        topic_id: bytes = answer.topics[0].topic_id
        return topic_id

    def do_ends(self, node_id: str) -> list[str]:
        return [f"ends: {self._list(int(node_id), -1, 7, 0, _DEBUGGER)}"]

    def do_list(self, timestamp: str, *words: str) -> list[str]:
        options = _options(words)
        version, isolation = int(options.get("version", "7")), int(options.get("isolation", "0"))
        return [f"listed: {self._list(self._leader(), int(timestamp), version, isolation, _NONE)}"]

    def _list(
        self, node_id: int, timestamp: int, version: int, isolation: int, replica_id: int
    ) -> str:
        asked = ListOffsetsRequest.Topic
        place = asked.Partition(partition_index=0, timestamp=timestamp)
        topics = [asked(name=self._topic, partitions=[place])]
        request = ListOffsetsRequest(
            replica_id=replica_id, isolation_level=isolation, topics=topics
        )
        found = self._ground.ask(node_id, request, version).topics[0].partitions[0]
        return f"{Error(found.error_code).name} {found.offset}"

    def do_epoch_end(self, epoch: str) -> list[str]:
        asked = OffsetForLeaderEpochRequest.Topic
        place = asked.Partition(partition=0, leader_epoch=int(epoch))
        request = OffsetForLeaderEpochRequest(
            replica_id=_NONE, topics=[asked(topic=self._topic, partitions=[place])]
        )
        found = self._ground.ask(self._leader(), request, 3).topics[0].partitions[0]
        name = Error(found.error_code).name
        return [f"epoch: {name} {found.leader_epoch} ends at {found.end_offset}"]


def _options(words: tuple[str, ...]) -> Options:
    return dict(word.split("=") for word in words)


def _line(what: str, answer: FetchResponse) -> str:
    (topic,) = answer.responses
    (found,) = topic.partitions
    headers = [header for _, header in batches(bytes(found.records or b""))]
    records = f"{headers[0].base_offset}-{headers[-1].last_offset}" if headers else "-"
    words = [
        f"{what}: {Error(found.error_code).name}",
        f"hw={found.high_watermark} lso={found.last_stable_offset}",
        f"start={found.log_start_offset} records={records}",
    ]
    if found.preferred_read_replica != _NONE:
        words.append(f"prefers={found.preferred_read_replica}")
    if found.diverging_epoch.epoch != _NONE:
        words.append(f"diverges={found.diverging_epoch.epoch}/{found.diverging_epoch.end_offset}")
    if found.current_leader.leader_epoch != _NONE:
        words.append(f"leads={found.current_leader.leader_id}/{found.current_leader.leader_epoch}")
    return " ".join(words)
