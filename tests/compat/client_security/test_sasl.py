"""The tokens of a log-in."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode

import pytest
from odradek.compat.wire_client.security import ClientSecurity, SecurityError
from odradek.compat.wire_client.security.sasl import exchange, unsigned_token


def login(mechanism: str, **more: str) -> ClientSecurity:
    return ClientSecurity("SASL_PLAINTEXT", mechanism, **more)  # type: ignore[arg-type]


def test_plain_is_one_token() -> None:
    steps = exchange(login("PLAIN", username="al", password="pa ss"))
    assert next(steps) == b"\0al\0pa ss"
    with pytest.raises(StopIteration):
        steps.send(b"")


def test_scram_as_the_standard_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 7677, section 3."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "rOprNGfwEbeRWgbNEkqO")
    steps = exchange(login("SCRAM-SHA-256", username="user", password="pencil"))
    assert next(steps) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    first = (
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    assert steps.send(first) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    with pytest.raises(StopIteration):
        steps.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (b"r=another,s=AAAA,i=4096", "another's log-in"),
        (b"r=nonce-more,s=AAAA,i=1", "asks for 1 iterations"),
        (b"r=nonce-more,i=4096", "is no SCRAM"),
    ],
)
def test_a_broker_that_does_not_keep_to_scram_is_left(
    monkeypatch: pytest.MonkeyPatch, first: bytes, why: str
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "nonce")
    steps = exchange(login("SCRAM-SHA-256", username="user", password="pencil"))
    next(steps)
    with pytest.raises(SecurityError, match=why):
        steps.send(first)


def test_a_broker_that_does_not_know_the_password_is_not_believed() -> None:
    steps = exchange(login("SCRAM-SHA-512", username="a,b=c", password="x"))
    first = next(steps)
    assert first.startswith(b"n,,n=a=2Cb=3Dc,r=")
    steps.send(b"r=" + first.partition(b"r=")[2] + b"!,s=AAAA,i=4096")
    with pytest.raises(SecurityError, match="does not know the password"):
        steps.send(b"v=AAAA")


def test_a_token_that_is_refused_is_answered_with_a_byte() -> None:
    steps = exchange(login("OAUTHBEARER", token="t"))
    assert next(steps) == b"n,,\x01auth=Bearer t\x01\x01"
    assert steps.send(b'{"status":"invalid_token"}') == b"\x01"


def test_an_unsigned_token_names_its_owner() -> None:
    head, claims, signature = unsigned_token("otto").split(".")
    assert json.loads(urlsafe_b64decode(head + "==")) == {"alg": "none"}
    assert json.loads(urlsafe_b64decode(claims + "=="))["sub"] == "otto"
    assert signature == ""
