"""Stock clients log in, by each mechanism with and without TLS; and fail, with the right words.

Five rows of the table of docs/clients.md are from here.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import client as client_named
from odradek.compat.clients.time_limits import wait_until
from odradek.compat.real_kafka import VERSION, run_tool
from odradek.emulator.security.clients import client_context
from odradek.emulator.security.mechanisms import KNOWN, WITH_PASSWORDS

from tests.clients.support.rows import (
    LOGS_IN,
    SAYS_WHY,
    SHOWS_CERTIFICATE,
    SHOWS_TOKEN,
    TRUSTS_FEW,
)

USERS = {"alice": "alice's secret", "a,b=c": 'an odd "word\\'}
PROTOCOLS = ("SASL_PLAINTEXT", "SASL_SSL", "SSL")
TIMEOUT_S = 30


Entering = Callable[[str, str], None]


@pytest.fixture
def enter(seen_by: Callable[[str, str, str], None]) -> Entering:
    """Enters a test in the results, as (client, row)."""

    def entered(name: str, row: str) -> None:
        known = {"confluent": "confluent-kafka"}
        client = client_named(known.get(name, name))
        seen_by(client.name, client.version, row)

    return entered


@pytest.fixture(scope="module")
def brokers() -> Iterator[dict[str, Emulator]]:
    made = {}
    for protocol in PROTOCOLS:
        has_sasl = protocol.startswith("SASL")
        config = {"sasl.enabled.mechanisms": ",".join(KNOWN)} if has_sasl else {}
        users = USERS if has_sasl else None
        made[protocol] = Emulator(config, security=protocol, users=users).start()
    yield made
    for broker in made.values():
        broker.stop()


# What each client does: ask for the topics. Raises what it raises.


def confluent(config: dict[str, Any]) -> list[str]:
    """What it has told."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    errors: list[str] = []
    admin = AdminClient({**config, "error_cb": lambda error: errors.append(error.str())})
    try:
        admin.list_topics(timeout=TIMEOUT_S)
    except KafkaException as error:
        admin.poll(1)
        raise RuntimeError("; ".join([*errors, str(error)])) from None
    return errors


def kafka_python(config: dict[str, Any]) -> object:
    from kafka import KafkaAdminClient

    admin = KafkaAdminClient(**config)
    try:
        return admin.list_topics()
    finally:
        admin.close()


def aio(config: dict[str, Any]) -> object:
    from aiokafka.admin import AIOKafkaAdminClient

    async def ask() -> object:
        admin = AIOKafkaAdminClient(**config)
        try:
            await admin.start()
            return await admin.list_topics()
        finally:
            await admin.close()

    return asyncio.run(ask())


CLIENTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "confluent": confluent,
    "kafka-python": kafka_python,
    "aiokafka": aio,
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
@pytest.mark.parametrize("user", USERS)
def test_a_user_logs_in(
    brokers: dict[str, Emulator],
    client: str,
    protocol: str,
    mechanism: str,
    user: str,
    enter: Entering,
) -> None:
    enter(client, LOGS_IN)
    if client == "kafka-python" and user != "alice" and mechanism != "PLAIN":
        user = "alice"  # it does not escape the names of users
    kafka = brokers[protocol]
    failed = len(kafka.log_in_failures)
    CLIENTS[client](kafka.client_config(client, "admin", user=user, mechanism=mechanism))
    assert len(kafka.log_in_failures) == failed


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_librdkafka_logs_in_with_a_token(
    brokers: dict[str, Emulator], protocol: str, enter: Entering
) -> None:
    enter("confluent", SHOWS_TOKEN)
    config = brokers[protocol].client_config("confluent", user="bob", mechanism="OAUTHBEARER")
    confluent(config)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_certificate_logs_in(brokers: dict[str, Emulator], client: str, enter: Entering) -> None:
    enter(client, SHOWS_CERTIFICATE)
    kafka = brokers["SSL"]
    alice = kafka.certificates.client("alice")
    CLIENTS[client](kafka.client_config(client, "admin", certificate=alice))


def changed(client: str, config: dict[str, Any], user: str, password: str) -> dict[str, Any]:
    names = {"confluent": ("sasl.username", "sasl.password")}
    name, word = names.get(client, ("sasl_plain_username", "sasl_plain_password"))
    return {**config, name: user, word: password}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
@pytest.mark.parametrize(
    ("user", "password", "reason"),
    [("alice", "wrong", "wrong password"), ("nobody", "wrong", "unknown user")],
)
def test_a_wrong_login_says_so(
    brokers: dict[str, Emulator],
    client: str,
    mechanism: str,
    user: str,
    password: str,
    reason: str,
    caplog: pytest.LogCaptureFixture,
    enter: Entering,
) -> None:
    enter(client, SAYS_WHY)
    kafka = brokers["SASL_PLAINTEXT"]
    config = kafka.client_config(client, "admin", user="alice", mechanism=mechanism)
    config = changed(client, config, user, password)
    said = failing(client, config, caplog)
    if client != "kafka-python":  # which may read the end of the connection before the answer
        plain = "Authentication failed: Invalid username or password"
        assert (plain if mechanism == "PLAIN" else "due to invalid credentials") in said
    failed = kafka.log_in_failures[-1]
    assert (failed.user, failed.mechanism, failed.reason) == (user, mechanism, reason)


