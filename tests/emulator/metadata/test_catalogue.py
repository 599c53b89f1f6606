"""The catalogue: what may be created, what a change does, and what a restart brings back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import ALL_BROKERS, BrokerConfig
from odradek.emulator.config.group import group_config
from odradek.emulator.metadata.image import BROKER_RESOURCE
from odradek.emulator.partitions.partition import Partition, Topic
from odradek.wire import Error, Refused
from odradek.wire.batch import read_header
from odradek.wire.records import build_batch, read_records

from tests.support.clock import NOW
from tests.support.cluster import open_cluster
from tests.support.configs import set_configs


@pytest.fixture
def cluster(on_files: Cluster) -> Cluster:
    return on_files


@pytest.fixture
def three() -> Iterator[Cluster]:
    """A cluster of the brokers 1, 2 and 3."""
    cluster = open_cluster(nodes=(1, 2, 3))
    yield cluster
    cluster.close()


def write(partition: Partition, *values: bytes) -> None:
    batch = build_batch([(NOW, None, value, ()) for value in values])
    partition.append(batch, read_header(batch), NOW)


def values_of(partition: Partition) -> list[bytes | None]:
    data = partition.log.read(0, 1 << 20)
    return [record.value for record in read_records(data)] if len(data) else []


def seen(cluster: Cluster) -> dict[str, object]:
    """What of the topics must survive a restart."""
    return {
        topic.name: (
            topic.id,
            topic.config.overrides,
            [(p.index, p.leader, p.replicas, p.isr, p.log_end_offset) for p in topic.partitions],
        )
        for topic in cluster.topics
    }


# Creating


def test_a_topic_is_found_by_name_and_id_and_listed_in_order(cluster: Cluster) -> None:
    topics = {name: cluster.topics.create(name) for name in ("b", "c", "a")}

    assert cluster.topics.get("b") is topics["b"]
    assert cluster.topics.by_id(topics["b"].id) is topics["b"]
    assert [topic.name for topic in cluster.topics] == ["a", "b", "c"]
    assert len(cluster.topics) == 3
    assert cluster.topics.get("d") is None


def test_nothing_is_on_disk_before_the_first_record(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.topics.create("many", partitions=1000)
    assert list((tmp_path / "data").glob("many-*")) == []

    write(topic.partitions[7], b"x")

    assert [path.name for path in (tmp_path / "data").glob("many-*")] == ["many-7"]


def test_a_new_partition_notes_its_first_leader_epoch(cluster: Cluster) -> None:
    topic = cluster.topics.create("t")
    assert topic.partitions[0].log.epochs.entries == [(0, 0)]


def test_leaders_go_round_the_brokers_from_the_first_on(three: Cluster) -> None:
    topic = three.topics.create("t", partitions=4, replication_factor=2)
    assert [p.replicas for p in topic.partitions] == [[1, 2], [2, 3], [3, 1], [1, 2]]
    assert [p.leader for p in topic.partitions] == [1, 2, 3, 1]


def test_replicas_can_be_assigned(three: Cluster) -> None:
    topic = three.topics.create("t", assignments=[(1, [3, 1]), (0, [2, 3])])
    assert [p.replicas for p in topic.partitions] == [[2, 3], [3, 1]]


def test_a_broker_that_is_down_leads_nothing_new_and_may_be_a_replica(three: Cluster) -> None:
    three.replication.stop(1)
    topic = three.topics.create("t", partitions=2)
    assert [p.replicas for p in topic.partitions] == [[2], [3]]
    (wide,) = three.topics.create("u", replication_factor=3).partitions
    assert (wide.replicas, wide.isr, wide.leader) == ([2, 3, 1], [2, 3], 2)
    with pytest.raises(Refused) as caught:
        three.topics.create("v", replication_factor=4)
    assert caught.value.error is Error.INVALID_REPLICATION_FACTOR


def test_a_broker_that_is_unregistered_gets_no_replica(three: Cluster) -> None:
    three.replication.unregister(1)
    assert three.topics.create("t").partitions[0].replicas == [2]
    with pytest.raises(Refused) as caught:
        three.topics.create("u", replication_factor=3)
    assert caught.value.error is Error.INVALID_REPLICATION_FACTOR


def test_replicas_are_on_as_many_racks_as_there_are(tmp_path: Path) -> None:
    brokers = [Node(node_id, "h", 9090, rack) for node_id, rack in enumerate("aabb", 1)]
    clock = ManualClock(NOW)
    cluster = Cluster(BrokerConfig(), data_dir=tmp_path, brokers=brokers, clock=clock)
    topic = cluster.topics.create("t", partitions=4, replication_factor=2)
    assert [p.replicas for p in topic.partitions] == [[1, 3], [3, 2], [2, 4], [4, 1]]
    cluster.close()


def test_defaults_come_from_the_broker(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, num_partitions="4", log_retention_ms="9")
    topic = cluster.topics.create("t")
    assert len(topic.partitions) == 4
    assert topic.config.get("retention.ms") == 9
    cluster.close()


@pytest.mark.parametrize(
    ("name", "configs"),
    [
        (
            "__consumer_offsets",
            {
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": "104857600",
            },
        ),
        (
            "__transaction_state",
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "min.insync.replicas": "1",
                "segment.bytes": "104857600",
                "unclean.leader.election.enable": "false",
            },
        ),
        (
            "__share_group_state",
            {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "min.insync.replicas": "1",
                "retention.ms": "-1",
                "segment.bytes": "104857600",
            },
        ),
    ],
)
def test_internal_topics_have_kafkas_configs(
    cluster: Cluster, name: str, configs: dict[str, str]
) -> None:
    topic = cluster.topics.ensure_internal(name)
    assert topic.is_internal
    assert len(topic.partitions) == 50
    assert topic.config.overrides == configs
    assert cluster.topics.ensure_internal(name) is topic


def test_an_internal_topic_follows_the_brokers_configs(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, offsets_topic_num_partitions="3")
    assert len(cluster.topics.ensure_internal("__consumer_offsets").partitions) == 3
    cluster.close()


# Changing


def test_partitions_are_added_behind_the_old_ones(cluster: Cluster) -> None:
    topic = cluster.topics.create("t", partitions=2)
    write(topic.partitions[1], b"kept")

    cluster.topics.add_partitions(topic, 4)

    assert [p.index for p in topic.partitions] == [0, 1, 2, 3]
    assert values_of(topic.partitions[1]) == [b"kept"]


def test_configs_are_replaced_for_topic_and_logs(cluster: Cluster) -> None:
    topic = cluster.topics.create("t", configs={"retention.ms": "5", "flush.ms": "6"})

    cluster.topics.set_configs(topic, {"retention.ms": "7"})

    assert topic.config.overrides == {"retention.ms": "7"}
    assert topic.partitions[0].log.config.retention_ms == 7
    assert topic.config.get("flush.ms") == 2**63 - 1


def test_refused_configs_change_nothing(cluster: Cluster) -> None:
    topic = cluster.topics.create("t", configs={"retention.ms": "5"})
    with pytest.raises(Refused) as caught:
        cluster.topics.set_configs(topic, {"retention.ms": "x"})
    assert caught.value.error is Error.INVALID_CONFIG
    assert topic.config.get("retention.ms") == 5


def test_a_default_for_all_brokers_reaches_topics_that_set_nothing(cluster: Cluster) -> None:
    plain = cluster.topics.create("plain")
    own = cluster.topics.create("own", configs={"retention.ms": "5"})

    set_configs(cluster, BROKER_RESOURCE, ALL_BROKERS, {"log.retention.ms": "7"})

    assert plain.config.get("retention.ms") == 7
    assert plain.partitions[0].log.config.retention_ms == 7
    assert own.config.get("retention.ms") == 5


def test_the_brokers_defaults_may_be_at_odds_and_then_a_topic_that_sets_something_is_refused(
    cluster: Cluster,
) -> None:
    old = cluster.topics.create("old", configs={"max.compaction.lag.ms": "5"})
    set_configs(cluster, BROKER_RESOURCE, ALL_BROKERS, {"log.cleaner.min.compaction.lag.ms": "6"})
    assert old.config.get("min.compaction.lag.ms") == 6

    cluster.topics.create("plain")
    with pytest.raises(Refused, match="conflict"):
        cluster.topics.create("new", configs={"max.compaction.lag.ms": "5"})
    with pytest.raises(Refused, match="conflict"):
        cluster.topics.set_configs(old, {"max.compaction.lag.ms": "4"})


def test_every_change_raises_the_generation(cluster: Cluster) -> None:
    topics = cluster.topics
    seen_generations = [topics.generation]

    def note() -> None:
        seen_generations.append(topics.generation)

    topic = topics.create("t")
    note()
    topics.add_partitions(topic, 2)
    note()
    topics.set_configs(topic, {"retention.ms": "1"})
    note()
    set_configs(cluster, BROKER_RESOURCE, ALL_BROKERS, {})
    note()
    topics.delete(topic)
    note()

    assert len(set(seen_generations)) == 6
    assert seen_generations == sorted(seen_generations)


# Deleting


def test_a_deleted_topic_is_gone_from_memory_at_once_and_from_disk_a_minute_later(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.topics.create("t", partitions=2)
    write(topic.partitions[0], b"x")

    cluster.topics.delete(topic)

    assert topic.is_deleted
    assert cluster.topics.get("t") is None
    assert cluster.topics.by_id(topic.id) is None
    assert list(cluster.topics) == []
    (left,) = (tmp_path / "data").glob("t-*")
    assert re.fullmatch(r"t-0\.[0-9a-f]{32}-delete", left.name)
    cluster.advance(59_999)
    assert left.exists()
    cluster.advance(1)
    assert not left.exists()


def test_a_deleted_topic_is_removed_at_once_if_there_is_no_delay(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, log_segment_delete_delay_ms="0")
    topic = cluster.topics.create("t")
    write(topic.partitions[0], b"x")
    cluster.topics.delete(topic)
    assert list(tmp_path.glob("t-*")) == []
    cluster.close()


def test_what_is_left_of_a_deleted_topic_goes_at_the_next_start(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    topic = cluster.topics.create("t")
    write(topic.partitions[0], b"x")
    cluster.topics.delete(topic)
    cluster.close()
    assert len(list(tmp_path.glob("t-*"))) == 1
    open_cluster(tmp_path).close()
    assert list(tmp_path.glob("t-*")) == []


def test_a_topic_created_anew_has_nothing_of_the_old_one(cluster: Cluster) -> None:
    old = cluster.topics.create("t", configs={"retention.ms": "5"})
    write(old.partitions[0], b"old")
    cluster.topics.delete(old)

    new = cluster.topics.create("t")

    assert new.id != old.id
    assert new.config.overrides == {}
    assert values_of(new.partitions[0]) == []


def test_a_name_is_free_again_for_its_twin_when_deleted(cluster: Cluster) -> None:
    cluster.topics.delete(cluster.topics.create("a.b"))
    assert cluster.topics.create("a_b").name == "a_b"


# Restarting


def reopened(cluster: Cluster, **configs: str) -> Cluster:
    directory = Path(cluster.log_dir.path)
    cluster.close()
    return open_cluster(directory, **configs)


def test_a_restart_brings_everything_back(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    kept = cluster.topics.create("kept", partitions=2, configs={"retention.ms": "-1"})
    cluster.topics.add_partitions(kept, 3)
    cluster.topics.set_configs(kept, {"cleanup.policy": "compact", "retention.ms": "-1"})
    cluster.topics.delete(cluster.topics.create("gone"))
    cluster.topics.create("empty")
    write(kept.partitions[1], b"x", b"y")
    before = seen(cluster)

    cluster = reopened(cluster)

    assert seen(cluster) == before
    assert values_of(cluster.partition("kept", 1)) == [b"x", b"y"]
    assert cluster.topic("kept").config.is_compacted
    cluster.close()


def test_a_deleted_and_recreated_topic_stays_apart_over_a_restart(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    old = cluster.topics.create("t")
    write(old.partitions[0], b"old")
    cluster.topics.delete(old)
    new = cluster.topics.create("t")

    cluster = reopened(cluster)

    assert cluster.topic("t").id == new.id
    assert cluster.partition("t", 0).log_end_offset == 0
    cluster.close()


def test_what_is_set_for_all_brokers_survives_a_restart(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    set_configs(cluster, BROKER_RESOURCE, ALL_BROKERS, {"log.retention.ms": "7"})
    cluster.topics.create("t")

    cluster = reopened(cluster)

    assert cluster.topic("t").config.get("retention.ms") == 7
    cluster.close()


def test_stored_configs_stay_when_the_brokers_own_are_at_odds_with_them(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    configs = {"max.compaction.lag.ms": "5", "retention.ms": "6"}
    cluster.topics.create("t", configs=configs)

    cluster = reopened(cluster, log_cleaner_min_compaction_lag_ms="9")

    assert cluster.topic("t").config.overrides == configs
    cluster.close()


def test_what_a_group_and_a_subscription_set_survives_a_restart(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    set_configs(cluster, 32, "g", {"consumer.session.timeout.ms": "46000"})
    set_configs(cluster, 16, "m", {"interval.ms": "200", "metrics": "*"})
    set_configs(cluster, 16, "m", {"interval.ms": "300"})
    set_configs(cluster, 16, "gone", {"interval.ms": "300"})
    set_configs(cluster, 16, "gone", {})

    cluster = reopened(cluster)

    configs = cluster.metadata.image.configs
    assert {key: texts for key, texts in configs.items() if key[0] != BROKER_RESOURCE} == {
        (32, "g"): {"consumer.session.timeout.ms": "46000"},
        (16, "m"): {"interval.ms": "300"},
    }
    assert (
        group_config(cluster.metadata.image.configs_of, "g", cluster.config).get(
            "consumer.session.timeout.ms"
        )
        == 46000
    )
    assert (
        group_config(cluster.metadata.image.configs_of, "other", cluster.config).get(
            "consumer.session.timeout.ms"
        )
        == 45000
    )
    cluster.close()


def test_the_configs_of_a_deleted_topic_do_not_come_back(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    topic = cluster.topics.create("t", configs={"retention.ms": "6"})
    cluster.topics.set_configs(topic, {"retention.ms": "7", "flush.ms": "9"})
    cluster.topics.delete(topic)
    cluster.topics.create("t")
    assert cluster.topic("t").config.overrides == {}

    cluster = reopened(cluster)

    assert cluster.topic("t").config.overrides == {}
    cluster.close()


def open_as(directory: Path, *node_ids: int) -> Cluster:
    brokers = [Node(node_id, "localhost", 9090 + node_id) for node_id in node_ids]
    return Cluster(BrokerConfig(), data_dir=directory, brokers=brokers, clock=ManualClock(NOW))


def leaders(topic: Topic) -> list[tuple[int, int, list[int]]]:
    return [(p.leader, p.leader_epoch, p.isr) for p in topic.partitions]


def test_partitions_whose_leader_is_not_there_get_another_under_the_next_epoch(
    tmp_path: Path,
) -> None:
    cluster = open_as(tmp_path, 1, 2, 3)
    cluster.topics.create("t", partitions=3, replication_factor=2)  # led by 1, 2, 3
    cluster.close()

    cluster = open_as(tmp_path, 1, 2)
    assert leaders(cluster.topic("t")) == [(1, 2, [1, 2]), (2, 2, [2]), (1, 2, [1])]
    assert cluster.partition("t", 2).log.epochs.latest == 2
    cluster.close()

    cluster = open_as(tmp_path, 1)
    assert leaders(cluster.topic("t")) == [(1, 4, [1]), (-1, 3, []), (1, 4, [1])]
    cluster.close()

    cluster = open_as(tmp_path, 1, 2, 3)
    assert leaders(cluster.topic("t")) == [(1, 6, [1, 2]), (2, 4, [2, 3]), (1, 6, [1, 3])]
    cluster.close()
