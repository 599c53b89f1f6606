"""What a real Kafka makes of consumer groups: its tools read our records, its assignors agree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.real_kafka import VERSION, run_tool
from odradek.emulator.base.java_order import hash_map_order, partition_for
from odradek.emulator.groups.consumer.assignors import RANGE, UNIFORM, MemberSpec, assign
from odradek.emulator.groups.consumer.members import Assignment
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest

from tests.differential.ask.consumer_groups import depart, describe_consumers, enter
from tests.differential.engine.asker import Asker
from tests.requests.topics import create_topics, new_topic

pytestmark = pytest.mark.real
FORMATTERS = "org.apache.kafka.tools.consumer"
AT_ONCE = {"group.consumer.assignment.interval.ms": "0"}
SEEDS = range(12)
SIZES = {"t": 7, "u": 3, "v": 6, "w": 1}


def asker(bootstrap: str) -> Asker:
    host, _, port = bootstrap.rpartition(":")
    return Asker((host, int(port)))


def ready(ask: Asker) -> None:
    request = FindCoordinatorRequest(key="g", key_type=0, coordinator_keys=["g"])
    while ask.ask(request, 4).coordinators[0].error_code:
        pass


def make_topics(ask: Asker, sizes: dict[str, int]) -> dict[str, bytes]:
    """Create topics; their ids."""
    made = create_topics(ask, *(new_topic(name, size) for name, size in sizes.items()))
    return {name: topic.topic_id for name, topic in made.items()}


def printed(bootstrap: str, formatter: str) -> list[dict[str, Any]]:
    """What Kafka's console consumer prints of `__consumer_offsets` with a formatter of its own."""
    arguments = ["--bootstrap-server", bootstrap, "--topic", "__consumer_offsets"]
    arguments += ["--from-beginning", "--timeout-ms", "4000"]
    arguments += ["--formatter", f"{FORMATTERS}.{formatter}"]
    text = run_tool(VERSION, f"{FORMATTERS}.ConsoleConsumer", *arguments).stdout
    records, pos = [], text.find("{")
    while pos >= 0:  # they stand one behind the other, without an end of line
        record, end = json.JSONDecoder().raw_decode(text, pos)
        pos = text.find("{", end)
        # The console consumer is a group too.
        names = record["key"]["data"]
        records += [record] if names.get("group", names.get("groupId")) == "g" else []
    return records


def test_kafkas_tools_read_our_groups_and_offsets(tmp_path: Path) -> None:
    with Emulator(AT_ONCE, data_dir=tmp_path) as emulator:
        ask = asker(emulator.bootstrap_servers)
        ready(ask)
        ids = make_topics(ask, {"t": 2})
        ask.ask(enter("a", "t", group="g"), 1)
        topic = OffsetCommitRequest.Topic
        part = topic.Partition(partition_index=0, committed_offset=5, committed_metadata="m")
        request = OffsetCommitRequest(
            group_id="g",
            member_id="a",
            generation_id_or_member_epoch=2,
            topics=[topic(name="t", topic_id=ids["t"], partitions=[part])],
        )
        ask.ask(request, 9)
        ask.ask(depart("a", group="g"), 1)
        ask.close()
        offsets = printed(emulator.bootstrap_servers, "OffsetsMessageFormatter")
        groups = printed(emulator.bootstrap_servers, "GroupMetadataMessageFormatter")
        described = run_tool(
            VERSION,
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            *("--bootstrap-server", emulator.bootstrap_servers, "--describe", "--group", "g"),
        ).stdout
    (offset,) = offsets
    assert offset["key"]["data"] == {"group": "g", "topic": "t", "partition": 0}
    assert (offset["value"]["data"]["offset"], offset["value"]["data"]["metadata"]) == (5, "m")
    assert groups == []  # this formatter shows classic groups alone
    assert re.search(r"^g +t +0 +5 +0 ", described, re.MULTILINE)
    segment = tmp_path / f"__consumer_offsets-{partition_for('g', 50)}" / f"{0:020}.log"
    arguments = ["--files", str(segment), "--offsets-decoder"]
    dumped = run_tool(VERSION, "org.apache.kafka.tools.DumpLogSegments", *arguments).stdout
    # The group of a console consumer has a random name, and may be kept in the same partition.
    written = re.findall(r'key: \{"type":"(\d+)","data":\{"group(?:Id)?":"g".*payload: (.)', dumped)
    joins = [(kind, "{") for kind in "53768"]
    leaves = [("8", "<"), ("7", "<"), ("5", "<"), ("3", "{")]
    assert written == [*joins, ("1", "{"), *leaves], dumped


@pytest.fixture(scope="module")
def real(real_kafka: RealKafka) -> Iterator[Asker]:
    ask = asker(real_kafka.bootstrap_servers)
    ready(ask)
    yield ask
    ask.close()


@pytest.fixture(scope="module")
def ids(real: Asker) -> dict[str, bytes]:
    found = make_topics(real, SIZES)
    # The coordinators load, and hear of topics a little later.
    for group in (f"{name}-{seed}" for name in (UNIFORM, RANGE) for seed in SEEDS):
        while len(targets(real, group, ["a"]).get("a", ())) < len(SIZES):
            real.ask(enter("a", *SIZES, group=group), 1)
        real.ask(depart("a", group=group), 1)
    return found


def targets(real: Asker, group: str, members: list[str]) -> dict[str, Assignment]:
    (described,) = real.ask(describe_consumers(group), 1).groups
    return {
        member.member_id: {
            topic.topic_id: frozenset(topic.partitions)
            for topic in member.target_assignment.topic_partitions
        }
        for member in described.members
        if member.member_id in members
    }


@pytest.mark.parametrize("assignor", [UNIFORM, RANGE])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_assignor_decides_as_the_real_one(
    real: Asker, ids: dict[str, bytes], assignor: str, seed: int
) -> None:
    random, group = Random(seed), f"{assignor}-{seed}"
    counts = {topic_id: SIZES[name] for name, topic_id in ids.items()}
    subscribed: dict[str, list[str]] = {}
    before: dict[str, Assignment] = {}
    for _ in range(12):
        # A member joins, or subscribes to something else. Nobody leaves here: who leaves changes
        # the target only with the next heartbeat.
        member = random.choice("abcdefghijklm")
        names = random.sample(list(SIZES), random.randint(1, 4))
        if seed % 2:
            names = ["t", "u", "v"]
        if set(subscribed.get(member, ())) == set(names):
            continue
        subscribed[member] = names
        real.ask(enter(member, *names, assignor=assignor, group=group), 1)
        specs = {
            each: MemberSpec(
                None, frozenset(ids[n] for n in subscribed[each]), before.get(each, {})
            )
            for each in hash_map_order(subscribed)
        }
        alike = len({frozenset(those) for those in subscribed.values()}) == 1
        ours = assign(assignor, specs, counts.__getitem__, homogeneous=alike)
        before = targets(real, group, list(subscribed))
        assert {each: ours.get(each, {}) for each in subscribed} == before
