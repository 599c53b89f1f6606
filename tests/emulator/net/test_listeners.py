"""Several listeners of a broker: who connects where, and which addresses the answers have."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from odradek import ConfigError, Emulator
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.security.listeners import laid_out, listeners_of
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from tests.support.connection import Connection

TWO = {
    "listeners": "INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0",
    "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
}


def addresses(kafka: Emulator, listener: str) -> list[str]:
    found = kafka.run(lambda cluster: [each.at(listener) for each in cluster.nodes.values()])
    return [f"{host}:{port}" for host, port in found]


def asked(address: str) -> list[list[str]]:
    """What each API says of where brokers are."""
    with Connection(address) as connection:
        metadata = connection.ask(MetadataRequest(topics=[]), 9)
        again = connection.ask(MetadataRequest(topics=[]), 9)  # as it was kept
        cluster = connection.ask(
            DescribeClusterRequest(include_cluster_authorized_operations=False), 1
        )
        found: Any = connection.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
    answers = [metadata.brokers, again.brokers, cluster.brokers, found.coordinators]
    return [[f"{each.host}:{each.port}" for each in brokers] for brokers in answers]


def test_answers_have_the_addresses_of_the_listener_that_was_asked() -> None:
    with Emulator(TWO, brokers=2) as kafka:
        inside, outside = addresses(kafka, "INSIDE"), addresses(kafka, "OUTSIDE")
        assert len({*inside, *outside}) == 4
        assert kafka.bootstrap_servers == ",".join(inside)
        for own in (inside, outside, inside):
            metadata, again, cluster, coordinator = asked(own[1])
            assert metadata == again == cluster == own
            assert set(coordinator) <= set(own)


def test_clients_are_given_the_advertised_address_of_their_listener() -> None:
    config = {**TWO, "advertised.listeners": "OUTSIDE://kafka.example:19092"}
    with Emulator(config, brokers=2) as kafka:
        assert addresses(kafka, "OUTSIDE") == ["kafka.example:19092", "kafka.example:19093"]
        assert asked(addresses(kafka, "INSIDE")[0])[0] == addresses(kafka, "INSIDE")


def test_brokers_register_with_each_listener_and_its_protocol() -> None:
    config = TWO | {
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
    }
    with Emulator(config, brokers=2) as kafka:
        found = kafka.run(lambda cluster: cluster.metadata.image.brokers[2].end_points)
        assert [(each.name, each.security_protocol) for each in found] == [
            ("INSIDE", 0),
            ("OUTSIDE", 2),
        ]


def test_a_listener_with_sasl_serves_who_has_logged_in() -> None:
    with Emulator(security="SASL_PLAINTEXT", users={"alice": "secret"}) as kafka:
        with Connection(kafka.bootstrap_servers) as connection:
            connection.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
            token = SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")
            assert connection.ask(token, 2).error_code == 0
            assert connection.ask(MetadataRequest(topics=[]), 9).brokers
            again = connection.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
            assert (again.error_code, again.mechanisms) == (34, [])
        with Connection(kafka.bootstrap_servers) as connection:
            connection.send(MetadataRequest(topics=[]), 9)
            with pytest.raises((EOFError, OSError)):
                connection.ask(MetadataRequest(topics=[]), 9)


def test_a_wrong_password_is_answered_and_ends_the_connection() -> None:
    with Emulator(security="SASL_PLAINTEXT", users={"alice": "secret"}) as kafka:
        with Connection(kafka.bootstrap_servers) as connection:
            connection.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
            token = SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong")
            assert connection.ask(token, 2).error_code == 58
            with pytest.raises((EOFError, OSError)):
                connection.ask(MetadataRequest(topics=[]), 9)
        (failed,) = kafka.run(lambda cluster: list(cluster.security.failures))
        assert str(failed) == "log-in failed: alice, PLAIN, wrong password"
        assert "by hand: log-in failed: alice, PLAIN, wrong password" in str(kafka.timeline())


def test_the_answer_to_a_wrong_password_waits() -> None:
    config = {"connection.failed.authentication.delay.ms": "400"}
    users = {"alice": "secret"}
    with (
        Emulator(config, security="SASL_PLAINTEXT", users=users) as kafka,
        Connection(kafka.bootstrap_servers) as connection,
    ):
        connection.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        begin = time.monotonic()
        token = SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong")
        assert connection.ask(token, 2).error_code == 58
        assert time.monotonic() - begin >= 0.4


NO_USERS = {"listeners": "SASL_PLAINTEXT://h:1", "sasl.enabled.mechanisms": "PLAIN"}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"listeners": "PLAINTEXT"}, "listeners: 'PLAINTEXT' is not of the form NAME://HOST:PORT"),
        ({"listeners": "A://h:0"}, "listeners: listener A has no security protocol in"),
        ({"listeners": "PLAINTEXT://h:70000"}, "listeners: 'PLAINTEXT://h:70000' is not"),
        ({"listeners": "SSL://h:1,SSL://h:2"}, "listeners: there are two listeners named SSL"),
        ({"listeners": "SSL://h:1,PLAINTEXT://h:1"}, "listeners: SSL and PLAINTEXT have the same"),
        (
            {"listener.security.protocol.map": "A:TLS"},
            "listener.security.protocol.map: TLS is no security protocol: PLAINTEXT, SSL",
        ),
        ({"advertised.listeners": "B://h:1"}, "advertised.listeners: B is not in listeners"),
        (
            {"advertised.listeners": "PLAINTEXT://0.0.0.0:1"},
            "advertised.listeners: PLAINTEXT needs",
        ),
        ({"inter.broker.listener.name": "B"}, "inter.broker.listener.name: B is not in listeners"),
        (
            {"listener.name.b.ssl.client.auth": "none"},
            "listener.name.b.ssl.client.auth: there is no",
        ),
        (
            {"listener.name.plaintext.ssl.client.aut": ""},
            "Unknown broker config name: listener.name",
        ),
        (
            {"listeners": "SASL_PLAINTEXT://h:1"},
            "sasl.enabled.mechanisms: GSSAPI (Kerberos) is not emulated",
        ),
        (
            {"listeners": "SASL_PLAINTEXT://h:1", "sasl.enabled.mechanisms": "DIGEST-MD5"},
            "sasl.enabled.mechanisms: there is no mechanism 'DIGEST-MD5'; it may have PLAIN",
        ),
        (
            {**NO_USERS, "sasl.jaas.config": "x"},
            "sasl.jaas.config: it is not read, as in Kafka; is listener.name.sasl_plaintext.plain.",
        ),
        (
            {**NO_USERS, "listener.name.sasl_plaintext.sasl.jaas.config": "x"},
            "listener.name.sasl_plaintext.sasl.jaas.config: it is not read, as in Kafka; is",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(config: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Emulator(config)
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"security": "SASL"}, "security is one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, not"),
        ({"security": "sasl_ssl"}, "is SASL_SSL meant?"),
        ({"users": {"a": "b"}}, "users log in at a listener with SASL"),
        ({"security": "SASL_PLAINTEXT", "users": {"a": ""}}, "the password of 'a' is empty"),
        ({"security": "SASL_PLAINTEXT", "users": {"": "b"}}, "users: a user needs a name"),
        ({"security": "SSL", "config": TWO}, "security and the config listeners both say"),
        ({"config": TWO, "port": 9092}, "the config listeners says where to listen: give no port"),
        ({"config": TWO, "host": "::1"}, "the config listeners says where to listen: give no host"),
    ],
)
def test_arguments_that_exclude_each_other_are_refused(
    arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Emulator(**arguments)


# Addresses of the listeners, how many brokers, and the step from one broker's ports to the next's.
LAID_OUT = [
    ("A://:9092", 3, 1),
    ("A://:0,B://:0", 3, 1),
    ("A://:9092,B://:9093", 1, 1),
    ("A://:9092,B://:9093", 2, 2),
    ("A://:9092,B://:9093", 100, 2),
    ("A://:9094,B://:9092", 2, 1),
    ("A://:9094,B://:9092", 3, 3),
    ("A://:9092,B://:9093,C://:9094", 3, 3),
    ("A://:9092,B://:9093,C://:9095", 3, 4),
    ("A://:9092,B://:19092", 3, 1),
    ("A://127.0.0.1:9092,B://127.0.0.2:9093", 3, 1),
    ("A://127.0.0.1:9092,B://0.0.0.0:9093", 3, 2),
]


@pytest.mark.parametrize(("addresses", "brokers", "step"), LAID_OUT)
def test_ports_of_several_brokers_do_not_meet(addresses: str, brokers: int, step: int) -> None:
    protocols = "A:PLAINTEXT,B:PLAINTEXT,C:PLAINTEXT"
    config = {"listeners": addresses, "listener.security.protocol.map": protocols}
    found = laid_out(listeners_of(BrokerConfig(config)), brokers)
    assert {each.step for each in found.values()} == {step}
    places = [each.at(place) for each in found.values() for place in range(brokers)]
    assert len({*places}) == len(places) or not places[0][1]


def test_what_clients_are_given_goes_in_the_same_steps() -> None:
    config = {
        "listeners": "A://0.0.0.0:9092,B://0.0.0.0:9093",
        "advertised.listeners": "A://kafka:9092,B://localhost:19093",
        "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT",
    }
    found = laid_out(listeners_of(BrokerConfig(config)), 3)
    assert [each.given(*each.at(1), 1) for each in found.values()] == [
        ("kafka", 9094),
        ("localhost", 19095),
    ]
