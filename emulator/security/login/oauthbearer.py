"""OAUTHBEARER: a client shows a JSON Web Token; unsecured ones are what Kafka takes by default.

- A bad token is answered with JSON, and no error; the client then says 0x01 and is refused.
- An unsecured token has `alg: none`, no signature, a subject, and a time at which it expires.
- Where there are keys (key_sets.py), tokens are to be signed by one of them.

Extensions of clients are read and taken. Source: RFC 7628, RFC 7515, KIP-255; Kafka 4.3.1's
OAuthBearerSaslServer and OAuthBearerUnsecuredValidatorCallbackHandler.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .exchange import Broken, LoginFailed

NAME = "OAUTHBEARER"
_SASL_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PAIRS = r"(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*"
_FIRST = re.compile(rf"n,(?:a=(?P<wanted>{_SASL_NAME}))?,\x01(?P<pairs>{_PAIRS})\x01")
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_.a-zA-Z0-9]+)", re.ASCII)
_INVALID = b'{"status":"invalid_token"}'
_ON = b"\x01"


class BadToken(Exception):
    """A token is not to be trusted; the text says why, and quotes nothing of it."""


class Claims(NamedTuple):
    user: str
    expires_at: int
    """In ms since 1970."""


Validate = Callable[[str, int], Claims]
"""From a token and the time to what it says. Raises BadToken."""


class OAuthBearer:
    is_token = False

    def __init__(self, validate: Validate) -> None:
        self.user = ""
        self.is_complete = False
        self.expires_at: int | None = None
        self._validate = validate
        self._reason = ""  # why the last token was not taken

    def receive(self, token: bytes, now: int) -> bytes:
        """Nothing, or what is wrong as JSON. Raises LoginFailed, Broken."""
        if token == _ON and self._reason:
            raise LoginFailed(self._reason, _INVALID.decode())
        self._reason = ""
        wanted, value = _parsed(token)
        try:
            claims = self._validate(value, now)
        except BadToken as error:
            self._reason = str(error)
            return _INVALID
        self.user = claims.user
        if wanted not in ("", claims.user):
            shown = (
                f"Authentication failed: Client requested an authorization id ({wanted}) that is "
                f"different from the token's principal name ({claims.user})"
            )
            raise LoginFailed("another authorization id", shown)
        self.expires_at = claims.expires_at
        self.is_complete = True
        return b""


def _parsed(data: bytes) -> tuple[str, str]:
    """The authorization id and the token of a first message. Raises LoginFailed, Broken."""
    match = _FIRST.fullmatch(data.decode("utf-8", "replace"))
    if match is None:
        raise LoginFailed("a message that is not OAUTHBEARER's")
    pairs = dict(each.split("=", 1) for each in match["pairs"].split("\x01") if each)
    auth = _AUTH.fullmatch(pairs.get("auth", ""))
    if auth is None:
        raise LoginFailed("a message without a token")
    if auth["scheme"].lower() != "bearer":
        raise Broken("another scheme than Bearer")
    return match["wanted"] or "", auth["token"]


def unsecured(token: str, now: int) -> Claims:
    """The claims of an unsecured token. Raises BadToken."""
    header, claims, signature = split(token)
    if "alg" not in header:
        raise Broken("a token without alg")
    if header["alg"] != "none":
        raise BadToken("a token that is signed")
    if signature:
        raise BadToken("an unsecured token with a signature")
    return judged(claims, now, skew_ms=0)


def split(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Header, claims and signature of a token. Raises BadToken, Broken."""
    parts = token.split(".")
    if len(parts) != 3:
        raise BadToken("a token that is no JSON Web Token")
    try:
        header, claims = (json.loads(_decoded(part)) for part in parts[:2])
        signature = _decoded(parts[2])
    except ValueError:
        raise BadToken("a token that is no JSON Web Token") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise Broken("a token whose parts are no objects")
    return header, claims, signature


def judged(claims: Mapping[str, Any], now: int, *, skew_ms: int, user_claim: str = "sub") -> Claims:
    """The user and the end of a token, if it holds now. Raises BadToken."""
    user = claims.get(user_claim)
    if not isinstance(user, str) or not user.strip():
        raise BadToken(f"a token without {user_claim}")
    expires, issued = _ms(claims, "exp"), _ms(claims, "iat")
    if expires is None:
        raise BadToken("a token without exp")
    if issued is not None and now + skew_ms < issued:
        raise BadToken("a token of the future")
    if now - skew_ms >= expires:
        raise BadToken("a token that has expired")
    if issued is not None and expires <= issued:
        raise BadToken("a token that expires before it is issued")
    return Claims(user, expires)


def _ms(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e15:
        raise BadToken(f"a token whose {name} is no time")
    return round(value * 1000)


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def unsecured_token(user: str, issued_ms: int, expires_ms: int) -> str:
    """An unsecured token, as a client may show it."""
    claims = {"sub": user, "iat": issued_ms / 1000, "exp": expires_ms / 1000}
    parts = (json.dumps(each).encode() for each in ({"alg": "none"}, claims))
    return "".join(f"{urlsafe_b64encode(part).rstrip(b'=').decode()}." for part in parts)
