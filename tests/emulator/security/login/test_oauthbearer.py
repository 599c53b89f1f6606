"""OAUTHBEARER: which tokens are taken, unsecured ones and signed ones."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from odradek import ConfigError, Emulator
from odradek.emulator.security.login.exchange import Broken, LoginFailed
from odradek.emulator.security.login.key_sets import FileKeys, Signed
from odradek.emulator.security.login.oauthbearer import (
    BadToken,
    OAuthBearer,
    unsecured,
    unsecured_token,
)

NOW = 1_700_000_000_000
HOUR_MS = 3_600_000
INVALID = b'{"status":"invalid_token"}'


def shown(token: str, head: str = "n,,") -> bytes:
    return f"{head}\x01auth=Bearer {token}\x01\x01".encode()


def good() -> str:
    return unsecured_token("alice", NOW, NOW + HOUR_MS)


def test_an_unsecured_token_names_user_and_end() -> None:
    exchange = OAuthBearer(unsecured)
    assert exchange.receive(shown(good()), NOW) == b""
    assert exchange.is_complete
    assert (exchange.user, exchange.expires_at) == ("alice", NOW + HOUR_MS)


def test_a_bad_token_is_reported_as_json_and_then_as_an_error() -> None:
    exchange = OAuthBearer(unsecured)
    assert exchange.receive(shown(good()), NOW + HOUR_MS) == INVALID
    with pytest.raises(LoginFailed) as raised:
        exchange.receive(b"\x01", NOW)
    assert raised.value.shown == INVALID.decode()
    assert raised.value.reason == "a token that has expired"


def test_another_authorization_id_is_refused() -> None:
    with pytest.raises(LoginFailed, match="another authorization id"):
        OAuthBearer(unsecured).receive(shown(good(), "n,a=bob,"), NOW)


@pytest.mark.parametrize("data", [b"", b"\x01", b"n,,\x01\x01", shown(good(), "y,,")])
def test_what_is_no_first_message_is_refused(data: bytes) -> None:
    with pytest.raises(LoginFailed) as raised:
        OAuthBearer(unsecured).receive(data, NOW)
    assert raised.value.shown == ""


def test_another_scheme_ends_the_connection() -> None:
    with pytest.raises(Broken):
        OAuthBearer(unsecured).receive(shown(good()).replace(b"Bearer", b"Basic"), NOW)


# Signed tokens


def part(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return part(value.to_bytes((value.bit_length() + 7) // 8))


EC = ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(65537, 2048)
FOREIGN = ec.generate_private_key(ec.SECP256R1())


def key_set() -> dict[str, Any]:
    point, public = EC.public_key().public_numbers(), RSA.public_key().public_numbers()
    curve = {"kty": "EC", "crv": "P-256", "kid": "one"}
    one = {**curve, "x": part(point.x.to_bytes(32)), "y": part(point.y.to_bytes(32))}
    two = {"kty": "RSA", "kid": "two", "n": number(public.n), "e": number(public.e)}
    return {"keys": [one, two]}


def signed(
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey = EC, kid: str | None = None, **claims: Any
) -> str:
    said = {"sub": "alice", "iat": NOW // 1000, "exp": NOW // 1000 + 3600, **claims}
    header = {"alg": "ES256" if isinstance(key, ec.EllipticCurvePrivateKey) else "RS256"}
    text = f"{part(header if kid is None else {**header, 'kid': kid})}.{part(said)}"
    if isinstance(key, ec.EllipticCurvePrivateKey):
        both = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{part(b''.join(each.to_bytes(32) for each in both))}"
    return f"{text}.{part(key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(key_set()))
    return path


def judge(path: Path, **options: Any) -> Signed:
    defaults: dict[str, Any] = {"audience": [], "issuer": None, "user_claim": "sub"}
    return Signed(FileKeys(path), **{**defaults, "skew_ms": 30_000, **options})


def test_tokens_that_a_known_key_has_signed_are_taken(keys: Path) -> None:
    for key, kid in ((EC, None), (RSA, None), (EC, "one"), (RSA, "two")):
        assert judge(keys)(signed(key, kid), NOW).user == "alice"


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (signed(FOREIGN), "a token that no known key has signed"),
        (signed(EC, "two"), "a token that no known key has signed"),
        (signed(EC, "three"), "a token that no known key has signed"),
        (good(), "a token that no known key has signed"),
        (signed()[:-4] + "AAAA", "a token that no known key has signed"),
        ("a.b", "a token that is no JSON Web Token"),
        (signed(exp=NOW // 1000 - 31), "a token that has expired"),
        (signed(sub=None), "a token without sub"),
    ],
)
def test_others_are_not(keys: Path, token: str, why: str) -> None:
    with pytest.raises(BadToken, match=why):
        judge(keys)(token, NOW)


def test_audience_issuer_and_the_name_of_the_claim_are_looked_at(keys: Path) -> None:
    strict = judge(keys, audience=["kafka"], issuer="me", user_claim="name")
    claims: dict[str, Any] = {"aud": ["x", "kafka"], "iss": "me", "name": "bob"}
    assert strict(signed(**claims), NOW).user == "bob"
    with pytest.raises(BadToken, match="another audience"):
        strict(signed(**{**claims, "aud": "x"}), NOW)
    with pytest.raises(BadToken, match="another issuer"):
        strict(signed(**{**claims, "iss": "x"}), NOW)


def test_keys_that_cannot_be_read_are_refused_at_the_start(tmp_path: Path) -> None:
    config = {"sasl.enabled.mechanisms": "OAUTHBEARER"}
    name = "sasl.oauthbearer.jwks.endpoint.url"
    garbage = tmp_path / "garbage"
    garbage.write_text("[]")
    for url, why in (
        ("ftp://example.com/keys", "keys are at file:"),
        ((tmp_path / "none").as_uri(), "No such file"),
        (garbage.as_uri(), "is no JSON Web Key Set"),
    ):
        with pytest.raises(ConfigError, match=rf"^{name}: .*{why}"):
            Emulator({**config, name: url}, security="SASL_PLAINTEXT")
