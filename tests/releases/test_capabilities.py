"""What older releases do otherwise, each as a real broker of them has answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.config.group import GROUP_RESOURCE, GroupConfig
from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.api.share_acknowledge import ShareAcknowledgeRequest
from odradek.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest
from odradek.wire.batch import seal
from odradek.wire.legacy.message_sets import Message, build_set
from odradek.wire.records import build_batch, read_records

from tests.requests.configs import change_request
from tests.requests.consumer_groups import beat
from tests.requests.fetch import asked, fetch_request, only
from tests.requests.groups import join_request, joined, sync_request
from tests.requests.offsets import epoch_end_request, list_offsets_request, look_up
from tests.requests.produce import batch, produce, produce_all, produce_request
from tests.requests.transactions import (
    add_offsets_request,
    add_request,
    init_request,
    txn_commit_request,
)
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.releases import RELEASES


@contextmanager
def broker(release: str, **configs: str) -> Iterator[Client]:
    cluster = open_cluster(release=RELEASES[release], **configs)
    cluster.create_topic("t", 1, {})
    yield client_of(cluster, "app")
    cluster.close()


@pytest.mark.parametrize(("release", "code"), [("2.8", 42), ("2.7", -1)])
def test_an_unknown_type_of_coordinator(release: str, code: int) -> None:
    with broker(release) as app:
        assert app.ask(FindCoordinatorRequest(key="g", key_type=7), 1).error_code == code


@pytest.mark.parametrize(
    ("release", "code"),
    [("3.3", Error.UNKNOWN_TOPIC_OR_PARTITION), ("2.7", Error.LEADER_NOT_AVAILABLE)],
)
def test_a_topic_that_metadata_creates(release: str, code: int) -> None:
    with broker(release) as app:
        request = MetadataRequest(topics=[MetadataRequest.Topic(name="new")])
        assert [app.ask(request, 1).topics[0].error_code for _ in range(2)] == [code, 0]


@pytest.mark.parametrize(("release", "closes"), [("2.8", False), ("2.7", True)])
def test_produce_without_an_entry(release: str, closes: bool) -> None:
    with broker(release) as app:
        app.send(produce_request(b""), 8)
        assert app.is_closed == closes


def test_what_is_no_batch() -> None:
    with broker("2.4") as app:
        assert produce(app, bytes(batch(b"a")) * 2, version=5).error_code == Error.INVALID_RECORD


@pytest.mark.parametrize(("release", "closes"), [("2.4", False), ("2.0", True)])
def test_two_batches_for_one_partition(release: str, closes: bool) -> None:
    with broker(release) as app:
        app.send(produce_request(bytes(batch(b"a")) * 2), 5)
        assert app.is_closed == closes


@pytest.mark.parametrize(("release", "stable"), [("2.4", 1), ("1.1", -1)])
def test_the_stable_offset_of_who_reads_uncommitted(release: str, stable: int) -> None:
    with broker(release) as app:
        produce(app, batch(b"a"), version=5)
        read = [only(app.ask(fetch_request(asked(), isolation_level=each), 5)) for each in (0, 1)]
        assert [each.last_stable_offset for each in read] == [stable, 1]


@pytest.mark.parametrize(("release", "size"), [("3.3", 0), ("2.7", 70)])
def test_a_cut_batch_for_an_old_client(release: str, size: int) -> None:
    with broker(release) as app:
        produce(app, batch(b"a" * 100), version=5)
        read = only(app.ask(fetch_request(asked(max_bytes=70)), 1))
        assert len(read.records or b"") == size


@pytest.mark.parametrize(("release", "code"), [("3.9", 35), ("3.6", 0)])
def test_a_time_before_all(release: str, code: int) -> None:
    with broker(release) as app:
        produce(app, batch(b"a"), version=5)
        found = look_up(app, -5, version=1)
        assert (found.error_code, found.offset) == (code, -1 if code else 0)


def test_a_negative_time_is_one() -> None:
    with broker("2.0") as app:
        for time in (-9, NOW):
            produce(app, build_batch([(time, b"k", b"v", ())]), version=3)
        found = [look_up(app, time, version=1) for time in (-10, -8)]
        assert [(each.offset, each.timestamp) for each in found] == [(0, -9), (1, NOW)]


@pytest.mark.parametrize(("release", "code"), [("3.9", 0), ("3.6", Error.NOT_ENOUGH_REPLICAS)])
def test_more_replicas_in_sync_than_there_are(release: str, code: int) -> None:
    with broker(release, min_insync_replicas="2") as app:
        assert produce(app, batch(b"a"), version=5).error_code == code


@pytest.mark.parametrize(("release", "names"), [("3.9", []), ("3.6", ["t"])])
def test_topics_that_were_not_asked_for_in_log_directories(release: str, names: list[str]) -> None:
    with broker(release) as app:
        answer = app.ask(DescribeLogDirsRequest(topics=[]), 2)
        assert [each.name for each in answer.results[0].topics] == names


@pytest.mark.parametrize(("release", "is_filled"), [("2.0", True), ("1.1", False)])
def test_what_is_converted_for_an_old_client(release: str, is_filled: bool) -> None:
    with broker(release) as app:
        produce(app, batch(b"a", b"b"), version=3)
        records = bytes(only(app.ask(fetch_request(asked()), 1)).records or b"")
        assert (b"\xff" * 8 in records) == is_filled


@pytest.mark.parametrize(("release", "code"), [("1.1", 0), ("0.11.0", -1)])
def test_headers_for_an_old_client(release: str, code: int) -> None:
    with broker(release) as app:
        records = build_batch([(NOW, b"k", b"v", (("h", b"x"),))])
        produce(app, records, version=3)
        assert only(app.ask(fetch_request(asked()), 2)).error_code == code


@pytest.mark.parametrize(
    ("release", "code"), [("2.7", 0), ("2.4", 59), ("1.1", 59), ("0.11.0", 45)]
)
def test_a_first_sequence(release: str, code: int) -> None:
    with broker(release) as app:
        data = batch(b"a", producer_id=7, producer_epoch=0, base_sequence=3)
        assert produce(app, data, version=3).error_code == code


@pytest.mark.parametrize(
    ("release", "epoch", "sequence", "code"),
    [
        ("2.7", -1, 3, 0),
        ("2.4", -1, 3, 59),
        ("2.0", -1, 3, 59),
        ("1.1", -1, 3, 45),
        ("1.1", 1, 3, 45),
        ("1.1", 0, 1, 0),
        ("1.1", 0, 2, 45),
        ("1.1", 0, 0, 0),
    ],
)
def test_the_next_sequence(release: str, epoch: int, sequence: int, code: int) -> None:
    """Of a producer without an epoch, and of one that has written the sequence 0 in the epoch 0."""
    with broker(release) as app:
        for each in [(0, 0)] * (epoch >= 0) + [(epoch, sequence)]:
            sent: dict[str, Any] = {
                "producer_id": 7,
                "producer_epoch": each[0],
                "base_sequence": each[1],
            }
            found = produce(app, batch(b"a", **sent), version=3)
        assert found.error_code == code


@pytest.mark.parametrize(("release", "code"), [("1.1", 0), ("0.11.0", 45)])
def test_a_batch_that_comes_again_after_another(release: str, code: int) -> None:
    with broker(release) as app:
        for sequence in (0, 1, 0):
            sent: dict[str, Any] = {
                "producer_id": 7,
                "producer_epoch": 0,
                "base_sequence": sequence,
            }
            found = produce(app, batch(b"a", **sent), version=3)
        assert (found.error_code, found.base_offset) == (code, -1 if code else 0)


@pytest.mark.parametrize(("release", "code"), [("2.4", 53), ("2.0", 0)])
def test_a_transaction_without_a_name(release: str, code: int) -> None:
    with broker(release) as app:
        data = batch(b"a", transactional=True)
        assert produce(app, data, version=3).error_code == code


@pytest.mark.parametrize(("release", "closes"), [("2.0", True), ("1.1", False)])
def test_a_cut_entry_of_no_magic_behind_a_batch(release: str, closes: bool) -> None:
    with broker(release) as app:
        cut = bytes(8) + (99).to_bytes(4, "big") + b"\x09" * 20
        app.send(produce_request(bytes(batch(b"a")) + cut), 5)
        assert app.is_closed == closes


def test_a_transaction_among_what_is_named_twice() -> None:
    with broker("2.4") as app:
        twice = produce_all(("t", 0, batch(b"a", transactional=True)), ("t", 0, batch(b"b")))
        (answer,) = app.ask(twice, 7).responses[0].partition_responses
        assert answer.error_code == Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("release", "kinds"), [("2.7", [7, 7, 3]), ("2.4", [0, 0]), ("1.1", [0, 3])]
)
def test_resources_of_no_known_type(release: str, kinds: list[int]) -> None:
    """1.1 knows a type 3, which nothing can be asked about."""
    named = [(7, "x"), (7, "x"), (3, "y")]
    with broker(release) as app:
        described = DescribeConfigsRequest(
            resources=[
                DescribeConfigsRequest.Resource(
                    resource_type=kind, resource_name=name, configuration_keys=None
                )
                for kind, name in named
            ]
        )
        altered = AlterConfigsRequest(
            resources=[
                AlterConfigsRequest.Resource(resource_type=kind, resource_name=name, configs=[])
                for kind, name in named
            ],
            validate_only=False,
        )
        assert [each.resource_type for each in app.ask(described, 0).results] == kinds
        assert [each.resource_type for each in app.ask(altered, 0).responses] == kinds


@pytest.mark.parametrize(("release", "code"), [("2.4", 47), ("2.0", 0)])
def test_offsets_of_an_epoch_that_is_over(release: str, code: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key="g"), 1)
        first, second = Producer(7, 0), Producer(7, 1)
        commits = [txn_commit_request(each, ("t", 0, 1)) for each in (second, first)]
        codes = [app.ask(each, 1).topics[0].partitions[0].error_code for each in commits]
        assert codes == [0, code]


@pytest.mark.parametrize(("release", "code"), [("2.4", 0), ("2.0", -1)])
def test_a_broker_that_reads_from_itself(release: str, code: int) -> None:
    with broker(release) as app:
        request = fetch_request(asked(), replica_id=app.connection.node_id)
        assert only(app.ask(request, 4)).error_code == code


@pytest.mark.parametrize(("release", "operations"), [("2.7", -(2**31)), ("2.4", 0)])
def test_operations_that_are_not_asked_for(release: str, operations: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key="g"), 1)
        groups = app.ask(DescribeGroupsRequest(groups=["g"]), 3).groups
        assert groups[0].authorized_operations == operations


@pytest.mark.parametrize(("release", "code"), [("2.7", Error.UNKNOWN_LEADER_EPOCH), ("2.4", 0)])
def test_the_epoch_of_a_partition_in_a_session(release: str, code: int) -> None:
    with broker(release) as app:
        below = only(app.ask(fetch_request(asked(current_leader_epoch=-2)), 11)).error_code
        assert below == (Error.NONE if code else Error.FENCED_LEADER_EPOCH)
        begun = app.ask(fetch_request(session_epoch=0), 11)
        request = fetch_request(
            asked(current_leader_epoch=9), session_id=begun.session_id, session_epoch=1
        )
        assert only(app.ask(request, 11)).error_code == code


@pytest.mark.parametrize(
    ("release", "closes"), [("2.7", False), ("2.4", True), ("2.0", True), ("1.1", False)]
)
def test_a_config_without_a_value(release: str, closes: bool) -> None:
    with broker(release) as app:
        resource = AlterConfigsRequest.Resource
        null = resource.Config(name="retention.ms", value=None)
        named = resource(resource_type=2, resource_name="t", configs=[null])
        app.send(AlterConfigsRequest(resources=[named], validate_only=False), 0)
        assert app.is_closed == closes


@pytest.mark.parametrize(
    ("release", "kind", "operation", "closes"),
    [
        ("2.7", 0, 3, True),
        ("2.7", 1, 1, False),
        ("2.4", 0, 3, False),
        ("2.4", 2, 1, True),
        ("2.0", 1, 3, True),
        ("1.1", 1, 3, False),
    ],
)
def test_a_rule_about_nothing_known(release: str, kind: int, operation: int, closes: bool) -> None:
    with broker(release) as app:
        rule = CreateAclsRequest.Creation(
            resource_type=kind,
            resource_name="t",
            principal="User:a",
            host="*",
            operation=operation,
            permission_type=3,
        )
        app.send(CreateAclsRequest(creations=[rule]), 1 if release == "2.7" else 0)
        assert app.is_closed == closes


@pytest.mark.parametrize(("release", "code", "end"), [("2.4", 87, 0), ("2.0", 0, 2), ("1.1", 0, 2)])
def test_two_batches_of_an_old_producer(release: str, code: int, end: int) -> None:
    with broker(release) as app:
        assert produce(app, bytes(batch(b"a")) * 2, version=2).error_code == code
        assert look_up(app, -1, version=1).offset == end


@pytest.mark.parametrize(("release", "codes"), [("2.7", [42, 42]), ("2.4", [42])])
def test_a_partition_that_list_offsets_names_twice(release: str, codes: list[int]) -> None:
    with broker(release) as app:
        topic = ListOffsetsRequest.Topic
        twice = [topic.Partition(partition_index=0, timestamp=-1)] * 2
        request = ListOffsetsRequest(replica_id=-1, topics=[topic(name="t", partitions=twice)])
        found = app.ask(request, 1).topics[0].partitions
        assert [each.error_code for each in found] == codes


@pytest.mark.parametrize(
    ("release", "code", "stored"), [("2.0", Error.INVALID_GROUP_ID, 24), ("1.1", 25, 0)]
)
def test_a_member_of_a_group_without_a_name(release: str, code: int, stored: int) -> None:
    with broker(release) as app:
        commit = txn_commit_request(Producer(7, 0), ("t", 0, 1))
        commit.group_id = ""
        assert app.ask(commit, 0).topics[0].partitions[0].error_code == stored
        beat_ = HeartbeatRequest(group_id="", generation_id=0, member_id="m")
        left = LeaveGroupRequest(group_id="", member_id="m")
        assert [app.ask(each, 0).error_code for each in (beat_, left)] == [code, code]


@pytest.mark.parametrize(("release", "generation"), [("2.4", -1), ("2.0", 0)])
def test_a_join_that_is_refused(release: str, generation: int) -> None:
    with broker(release) as app:
        answer = app.ask(join_request(group_id=""), 2)
        assert (answer.error_code, answer.generation_id) == (24, generation)


@pytest.mark.parametrize(("release", "closes"), [("2.4", False), ("2.0", True)])
def test_a_coordinator_of_no_known_type(release: str, closes: bool) -> None:
    with broker(release) as app:
        app.send(FindCoordinatorRequest(key="g", key_type=7), 1)
        assert app.is_closed == closes


@pytest.mark.parametrize(("release", "code", "left"), [("3.3", 0, 1), ("2.8", -1, 0)])
def test_an_instance_that_has_not_joined_leaves(release: str, code: int, left: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key="g"), 1)
        member_id = app.ask(join_request(), 4).member_id
        member = LeaveGroupRequest.Member(member_id=member_id, group_instance_id="i")
        answer = app.ask(LeaveGroupRequest(group_id="g", members=[member]), 3)
        assert (answer.error_code, len(answer.members)) == (code, left)
        member.member_id = app.ask(join_request(), 4).member_id
        app.ask(join_request(group_instance_id="i"), 5)
        answer = app.ask(LeaveGroupRequest(group_id="g", members=[member]), 3)
        fenced = 82 if release == "2.8" else 0
        assert (answer.error_code, answer.members[0].error_code) == (0, fenced)


@pytest.mark.parametrize(("release", "code"), [("3.3", 25), ("2.8", 0)])
def test_an_instance_that_there_is_not(release: str, code: int) -> None:
    with broker(release, group_initial_rebalance_delay_ms="0") as app:
        app.ask(FindCoordinatorRequest(key="g"), 1)
        member = joined(app, 2)
        app.ask(sync_request(member), 2)
        beat_ = HeartbeatRequest(
            group_id="g", generation_id=1, member_id=member.member_id, group_instance_id="i"
        )
        assert app.ask(beat_, 3).error_code == code


@pytest.mark.parametrize(
    ("release", "codes"),
    [("2.7", [0, 22, 22]), ("2.4", [27, 22, 22]), ("2.0", [27, 27, 27])],
)
def test_members_that_wait_for_their_assignments(release: str, codes: list[int]) -> None:
    with broker(release, group_initial_rebalance_delay_ms="0") as app:
        app.ask(FindCoordinatorRequest(key="g"), 1)
        member = joined(app, 2)
        beats = [
            HeartbeatRequest(group_id="g", generation_id=each, member_id=member.member_id)
            for each in (1, 7)
        ]
        found = [app.ask(each, 1).error_code for each in beats]
        topic = OffsetCommitRequest.Topic
        of_t = [topic.Partition(partition_index=0, committed_offset=5, committed_metadata="")]
        commit = OffsetCommitRequest(
            group_id="g",
            generation_id_or_member_epoch=7,
            member_id=member.member_id,
            topics=[topic(name="t", partitions=of_t)],
        )
        found.append(app.ask(commit, 2).topics[0].partitions[0].error_code)
        assert found == codes


@pytest.mark.parametrize(("release", "code"), [("2.8", 17), ("2.7", 3)])
def test_a_name_that_no_topic_can_have(release: str, code: int) -> None:
    with broker(release) as app:
        topics = [MetadataRequest.Topic(name="a b")]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        assert app.ask(request, 8).topics[0].error_code == code


@pytest.mark.parametrize(("release", "names"), [("1.1", []), ("0.11.0", ["GSSAPI"])])
def test_mechanisms_where_there_is_no_sasl(release: str, names: list[str]) -> None:
    with broker(release) as app:
        assert app.ask(SaslHandshakeRequest(mechanism="x"), 0).mechanisms == names


@pytest.mark.parametrize(("release", "epoch"), [("4.1", 2), ("4.0", 3)])
def test_the_epoch_after_a_producer_that_starts_anew(release: str, epoch: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["x"]), 4)
        first = app.ask(init_request(), 4)
        who = Producer(first.producer_id, first.producer_epoch)
        app.ask(add_request(who, [("t", [0])]), 3)
        codes = [app.ask(init_request(), 4).error_code, 0]
        again = app.ask(init_request(), 4)
        assert (codes, again.producer_epoch) == ([Error.CONCURRENT_TRANSACTIONS, 0], epoch)


@pytest.mark.parametrize(("release", "code"), [("4.1", 45), ("4.0", 0)])
def test_the_first_sequence_of_a_transaction(release: str, code: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["x"]), 4)
        begun = app.ask(init_request(), 5)
        who = {"producer_id": begun.producer_id, "producer_epoch": begun.producer_epoch}
        data = batch(b"a", base_sequence=7, transactional=True, **who)
        assert produce(app, data, version=12, transactional_id="x").error_code == code


@pytest.mark.parametrize(("release", "code"), [("4.1", 47), ("4.0", 49)])
def test_an_epoch_before_the_last(release: str, code: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["x"]), 4)
        produce(app, batch(b"a", base_sequence=0, producer_id=5, producer_epoch=2), version=9)
        data = batch(b"a", base_sequence=0, producer_id=5, producer_epoch=1, transactional=True)
        assert produce(app, data, version=12, transactional_id="x").error_code == code


@pytest.mark.parametrize(
    ("release", "asked", "value", "synonyms"),
    [("4.1", "metrics", "", 1), ("4.0", "metrics", " ", 0), ("4.0", "interval.ms", " ", 0)],
)
def test_the_text_of_client_metrics(release: str, asked: str, value: str, synonyms: int) -> None:
    with broker(release) as app:
        app.ask(change_request((16, "m", [("metrics", 0, " ")])), 1)
        resource = DescribeConfigsRequest.Resource(
            resource_type=16, resource_name="m", configuration_keys=[asked]
        )
        answer = app.ask(DescribeConfigsRequest(resources=[resource], include_synonyms=True), 4)
        (shown,) = answer.results[0].configs
        assert (shown.name, shown.value) == ("metrics", value)
        assert bool(shown.synonyms) == synonyms


@pytest.mark.parametrize(("release", "code"), [("4.2", 40), ("4.1", 0)])
def test_the_lists_of_client_metrics(release: str, code: int) -> None:
    with broker(release) as app:
        answer = app.ask(change_request((16, "m", [("metrics", 0, "a,")])), 1)
        assert answer.responses[0].error_code == code
        resource = DescribeConfigsRequest.Resource(
            resource_type=16, resource_name="m", configuration_keys=["metrics"]
        )
        shown = app.ask(DescribeConfigsRequest(resources=[resource]), 4).results[0].configs[0]
        assert shown.value == ("a," if release == "4.1" else "")


def test_a_config_of_a_newer_release_is_taken_unseen() -> None:
    BrokerConfig({}, RELEASES["4.0"]).judge_dynamic(
        {"1": {"share.coordinator.cached.buffer.max.bytes": "-5"}}
    )


@pytest.mark.parametrize(("release", "code"), [("4.2", 0), ("4.1", Error.FENCED_MEMBER_EPOCH)])
def test_a_member_that_joins_a_third_time(release: str, code: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        beat(app, subscribed_topic_names=["n"])
        beat(app, subscribed_topic_names=["t"])
        assert beat(app, subscribed_topic_names=["n"]).error_code == code


@pytest.mark.parametrize(("release", "codes"), [("4.1", [24, 69]), ("4.0", [-1, -1])])
def test_describing_a_group_without_a_name(release: str, codes: list[int]) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        answer = app.ask(
            ConsumerGroupDescribeRequest(group_ids=["", "g"], include_authorized_operations=False),
            0,
        )
        assert [each.error_code for each in answer.groups] == codes


@pytest.mark.parametrize(("release", "types"), [("4.1", [5, 3]), ("4.0", [5, 4, 3])])
def test_the_topics_that_a_group_reads(release: str, types: list[int]) -> None:
    """4.0 has a record of them, later releases a hash."""
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        beat(app, subscribed_topic_names=["t"])
        cluster = app.connection.cluster
        log = cluster.partition("__consumer_offsets", cluster.groups.partition_for("g")).log
        keys = [
            int.from_bytes(record.key or b"", "big") >> 8 * (len(record.key or b"") - 2)
            for _, chunk, pos in log.reader.batches_from(0)
            for record in read_records(chunk, pos)
        ]
        assert keys[: len(types)] == types


def test_transactions_are_not_verified_before_they_could_be() -> None:
    found = {}
    for name in ("3.6", "3.3", "0.11.0"):
        config = BrokerConfig(release=RELEASES[name])
        found[name] = config.get("transaction.partition.verification.enable")
    assert found == {"3.6": True, "3.3": False, "0.11.0": False}


@pytest.mark.parametrize(("release", "epoch"), [("4.3", 2), ("4.2", 1)])
def test_the_epoch_of_a_first_member(release: str, epoch: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        assert beat(app).member_epoch == epoch


@pytest.mark.parametrize(
    ("release", "is_there", "value"), [("4.3", True, "9000"), ("4.2", False, "5000")]
)
def test_configs_of_a_group(release: str, is_there: bool, value: str) -> None:
    with broker(release, group_consumer_heartbeat_interval_ms="9000") as app:
        resource = DescribeConfigsRequest.Resource(
            resource_type=GROUP_RESOURCE, resource_name="g", configuration_keys=None
        )
        answer = app.ask(DescribeConfigsRequest(resources=[resource]), 1)
        found = {each.name: each.value for each in answer.results[0].configs}
        assert ("consumer.assignment.interval.ms" in found) == is_there
        assert found["consumer.heartbeat.interval.ms"] == value


@pytest.mark.parametrize(
    ("release", "values", "code"),
    [("3.3", b"ab", 87), ("2.8", b"ab", -1), ("2.7", b"a", 87)],
)
def test_a_record_that_is_longer_than_its_batch(release: str, values: bytes, code: int) -> None:
    with broker(release) as app:
        data = batch(*(bytes([each]) for each in values))
        data[61] = 0x70  # its length, as a zigzag varint: 56
        seal(data, 0, len(data))
        assert produce(app, data, version=8).error_code == code


@pytest.mark.parametrize(("release", "codes"), [("3.9", [76]), ("2.7", [0])])
def test_a_partition_that_produce_names_twice(release: str, codes: list[int]) -> None:
    with broker(release) as app:
        twice = produce_all(("t", 0, batch(b"a", codec=4)), ("t", 0, batch(b"b")))
        answer = app.ask(twice, 4)
        found = [p.error_code for t in answer.responses for p in t.partition_responses]
        assert found == codes


@pytest.mark.parametrize(("release", "code"), [("0.11.0", 10), ("0.10.2", 0)])
def test_messages_that_fit_each_by_itself(release: str, code: int) -> None:
    with broker(release, message_max_bytes="150") as app:
        both = build_set([Message(n, NOW, b"k", b"v" * 80) for n in (0, 1)], 1)
        assert produce(app, both, version=2).error_code == code


@pytest.mark.parametrize(("release", "code"), [("0.11.0", 0), ("0.10.2", Error.INVALID_TIMESTAMP)])
def test_a_message_without_a_time(release: str, code: int) -> None:
    with broker(release, log_message_timestamp_difference_max_ms="1000") as app:
        message = build_set([Message(0, -1, b"k", b"v")], 0)
        assert produce(app, message, version=1).error_code == code


@pytest.mark.parametrize(("release", "closes"), [("2.7", False), ("2.4", True)])
def test_an_unknown_isolation_level(release: str, closes: bool) -> None:
    for request in (list_offsets_request(-1), fetch_request(asked())):
        with broker(release) as app:
            request.isolation_level = 7
            app.send(request, 4)
            assert app.is_closed == closes


@pytest.mark.parametrize(("release", "count"), [("2.7", 26), ("2.4", 0)])
def test_configs_of_no_names(release: str, count: int) -> None:
    with broker(release) as app:
        resource = DescribeConfigsRequest.Resource(
            resource_type=2, resource_name="t", configuration_keys=[]
        )
        answer = app.ask(DescribeConfigsRequest(resources=[resource]), 1)
        assert len(answer.results[0].configs) == count


@pytest.mark.parametrize(("release", "code"), [("2.4", 3), ("2.0", 9)])
@pytest.mark.parametrize("version", [0, 1])
def test_the_offsets_of_what_is_not_there(release: str, code: int, version: int) -> None:
    with broker(release) as app:
        request = list_offsets_request(-1, partition=1)
        request.replica_id = -2
        assert app.ask(request, version).topics[0].partitions[0].error_code == code


@pytest.mark.parametrize(("release", "end"), [("2.0", 0), ("1.1", -1)])
def test_the_end_of_an_epoch_without_records(release: str, end: int) -> None:
    with broker(release) as app:
        request = epoch_end_request(("t", 0, -1, 0))
        assert app.ask(request, 0).topics[0].partitions[0].end_offset == end
        produce(app, batch(b"a"), version=5)
        assert app.ask(request, 0).topics[0].partitions[0].end_offset == 1


@pytest.mark.parametrize(
    ("release", "member", "generation", "code"),
    [
        ("3.3", "m", -1, 0),
        ("2.8", "m", -1, Error.UNKNOWN_MEMBER_ID),
        ("2.8", "", 0, 0),
        ("2.8", "", 1, Error.ILLEGAL_GENERATION),
    ],
)
@pytest.mark.parametrize("is_there", [False, True])
def test_who_commits_offsets_in_a_transaction(
    release: str, member: str, generation: int, code: int, is_there: bool
) -> None:
    with broker(release) as app:
        begun = app.ask(init_request(), 4)
        who = Producer(begun.producer_id, begun.producer_epoch)
        app.ask(add_offsets_request(who), 0)
        if is_there:
            assert offsets_in(app, who) == 0
        assert offsets_in(app, who, member, generation) == code


def offsets_in(app: Client, who: Producer, member: str = "", generation: int = -1) -> int:
    request = txn_commit_request(who, ("t", 0, 1), member_id=member, generation_id=generation)
    code: int = app.ask(request, 3).topics[0].partitions[0].error_code
    return code


def test_a_generation_of_a_group_that_is_not_there() -> None:
    for release, code in (("4.0", Error.ILLEGAL_GENERATION), ("3.9", Error.UNKNOWN_MEMBER_ID)):
        with broker(release) as app:
            for kind, key in enumerate(["g", "x"]):
                app.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]), 4)
            begun = app.ask(init_request(), 4)
            who = Producer(begun.producer_id, begun.producer_epoch)
            app.ask(add_offsets_request(who), 0)
            assert offsets_in(app, who, "", 1) == code


@pytest.mark.parametrize("release", ["3.6", "3.3"])
def test_the_earliest_local_offset(release: str) -> None:
    with broker(release) as app:
        produce(app, batch(b"a", time=NOW), version=9)
        has_none = look_up(app, -4, version=5).timestamp == -1
        assert has_none == (release == "3.6")


@pytest.mark.parametrize(("release", "code", "end"), [("3.3", 75, -1), ("2.8", 0, 1)])
def test_a_fetch_of_a_strange_replica(release: str, code: int, end: int) -> None:
    with broker(release) as app:
        produce(app, batch(b"a"), version=8)
        request = fetch_request(asked(current_leader_epoch=0), replica_id=7, isolation_level=1)
        answer = only(app.ask(request, 11))
        assert (answer.error_code, answer.high_watermark, answer.records) == (code, end, b"")
        assert answer.aborted_transactions is None


@pytest.mark.parametrize(
    ("group", "metadata", "code"),
    [("g", "", Error.UNKNOWN_SERVER_ERROR), ("", "", 24), ("g", "x" * 5000, 12)],
)
def test_offsets_of_a_producer_without_an_epoch(group: str, metadata: str, code: int) -> None:
    with broker("2.7") as app:
        who = Producer(0, -1)
        request = txn_commit_request(who, ("t", 0, 1), group=group, metadata=metadata)
        assert app.ask(request, 2).topics[0].partitions[0].error_code == code


def test_offsets_of_a_producer_that_was_replaced() -> None:
    with broker("2.7") as app:
        assert [offsets_in(app, Producer(1, epoch)) for epoch in (1, 1, 0, 2)] == [0, 0, 47, 0]


@pytest.mark.parametrize(
    ("release", "value", "message"),
    [
        ("3.6", 0.0, "Quota consumer_byte_rate must be greater than 0"),
        ("3.3", 0.0, None),
        ("3.6", 1.5, "consumer_byte_rate cannot be a fractional value."),
        ("3.3", 1.5, "Configuration consumer_byte_rate must be a Long value"),
        ("3.3", 1e19, "Configuration consumer_byte_rate must be a Long value"),
    ],
)
def test_the_value_of_a_quota(release: str, value: float, message: str | None) -> None:
    with broker(release) as app:
        entry = AlterClientQuotasRequest.Entry
        change = entry(
            entity=[entry.Entity(entity_type="user", entity_name="u")],
            ops=[entry.Op(key="consumer_byte_rate", value=value, remove=False)],
        )
        answer = app.ask(AlterClientQuotasRequest(entries=[change], validate_only=False), 0)
        assert answer.entries[0].error_message == message


@pytest.mark.parametrize(("release", "codes"), [("3.3", [17, 3]), ("2.8", [3, 3])])
def test_producers_of_topics_that_are_not_there(release: str, codes: list[int]) -> None:
    with broker(release) as app:
        topic = DescribeProducersRequest.Topic
        topics = [topic(name=name, partition_indexes=[0]) for name in ("a b", "n")]
        answer = app.ask(DescribeProducersRequest(topics=topics), 0)
        found = [each.partitions[0] for each in answer.topics]
        assert [each.error_code for each in found] == codes
        assert [each.error_message is None for each in found] == [release == "2.8"] * 2


@pytest.mark.parametrize("version", [1, 7])
def test_a_batch_that_ends_before_its_last_offset(version: int) -> None:
    with broker("3.6") as app:
        for size, code in ((26, -1), (27, 2), (60, 2)):
            data = batch(b"a" * 40)[:size]
            data[8:12] = (size - 12).to_bytes(4, "big")
            assert produce(app, data, version=version).error_code == code


@pytest.mark.parametrize("release", ["4.3", "4.2"])
def test_configs_of_a_streams_group_that_sets_one(release: str) -> None:
    name, given = "streams.initial.rebalance.delay.ms", {"streams.num.standby.replicas": "1"}
    config = BrokerConfig({}, RELEASES[release])
    assert GroupConfig(config, {}).get(name) == 0
    assert GroupConfig(config, given).get(name) == (0 if release == "4.3" else 3000)


@pytest.mark.parametrize(
    ("release", "group", "member", "code"),
    [
        ("4.3", None, "m", 42),
        ("4.2", None, "m", -1),
        ("4.2", None, "", 42),
        ("4.2", "g", None, -1),
        ("4.2", "g", "m", 122),
        ("4.1", "g", "m", -1),
        ("4.1", "g", "AAAAAAAAAAAAAAAAAAAAAQ", 122),
    ],
)
def test_share_groups_without_a_name(
    release: str, group: str | None, member: str | None, code: int
) -> None:
    with broker(release) as app:
        _set_level(app, "share.version", 1)
        request = ShareAcknowledgeRequest(
            group_id=group, member_id=member, share_session_epoch=1, topics=[]
        )
        assert app.ask(request, 1).error_code == code


def _set_level(app: Client, name: str, level: int) -> int:
    update = UpdateFeaturesRequest.FeatureUpdate(feature=name, max_version_level=level)
    code: int = app.ask(UpdateFeaturesRequest(feature_updates=[update]), 1).error_code
    return code


@pytest.mark.parametrize(("release", "code"), [("4.1", 0), ("4.0", 95)])
def test_a_feature_that_has_no_stable_level(release: str, code: int) -> None:
    with broker(release) as app:
        assert _set_level(app, "streams.version", 0) == code


@pytest.mark.parametrize(("release", "named"), [("4.2", ["n", "t"]), ("4.1", ["n"])])
def test_offsets_of_a_share_group_in_no_partition(release: str, named: list[str]) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        topic = AlterShareGroupOffsetsRequest.Topic
        part = topic.Partition(partition_index=0, start_offset=0)
        wanted = [topic(topic_name=name, partitions=[part]) for name in ("t", "n")]
        request = AlterShareGroupOffsetsRequest(group_id="g", topics=wanted)
        assert app.ask(request, 0).error_message == (
            None if release == "4.2" else "The version of API is not supported."
        )
        _set_level(app, "share.version", 1)
        assert [each.topic_name for each in app.ask(request, 0).responses] == named
        gone = app.ask(DeleteShareGroupOffsetsRequest(group_id="h", topics=[]), 0)
        assert gone.error_code == (69 if release == "4.2" else 0)
        gone = app.ask(DeleteShareGroupOffsetsRequest(group_id="", topics=[]), 0)
        assert gone.error_code == (24 if release == "4.2" else 0)
        heartbeat = ShareGroupHeartbeatRequest(group_id="g", member_id="", member_epoch=0)
        message = None if release == "4.2" else "MemberId can't be empty."
        assert app.ask(heartbeat, 1).error_message == message


def test_the_sentences_about_a_record_without_a_key() -> None:
    for release, dot, is_counted in (("3.6", "", True), ("3.3", ".", True), ("2.8", ".", False)):
        with broker(release) as app:
            app.ask(change_request((2, "t", [("cleanup.policy", 0, "compact")])), 1)
            found = produce(app, batch(b"a", key=None), version=8)
            assert found.record_errors[0].batch_index_error_message == (
                f"Compacted topic cannot accept message without key in topic partition t-0{dot}"
            )
            assert ("1 record errors" in (found.error_message or "")) == is_counted


@pytest.mark.parametrize(("release", "code"), [("4.2", 0), ("4.1", Error.FENCED_MEMBER_EPOCH)])
def test_a_share_member_that_joins_a_third_time(release: str, code: int) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        _set_level(app, "share.version", 1)
        for name in ("n", "t", "n"):
            request = ShareGroupHeartbeatRequest(
                group_id="g", member_id="m", member_epoch=0, subscribed_topic_names=[name]
            )
            answer = app.ask(request, 1)
        assert answer.error_code == code


@pytest.mark.parametrize(("release", "codes"), [("4.2", [35, 0]), ("4.1", [35, 51])])
def test_a_transaction_of_a_level_that_there_is_not(release: str, codes: list[int]) -> None:
    """transaction.version 0 takes nothing of the second generation; up to 4.1 its transactional id
    is in transition then, for ever."""
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["x"]), 4)
        begun = app.ask(init_request(), 5)
        update = UpdateFeaturesRequest.FeatureUpdate(
            feature="transaction.version", max_version_level=0, upgrade_type=2
        )
        app.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)
        sent: dict[str, Any] = {"base_sequence": 0, "transactional": True}
        sent |= {"producer_id": begun.producer_id, "producer_epoch": begun.producer_epoch}
        found = produce(app, batch(b"a", **sent), version=12, transactional_id="x").error_code
        again = app.ask(init_request(), 5).error_code
        assert [found, again] == codes


@pytest.mark.parametrize(("release", "code"), [("4.2", 40), ("4.1", -1)])
def test_an_item_of_an_unknown_list(release: str, code: int) -> None:
    with broker(release) as app:
        answer = app.ask(change_request((4, "1", [("nonsense", 2, "a")])), 1)
        assert answer.responses[0].error_code == code


@pytest.mark.parametrize(("release", "named"), [("3.6", [["n"], ["t"]]), ("3.3", [["t"]])])
def test_a_group_that_offset_fetch_names_twice(release: str, named: list[list[str]]) -> None:
    with broker(release) as app:
        app.ask(FindCoordinatorRequest(key="g"), 1)
        group, topic = OffsetFetchRequest.Group, OffsetFetchRequest.Group.Topic
        groups = [
            group(group_id="g", topics=[topic(name=name, partition_indexes=[0])])
            for name in ("n", "t")
        ]
        answer = app.ask(OffsetFetchRequest(groups=groups), 8)
        assert [[each.name for each in one.topics] for one in answer.groups] == named
