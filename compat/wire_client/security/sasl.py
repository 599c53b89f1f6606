"""The tokens of a log-in: a client's first one, and its answer to each of the broker's.

`exchange(security)` is a generator: it yields the token to send, and is sent the broker's. It ends
when the broker is believed. Raises SecurityError if the broker is not who it says (SCRAM).

Source: RFC 4616 (PLAIN), RFC 5802 and 7677 (SCRAM), RFC 7628 (OAUTHBEARER), KIP-255. Left out:
SASLprep of names and passwords beyond NFKC; channel binding.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import unicodedata
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Generator

from ....emulator.base.real_time import wall_time
from .settings import ClientSecurity, SecurityError

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_LEAST_ITERATIONS = 4096
_MOST_ITERATIONS = 1_000_000
_LIFETIME_S = 3600

Exchange = Generator[bytes, bytes, None]


def exchange(security: ClientSecurity) -> Exchange:
    if security.mechanism == "PLAIN":
        return _plain(security)
    if security.mechanism == "OAUTHBEARER":
        return _bearer(security)
    return _scram(security, _HASHES[security.mechanism])


def unsigned_token(name: str) -> str:
    """A JSON Web Token without a signature, as brokers accept for tests."""
    now = int(wall_time())
    claims = {"sub": name, "iat": now, "exp": now + _LIFETIME_S}
    return f"{_part({'alg': 'none'})}.{_part(claims)}."


def _part(claims: object) -> str:
    return urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


def _plain(security: ClientSecurity) -> Exchange:
    yield f"\0{security.username}\0{security.password}".encode()


def _bearer(security: ClientSecurity) -> Exchange:
    refusal = yield f"n,,\x01auth=Bearer {security.token}\x01\x01".encode()
    if refusal:  # the broker waits for one byte, and then says why
        yield b"\x01"


def _scram(security: ClientSecurity, digest: str) -> Exchange:
    name = security.username.replace("=", "=3D").replace(",", "=2C")
    nonce = secrets.token_hex(16)
    bare = f"n={name},r={nonce}"
    first = (yield f"n,,{bare}".encode()).decode()
    fields = _fields(first)
    if not fields.get("r", "").startswith(nonce):
        raise SecurityError("the broker answers another's log-in (SCRAM)")
    try:
        salt, iterations = b64decode(fields["s"]), int(fields["i"])
    except (KeyError, ValueError):
        raise SecurityError(f"the broker's answer is no SCRAM: {first!r}") from None
    if not _LEAST_ITERATIONS <= iterations <= _MOST_ITERATIONS:
        raise SecurityError(f"the broker asks for {iterations} iterations (SCRAM)")
    password = unicodedata.normalize("NFKC", security.password).encode()
    salted = hashlib.pbkdf2_hmac(digest, password, salt, iterations)
    without_proof = f"c=biws,r={fields['r']}"
    signed = f"{bare},{first},{without_proof}".encode()
    key = hmac.digest(salted, b"Client Key", digest)
    signature = hmac.digest(hashlib.new(digest, key).digest(), signed, digest)
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    last = _fields((yield f"{without_proof},p={b64encode(proof).decode()}".encode()).decode())
    wanted = hmac.digest(hmac.digest(salted, b"Server Key", digest), signed, digest)
    if not hmac.compare_digest(last.get("v", ""), b64encode(wanted).decode()):
        raise SecurityError("the broker does not know the password (SCRAM): it is another one")


def _fields(text: str) -> dict[str, str]:
    return dict(each.partition("=")[::2] for each in text.split(","))
