"""`__consumer_offsets` as Kafka's console consumer prints it: after the same steps the same of
ours as of a real Kafka, but for ids and moments.

The steps are requests by hand: classic groups of one and of two members, of another type than
"consumer" and of static members; a group of the new protocol; commits with and without a member, of
metadata, retention and leader epochs; offsets and groups that are deleted again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.java.tools import KafkaTools
from odradek.compat.real_kafka import VERSION
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_delete import OffsetDeleteRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from odradek.wire.stored.keyed import keyed

from tests.differential.ask.consumer_groups import depart, enter
from tests.differential.engine.asker import Asker

pytestmark = [pytest.mark.real, pytest.mark.slow]

FORMATTERS = ("OffsetsMessageFormatter", "GroupMetadataMessageFormatter")
CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "1",  # so that there is one order
}
SESSION_MS, REBALANCE_MS = 600_000, 700_000  # nobody is expelled meanwhile
IDS = (
    r'"(memberId|leader|topicId)":\s*"[^"]+"',
    r'"(commitTimestamp|expireTimestamp|currentStateTimestamp)":\s*\d+',
)


class Steps:
    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._address = host, int(port)
        self._ask = Asker(self._address)

    def take(self) -> None:
        topics = [
            CreateTopicsRequest.Topic(
                name=name, num_partitions=2, replication_factor=1, assignments=[], configs=[]
            )
            for name in ("t", "u")
        ]
        made = self._ask.ask(CreateTopicsRequest(topics=topics, timeout_ms=9000), 7)
        ids = {topic.name: topic.topic_id for topic in made.topics}
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=["alone"])
        while self._ask.ask(request, 4).coordinators[0].error_code:
            continue
        self._alone()
        self._two_static()
        self._worker()
        self._new_protocol(ids["t"])
        self._commit("simple", topic="u", offset=3, version=2, retention_ms=60_000)
        self._commit("simple", topic="t", offset=0, metadata=None)
        self._delete_again()
        self._ask.close()

    def _alone(self) -> None:
        member, generation = self._joined("alone", self._ask)
        self._synced("alone", self._ask, member, generation, [member])
        self._commit("alone", member, generation, metadata="ö, twice", epoch=0)
        self._commit("alone", member, generation, offset=7, partition=1)
        self._leave("alone", member)

    def _two_static(self) -> None:
        """The second joins while the first waits for it; the first leads."""
        others = [Asker(self._address), Asker(self._address)]
        with ThreadPoolExecutor(2) as pool:
            first, _ = self._joined("pair", others[0], instance="one")
            asked = pool.submit(self._joined, "pair", others[1], instance="two")
            # The first learns of the second by its heartbeat; here it joins again until it is so.
            generation = 1
            while generation == 1:
                first, generation = self._joined("pair", others[0], instance="one", member=first)
            second, _ = asked.result()
            waits = pool.submit(self._synced, "pair", others[1], second, generation, [], "two")
            members = [first, second]
            self._synced("pair", others[0], first, generation, members, "one")
            waits.result()
        self._commit("pair", first, generation, instance="one")
        for other in others:
            other.close()

    def _worker(self) -> None:
        """A group of another type, as Kafka Connect has them."""
        member, generation = self._joined("worker", self._ask, kind="connect")
        self._synced("worker", self._ask, member, generation, [member], kind="connect")
        self._leave("worker", member)

    def _new_protocol(self, topic_id: bytes) -> None:
        self._ask.ask(enter("a", "t", group="new"), 1)
        topic = OffsetCommitRequest.Topic
        part = topic.Partition(partition_index=0, committed_offset=5, committed_metadata="m")
        request = OffsetCommitRequest(
            group_id="new",
            member_id="a",
            generation_id_or_member_epoch=2,
            topics=[topic(topic_id=topic_id, partitions=[part])],
        )
        self._ask.ask(request, 10)
        self._ask.ask(depart("a", group="new"), 1)

    def _delete_again(self) -> None:
        topic = OffsetDeleteRequest.Topic
        wanted = topic(name="t", partitions=[topic.Partition(partition_index=0)])
        self._ask.ask(OffsetDeleteRequest(group_id="simple", topics=[wanted]), 0)
        for group in ("alone", "new"):  # one by one: a hash decides on the order of several
            self._ask.ask(DeleteGroupsRequest(groups_names=[group]), 2)

    def _joined(
        self,
        group: str,
        ask: Asker,
        *,
        kind: str = "consumer",
        instance: str | None = None,
        member: str = "",
    ) -> tuple[str, int]:
        decoded = keyed(ConsumerProtocolSubscription(topics=["t"]), 1)
        while True:
            request = JoinGroupRequest(
                group_id=group,
                session_timeout_ms=SESSION_MS,
                rebalance_timeout_ms=REBALANCE_MS,
                member_id=member,
                group_instance_id=instance,
                protocol_type=kind,
                protocols=[JoinGroupRequest.Protocol(name="range", metadata=decoded)],
            )
            answer = ask.ask(request, 9)
            member = answer.member_id
            if not answer.error_code:
                return member, answer.generation_id

    def _synced(
        self,
        group: str,
        ask: Asker,
        member: str,
        generation: int,
        members: Sequence[str],
        instance: str | None = None,
        kind: str = "consumer",
    ) -> None:
        part = ConsumerProtocolAssignment.AssignedPartition
        shares = [
            ConsumerProtocolAssignment(assigned_partitions=[part(topic="t", partitions=[number])])
            for number, _ in enumerate(members)
        ]
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            group_instance_id=instance,
            protocol_type=kind,
            protocol_name="range",
            assignments=[
                SyncGroupRequest.Assignment(member_id=each, assignment=keyed(share, 1))
                for each, share in zip(members, shares, strict=True)
            ],
        )
        assert ask.ask(request, 5).error_code == 0

    def _commit(
        self,
        group: str,
        member: str = "",
        generation: int = -1,
        *,
        topic: str = "t",
        partition: int = 0,
        offset: int = 1,
        metadata: str | None = "",
        epoch: int = -1,
        instance: str | None = None,
        retention_ms: int = -1,
        version: int = 9,
    ) -> None:
        one = OffsetCommitRequest.Topic
        part = one.Partition(
            partition_index=partition,
            committed_offset=offset,
            committed_leader_epoch=epoch,
            committed_metadata=metadata,
        )
        request = OffsetCommitRequest(
            group_id=group,
            member_id=member,
            generation_id_or_member_epoch=generation,
            group_instance_id=instance,
            retention_time_ms=retention_ms,
            topics=[one(name=topic, partitions=[part])],
        )
        (found,) = self._ask.ask(request, version).topics
        assert [each.error_code for each in found.partitions] == [0]

    def _leave(self, group: str, member: str) -> None:
        leaver = LeaveGroupRequest.Member(member_id=member)
        self._ask.ask(LeaveGroupRequest(group_id=group, members=[leaver]), 5)


def printed(tools: KafkaTools, bootstrap: str) -> dict[str, list[Any]]:
    """What each formatter prints, as JSON; ids and moments replaced."""
    found = {}
    for formatter in FORMATTERS:
        ran = tools.run(
            "consumer.ConsoleConsumer",
            *("--bootstrap-server", bootstrap, "--topic", "__consumer_offsets"),
            *("--from-beginning", "--timeout-ms", "5000"),
            *("--formatter", f"org.apache.kafka.tools.consumer.{formatter}"),
        )
        found[formatter] = list(_documents(ran.out))
    return found


def _documents(text: str) -> Iterator[Any]:
    for pattern in IDS:
        text = re.sub(pattern, r'"\1":"*"', text)
    pos = text.find("{")
    while pos >= 0:  # they stand one behind the other, without an end of line
        document, end = json.JSONDecoder().raw_decode(text, pos)
        members = ((document["value"] or {}).get("data") or {}).get("members")
        if members:  # a hash of their ids decides on their order
            members.sort(key=lambda member: str(member.get("groupInstanceId")))
        data = document["key"]["data"]
        if not data["group"].startswith("console-consumer"):
            yield document
        pos = text.find("{", end)


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """What is printed of a real Kafka, and of ours."""
    with (
        RealKafka(config=CONFIG) as real,
        Emulator(CONFIG) as ours,
        KafkaTools(VERSION) as tools,
    ):
        addresses = real.bootstrap_servers, ours.bootstrap_servers
        for address in addresses:
            Steps(address).take()
        theirs, own = (printed(tools, address) for address in addresses)
        return theirs, own


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_a_formatter_prints_the_same(
    formatter: str, both: tuple[dict[str, list[Any]], dict[str, list[Any]]]
) -> None:
    theirs, own = both
    assert len(theirs[formatter]) > 5
    assert own[formatter] == theirs[formatter]
