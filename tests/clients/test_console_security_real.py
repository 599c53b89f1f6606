"""The shell's verbs of security, and how its verbs log in, against a real Kafka."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odradek.compat.cli.main import main

from tests.clients.support.secured_kafka import SecuredKafka
from tests.support.security_verbs import made_seen_and_removed, refused

Shell = Callable[..., str]

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    with SecuredKafka(tmp_path_factory.mktemp("certificates")) as secured:
        yield secured


@pytest.fixture
def shell(kafka: SecuredKafka, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs a command at a listener; gives what it said."""

    def run(view: str, *arguments: str, at: str = "PLAINTEXT", status: int = 0) -> str:
        done = main([view, kafka.address(at), *arguments])
        out = capsys.readouterr()
        assert done == status, out
        return out.err if status else out.out

    return run


def scram(user: str, password: str, mechanism: str = "SCRAM-SHA-256") -> list[str]:
    given = {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}
    return [word for name, value in given.items() for word in ("-X", f"{name}={value}")]


def trusted(kafka: SecuredKafka, protocol: str) -> list[str]:
    ca = kafka.certificates["ca"]
    return ["-X", f"security.protocol={protocol}", "-X", f"ssl.ca.location={ca}"]


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("protocol", ["SASL_SSL", "SASL_PLAINTEXT"])
def test_a_user_is_added_logs_in_and_is_removed(
    shell: Shell, kafka: SecuredKafka, protocol: str, mechanism: str
) -> None:
    name = f"ann-{protocol}-{mechanism}".lower()
    shell("users", "add", name, "--password", "se=cr,et ☕", "--mechanism", mechanism)
    shell("acls", "add", f"{name} may DESCRIBE every topic")
    assert f"{name}" in shell("users", "list", name)
    shell("topics", "create", f"of-{name}")
    how = trusted(kafka, protocol)
    seen = shell("topics", *how, *scram(name, "se=cr,et ☕", mechanism), at=protocol)
    assert f"of-{name}" in seen
    wrong = shell("topics", *how, *scram(name, "wrong", mechanism), at=protocol, status=1)
    assert f"does not let {name} ({mechanism}) in" in wrong
    assert "wrong" not in wrong
    shell("users", "rm", name)
    assert "there is no user" in shell("users", "list", name, status=1)
    refused = shell("topics", *how, *scram(name, "se=cr,et ☕", mechanism), at=protocol, status=1)
    assert "does not let" in refused


@pytest.mark.parametrize("listener", ["SASL_SSL", "SASL_PLAINTEXT", "SSL"])
def test_the_verbs_of_security_at_each_listener(
    shell: Shell, kafka: SecuredKafka, listener: str
) -> None:
    how = trusted(kafka, listener)
    if listener.startswith("SASL"):
        shell("users", "add", "gus", "--password", "secret")
        name, how = "gus", [*how, *scram("gus", "secret")]
    else:
        name = "alice"
        how += ["-X", f"ssl.keystore.location={kafka.certificates['client']}"]

    def at_listener(view: str, *given: str, status: int = 0) -> str:
        return shell(view, *how, *given, at=listener, status=status)

    shell("acls", "add", f"{name} may DESCRIBE every topic")
    refused(at_listener)
    right = f"{name} may ALL the cluster"
    shell("acls", "add", right)
    made_seen_and_removed(at_listener, f"ann-{listener.lower()}")
    shell("acls", "rm", right)


def test_kafkas_own_file_of_properties(shell: Shell, kafka: SecuredKafka, tmp_path: Path) -> None:
    shell("acls", "add", "alice may ALL every topic", "alice may ALL the cluster")
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_SSL\n"
        "sasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        '  username="alice" password="alice-secret";\n'
        "ssl.truststore.type=PEM\n"
        f"ssl.truststore.location={kafka.certificates['ca']}\n"
        "acks=all\n"
    )
    shell("topics", "create", "by-file", "--command-config", f"{file}", at="SASL_SSL")
    assert "by-file" in shell("topics", "ls", "--command-config", f"{file}", at="SASL_SSL")
    other = ["-X", f"ssl.ca.location={kafka.certificates['other']}"]
    said = shell("topics", "--command-config", f"{file}", *other, at="SASL_SSL", status=1)
    assert "is not trusted" in said
    untrusted = ["-X", "security.protocol=SSL"]
    assert "is not trusted" in shell("topics", *untrusted, at="SASL_SSL", status=1)
    assert "TLS" in shell("topics", at="SASL_SSL", status=1)
    assert "TLS" in shell("topics", *trusted(kafka, "SSL"), at="PLAINTEXT", status=1)


