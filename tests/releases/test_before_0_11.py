"""Brokers of 0.10.2 and 0.8.2 store messages, not batches: what clients read back, also after a
restart, and what becomes of it. Of groups 0.8.2 knows the offsets alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.compression import Codec
from odradek.wire.legacy.as_batches import logged_batches
from odradek.wire.legacy.message_sets import Message, build_set, read_messages

from tests.requests.fetch import asked, fetch_request, only
from tests.requests.produce import produce_request
from tests.support.clock import NOW
from tests.support.connection import Connection

MAGIC = {"0.10.2": 1, "0.8.2": 0}


def message_set(magic: int, *keys: bytes, codec: int = 0) -> bytes:
    messages = [Message(n, NOW, key, b"v" * 50) for n, key in enumerate(keys)]
    return build_set(messages, magic, codec=codec)


def read(client: Connection, version: int, **fields: int) -> bytes:
    return bytes(only(client.ask(fetch_request(asked(**fields)), version)).records or b"")


@pytest.mark.parametrize("release", MAGIC)
def test_messages_are_stored_and_given_as_such(tmp_path: Path, release: str) -> None:
    magic = MAGIC[release]
    with Emulator(topics={"t": 1}, data_dir=tmp_path, version=release) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            for data in (
                message_set(magic, b"a", b"b", b"c"),
                message_set(magic, b"d", b"e", codec=Codec.GZIP),
            ):
                answer = client.ask(produce_request(data), 2 * magic)
                assert answer.responses[0].partition_responses[0].error_code == 0
            whole = read(client, 2 * magic)
            # Each message is one by itself, and what does not fit is cut.
            one = len(message_set(magic, b"a"))
            assert read(client, 2 * magic, max_bytes=one + 9) == whole[: one + 9]
            assert read(client, 2 * magic, offset=1, max_bytes=one) == whole[one : 2 * one]
            old = read_messages(read(client, 0))
            assert [(each.offset, each.timestamp, each.key) for each in old] == [
                (n, -1, key) for n, key in enumerate((b"a", b"b", b"c", b"d", b"e"))
            ]
            latest = ListOffsetsRequest.Topic.Partition(
                partition_index=0, timestamp=-1, max_num_offsets=9
            )
            topics = [ListOffsetsRequest.Topic(name="t", partitions=[latest])]
            offsets = client.ask(ListOffsetsRequest(replica_id=-1, topics=topics), 0)
            assert offsets.topics[0].partitions[0].old_style_offsets == [5, 0]
        found = [each.key for each in kafka.topic("t").records()]
        assert found == [b"a", b"b", b"c", b"d", b"e"]
    headers = [header for _, header in logged_batches(whole)]
    assert {header.magic for header in headers} == {magic}
    assert [(header.base_offset, header.codec) for header in headers] == [
        *[(n, 0) for n in range(3)],
        (3, Codec.GZIP),
    ]
    with (
        Emulator(data_dir=tmp_path, version=release) as kafka,
        Connection(kafka.bootstrap_servers) as client,
    ):
        assert read(client, 2 * magic) == whole


def test_0_8_knows_no_times() -> None:
    """Segments are as old as they are, whatever a message of magic 1 says."""
    with (
        Emulator(topics={"t": 1}, version="0.8.2") as kafka,
        Connection(kafka.bootstrap_servers) as client,
    ):
        for time in (0, NOW, 0):
            client.ask(produce_request(build_set([Message(0, time, b"k", b"v")], 1)), 0)
        assert [each.offset for each in read_messages(read(client, 0))] == [0, 1, 2]


@pytest.mark.parametrize(("release", "code"), [("0.10.2", 3), ("0.8.2", 9)])
def test_a_debugger_of_a_topic_that_is_not_there(release: str, code: int) -> None:
    with Emulator(version=release) as kafka, Connection(kafka.bootstrap_servers) as client:
        request = fetch_request(asked(), topic="none", replica_id=-2)
        assert only(client.ask(request, 0)).error_code == code


def test_a_segment_is_as_old_as_what_was_produced_first() -> None:
    """All of it: no message of a set rolls it, nor does what comes soon after the newest."""
    with (
        Emulator(topics={"t": 1}, version="0.10.2") as kafka,
        Connection(kafka.bootstrap_servers) as client,
    ):
        for times in ((0, NOW), (NOW,)):
            data = build_set([Message(n, time, b"k", b"v") for n, time in enumerate(times)], 1)
            client.ask(produce_request(data), 2)
        assert [each.offset for each in read_messages(read(client, 2))] == [0, 1, 2]
        late = build_set([Message(0, NOW + 8 * 86_400_000, b"k", b"v")], 1)
        client.ask(produce_request(late), 2)
        assert len(read_messages(read(client, 2))) == 3


@pytest.mark.parametrize(("release", "codes"), [("0.10.2", [22, 3]), ("0.8.2", [0, 0])])
def test_who_commits_offsets(release: str, codes: list[int]) -> None:
    with (
        Emulator(topics={"t": 1}, version=release) as kafka,
        Connection(kafka.bootstrap_servers) as client,
    ):
        client.ask(FindCoordinatorRequest(key="g"), 0)
        topic = OffsetCommitRequest.Topic
        of_0 = [topic.Partition(partition_index=0, committed_offset=5, committed_metadata="m")]
        commit = OffsetCommitRequest(
            group_id="g",
            generation_id_or_member_epoch=7,
            member_id="stranger",
            topics=[topic(name=name, partitions=of_0) for name in ("t", "none")],
        )
        answer = client.ask(commit, 1)
        found = {each.name: each.partitions[0].error_code for each in answer.topics}
        assert [found["t"], found["none"]] == codes
        wanted = [OffsetFetchRequest.Topic(name=n, partition_indexes=[0]) for n in ("t", "none")]
        fetched = client.ask(OffsetFetchRequest(group_id="g", topics=wanted), 1).topics
        errors = [each.partitions[0].error_code for each in fetched]
        unknown = Error.NONE if release == "0.10.2" else Error.UNKNOWN_TOPIC_OR_PARTITION
        assert errors == [0, unknown]
        assert fetched[0].partitions[0].committed_offset == (-1 if codes[0] else 5)


@pytest.mark.parametrize(
    ("release", "codes", "brokers"), [("0.10.2", [5, 17, 5], 1), ("0.8.2", [17, 17, 17], 0)]
)
def test_a_topic_that_cannot_be(release: str, codes: list[int], brokers: int) -> None:
    with Emulator(version=release) as kafka, Connection(kafka.bootstrap_servers) as client:
        topics = [MetadataRequest.Topic(name=name) for name in ("a", "b c", "d")]
        answer = client.ask(MetadataRequest(topics=topics), 0)
        assert [each.error_code for each in answer.topics] == codes
        assert len(answer.brokers) == brokers
        there = client.ask(MetadataRequest(topics=[]), 0)
        assert [each.name for each in there.topics] == ["a", "d"][: 1 + brokers]
