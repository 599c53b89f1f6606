"""Delegation tokens: their times under the clock, who may do what, and where they are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from odradek import Emulator
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from tests.support.connection import Connection

HOUR_MS = 3_600_000
CONFIG = {"delegation.token.secret.key": "a secret"}


def log_in(connection: Connection, name: str) -> None:
    connection.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    token = SaslAuthenticateRequest(auth_bytes=f"\0{name}\0{name}".encode())
    assert connection.ask(token, 2).error_code == 0


def create(connection: Connection, lifetime_ms: int = -1) -> Any:
    request = CreateDelegationTokenRequest(
        owner_principal_type="", owner_principal_name="", renewers=[], max_lifetime_ms=lifetime_ms
    )
    return connection.ask(request, 3)


def described(connection: Connection) -> list[str]:
    answer = connection.ask(DescribeDelegationTokenRequest(owners=None), 3)
    assert answer.error_code == 0
    return [each.token_id for each in answer.tokens]


def secured(config: dict[str, str] | None = None, **arguments: Any) -> Emulator:
    users = {"alice": "alice", "bob": "bob"}
    config = CONFIG if config is None else config
    return Emulator(config, security="SASL_PLAINTEXT", users=users, **arguments)


def test_a_token_ends_by_the_clock_and_is_removed_within_the_hour() -> None:
    with secured(clock="manual") as kafka, Connection(kafka.bootstrap_servers) as alice:
        log_in(alice, "alice")
        token = create(alice)
        secret = bytes(token.hmac)
        assert token.expiry_timestamp_ms - token.issue_timestamp_ms == 24 * HOUR_MS
        assert described(alice) == [token.token_id]
        kafka.advance(hours=23)
        renewal = RenewDelegationTokenRequest(hmac=secret, renew_period_ms=2 * HOUR_MS)
        renewed = alice.ask(renewal, 2)
        assert renewed.expiry_timestamp_ms - token.issue_timestamp_ms == 25 * HOUR_MS
        kafka.advance(hours=2, minutes=1)
        late = alice.ask(renewal, 2)
        assert (late.error_code, late.expiry_timestamp_ms) == (66, 0)
        kafka.advance(hours=1)
        assert described(alice) == []
        assert alice.ask(renewal, 2).error_code == 62


def test_only_owner_and_renewers_change_a_token() -> None:
    with secured() as kafka, Connection(kafka.bootstrap_servers) as bob:
        with Connection(kafka.bootstrap_servers) as alice:
            log_in(alice, "alice")
            secret = bytes(create(alice).hmac)
        log_in(bob, "bob")
        end = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=-1)
        renewal = RenewDelegationTokenRequest(hmac=secret, renew_period_ms=1)
        for request in (end, renewal):
            answer = bob.ask(request, 2)
            assert (answer.error_code, answer.expiry_timestamp_ms) == (63, 0)


def test_tokens_are_there_after_a_restart(tmp_path: Path) -> None:
    with secured(data_dir=tmp_path) as kafka:
        with Connection(kafka.bootstrap_servers) as alice:
            log_in(alice, "alice")
            token = create(alice)
        kafka.restart()
        with Connection(kafka.bootstrap_servers) as alice:
            log_in(alice, "alice")
            assert described(alice) == [token.token_id]


def test_without_a_key_there_are_no_tokens() -> None:
    with secured({}) as kafka, Connection(kafka.bootstrap_servers) as alice:
        log_in(alice, "alice")
        assert create(alice).error_code == 61
        answer = alice.ask(DescribeDelegationTokenRequest(owners=None), 3)
        assert (answer.error_code, answer.tokens) == (61, [])
        assert alice.ask(MetadataRequest(topics=[]), 9).brokers