def test_a_client_with_a_certificate(shell: Shell, kafka: SecuredKafka) -> None:
    shell("acls", "add", "alice may ALL every topic")
    own = ["-X", f"ssl.keystore.location={kafka.certificates['client']}"]
    shell("topics", "create", "by-certificate", *trusted(kafka, "SSL"), *own, at="SSL")
    assert shell("topics", *trusted(kafka, "SSL"), at="SSL", status=1)


def test_a_token(shell: Shell, kafka: SecuredKafka) -> None:
    shell("acls", "add", "otto may DESCRIBE every topic")
    how = [*trusted(kafka, "SASL_SSL"), "-X", "sasl.mechanism=OAUTHBEARER"]
    shell("topics", "create", "by-token")
    named = ["-X", "sasl.oauthbearer.config=principal=otto"]
    assert "by-token" in shell("topics", *how, *named, at="SASL_SSL")
    wrong = ["-X", "sasl.oauthbearer.token=not.a.token"]
    assert "does not let" in shell("topics", *how, *wrong, at="SASL_SSL", status=1)


def test_a_login_that_the_broker_does_not_offer(shell: Shell, kafka: SecuredKafka) -> None:
    how = ["-X", "security.protocol=SASL_PLAINTEXT"]
    said = shell("topics", *how, *scram("alice", "x"), at="PLAINTEXT", status=1)
    assert "has no log-in" in said


def test_acls_are_sentences_both_ways(shell: Shell) -> None:
    sentences = [
        "carl may READ topic in.v1",
        "carl may READ group billing from 10.0.0.7",
        "carl may not WRITE topics in.*",
        "carl may IDEMPOTENT_WRITE the cluster",
        "everyone may DESCRIBE every transactional-id",
    ]
    shell("acls", "add", *sentences)
    listed = shell("acls").splitlines()
    assert set(sentences) <= set(listed)
    assert shell("acls", "ls", "--principal", "carl", "--topic", "in.v1").splitlines() == [
        "carl may READ topic in.v1",
    ]
    matched = shell("acls", "ls", "--topic", "in.v1", "--resource-pattern-type", "match")
    assert "carl may not WRITE topics in.*" in matched
    body = json.loads(shell("acls", "ls", "--group", "billing", "--json"))
    assert body == {
        "principal": "User:carl",
        "permission": "ALLOW",
        "operation": "READ",
        "resource_type": "group",
        "resource_name": "billing",
        "pattern_type": "LITERAL",
        "host": "10.0.0.7",
    }
    shell("acls", "rm", *sentences)
    assert not set(sentences) & set(shell("acls").splitlines())
    assert "there is no such entry" in shell("acls", "rm", sentences[0], status=1)


def test_acls_by_the_options_of_kafkas_tool(shell: Shell, kafka: SecuredKafka) -> None:
    theirs = ["--allow-principal", "User:dora", "--topic", "dora-", "--group", "dora-g"]
    shell("acls", "--add", *theirs, "--consumer", "--resource-pattern-type", "prefixed")
    done = kafka.kafka.tool(
        "org.apache.kafka.tools.AclCommand",
        *("--bootstrap-server", kafka.address(), "--list", "--principal", "User:dora"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("principal=User:dora") == 3
    assert shell("acls", "--list", "--principal", "User:dora").splitlines() == [
        "dora may DESCRIBE topics dora-*",
        "dora may READ groups dora-g*",
        "dora may READ topics dora-*",
    ]
    shell("acls", "--remove", *theirs, "--consumer", "--resource-pattern-type", "prefixed")
    assert shell("acls", "list", "--principal", "dora") == ""


def test_quotas(shell: Shell, kafka: SecuredKafka) -> None:
    shell("quotas", "set", "--user", "eve", "--client-id", "app", "producer_byte_rate=1000")
    shell("quotas", "set", "--user", "eve", "request_percentage=12.5", "consumer_byte_rate=5")
    shell("quotas", "set", "producer_byte_rate=7", "--client-id")
    shell("quotas", "set", "--ip", "10.0.0.1", "connection_creation_rate=3")
    assert [" ".join(line.split()) for line in shell("quotas").splitlines()] == [
        "whose quota at most",
        "any other client-id producer_byte_rate 7",
        "ip 10.0.0.1 connection_creation_rate 3",
        "user eve consumer_byte_rate 5",
        "user eve request_percentage 12.5",
        "user eve, client-id app producer_byte_rate 1000",
    ]
    shell("quotas", "rm", "--user", "eve")
    shell("quotas", "rm", "--ip", "10.0.0.1", "connection_creation_rate")
    entries = [json.loads(line) for line in shell("quotas", "--json").splitlines()]
    assert {"entity": {"client-id": None}, "quotas": {"producer_byte_rate": 7.0}} in entries
    assert "has no quota" in shell("quotas", "rm", "--user", "eve", status=1)
