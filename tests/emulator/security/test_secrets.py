"""No password, token or key is written anywhere: each is looked for in everything that was."""

from __future__ import annotations

import hashlib
import logging
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.frames import SIZE

from tests.requests.configs import change_request
from tests.support.connection import Connection

PASSWORD, WRONG, KEY = "opensesame-1", "opensesame-2", "opensesame-3"
STORE = "opensesame-4"
TOKEN = "opensesame-5"


def conversation(kafka: Emulator) -> list[bytes]:
    """Log in well and badly, and send every request that has a secret in it. Returns what else is
    secret: HMACs and salted passwords."""
    found: list[bytes] = []
    with Connection(kafka.bootstrap_servers) as alice:
        alice.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        alice.ask(SaslAuthenticateRequest(auth_bytes=f"\0alice\0{PASSWORD}".encode()), 2)
        alice.ask(SaslAuthenticateRequest(auth_bytes=f"\0alice\0{PASSWORD}".encode()), 2)
        request = CreateDelegationTokenRequest(
            owner_principal_type="", owner_principal_name="", renewers=[], max_lifetime_ms=-1
        )
        secret = bytes(alice.ask(request, 3).hmac)
        found.append(secret)
        alice.ask(DescribeDelegationTokenRequest(owners=None), 3)
        alice.ask(RenewDelegationTokenRequest(hmac=secret, renew_period_ms=-1), 2)
        salted = hashlib.pbkdf2_hmac("sha256", WRONG.encode(), b"salt", 4096)
        found.append(salted)
        change = AlterUserScramCredentialsRequest.Upsertion(
            name="bob", mechanism=1, iterations=4096, salt=b"salt", salted_password=salted
        )
        alice.ask(AlterUserScramCredentialsRequest(deletions=[], upsertions=[change]), 0)
        alter(alice)
        describe = DescribeConfigsRequest.Resource(
            resource_type=4, resource_name="1", configuration_keys=None
        )
        answer = alice.ask(DescribeConfigsRequest(resources=[describe], include_synonyms=True), 4)
        assert KEY not in repr(answer)
        assert STORE not in repr(answer)
        assert PASSWORD not in repr(answer)
        alice.ask(MetadataRequest(topics=[]), 9)
    for mechanism, token in (
        ("PLAIN", f"\0alice\0{WRONG}"),
        ("PLAIN", f"\0\0{WRONG}"),
        ("OAUTHBEARER", f"n,,\x01auth=Bearer {TOKEN}\x01\x01"),
        ("OAUTHBEARER", f"n,,\x01auth=Basic {TOKEN}\x01\x01"),
    ):
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(SaslHandshakeRequest(mechanism=mechanism), 1)
            client.send(SaslAuthenticateRequest(auth_bytes=token.encode()), 2)
            client._stream.read(1)
    with Connection(kafka.bootstrap_servers) as bare:
        bare.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        data = f"\0alice\0{PASSWORD}".encode()
        bare._socket.sendall(SIZE.pack(len(data)) + data)
        bare._stream.read(1)
    return found


def alter(client: Connection) -> Any:
    change = ("listener.name.sasl_plaintext.ssl.key.password", 0, STORE)
    return client.ask(change_request((4, "1", [change])), 1)


def test_no_secret_is_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    config = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
        "delegation.token.secret.key": KEY,
    }
    users = {"alice": PASSWORD}
    with Emulator(config, security="SASL_PLAINTEXT", users=users, journal=True) as kafka:
        secrets = conversation(kafka)
        written = [kafka.timeline(), repr(kafka.events), repr(kafka), caplog.text]
        written += [repr(kafka.log_in_failures), repr(kafka.journal), str(list(kafka.journal))]
        written += [repr(vars(each)) for each in (kafka._session.source,)]
        kafka.journal.save(path := tmp_path / "journal.jsonl")
        written.append(path.read_text())
        assert len(kafka.log_in_failures) >= 4
    everything = "\n".join(written)
    assert "Metadata" in everything
    for word in (PASSWORD, WRONG, KEY, STORE, TOKEN):
        assert word not in everything
        assert b64encode(word.encode()).decode().rstrip("=") not in everything
    for secret in secrets:
        assert secret.hex() not in everything
        assert b64encode(secret).decode() not in everything


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        (
            {"listener.name.sasl_plaintext.plain.sasl.jaas.config": f'x required a="{PASSWORD}'},
            {"security": "SASL_PLAINTEXT"},
        ),
        (
            {"listener.name.sasl_plaintext.plain.sasl.jaas.config": f"x {PASSWORD};"},
            {"security": "SASL_PLAINTEXT"},
        ),
        ({}, {"users": {"alice": PASSWORD}}),
        ({}, {"security": "SASL_PLAINTEXT", "users": {"": PASSWORD}}),
        ({}, {"security": "SASL_PLAINTEXT", "users": {"alice": f"{PASSWORD}\0"}}),
        (
            {"ssl.keystore.type": "PEM", "ssl.keystore.key": PASSWORD}
            | {"ssl.keystore.certificate.chain": PASSWORD},
            {"security": "SSL"},
        ),
    ],
)
def test_no_exception_quotes_a_secret(config: dict[str, str], arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        Emulator(config, **arguments)
    error: BaseException | None = raised.value
    while error is not None:
        assert PASSWORD not in str(error)
        error = None if error.__suppress_context__ else error.__cause__ or error.__context__
