"""Releases of Kafka: one more is one more row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.base import release as release_module
from odradek.emulator.base.node import Node
from odradek.emulator.base.release import KAFKA_4_3, Release, release_named
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig, ConfigError
from odradek.emulator.config.release_tables import config_tables
from odradek.emulator.config.rows import describe_broker
from odradek.emulator.metadata.features import METADATA_VERSION
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest

from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of
from tests.support.releases import RELEASES

PRODUCE, FETCH = ProduceRequest.api_key, FetchRequest.api_key
ROOT = Path(__file__).parent.parent.parent.parent
# There has never been one like it: message sets of old producers, and otherwise as 4.3.
IMAGINARY = replace(
    KAFKA_4_3,
    name="4.0",
    advertised={**KAFKA_4_3.advertised, PRODUCE: (0, 12), FETCH: (0, 17)},
    not_served_before={},
    features={**KAFKA_4_3.features, METADATA_VERSION: (7, 25)},
    converts_old_formats=True,
    has_consumer_groups=False,
)


@pytest.fixture(autouse=True)
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_module, "_older", {"4.0": IMAGINARY}.__getitem__)


@pytest.fixture
def client() -> Iterator[Client]:
    disk = MemoryDisk()
    cluster = Cluster(
        BrokerConfig(release=IMAGINARY),
        data_dir=disk.directory(),
        brokers=[Node(1, "localhost", 9092)],
    )
    cluster.create_topic("t", 1, {})
    yield client_of(cluster)
    cluster.close()


def test_a_release_is_found_by_the_name_in_its_row() -> None:
    assert release_named("4.0") is release_named("4.0.1") is IMAGINARY


def test_a_broker_of_a_new_release_starts() -> None:
    with Emulator({"log.retention.hours": 1}, version="4.0", topics={"t": 1}) as kafka:
        assert kafka.run(lambda cluster: cluster.release) is IMAGINARY
        assert kafka.topics() == ["t"]


def test_it_advertises_what_its_row_has(client: Client) -> None:
    answer = client.ask(ApiVersionsRequest(), 2)
    ranges = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert (ranges[PRODUCE], ranges[FETCH]) == ((0, 12), (0, 17))
    assert ranges[MetadataRequest.api_key] == KAFKA_4_3.advertised[MetadataRequest.api_key]
    introduction = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    features = {f.name: f.max_version for f in client.ask(introduction, 4).supported_features}
    assert features == {name: last for name, (_, last) in IMAGINARY.features.items()}


def test_its_capabilities_do_not_hang_together(client: Client) -> None:
    """What 3.9 has together, old formats and no consumer groups, is here among what 4.3 has."""
    assert produce(client, batch(b"a"), version=2).error_code == 0
    read = client.ask(fetch_request(asked()), 1)
    magic = bytes(read.responses[0].partitions[0].records)[16]
    assert magic == 0
    beat = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=0)
    assert client.ask(beat, 1).error_code == Error.UNSUPPORTED_VERSION
    assert client.cluster.config.get("share.coordinator.threads") == 1  # a config that 3.9 lacks


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.name)
def test_a_row_agrees_with_itself(release: Release) -> None:
    assert release.serves(PRODUCE, 0) == release.serves(FETCH, 0) == release.converts_old_formats
    tables = config_tables(release)
    for row in tables.topic.values():
        assert {each.name for each in row.brokers} <= set(tables.broker)


def test_every_capability_is_used_and_no_release_is_asked_for_by_name() -> None:
    sources = {
        path: path.read_text()
        for path in (ROOT / "emulator").rglob("*.py")
        if path.name != "release.py"
    }
    capabilities = [field.name for field in fields(Release) if field.type == "bool"]
    assert len(capabilities) > 10
    for capability in capabilities:
        # A setting of groups may have the name of a capability, and is taken from that.
        asked = (f"release.{capability}", f"settings.{capability}")
        assert any(each in text for text in sources.values() for each in asked), capability
    for path, text in sources.items():
        assert "KAFKA_3_9" not in text, path
        assert "release.name ==" not in text, path


def test_a_release_before_3_9_is_a_table(client: Client) -> None:
    """Its APIs and features are what a broker of it has answered; "3.6.2" means its line."""
    older = RELEASES["3.6"]
    assert (older.advertised[PRODUCE], older.features[METADATA_VERSION]) == ((0, 9), (1, 14))
    assert 68 not in older.advertised
    assert not older.unadvertised
    assert RELEASES["4.0"].features[METADATA_VERSION] == (7, 25)
    assert older.converts_old_formats
    assert not RELEASES["4.2"].cordons_directories


def test_what_a_release_lacks_is_neither_shown_nor_settable() -> None:
    """The emulator goes on with the value that the release is as if it had."""
    for name in ("2.7", "0.10.2", "0.8.2"):
        config = BrokerConfig(release=RELEASES[name])
        assert config.get("node.id") == 1
        assert "node.id" in config.gone
        shown = {row.name for row in describe_broker(config, 1, {"node.id": "1", "broker.id": "1"})}
        assert "broker.id" in shown
        assert shown.isdisjoint({"node.id", "process.roles", "cordoned.log.dirs"})
        with pytest.raises(ConfigError) as caught:
            BrokerConfig({"cordoned.log.dirs": ""}, RELEASES[name])
        assert str(caught.value) == (
            f"Kafka {name} has no broker config cordoned.log.dirs: "
            "4.3 is the first release here that has it"
        )
    assert BrokerConfig(release=RELEASES["4.2"]).get("group.share.assignment.interval.ms") == 0
    oldest = BrokerConfig(release=RELEASES["0.8.2"])
    with pytest.raises(ConfigError, match="Unknown topic config name: preallocate"):
        oldest.topic({"preallocate": "true"})
    assert not oldest.plain_topic.log_append_time


def test_an_unknown_release_is_answered_with_the_nearest() -> None:
    for name, nearest in (("3.7", "3.6"), ("5.0", "4.3"), ("0.6", "0.8.2"), ("1.0", "0.11.0")):
        with pytest.raises(ValueError, match=f"no release '{name}'.*nearest is {nearest};"):
            release_named(name)
    with pytest.raises(ValueError, match=r"no release 'new' of Kafka here; there are 4\.3, 4\.2"):
        release_named("new")
    for name in ("0.7", "0.7.2"):
        with pytest.raises(
            ValueError, match=r"protocol of its own: use odradek\.emulator\.kafka_0_7"
        ):
            release_named(name)


def test_configs_of_a_release_are_those_of_its_own_broker() -> None:
    tables = {name: config_tables(RELEASES[name]) for name in ("4.3", "4.0", "3.6")}
    assert [each.is_settable("cordoned.log.dirs") for each in tables.values()] == [
        True,
        False,
        False,
    ]
    assert tables["3.6"].broker["inter.broker.protocol.version"].default == "3.6-IV2"
    assert tables["4.0"].topic.keys() <= tables["4.3"].topic.keys()
