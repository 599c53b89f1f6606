"""What a client's properties say: by the names of Kafka, and of librdkafka."""

from __future__ import annotations

import pytest
from odradek.compat.wire_client.security import ClientSecurity, SecurityError
from odradek.compat.wire_client.security.settings import check_names

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required "
SASL = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}


def test_nothing_said_is_a_plain_connection() -> None:
    security = ClientSecurity.of({"acks": "all"})
    assert security == ClientSecurity()
    assert not security.has_tls
    assert not security.has_login


@pytest.mark.parametrize(
    "given",
    [
        {"sasl.jaas.config": PLAIN + 'username="alice" password="a \\"b\\" c";'},
        {"sasl.jaas.config": PLAIN + "password='a \"b\" c' username=alice ;"},
        {"sasl.username": "alice", "sasl.password": 'a "b" c'},
    ],
)
def test_user_and_password(given: dict[str, str]) -> None:
    security = ClientSecurity.of(SASL | given)
    assert (security.username, security.password) == ("alice", 'a "b" c')
    assert '"b"' not in repr(security)


def test_names_of_librdkafka() -> None:
    given = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanisms": "SCRAM-SHA-512",
        "sasl.username": "a",
        "sasl.password": "b",
        "ssl.ca.location": "ca.pem",
        "ssl.certificate.location": "c.pem",
        "ssl.key.location": "k.pem",
        "enable.ssl.certificate.verification": "false",
    }
    check_names(given)
    security = ClientSecurity.of(given)
    assert security.mechanism == "SCRAM-SHA-512"
    assert security.authorities.file == "ca.pem"
    assert (security.certificate.file, security.key.file) == ("c.pem", "k.pem")
    assert not security.checks_certificate


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"security.protocol": "SASL"}, "is one of PLAINTEXT, .*meant"),
        ({"security.protocol": "SASL_SSL"}, "name sasl.mechanism, too"),
        ({"sasl.mechanism": "PLAIN"}, "nobody would log in; is SASL_PLAINTEXT meant"),
        ({**SASL, "sasl.mechanism": "GSSAPI"}, "sasl.mechanism is one of"),
        (SASL, "PLAIN needs sasl.jaas.config"),
        ({**SASL, "sasl.jaas.config": "alice:secret"}, "of the form MODULE required"),
        ({**SASL, "sasl.mechanism": "OAUTHBEARER"}, "needs sasl.oauthbearer.token"),
        ({"ssl.truststore.location": "t.jks"}, "JKS is Java's: convert it to PEM"),
        ({"ssl.endpoint.identification.algorithm": "htps"}, "is https or empty"),
        ({"enable.ssl.certificate.verification": "no"}, "is true or false"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, str], why: str) -> None:
    with pytest.raises(SecurityError, match=why) as raised:
        ClientSecurity.of(given)
    assert "secret" not in str(raised.value)


def test_a_name_that_is_not_obeyed_is_answered_with_the_likely_one() -> None:
    with pytest.raises(SecurityError, match=r"sasl\.mecanism is .* is sasl\.mechanism meant"):
        check_names({"sasl.mecanism": "PLAIN"})
