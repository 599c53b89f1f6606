"""The records of internal topics, in bytes that Kafka wrote or that its documents spell out."""

from __future__ import annotations

import pytest
from odradek.wire.errors import WireError
from odradek.wire.stored.cluster import (
    RECORDS,
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    NoOpRecord,
    TopicRecord,
    frame_record,
    read_record,
)
from odradek.wire.stored.consumer_groups import ConsumerGroupMemberMetadataValue
from odradek.wire.stored.consumer_protocol import ConsumerProtocolSubscription
from odradek.wire.stored.control import (
    KRaftVersion,
    KRaftVoters,
    LeaderChange,
    SnapshotFooter,
    SnapshotHeader,
    control_record,
    read_control_record,
)
from odradek.wire.stored.groups import GroupMetadataKey
from odradek.wire.stored.keyed import keyed, read_key, read_value
from odradek.wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from odradek.wire.stored.topics import CONSUMER_OFFSETS, INTERNAL_TOPICS, Records, read_pair

from tests.wire.support.messages import full, versions

KEYS = (OffsetCommitKey, GroupMetadataKey)

ClassicMember = ConsumerGroupMemberMetadataValue.ClassicMemberMetadata


class TestMetadataRecords:
    def test_a_value_is_led_by_frame_type_and_version(self) -> None:
        record = FeatureLevelRecord(name="group.version", feature_level=1)
        value = frame_record(record, 0)
        assert value == bytes.fromhex("01 0c 00") + b"\x0egroup.version\x00\x01\x00"
        assert read_record(value) == (record, 0)

    @pytest.mark.parametrize("record_type", sorted(RECORDS))
    def test_every_record_reads_as_it_was_written(self, record_type: int) -> None:
        for version in versions(RECORDS[record_type]):
            record = full(RECORDS[record_type], version)
            assert read_record(frame_record(record, version)) == (record, version)

    def test_an_empty_list_that_may_be_null_is_sent(self) -> None:
        change = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=2, cordoned_log_dirs=[])
        assert frame_record(change, 3).endswith(bytes.fromhex("01 03 01 01"))

    def test_a_type_not_known_is_named(self) -> None:
        with pytest.raises(WireError, match=r"type 99 \(version 2\)"):
            read_record(bytes.fromhex("01 63 02 00"))

    @pytest.mark.parametrize("value", ["", "01", "01 14", "01 14 00", "02 14 00 00", "01 14 01 00"])
    def test_damage_is_refused(self, value: str) -> None:
        with pytest.raises(WireError):
            read_record(bytes.fromhex(value))

    def test_bytes_left_over_are_refused(self) -> None:
        assert read_record(frame_record(NoOpRecord(), 0)) == (NoOpRecord(), 0)
        with pytest.raises(WireError, match="1 bytes too many after NoOpRecord"):
            read_record(frame_record(NoOpRecord(), 0) + b"\0")

    def test_a_version_not_known_is_refused_when_written(self) -> None:
        with pytest.raises(WireError, match="TopicRecord has versions 0-0"):
            frame_record(TopicRecord(name="t", topic_id=bytes(16)), 1)


class TestControlRecords:
    """The values are those of a snapshot that `kafka-storage format --standalone` wrote."""

    def test_the_head_of_a_snapshot(self) -> None:
        key, value = bytes.fromhex("0000 0003"), bytes.fromhex("0000 000001a1fe244eba 00")
        header = SnapshotHeader(version=0, last_contained_log_timestamp=0x1A1FE244EBA)
        assert read_control_record(key, value) == header
        assert control_record(header) == (key, value)

    def test_its_foot(self) -> None:
        key, value = bytes.fromhex("0000 0004"), bytes.fromhex("0000 00")
        assert read_control_record(key, value) == SnapshotFooter(version=0)
        assert control_record(SnapshotFooter(version=0)) == (key, value)

    def test_the_version_of_the_quorum(self) -> None:
        key, value = bytes.fromhex("0000 0005"), bytes.fromhex("0000 0001 00")
        assert read_control_record(key, value) == KRaftVersion(version=0, kraft_version=1)

    def test_its_voters(self) -> None:
        directory = bytes.fromhex("ab76c45b29854550 95130a0683f864c7")
        value = (
            bytes.fromhex("0000 02 00000001")
            + directory
            + b"\x02\x0bCONTROLLER\x0a127.0.0.1\x4c\x89\x00"
            + bytes.fromhex("0000 0001 00 00 00")
        )
        voters = KRaftVoters(
            version=0,
            voters=[
                KRaftVoters.Voter(
                    voter_id=1,
                    voter_directory_id=directory,
                    endpoints=[
                        KRaftVoters.Voter.Endpoint(name="CONTROLLER", host="127.0.0.1", port=19593)
                    ],
                    kraft_version_feature=KRaftVoters.Voter.KRaftVersionFeature(
                        min_supported_version=0, max_supported_version=1
                    ),
                )
            ],
        )
        assert read_control_record(bytes.fromhex("0000 0006"), value) == voters
        assert control_record(voters)[1] == value

    def test_a_leader_change_says_its_own_version(self) -> None:
        change = LeaderChange(version=1, leader_id=7, voters=[], granting_voters=[])
        assert control_record(change) == (
            bytes.fromhex("0000 0002"),
            bytes.fromhex("0001 00000007 01 01 00"),
        )
        assert read_control_record(*control_record(change)) == change

    @pytest.mark.parametrize(
        ("key", "value"),
        [("0000", "000000"), ("00000003", "00"), ("00000000", "000000"), ("00000063", "000000")],
    )
    def test_others_are_refused(self, key: str, value: str) -> None:
        with pytest.raises(WireError):
            read_control_record(bytes.fromhex(key), bytes.fromhex(value))


