"""Transcripts of a cluster: commands, and below each what clients were told after it.

    topic 1,2,3 min.insync.replicas=2     a topic, its one partition on these brokers
    stop 1    kill 1    start 1           a broker ends in good order, or at once, or is back
    pause 2   resume 2                    its process stands still, and goes on
    later                                 sessions and lags are over
    produce 3 acks=1 timeout=500          so many records, at the leader; acks=-1 unless told
    elect preferred | unclean
    move 2,3  cancel                      a reassignment, and its end
    config unclean.leader.election.enable=true
    lag 3 records=2   catch_up 3          its replica stays so many records behind, or gets nothing
    shrink 3   grow 3                     it is kept from being in sync, and is in sync again

reading.py has the commands that read, transacting.py those of producers with an id.

Below each: what was answered, if anything is, and the partition as clients are told of it:

    2/1 replicas=1,2,3 isr=2,3 elr=- last=- offline=1 end=5 brokers=2,3

"2/1" is leader 2 in leader epoch 1; `last` is lastKnownElr, `end` what ListOffsets says of the
latest offset at the leader. The same transcript is played in the emulator, and by three nodes of a
real Kafka (grounds.py). ODRADEK_REWRITE=1 writes what was answered into the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from odradek.wire import Error, Request
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.records import build_batch

from tests.emulator.replication.support.reading import Asked, Reading
from tests.emulator.replication.support.transacting import Transacting
from tests.requests.configs import change_request

SCENES = sorted((Path(__file__).parent.parent / "transcripts").glob("*.txt"))
_EMULATED = {"lag", "catch_up", "shrink", "grow"}
_TIMEOUT_MS = 10_000
_LATEST = -1
_SET = 0
_OF_A_TOPIC = 2


class Ground(Asked, Protocol):
    def running(self) -> list[int]:
        """The ids of those that answer."""

    def do(self, verb: str, node_id: int) -> None:
        """Stop, kill, start, pause, resume."""

    def lag(self, verb: str, node_id: int, records: int | None) -> None:
        """Let a replica lag, catch up, be kept out of the ISR or come back. An emulator can."""

    def now(self) -> int:
        """The time of the brokers, in ms since 1970."""

    def wait(self) -> None:
        """Let a moment pass."""

    def later(self) -> None:
        """Let sessions and lags pass."""

    def settled(self, state: Callable[[], str], expected: str) -> str:
        """What is told once nothing changes any more, or as soon as that is what is expected."""


class Stage(Reading, Transacting):
    """Plays the commands of one transcript."""

    def play(self, command: str, expected: str) -> list[str]:
        """Carry out a command; return what was answered, and the state after it."""
        verb, *words = command.split()
        lines: list[str] = getattr(self, f"do_{verb}")(*words)
        return [*lines, self._ground.settled(self.state, expected)]

    def state(self) -> str:
        """The partition, as a broker that runs tells of it."""
        request = DescribeTopicPartitionsRequest(
            topics=[DescribeTopicPartitionsRequest.Topic(name=self._topic)]
        )
        brokers = [each.node_id for each in self._any(MetadataRequest(topics=[]), 9).brokers]
        (topic,) = self._any(request, 0).topics
        if topic.error_code:
            return Error(topic.error_code).name
        (found,) = topic.partitions
        elr, last = found.eligible_leader_replicas or [], found.last_known_elr or []
        leader = found.leader_id
        end = "-" if leader not in self._ground.running() else self._end(leader)
        parts = {
            "replicas": found.replica_nodes,
            "isr": found.isr_nodes,
            "elr": elr,
            "last": last,
            "offline": found.offline_replicas,
        }
        words = [f"{name}={_ids(ids)}" for name, ids in parts.items()]
        words += self._moves()
        return " ".join(
            [f"{leader}/{found.leader_epoch}", *words, f"end={end}", f"brokers={_ids(brokers)}"]
        )

    def _end(self, leader: int) -> str:
        asked = ListOffsetsRequest.Topic
        place = asked.Partition(partition_index=0, timestamp=_LATEST)
        topics = [asked(name=self._topic, partitions=[place])]
        request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=topics)
        found = self._ground.ask(leader, request, 7).topics[0].partitions[0]
        return Error(found.error_code).name if found.error_code else str(found.offset)

    def _moves(self) -> list[str]:
        found = self._any(ListPartitionReassignmentsRequest(topics=None), 0).topics
        for topic in found:
            if topic.name == self._topic:
                (move,) = topic.partitions
                adding, removing = _ids(move.adding_replicas), _ids(move.removing_replicas)
                return [f"adding={adding}", f"removing={removing}"]
        return []

    def _any(self, request: Request, version: int) -> Any:
        return self._ground.ask(self._ground.running()[0], request, version)

    # Commands

    def do_topic(self, replicas: str, *configs: str) -> list[str]:
        made = CreateTopicsRequest.Topic
        place = made.Assignment(partition_index=0, broker_ids=_numbers(replicas))
        texts = [made.Config(name=n, value=v) for n, _, v in (c.partition("=") for c in configs)]
        topic = made(
            name=self._topic,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[place],
            configs=texts,
        )
        (answer,) = self._any(CreateTopicsRequest(topics=[topic]), 5).topics
        return _lines("created", answer.error_code)

    def do_produce(self, count: str, *words: str) -> list[str]:
        options = dict(word.split("=") for word in words)
        acks = int(options.get("acks", "-1"))
        timeout_ms = int(options.get("timeout", _TIMEOUT_MS))
        batch = build_batch([(1, b"k", b"v", ())] * int(count))
        part = ProduceRequest.Topic.Partition(index=0, records=batch)
        topics = [ProduceRequest.Topic(name=self._topic, partition_data=[part])]
        request = ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=topics)
        leader = self._leader()
        at = leader if leader in self._ground.running() else self._ground.running()[0]
        found = self._ground.ask(at, request, 10).responses[0].partition_responses[0]
        line = f"produced: {Error(found.error_code).name} at {found.base_offset}"
        if found.current_leader.leader_epoch >= 0:
            line += f", {found.current_leader.leader_id}/{found.current_leader.leader_epoch} leads"
        return [line]

    def _leader(self) -> int:
        return int(self.state().partition("/")[0])

    def do_elect(self, kind: str) -> list[str]:
        topic = ElectLeadersRequest.Topic(topic=self._topic, partitions=[0])
        number = ["preferred", "unclean"].index(kind)
        request = ElectLeadersRequest(election_type=number, topic_partitions=[topic])
        found = self._any(request, 2).replica_election_results[0].partition_result[0]
        return _lines("elected", found.error_code)

    def do_move(self, replicas: str) -> list[str]:
        return self._move(_numbers(replicas))

    def do_cancel(self) -> list[str]:
        return self._move(None)

    def _move(self, replicas: list[int] | None) -> list[str]:
        made = AlterPartitionReassignmentsRequest.Topic
        topic = made(
            name=self._topic, partitions=[made.Partition(partition_index=0, replicas=replicas)]
        )
        answer = self._any(AlterPartitionReassignmentsRequest(topics=[topic]), 0)
        return _lines("moved", answer.responses[0].partitions[0].error_code)

    def do_config(self, given: str) -> list[str]:
        name, _, value = given.partition("=")
        request = change_request((_OF_A_TOPIC, self._topic, [(name, _SET, value)]))
        (answer,) = self._any(request, 1).responses
        return _lines("altered", answer.error_code)

    def do_lag(self, node_id: str, *words: str) -> list[str]:
        options = dict(word.split("=") for word in words)
        records = int(options["records"]) if "records" in options else None
        self._ground.lag("lag", int(node_id), records)
        return []

    def do_catch_up(self, node_id: str) -> list[str]:
        self._ground.lag("catch_up", int(node_id), None)
        return []

    def do_shrink(self, node_id: str) -> list[str]:
        self._ground.lag("shrink_isr", int(node_id), None)
        return []

    def do_grow(self, node_id: str) -> list[str]:
        self._ground.lag("grow_isr", int(node_id), None)
        return []

    def do_later(self) -> list[str]:
        self._ground.later()
        return []

    def __getattr__(self, name: str) -> Any:
        verb = name.removeprefix("do_")
        if verb == name or verb not in ("stop", "kill", "start", "pause", "resume"):
            raise AttributeError(name)

        def done(node_id: str) -> list[str]:
            self._ground.do(verb, int(node_id))
            return []

        return done


def _ids(ids: list[int]) -> str:
    return ",".join(map(str, ids)) or "-"


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def _lines(what: str, error: int) -> list[str]:
    return [f"{what}: {Error(error).name}"]


def play(path: Path, ground: Ground, topic: str = "t") -> tuple[str, str]:
    """The transcript as it is, and as it was played."""
    before = path.read_text()
    stage = Stage(ground, topic)
    lines: list[str] = []
    for command, expected in steps(before):
        lines.append(command)
        if not command.startswith("#"):
            lines += [f"    {line}" for line in stage.play(command, expected)]
    after = "\n".join(lines) + "\n"
    if os.environ.get("ODRADEK_REWRITE"):
        path.write_text(after)
        before = after
    return before, after


def is_for_all(path: Path) -> bool:
    """Whether a real Kafka can do all that a transcript says."""
    return not _EMULATED & {command.split()[0] for command, _ in steps(path.read_text())}


def steps(text: str) -> list[tuple[str, str]]:
    """The commands (and comments), each with the state that is expected after it."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1] = found[-1][0], line.strip()
        else:
            found.append((line, ""))
    return found
