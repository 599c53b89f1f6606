"""Configs of older releases: which there are, their values, and what is said of others."""

from __future__ import annotations

import pytest
from odradek import Emulator
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.config.definition import ConfigError

from tests.support.releases import RELEASES


@pytest.mark.parametrize("release", ["0.8.2", "0.10.2", "3.9"])
def test_several_brokers_start_with_the_internal_topics_that_the_release_has(release: str) -> None:
    with Emulator(version=release, brokers=3) as kafka:
        config = kafka.cluster.config
        assert config.get("offsets.topic.replication.factor") == 3
        has_transactions = "transaction.state.log.replication.factor" in config.static
        assert has_transactions == (release == "3.9")
        assert "share.coordinator.state.topic.replication.factor" not in config.static


def test_0_8_2_has_no_security() -> None:
    for protocol in ("SSL", "SASL_PLAINTEXT"):
        with pytest.raises(ValueError, match=r"^security: Kafka 0\.8\.2 has none, it came with"):
            Emulator(version="0.8.2", security=protocol)
    Emulator(version="0.8.2", security="PLAINTEXT")


@pytest.mark.parametrize(
    ("release", "name", "said"),
    [
        ("0.10.2", "transaction.max.timeout.ms", "0.11.0 is the first release here that has it"),
        ("2.4", "fetch.max.bytes", "2.7 is the first release here that has it"),
        ("4.3", "zookeeper.connect", "3.9 is the last release here that has it"),
    ],
)
def test_a_config_of_another_release_is_named_with_that_release(
    release: str, name: str, said: str
) -> None:
    config = BrokerConfig(release=RELEASES[release])
    sentence = f"Kafka {release} has no broker config {name}: {said}"
    for judge in (config.check_known, lambda each: config.check_broker_names([each])):
        with pytest.raises(ConfigError) as caught:
            judge(name)
        assert str(caught.value) == sentence


def test_a_topic_config_of_another_release_is_named_with_that_release() -> None:
    with pytest.raises(ConfigError, match=r"^Kafka 2\.0 has no topic config max\.comp.*: 2\.4 is"):
        BrokerConfig(release=RELEASES["2.0"]).check_topic_names(["max.compaction.lag.ms"])
    with pytest.raises(ConfigError, match=r"^Unknown topic config name: retention\.mss; is ret"):
        BrokerConfig(release=RELEASES["2.0"]).check_topic_names(["retention.mss"])