class TestKeysAndValues:
    def test_a_key_is_led_by_its_record_type(self) -> None:
        key = OffsetCommitKey(group="g", topic="t", partition=3)
        encoded = bytes.fromhex("0001 0001 67 0001 74 00000003")
        assert keyed(key, 1) == encoded
        assert read_key(KEYS, encoded) == (key, 1)
        assert read_key(KEYS, keyed(key, 0)) == (key, 0)
        group = GroupMetadataKey(group="g")
        assert read_key(KEYS, bytes.fromhex("0002 0001 67")) == (group, 2)

    def test_a_value_is_led_by_its_version(self) -> None:
        value = OffsetCommitValue(offset=5, leader_epoch=1, metadata="m", commit_timestamp=9)
        encoded = bytes.fromhex("0003 0000000000000005 00000001 0001 6d 0000000000000009")
        assert keyed(value, 3) == encoded
        assert read_value(OffsetCommitValue, encoded) == (value, 3)

    @pytest.mark.parametrize("encoded", ["", "00", "0003 0001 67", "ffff 0001 67", "0001 0001"])
    def test_a_key_of_another_type_or_cut_is_refused(self, encoded: str) -> None:
        with pytest.raises(WireError):
            read_key(KEYS, bytes.fromhex(encoded))

    def test_a_key_is_not_written_as_another_type(self) -> None:
        with pytest.raises(WireError, match="not of record type 1"):
            keyed(GroupMetadataKey(group="g"), 1)

    def test_a_version_not_known_is_refused_unless_newer_ones_are_readable(self) -> None:
        subscription = full(ConsumerProtocolSubscription, 3)
        newer = b"\x00\x09" + keyed(subscription, 3)[2:] + b"what comes with version 9"
        with pytest.raises(WireError, match="versions 0-3, not 9"):
            read_value(ConsumerProtocolSubscription, newer)
        assert read_value(ConsumerProtocolSubscription, newer, newer=True) == (subscription, 9)


class TestInternalTopics:
    @pytest.mark.parametrize(
        ("records", "record_type"),
        [
            pytest.param(records, number, id=f"{topic}-{number}")
            for topic, records in INTERNAL_TOPICS.items()
            for number in records
        ],
    )
    def test_every_record_reads_as_it_was_written(self, records: Records, record_type: int) -> None:
        key_class, value_class = records[record_type]
        key = full(key_class, 0)
        for version in versions(value_class):
            value = full(value_class, version)
            pair = keyed(key, record_type), keyed(value, version)
            assert read_pair(records, *pair) == (key, value)
        assert read_pair(records, keyed(key, record_type), None) == (key, None)

    def test_an_offset_of_a_broker_before_0_9(self) -> None:
        key = bytes.fromhex("0000 0001 67 0001 74 00000003")
        value = bytes.fromhex("0000 0000000000000005 0001 6d 0000000000000009")
        assert read_pair(CONSUMER_OFFSETS, key, value) == (
            OffsetCommitKey(group="g", topic="t", partition=3),
            OffsetCommitValue(offset=5, metadata="m", commit_timestamp=9),
        )

    @pytest.mark.parametrize("record_type", [9, 18, 24, 32767, -1])
    def test_a_type_that_there_is_not_is_refused(self, record_type: int) -> None:
        key = record_type.to_bytes(2, "big", signed=True) + b"\0\1g"
        with pytest.raises(WireError, match=f"no key of record type {record_type} "):
            read_pair(CONSUMER_OFFSETS, key, None)

    @pytest.mark.parametrize(
        ("classic", "tags"),
        [
            # The bytes are Kafka's: null is not the default, and as a tagged field it is a zero.
            (None, "01 00 01 00"),
            (ClassicMember(session_timeout_ms=0, supported_protocols=[]), "00"),
            (
                ClassicMember(session_timeout_ms=5, supported_protocols=[]),
                "01 00 07 01 00000005 01 00",
            ),
        ],
    )
    def test_a_member_with_and_without_classic_metadata(
        self,
        classic: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None,
        tags: str,
    ) -> None:
        value = ConsumerGroupMemberMetadataValue(
            instance_id="",
            rack_id=None,
            client_id="c",
            client_host="h",
            subscribed_topic_names=[],
            subscribed_topic_regex="",
            server_assignor="",
            classic_member_metadata=classic,
        )
        encoded = bytes.fromhex("01 00 0263 0268 01 01 ffffffff 01" + tags)
        assert value.encode(0) == encoded
        assert ConsumerGroupMemberMetadataValue.decode(encoded, 0) == value
