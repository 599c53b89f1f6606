"""Configs of older releases: which there are, their values, and what is said of others."""

from __future__ import annotations

import pytest
from odradek import Emulator
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.config.definition import ConfigError
from odradek.emulator.config.release_tables import config_tables
from odradek.wire import Error, Refused
from odradek.wire.api.create_topics import CreateTopicsRequest

from tests.support.connection import Connection
from tests.support.releases import RELEASES

FORMAT, PROTOCOL = "message.format.version", "inter.broker.protocol.version"


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


def test_0_8_2_has_what_its_classes_name() -> None:
    config = BrokerConfig({"port": "0"}, RELEASES["0.8.2"])
    assert config.topic({"segment.ms": "5"}).get("segment.ms") == 5


def test_a_topic_config_of_another_release_is_named_with_that_release() -> None:
    with pytest.raises(ConfigError, match=r"^Kafka 2\.0 has no topic config max\.comp.*: 2\.4 is"):
        BrokerConfig(release=RELEASES["2.0"]).check_topic_names(["max.compaction.lag.ms"])
    with pytest.raises(ConfigError, match=r"^Unknown topic config name: retention\.mss; is ret"):
        BrokerConfig(release=RELEASES["2.0"]).check_topic_names(["retention.mss"])


NOT_A_VERSION = "Version `{}` is not a valid version"


@pytest.mark.parametrize(
    ("release", "known", "unknown"),
    [
        (
            "0.10.2",
            ["0.8.0", "0.8.2.2", "0.9.0", "0.10.0-IV0", "0.10.2"],
            ["0.10", "0.11.0", "2.8"],
        ),
        ("0.11.0", ["0.11.0", "0.11.0-IV0", "0.11.0.3"], ["0.11", "1.0", "banana", ""]),
        ("1.1", ["1.1", "1.0-IV0", "1.1.1", "0.10.1.0"], ["1.x", "1", "1.2", "0.8.2-IV0", "2.0"]),
        ("2.0", ["2.0-IV0", "2.0.1", "1.1"], ["2.1", "3.9"]),
        ("2.4", ["2.3", "2.4-IV1", "2.4.1"], ["2.5", "banana"]),
        ("2.8", ["2.8-IV1", "2.5", "0.8.1"], ["3.0", "2.9", "2.8-IV2"]),
    ],
)
def test_a_release_knows_the_versions_up_to_its_own(
    release: str, known: list[str], unknown: list[str]
) -> None:
    config = BrokerConfig(release=RELEASES[release])
    for text in known:
        both = {"log.message.format.version": text, "inter.broker.protocol.version": text}
        assert BrokerConfig(both, RELEASES[release]).plain_topic.get(FORMAT) == text
        config.topic({FORMAT: text})
    for text in unknown:
        for name, judge in (
            (FORMAT, lambda each: config.topic({FORMAT: each})),
            (f"log.{FORMAT}", lambda each: BrokerConfig({f"log.{FORMAT}": each}, config.release)),
            (PROTOCOL, lambda each: BrokerConfig({PROTOCOL: each}, config.release)),
        ):
            with pytest.raises(ConfigError) as caught:
                judge(text)
            said = f"Invalid value {text} for configuration {name}: {NOT_A_VERSION.format(text)}"
            assert str(caught.value) == said


@pytest.mark.parametrize(
    ("release", "protocol", "given", "said"),
    [
        ("0.10.2", "0.10.0", "0.10.2", "cannot be used when {} is set to 0.10.0"),
        ("0.11.0", "0.10.0", "", "cannot be used when {} is set to 0.10.0"),
        ("1.1", "0.10.0", "", "can only be used when {} is set to version 0.11.0 or higher"),
        ("2.7", "0.9.0", "0.10.1", "can only be used when {} is set to version 0.10.0 or higher"),
        ("0.10.2", "0.8.2", "0.8.2", ""),
        ("1.1", "0.10.0", "0.10.2", ""),
        ("2.7", "2.4", "", ""),
    ],
)
def test_messages_are_of_a_format_that_the_protocol_has(
    release: str, protocol: str, given: str, said: str
) -> None:
    texts = {PROTOCOL: protocol} | ({f"log.{FORMAT}": given} if given else {})
    if not said:
        BrokerConfig(texts, RELEASES[release])
        return
    with pytest.raises(ConfigError) as caught:
        BrokerConfig(texts, RELEASES[release])
    shown = given or BrokerConfig(release=RELEASES[release]).get(f"log.{FORMAT}")
    assert str(caught.value) == (
        f"requirement failed: log.{FORMAT} {shown} {said.format(PROTOCOL)}"
    )