def failing(client: str, config: dict[str, Any], caplog: pytest.LogCaptureFixture) -> str:
    """What a client says that fails: those in Python say why in their log."""
    if client == "confluent":
        return confluent_error(config)
    if client == "kafka-python":
        config = {**config, "bootstrap_timeout_ms": 1000}
    with pytest.raises(Exception, match=r"."):
        CLIENTS[client](config)
    return caplog.text


def confluent_error(config: dict[str, Any]) -> str:
    from confluent_kafka.admin import AdminClient

    errors: list[str] = []
    admin = AdminClient({**config, "error_cb": lambda error: errors.append(error.str())})
    while not errors:
        admin.poll(0.1)
    return "; ".join(errors)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("bad", ["expired", "wrong_host", "foreign"])
def test_a_client_does_not_trust_every_certificate(
    client: str, bad: str, caplog: pytest.LogCaptureFixture, enter: Entering
) -> None:
    enter(client, TRUSTS_FEW)
    with Emulator(security="SSL") as kafka:
        made = kafka.certificates
        kafka.show_certificate(
            made.foreign().server() if bad == "foreign" else getattr(made, bad)()
        )
        said = failing(client, kafka.client_config(client, "admin"), caplog)
        assert re.search(r"(?i)certificate.*(verif|expired|mismatch)|handshake", said)
        wait_until(lambda: bool(kafka.log_in_failures), "a log-in that failed")
        assert kafka.log_in_failures[-1].mechanism == "TLS"


def test_what_python_says_of_a_bad_certificate() -> None:
    with Emulator(security="SSL") as kafka:
        host, _, port = kafka.bootstrap_servers.partition(":")
        context = client_context(kafka.certificates.ca, None)
        kafka.show_certificate(kafka.certificates.wrong_host())

        async def connect() -> None:
            await asyncio.open_connection(host, int(port), ssl=context)

        with pytest.raises(ssl.SSLCertVerificationError, match=r"not valid for '127.0.0.1'"):
            asyncio.run(connect())


# Java: Kafka's own tool


def listed_by_java(tmp_path: Path, config: dict[str, Any]) -> tuple[int, str]:
    """The exit status and the words of `kafka-topics --list`."""
    lines = []
    for name, value in config.items():
        text = str(value).replace("\\", "\\\\").replace("\n", "\\n")
        lines.append(f"{name}={text}\n")
    path = tmp_path / "client.properties"
    path.write_text("".join(lines))
    servers = config["bootstrap.servers"]
    command = "org.apache.kafka.tools.TopicCommand"
    options = ("--bootstrap-server", servers, "--command-config", str(path), "--list")
    done = run_tool(VERSION, command, *options)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("protocol", "mechanism", "user"),
    [
        ("SASL_SSL", "SCRAM-SHA-512", "a,b=c"),
        pytest.param("SASL_SSL", "PLAIN", "alice", marks=pytest.mark.long),
        pytest.param("SASL_SSL", "SCRAM-SHA-256", "alice", marks=pytest.mark.long),
        pytest.param("SASL_SSL", "OAUTHBEARER", "alice", marks=pytest.mark.long),
        pytest.param("SASL_PLAINTEXT", "PLAIN", "a,b=c", marks=pytest.mark.long),
        pytest.param("SASL_PLAINTEXT", "SCRAM-SHA-256", "a,b=c", marks=pytest.mark.long),
        pytest.param("SASL_PLAINTEXT", "SCRAM-SHA-512", "alice", marks=pytest.mark.long),
        pytest.param("SASL_PLAINTEXT", "OAUTHBEARER", "alice", marks=pytest.mark.long),
    ],
)
def test_java_logs_in(
    brokers: dict[str, Emulator],
    tmp_path: Path,
    protocol: str,
    mechanism: str,
    user: str,
    enter: Entering,
) -> None:
    enter("java", LOGS_IN if mechanism in WITH_PASSWORDS else SHOWS_TOKEN)
    kafka = brokers[protocol]
    config = kafka.client_config("java", user=user, mechanism=mechanism)
    status, said = listed_by_java(tmp_path, config)
    assert status == 0, said


@pytest.mark.long
def test_java_shows_a_certificate(
    brokers: dict[str, Emulator], tmp_path: Path, enter: Entering
) -> None:
    enter("java", SHOWS_CERTIFICATE)
    kafka = brokers["SSL"]
    alice = kafka.certificates.client("alice")
    status, said = listed_by_java(tmp_path, kafka.client_config("java", certificate=alice))
    assert status == 0, said


def test_java_says_that_a_password_is_wrong(
    brokers: dict[str, Emulator], tmp_path: Path, enter: Entering
) -> None:
    enter("java", SAYS_WHY)
    config = brokers["SASL_PLAINTEXT"].client_config("java", user="alice", mechanism="PLAIN")
    config["sasl.jaas.config"] = config["sasl.jaas.config"].replace(USERS["alice"], "wrong")
    status, said = listed_by_java(tmp_path, config)
    assert status != 0
    assert "Authentication failed: Invalid username or password" in said


@pytest.mark.long
@pytest.mark.parametrize("bad", ["expired", "wrong_host", "foreign"])
def test_java_does_not_trust_every_certificate(tmp_path: Path, bad: str, enter: Entering) -> None:
    enter("java", TRUSTS_FEW)
    with Emulator(security="SSL") as kafka:
        made = kafka.certificates
        kafka.show_certificate(
            made.foreign().server() if bad == "foreign" else getattr(made, bad)()
        )
        status, said = listed_by_java(tmp_path, kafka.client_config("java"))
    assert status != 0
    assert "SSL handshake failed" in said
