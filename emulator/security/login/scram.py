"""SCRAM-SHA-256 and -512: a user proves to know a password, and the broker to know its credential.

As Kafka's server does it: channel bindings are not looked at; what is signed is put together anew
from what was understood, so extensions of the last message, and a reserved `m=`, make the proof
wrong; nearly every failure has the same message. Several extensions of the first message
are signed in their order, of which a real broker makes one of its own at each start.

A delegation token logs in as a user: its id is the name, its HMAC in base64 the password, and the
first message has the extension `tokenauth=true`.

Source: RFC 5802, RFC 7677, KIP-48; Kafka 4.3.1's ScramSaslServer and ScramMessages.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import NamedTuple

from .exchange import Broken, LoginFailed

HASHES = {"SCRAM-SHA-256": hashlib.sha256, "SCRAM-SHA-512": hashlib.sha512}
NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
"""Of the mechanisms, in records and requests."""
ITERATIONS = 4096
_ANY = r"[\x01-\x2b\x2d-\x7f]+"
_SASL_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_ANY})*"
_FIRST = re.compile(
    rf"n,(?:a=(?P<wanted>{_SASL_NAME}))?,(?:m={_ANY},)?"
    rf"n=(?P<name>{_SASL_NAME}),r=(?P<nonce>{_PRINTABLE})(?P<extensions>{_EXTENSIONS})"
)
_FINAL = re.compile(
    rf"c=(?P<channel>{_BASE64}),r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS},p=(?P<proof>{_BASE64})"
)


class Credential(NamedTuple):
    """The stored form of a password."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class Known(NamedTuple):
    """A credential, whose it is, and until when it holds."""

    credential: Credential
    owner: str
    expires_at: int | None = None


def credential_of(mechanism: str, password: bytes, salt: bytes, iterations: int) -> Credential:
    hash_of = HASHES[mechanism]
    salted = hashlib.pbkdf2_hmac(hash_of().name, password, salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", hash_of)
    server_key = hmac.digest(salted, b"Server Key", hash_of)
    return Credential(salt, hash_of(client_key).digest(), server_key, iterations)


class Scram:
    """The exchange: two tokens each way. `find` has what is known of a user, or, if the second
    argument says so, of a delegation token."""

    def __init__(
        self, mechanism: str, find: Callable[[str, bool], Known | None], nonce: str
    ) -> None:
        self.user = ""
        self.is_complete = self.is_token = False
        self.expires_at: int | None = None
        self._hash = HASHES[mechanism]
        self._find = find
        self._nonce = nonce
        self._known: Known | None = None
        self._bare = self._first = ""  # the first messages of both, as they are signed

    def receive(self, token: bytes, now: int) -> bytes:
        """The challenge, and then the broker's signature. Raises LoginFailed, Broken."""
        text = token.decode("utf-8", "replace")
        return self._begin(text) if self._known is None else self._end(text, self._known)

    def _begin(self, text: str) -> bytes:
        match = _FIRST.fullmatch(text)
        if match is None:
            raise LoginFailed("a first message that is not SCRAM's")
        sasl_name, nonce = match["name"], match["nonce"]
        pairs = [each.split("=", 1) for each in match["extensions"].split(",")[1:]]
        extensions = dict(pairs)
        self.user = name = sasl_name.replace("=2C", ",").replace("=3D", "=")
        self.is_token = extensions.get("tokenauth", "").lower() == "true"
        known = self._find(name, self.is_token)
        if known is None:
            raise LoginFailed("unknown token" if self.is_token else "unknown user")
        if match["wanted"] not in (None, "", name):
            shown = "Client requested an authorization id that is different from username"
            raise LoginFailed("another authorization id", f"Authentication failed: {shown}")
        if known.credential.iterations < ITERATIONS:
            raise LoginFailed("a credential with too few iterations")
        self.user, self.expires_at = known.owner, known.expires_at
        self._known = known
        signed = [f"n={sasl_name}", f"r={nonce}"]
        signed += [f"{each}={value}" for each, value in extensions.items()]
        self._bare = ",".join(signed)
        self._nonce = nonce + self._nonce
        salt = b64encode(known.credential.salt).decode()
        self._first = f"r={self._nonce},s={salt},i={known.credential.iterations}"
        return self._first.encode()

    def _end(self, text: str, known: Known) -> bytes:
        match = _FINAL.fullmatch(text)
        if match is None:
            raise LoginFailed("a final message that is not SCRAM's")
        if match["nonce"] != self._nonce:
            raise LoginFailed("another nonce")
        signed = f"{self._bare},{self._first},c={match['channel']},r={self._nonce}".encode()
        stored_key, server_key = known.credential.stored_key, known.credential.server_key
        proof, signature = b64decode(match["proof"]), hmac.digest(stored_key, signed, self._hash)
        if len(proof) != len(signature):
            raise Broken("a proof of another length")
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        if not hmac.compare_digest(self._hash(client_key).digest(), stored_key):
            raise LoginFailed("wrong password")
        self.is_complete = True
        return b"v=" + b64encode(hmac.digest(server_key, signed, self._hash))
