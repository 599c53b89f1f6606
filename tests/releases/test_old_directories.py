"""Directories of real brokers with ZooKeeper, opened, gone on with, and upgraded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.base.release import releases
from odradek.storage import LogDirectoryError
from odradek.storage.checkpoints import read_meta_properties
from odradek.wire import Error
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.legacy.as_batches import logged_batches, read_logged

from .old_directories import (
    GROUP,
    LOGS,
    MEMBERS,
    OLD,
    PARTITIONS,
    TOPICS,
    TRANSACTION,
    ZOOKEEPER,
    Old,
    T,
    answers,
    fetched,
    fill,
    idempotent,
    unpack,
)

UNKNOWN_TIMES = f"offset of {T + 2}"
NEW = b"new"
ONLY_ZOOKEEPER = f"offset of {GROUP}, v0"


def asked(kafka: Emulator, release: str) -> dict[str, Any]:
    old = Old(kafka.bootstrap_servers, release)
    try:
        return answers(old)
    finally:
        old.close()


def partitions(found: dict[str, Any]) -> dict[str, Any]:
    """What was answered of each partition, but for times of messages that have none."""
    names = [f"{name}-{number}" for name in TOPICS for number in range(PARTITIONS)]
    return {
        name: {
            what: value
            for what, value in found[name].items()
            if not (name.startswith("oldest") and what == UNKNOWN_TIMES)
        }
        for name in names
    }


def values(kafka: Emulator) -> dict[str, list[tuple[int, bytes | None]]]:
    """What readers of committed records get: offsets and values."""
    return {
        f"{name}-{part.index}": [(each.offset, each.value) for each in part.records()]
        for name in TOPICS
        for part in kafka.topic(name)
    }


def has_zookeeper(home: Path) -> bool:
    return read_meta_properties((home / LOGS / "meta.properties").read_bytes()).has_zookeeper


@pytest.mark.parametrize("release", OLD)
def test_it_answers_as_the_broker_did(release: str, tmp_path: Path) -> None:
    """With its ZooKeeper: every byte of the records, offsets, configs, the cluster's id. So it does
    after a stop, which leaves both directories as such a broker does."""
    expected = unpack(release, tmp_path)
    for _ in range(2):
        with Emulator(
            version=release, data_dir=tmp_path / LOGS, zookeeper=tmp_path / ZOOKEEPER
        ) as kafka:
            assert asked(kafka, release) == expected
            assert not kafka.notices
    assert has_zookeeper(tmp_path)
    assert not list((tmp_path / LOGS).glob("*/partition.metadata"))


@pytest.mark.parametrize("release", OLD)
def test_without_zookeeper_its_logs_tell(release: str, tmp_path: Path) -> None:
    expected = unpack(release, tmp_path)
    with Emulator(version=release, data_dir=tmp_path / LOGS) as kafka:
        found = asked(kafka, release)
        assert partitions(found) == partitions(expected)
        assert (found["groups"], found["topics"]) == (expected["groups"], expected["topics"])
        kept = kafka.run(lambda cluster: dict(cluster.topic("table").config.overrides))
        assert kept == {"cleanup.policy": "compact"}
        assert not kafka.notices


def versions(records: bytes) -> set[tuple[bytes, bytes]]:
    """The types of records of coordinators, with the versions of their values."""
    found = [each for at, _ in logged_batches(records) for each in read_logged(records, at)]
    return {
        (bytes(each.key[:2]), bytes(each.value[:2])) for each in found if each.key and each.value
    }


@pytest.mark.parametrize("release", OLD)
def test_what_is_written_is_stored_as_the_broker_stored_it(release: str, tmp_path: Path) -> None:
    """To the byte, in the format that `message.format.version` says: "oldest" has that of 0.9."""
    expected = unpack(release, tmp_path)
    with Emulator({"offsets.topic.num.partitions": 1}, version=release) as kafka:
        old = Old(kafka.bootstrap_servers, release)
        fill(old)
        found = answers(old)
        ours = fetched(old, "__consumer_offsets", 0)[0]
        theirs = (tmp_path / LOGS / "__consumer_offsets-0" / f"{0:020}.log").read_bytes()
        assert versions(ours) == versions(theirs)
        for name in ("plain-0", "plain-1", "packed-0", "packed-1", "oldest-0", "oldest-1"):
            assert found[name] == expected[name]
        if release != "0.10.2":
            assert idempotent(old, "oldest") == Error.UNSUPPORTED_FOR_MESSAGE_FORMAT
        old.close()


def test_offsets_of_v0_outlive_a_restart_in_zookeeper(tmp_path: Path) -> None:
    expected = unpack("2.7", tmp_path)
    with Emulator(version="2.7", zookeeper=True) as kafka:
        old = Old(kafka.bootstrap_servers, "2.7")
        fill(old)
        kafka.restart()  # the offset of v0 is in the ZooKeeper, which stays
        old.close()
        assert asked(kafka, "2.7")[ONLY_ZOOKEEPER] == expected[ONLY_ZOOKEEPER]


@pytest.mark.parametrize("release", OLD)
def test_it_is_upgraded_to_the_newest(release: str, tmp_path: Path) -> None:
    """Through a release that migrates from ZooKeeper: without one, as by Kafka, there is no way."""
    unpack(release, tmp_path)
    home: dict[str, Any] = {"data_dir": tmp_path / LOGS}
    for newer in ("4.3", "3.3"):
        with pytest.raises(LogDirectoryError, match=r"Open it as Kafka 3\.9 first"):
            Emulator(version=newer, **home).start()
    with Emulator(version=release, zookeeper=tmp_path / ZOOKEEPER, **home) as kafka:
        before = values(kafka)
        configs = kafka.run(lambda cluster: dict(cluster.topic("plain").config.overrides))
        cluster_id = kafka.run(lambda cluster: cluster.cluster_id)
        last = kafka.topic("plain")[0].produce(NEW)
        before["plain-0"].append((last.offset, NEW))
    with Emulator(version="3.9", zookeeper=tmp_path / ZOOKEEPER, **home) as kafka:
        assert values(kafka) == before
    assert not has_zookeeper(tmp_path)
    with Emulator(version="4.3", **home) as kafka:
        assert values(kafka) == before
        assert not kafka.notices
        assert kafka.run(lambda cluster: dict(cluster.topic("plain").config.overrides)) == configs
        assert kafka.run(lambda cluster: cluster.cluster_id) == cluster_id
        assert kafka.group(GROUP).committed()["plain", 0].offset == 3
        assert kafka.group(MEMBERS).committed()["plain", 0].offset == 4
        old = Old(kafka.bootstrap_servers, "4.3")
        who = InitProducerIdRequest(transactional_id=TRANSACTION, transaction_timeout_ms=1000)
        new = old.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 0)
        assert new.producer_id >= (0 if release == "0.10.2" else 1000)
        known = old.ask(who, 0)
        old.close()
        assert (known.producer_epoch > 0) == (release != "0.10.2")


def test_each_release_does_with_it_what_kafka_does() -> None:
    """KRaft became ready in 3.3, migrates from ZooKeeper since 3.4, and is alone since 4.0."""
    found = {each.name: each.of_zookeeper for each in releases()}
    assert {name for name, way in found.items() if way == "migrated"} == {"3.9", "3.6"}
    refused = {name for name, way in found.items() if way == "refused"}
    assert refused == {"4.3", "4.2", "4.1", "4.0", "3.3"}
