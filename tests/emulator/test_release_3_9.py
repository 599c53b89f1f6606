"""A broker of release 3.9: what old clients send and get, and what else 4.0 took away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.base.release import KAFKA_4_3, release_named
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import ConfigError
from odradek.wire import Error
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.fetch import FetchResponse
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest, ProduceResponse
from odradek.wire.api.update_features import UpdateFeaturesRequest
from odradek.wire.batch import read_header
from odradek.wire.compression import Codec
from odradek.wire.legacy.message_sets import Message, build_message, build_set, read_messages
from odradek.wire.records import build_batch, read_records

from tests.requests.fetch import asked, fetch_request, only
from tests.requests.produce import produce_all
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.releases import KAFKA_3_9

Produced = ProduceResponse.Topic.Partition
Fetched = FetchResponse.Topic.Partition


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = open_cluster(release=KAFKA_3_9)
    cluster.create_topic("t", 2, {})
    yield cluster
    cluster.close()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return client_of(cluster)


def produce(client: Client, *sets: bytes | None, version: int = 2, topic: str = "t") -> Produced:
    """Send sets to partition 0, all in one request; return what is said of it."""
    request = produce_all(*((topic, 0, data) for data in sets))
    found: Produced = client.ask(request, version).responses[0].partition_responses[0]
    return found


def fetch(
    client: Client, version: int, offset: int = 0, limit: int = 1 << 20, topic: str = "t"
) -> Fetched:
    request = fetch_request(asked(0, offset, limit), topic=topic, min_bytes=0)
    return only(client.ask(request, version))


def loose(magic: int, *values: bytes) -> bytes:
    return build_set([(0, NOW, b"k", value) for value in values], magic)


def values_of(answer: Fetched) -> list[bytes | None]:
    return [message.value for message in read_messages(answer.records or b"")]


@pytest.mark.parametrize("magic", [0, 1])
def test_loose_messages_become_one_batch(client: Client, magic: int) -> None:
    assert produce(client, loose(magic, b"a", b"b")).error_code == 0
    stored = fetch(client, 11).records
    assert stored is not None
    header = read_header(stored)
    assert (header.magic, header.count, header.producer_id) == (2, 2, -1)
    assert [record.value for record in read_records(stored)] == [b"a", b"b"]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_each_old_version_is_answered_in_its_own_shape(client: Client, version: int) -> None:
    assert produce(client, loose(1, b"a"), version=version).base_offset == 0
    assert produce(client, loose(1, b"b"), version=version).base_offset == 1


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_what_old_clients_wrap_old_clients_unwrap(
    client: Client, codec: Codec, version: int
) -> None:
    magic = version // 2
    wrapped = build_set([(n, NOW, None, b"%d" % n) for n in range(3)], magic, codec=codec)
    assert produce(client, wrapped, version=min(version, 2)).error_code == 0
    stored = fetch(client, 11).records
    assert stored is not None
    assert read_header(stored).codec == codec
    found = read_messages(fetch(client, version).records or b"")
    when = NOW if magic else -1
    assert found == [Message(n, when, None, b"%d" % n) for n in range(3)]


def test_nothing_whole_is_no_error_and_nothing_is_stored(client: Client) -> None:
    for data in (b"", loose(0, b"a")[:-1]):
        answer = produce(client, data)
        assert (answer.error_code, answer.base_offset) == (0, -1)
    assert fetch(client, 11).high_watermark == 0


def test_a_null_set_is_refused_where_a_real_broker_never_answers(client: Client) -> None:
    assert produce(client, None).error_code == Error.INVALID_RECORD


def test_of_two_sets_for_a_partition_the_last_is_stored(client: Client) -> None:
    produce(client, loose(1, b"first"), loose(1, b"last"))
    assert values_of(fetch(client, 3)) == [b"last"]


def test_a_size_that_no_message_has_refuses_the_whole_request(client: Client) -> None:
    bad = bytearray(loose(1, b"a"))
    bad[8:12] = bytes(4)
    part = ProduceRequest.Topic.Partition
    entries = [part(index=0, records=loose(1, b"a")), part(index=1, records=bytes(bad))]
    topic = ProduceRequest.Topic(name="t", partition_data=entries)
    answer = client.ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic]), 2)
    codes = [p.error_code for p in answer.responses[0].partition_responses]
    assert codes == [Error.CORRUPT_MESSAGE] * 2


def test_a_batch_is_taken_in_an_old_request_even_with_zstd(client: Client) -> None:
    batch = bytes(build_batch([(NOW, None, b"z", ())], codec=Codec.ZSTD))
    assert produce(client, batch, version=3).error_code == Error.UNSUPPORTED_COMPRESSION_TYPE
    assert produce(client, batch).error_code == 0
    assert fetch(client, 3).error_code == Error.UNSUPPORTED_COMPRESSION_TYPE


def test_a_transactional_batch_is_refused_in_an_old_request(client: Client) -> None:
    records = [(NOW, None, b"z", ())]
    batch = bytes(build_batch(records, transactional=True, producer_id=5))
    assert produce(client, batch).error_code == Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_a_topic_with_zstd_is_not_for_clients_of_before_zstd(
    client: Client, cluster: Cluster
) -> None:
    cluster.create_topic("z", 1, {"compression.type": "zstd"})
    for version in (0, 3, 4, 9):
        answer = fetch(client, version, topic="z")
        assert answer.error_code == Error.UNSUPPORTED_COMPRESSION_TYPE
        assert (answer.high_watermark, answer.records) == (-1, None)
    assert fetch(client, 10, topic="z").error_code == 0


def test_down_conversion_may_be_forbidden(client: Client, cluster: Cluster) -> None:
    cluster.create_topic("n", 1, {"message.downconversion.enable": "false"})
    assert fetch(client, 3, topic="n").error_code == Error.UNSUPPORTED_VERSION
    assert fetch(client, 4, topic="n").error_code == 0


def test_before_v3_a_first_batch_beyond_the_limit_is_nothing(client: Client) -> None:
    produce(client, loose(1, b"a" * 100))
    assert values_of(fetch(client, 2, limit=50)) == []
    assert values_of(fetch(client, 3, limit=50)) == [b"a" * 100]


def test_offsets_of_segments_newest_first(client: Client, cluster: Cluster) -> None:
    cluster.create_topic("s", 1, {"segment.bytes": "100"})
    for _ in range(3):
        produce(client, loose(1, b"x" * 20), topic="s")

    def offsets(when: int, most: int = 10) -> list[int]:
        part = ListOffsetsRequest.Topic.Partition
        asked = part(partition_index=0, timestamp=when, max_num_offsets=most)
        topic = ListOffsetsRequest.Topic(name="s", partitions=[asked])
        answer = client.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), 0)
        found: list[int] = answer.topics[0].partitions[0].old_style_offsets
        return found

    assert offsets(-1) == [3, 2, 1, 0]
    assert offsets(-1, 1) == [3]
    assert offsets(-2) == [0]
    assert offsets(0) == []


def test_the_lowest_offsets_of_groups_lay_in_zookeeper(client: Client, cluster: Cluster) -> None:
    cluster.groups.ensure_topic()
    part = OffsetCommitRequest.Topic.Partition
    topic = OffsetCommitRequest.Topic(
        name="t", partitions=[part(partition_index=0, committed_offset=5, committed_metadata="m")]
    )
    request = OffsetCommitRequest(group_id="g", topics=[topic])
    assert client.ask(request, 0).topics[0].partitions[0].error_code == Error.UNSUPPORTED_VERSION
    assert client.ask(request, 1).topics[0].partitions[0].error_code == 0
    asked = OffsetFetchRequest(
        group_id="g", topics=[OffsetFetchRequest.Topic(name="t", partition_indexes=[0])]
    )
    assert client.ask(asked, 0).topics[0].partitions[0].error_code == Error.UNSUPPORTED_VERSION
    assert client.ask(asked, 1).topics[0].partitions[0].committed_offset == 5


@pytest.mark.parametrize(("version", "error"), [(5, 42), (6, 15)])
def test_share_groups_have_no_coordinator_yet(client: Client, version: int, error: int) -> None:
    asked = FindCoordinatorRequest(coordinator_keys=["g"], key_type=2)
    (found,) = client.ask(asked, version).coordinators
    assert (found.error_code, found.error_message) == (error, "")


def test_features_are_those_of_the_release(client: Client) -> None:
    named = ApiVersionsRequest(client_software_name="n", client_software_version="1")
    answer = client.ask(named, 4)
    supported = {f.name: (f.min_version, f.max_version) for f in answer.supported_features}
    assert supported == {"kraft.version": (0, 1), "metadata.version": (1, 21)}
    assert [(f.name, f.max_version_level) for f in answer.finalized_features] == [
        ("metadata.version", 21)
    ]


def test_features_are_updated_one_by_one(client: Client) -> None:
    update = UpdateFeaturesRequest.FeatureUpdate
    answer = client.ask(
        UpdateFeaturesRequest(
            timeout_ms=1000,
            feature_updates=[
                update(feature="metadata.version", max_version_level=20, upgrade_type=2),
                update(feature="group.version", max_version_level=1, upgrade_type=1),
            ],
        ),
        1,
    )
    found = {result.feature: result.error_code for result in answer.results}
    assert found == {"metadata.version": 0, "group.version": Error.INVALID_UPDATE_VERSION}


def test_too_few_brokers_are_only_counted(client: Client) -> None:
    topic = CreateTopicsRequest.Topic(
        name="two", num_partitions=1, replication_factor=2, assignments=[], configs=[]
    )
    (answer,) = client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7).topics
    assert answer.error_message == (
        "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be "
        "reached because only 1 broker(s) are registered."
    )


def configs_of(client: Client, name: str) -> dict[str, str | None]:
    asked = DescribeConfigsRequest.Resource(
        resource_type=2, resource_name=name, configuration_keys=None
    )
    answer: Any = client.ask(DescribeConfigsRequest(resources=[asked]), 1)
    return {config.name: config.value for config in answer.results[0].configs}


def test_topics_have_the_configs_of_the_release(client: Client) -> None:
    shown = configs_of(client, "t")
    assert shown["message.format.version"] == "3.0-IV1"
    assert shown["message.downconversion.enable"] == "true"
    assert shown["message.timestamp.after.max.ms"] == str(2**63 - 1)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("message.format.version", "0.9.0", 0),
        ("message.format.version", "2.8-IV1", 0),
        ("message.format.version", "3.9.2", 0),
        ("message.format.version", "2.8-IV2", 40),
        ("message.format.version", "0.10", 40),
        ("message.format.version", "9.9", 40),
        ("segment.bytes", "14", 0),
        ("segment.bytes", "13", 40),
        ("cleanup.policy", "", 0),
        ("cleanup.policy", "compact,compact", 0),
        ("cleanup.policy", "x", 40),
        ("internal.segment.bytes", "1000", 40),
    ],
)
def test_configs_are_judged_as_the_release_does(
    client: Client, name: str, value: str, error: int
) -> None:
    topic = CreateTopicsRequest.Topic(
        name="new",
        num_partitions=1,
        replication_factor=1,
        assignments=[],
        configs=[CreateTopicsRequest.Topic.Config(name=name, value=value)],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=1000, validate_only=True)
    assert client.ask(request, 6).topics[0].error_code == error


def test_the_old_bound_of_times_is_in_force(client: Client, cluster: Cluster) -> None:
    cluster.create_topic("d", 1, {"message.timestamp.difference.max.ms": "1000"})
    for late, error in ((0, 0), (2000, 32), (-2000, 32)):
        data = build_message((0, NOW + late, None, b"v"), 1)
        assert produce(client, data, topic="d").error_code == error


def test_a_directory_of_a_newer_release_is_refused_by_name(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path / "d", topics={"t": 1}):
        pass
    before = sorted((p, p.stat().st_size) for p in (tmp_path / "d").rglob("*"))
    with pytest.raises(ConfigError, match=r"metadata\.version 30.* Kafka 3\.9 .* 1-21"):
        Emulator(data_dir=tmp_path / "d", version="3.9").start()
    assert sorted((p, p.stat().st_size) for p in (tmp_path / "d").rglob("*")) == before


def test_a_directory_of_an_older_release_is_opened(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path / "d", topics={"t": 1}, version="3.9") as old:
        assert old._release is KAFKA_3_9
    with Emulator(data_dir=tmp_path / "d") as new:
        assert new._release is KAFKA_4_3
        assert "t" in {topic.name for topic in new.cluster.topics}


def test_configs_that_came_later_are_unknown() -> None:
    with pytest.raises(ConfigError, match=r"^Kafka 3\.9 has no broker config .* the first release"):
        Emulator({"group.coordinator.background.threads": 1}, version="3.9")
    with pytest.raises(ConfigError, match=r"enable: 3\.9 is the last release here that has it$"):
        Emulator({"log.message.downconversion.enable": False})


def test_a_version_may_be_written_as_a_number() -> None:
    assert release_named(3.9) is KAFKA_3_9  # type: ignore[arg-type]