@pytest.mark.parametrize(
    ("release", "known"),
    [
        ("0.10.2", "uncompressed,snappy,lz4,gzip,producer"),
        ("2.0", "uncompressed,snappy,lz4,gzip,producer"),
        ("2.4", "uncompressed,zstd,lz4,snappy,gzip,producer"),
        ("2.7", "uncompressed,zstd,lz4,snappy,gzip,producer"),
    ],
)
def test_codecs_of_brokers_before_3_0(release: str, known: str) -> None:
    def judged(text: str) -> BrokerConfig:
        return BrokerConfig({"compression.type": text}, RELEASES[release])

    for text in {"banana", "none", "", "zstd"} - set(known.split(",")):
        with pytest.raises(ConfigError) as caught:
            judged(text)
        assert str(caught.value) == (
            f"requirement failed: compression.type : {text} is not valid. Valid options are {known}"
        )
    assert [judged(each).plain_topic.compression_type for each in (*known.split(","), "GZIP")] == [
        *known.split(","),
        "gzip",
    ]


def test_topics_take_the_default_of_a_broker_config_of_the_same_name() -> None:
    """Of 2.0 and 0.10.2 they did not, where the two have rules of their own."""
    for release in ("0.10.2", "2.0"):
        for name, text in (
            ("compression.type", "gzip"),
            ("unclean.leader.election.enable", "true"),
        ):
            for value in (text, {"gzip": "lz4", "true": "false"}[text]):
                config = BrokerConfig({name: value}, RELEASES[release]).plain_topic
                assert str(config.get(name)).lower() == value


def test_a_broker_refuses_at_run_time_what_it_refuses_at_its_start() -> None:
    for release in ("1.1", "2.7"):
        config = BrokerConfig(release=RELEASES[release])
        for resource in ("1", ""):
            with pytest.raises(ConfigError, match=r"compression\.type : banana is not valid"):
                config.check_dynamic(resource, {"compression.type": "banana"})


def test_a_wrong_version_refuses_a_topic_and_the_connection_stays() -> None:
    with Emulator(version="1.1") as kafka:
        for name, version in (("a", "banana"), ("b", "1.x")):
            with pytest.raises(Refused, match=NOT_A_VERSION.format(version)) as caught:
                kafka.create_topic(name, config={FORMAT: version})
            assert caught.value.error is Error.INVALID_CONFIG
        with Connection(kafka.bootstrap_servers) as client:

            def created(version: str) -> tuple[int, str | None]:
                config = CreateTopicsRequest.Topic.Config(name=FORMAT, value=version)
                topic = CreateTopicsRequest.Topic(
                    name="c",
                    num_partitions=1,
                    replication_factor=1,
                    assignments=[],
                    configs=[config],
                )
                found = client.ask(CreateTopicsRequest(topics=[topic]), 1).topics[0]
                return found.error_code, found.error_message

            code, message = created("banana")
            assert code != 0
            assert NOT_A_VERSION.format("banana") in (message or "")
            assert created("0.10.0") == (0, None)


def test_the_id_of_a_broker_has_its_old_name_where_there_is_zookeeper() -> None:
    for release in ("0.8.2", "2.7", "3.9"):
        config = BrokerConfig({"broker.id": " 3"}, RELEASES[release])
        assert (config.get("node.id"), config.node) == (3, "3")
        BrokerConfig({"broker.id": "3", "node.id": "3"}, RELEASES[release])
        with pytest.raises(ConfigError, match=r"^broker\.id and node\.id are two names of one id"):
            BrokerConfig({"broker.id": "3", "node.id": "4"}, RELEASES[release])
    with pytest.raises(ConfigError, match=r"^broker\.id cannot be set: set node\.id instead"):
        BrokerConfig({"broker.id": "3"})


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("remote.log.index.file.cache.ttl.ms", "4.3"),
        ("internal.metadata.log.segment.bytes", "4.1"),
        ("group.share.persister.class.name", "4.0"),
        ("controller.performance.sample.period.ms", "4.0"),
        ("unclean.leader.election.interval.ms", "3.9"),
        ("server.max.startup.time.ms", "3.6"),
        ("remote.log.manager.task.retry.jitter", "3.6"),
        ("replica.alter.log.dirs.io.max.bytes.per.second", "1.1"),
    ],
)
def test_configs_that_are_not_shown_begin_with_a_release_too(name: str, first: str) -> None:
    """By the constants in the classes of each release."""
    having = [
        each for each, release in RELEASES.items() if config_tables(release).is_settable(name)
    ]
    assert having == list(RELEASES)[: list(RELEASES).index(first) + 1]
    BrokerConfig(release=RELEASES["0.8.2"]).get(name)
