"""Signed tokens of OAUTHBEARER: JSON Web Tokens, checked with the keys of a JSON Web Key Set.

Where the keys are from: key_sets.py. Algorithms: RS256, RS384, RS512, ES256, ES384, ES512. Needs
the package `cryptography`, of the extra `odradek[tls]`.

Left out: encrypted tokens. Source: RFC 7515, RFC 7517, RFC 7518,
KIP-768; Kafka 4.3.1's BrokerJwtValidator.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any

from .key_sets import Key, Keys
from .oauthbearer import BadToken, Claims, judged, split

_CURVES = {"ES256": ("P-256", 32), "ES384": ("P-384", 48), "ES512": ("P-521", 66)}


class Signed:
    """Judges tokens."""

    def __init__(
        self, keys: Keys, *, audience: list[str], issuer: str | None, user_claim: str, skew_ms: int
    ) -> None:
        self._keys = keys
        self._audience = set(audience)
        self._issuer = issuer
        self._user_claim = user_claim
        self._skew_ms = skew_ms

    def __call__(self, token: str, now: int) -> Claims:
        """What a token says. Raises BadToken."""
        header, claims, signature = split(token)
        keys = self._keys(header.get("kid"), now)
        signed = token.rpartition(".")[0].encode()
        if not any(_holds(key, header, signed, signature) for key in _fitting(keys, header)):
            raise BadToken("a token that no known key has signed")
        heard = claims.get("aud")
        audience = set(heard if isinstance(heard, list) else [heard])
        if self._audience and not self._audience & audience:
            raise BadToken("a token for another audience")
        if self._issuer is not None and claims.get("iss") != self._issuer:
            raise BadToken("a token of another issuer")
        return judged(claims, now, skew_ms=self._skew_ms, user_claim=self._user_claim)


def _fitting(keys: tuple[Key, ...], header: Mapping[str, Any]) -> list[Key]:
    """Those that may have signed it."""
    kid = header.get("kid")
    return [key for key in keys if kid is None or key.get("kid") == kid]


def _holds(
    key: Mapping[str, Any], header: Mapping[str, Any], signed: bytes, signature: bytes
) -> bool:
    """Whether a signature was made with a key, by the algorithm of the header."""
    algorithm = str(header.get("alg"))
    try:
        if algorithm in _CURVES and key.get("kty") == "EC":
            return _holds_ec(key, algorithm, signed, signature)
        if algorithm in ("RS256", "RS384", "RS512") and key.get("kty") == "RSA":
            return _holds_rsa(key, algorithm, signed, signature)
    except (KeyError, ValueError, TypeError):
        return False
    return False


def _hash(algorithm: str) -> Any:
    from cryptography.hazmat.primitives import hashes

    known: dict[str, Any] = {
        "256": hashes.SHA256,
        "384": hashes.SHA384,
        "512": hashes.SHA512,
    }
    return known[algorithm[2:]]()


def _holds_rsa(key: Mapping[str, Any], algorithm: str, signed: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    public = rsa.RSAPublicNumbers(_number(key["e"]), _number(key["n"])).public_key()
    try:
        public.verify(signature, signed, padding.PKCS1v15(), _hash(algorithm))
    except InvalidSignature:
        return False
    return True


def _holds_ec(key: Mapping[str, Any], algorithm: str, signed: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    name, size = _CURVES[algorithm]
    curves: dict[str, ec.EllipticCurve] = {
        "P-256": ec.SECP256R1(),
        "P-384": ec.SECP384R1(),
        "P-521": ec.SECP521R1(),
    }
    if key.get("crv") != name or len(signature) != 2 * size:
        return False
    numbers = ec.EllipticCurvePublicNumbers(_number(key["x"]), _number(key["y"]), curves[name])
    both = int.from_bytes(signature[:size]), int.from_bytes(signature[size:])
    try:
        numbers.public_key().verify(encode_dss_signature(*both), signed, ec.ECDSA(_hash(algorithm)))
    except InvalidSignature:
        return False
    return True


def _number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
