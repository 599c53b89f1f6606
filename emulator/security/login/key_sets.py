"""The keys that tokens are signed with: JSON Web Key Sets, of a file or of an address.

`sasl.oauthbearer.jwks.endpoint.url` says where. A file (`file:///...`) is read again when it was
written again. An address of http or https is asked when the broker starts, which fails without an
answer; later by a thread of its own, so that a slow one holds nobody up. The keys that are known
stay until it has answered:

- by the first login `sasl.oauthbearer.jwks.endpoint.refresh.ms` after the last time;
- at once when a token names a key that is not known, for each such name once a minute. That login
  fails; the next one meets the new keys.
- After a failure not before `...retry.backoff.ms`, and twice as long each time, up to
  `...retry.backoff.max.ms`.

Times are those of the broker's clock. Left out: Kafka asks by a timer, not by logins; wants the
address in the JVM's `org.apache.kafka.sasl.oauthbearer.allowed.urls`; takes `ssl.` configs for it:
here the authorities are those of Python's `ssl` (SSL_CERT_FILE). Source: RFC 7517, KIP-768; Kafka
4.3.1's RefreshingHttpsJwks.

Signed tokens of OAUTHBEARER: JSON Web Tokens, checked with the keys of a JSON Web Key Set.

Where the keys are from: key_sets.py. Algorithms: RS256, RS384, RS512, ES256, ES384, ES512. Needs
the package `cryptography`, of the extra `odradek[tls]`.

Left out: encrypted tokens. Source: RFC 7515, RFC 7517, RFC 7518,
KIP-768; Kafka 4.3.1's BrokerJwtValidator.
"""

from __future__ import annotations

import json
import threading
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from ...base.logger import log
from ...config.definition import ConfigError
from ...config.listener_configs import ListenerConfig
from .oauthbearer import NAME, BadToken, Claims, judged, split

_URL = "sasl.oauthbearer.jwks.endpoint.url"
_REFRESH_MS = "sasl.oauthbearer.jwks.endpoint.refresh.ms"
_BACKOFF_MS = "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms"
_BACKOFF_MOST_MS = "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"
_TIMEOUT_S = 10.0
_MOST_BYTES = 1 << 20
_MISSING_MS = 60_000
_MOST_MISSING = 16
_LONGEST_NAME = 1000

Key = Mapping[str, Any]


class Keys(Protocol):
    def __call__(self, wanted: Any, now: int) -> tuple[Key, ...]:
        """Those that are known. `wanted` is what a token names as its key; None if it names none.
        Raises BadToken if they cannot be read."""
        ...


class FileKeys:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, wanted: Any, now: int) -> tuple[Key, ...]:
        try:
            return _keys_in(self._path, self._path.stat().st_mtime_ns)
        except (OSError, ValueError):
            raise BadToken("the keys cannot be read") from None


class RemoteKeys:
    """Those at an address. Raises OSError, ValueError."""

    def __init__(self, url: str, now: int, *, refresh_ms: int, backoff_ms: tuple[int, int]) -> None:
        self._url = url
        self._refresh_ms = refresh_ms
        self._backoff_ms, self._backoff_most_ms = backoff_ms
        self._failures = 0
        self._asked_at = now
        self._missing: dict[str, int] = {}  # names of keys that are not known, and when each came
        self._asking: threading.Thread | None = None
        self._keys = _fetched(url)

    def __call__(self, wanted: Any, now: int) -> tuple[Key, ...]:
        if self._is_due(now) or self._is_new(wanted, now):
            self._ask(now)
        return self._keys

    def _is_due(self, now: int) -> bool:
        wait_ms = self._refresh_ms
        if self._failures:
            wait_ms = min(self._backoff_ms << min(self._failures - 1, 20), self._backoff_most_ms)
        return now - self._asked_at >= wait_ms

    def _is_new(self, wanted: Any, now: int) -> bool:
        """Whether a key is not known, and was not missed lately."""
        if not isinstance(wanted, str) or len(wanted) > _LONGEST_NAME:
            return False
        if any(key.get("kid") == wanted for key in self._keys):
            return False
        before = self._missing.pop(wanted, None)
        is_new = before is None or now - before >= _MISSING_MS
        self._missing[wanted] = now if is_new or before is None else before
        if len(self._missing) > _MOST_MISSING:
            del self._missing[next(iter(self._missing))]
        return is_new

    def _ask(self, now: int) -> None:
        if self._asking is None or not self._asking.is_alive():
            self._asked_at = now
            self._asking = threading.Thread(target=self._fetch, name="odradek-keys", daemon=True)
            self._asking.start()

    def _fetch(self) -> None:
        try:
            self._keys = _fetched(self._url)
        except (OSError, ValueError) as error:
            self._failures += 1
            log.warning("%s: keys were not read again: %s", _URL, error)
        else:
            self._failures = 0


class KeySets:
    """The keys of a broker's listeners, by their address."""

    def __init__(self) -> None:
        self._remote: dict[tuple[Any, ...], RemoteKeys] = {}

    def of(self, config: ListenerConfig, now: int) -> Keys:
        """Those of one listener. Raises ConfigError if they have never been read."""
        url: str = config.get(_URL, NAME)
        path = _path(url)
        if path is not None:
            return FileKeys(path)
        numbers = [config.get(name, NAME) for name in (_REFRESH_MS, _BACKOFF_MS, _BACKOFF_MOST_MS)]
        place = url, *numbers
        if place not in self._remote:
            refresh, least, most = numbers
            try:
                made = RemoteKeys(url, now, refresh_ms=refresh, backoff_ms=(least, most))
            except (OSError, ValueError) as error:
                where = urlsplit(url).hostname
                raise ConfigError(_URL, f"{_URL}: no keys from {where}: {error}") from None
            self._remote[place] = made
        return self._remote[place]


def check_keys(config: ListenerConfig) -> None:
    """Raises ConfigError for a place where no keys can be, and for a file that has none; addresses
    are not asked."""
    url = config.get(_URL, NAME)
    if url is None:
        return
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise ConfigError(
            _URL, f"{_URL}: signed tokens need a package: pip install 'odradek[tls]'"
        ) from None
    path = _path(url)
    try:
        if path is not None:
            _keys_in(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise ConfigError(_URL, f"{_URL}: {path}: {error.strerror}") from None
    except ValueError:
        raise ConfigError(_URL, f"{_URL}: {path} is no JSON Web Key Set") from None


def _path(url: str) -> Path | None:
    """The file; None if it is an address. Raises ConfigError."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ConfigError(_URL, f"{_URL}: its host or port cannot be read") from None
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    if parts.scheme not in ("http", "https"):
        why = (
            f"keys are at file:///..., http:// or https://, not at {parts.scheme or 'a bare path'}"
        )
        raise ConfigError(_URL, f"{_URL}: {why}")
    if not has_host:
        raise ConfigError(_URL, f"{_URL}: it names no host")
    return None


@lru_cache(maxsize=16)
def _keys_in(path: Path, written: int) -> tuple[Key, ...]:
    """Raises OSError, ValueError."""
    return _parsed(path.read_bytes())


def _fetched(url: str) -> tuple[Key, ...]:
    """Raises OSError, ValueError. No proxy is asked, as Kafka asks none."""
    # Not at the head: clients of HTTP are many modules, and every broker would load them.
    from http.client import HTTPException
    from urllib.request import ProxyHandler, build_opener

    try:
        with build_opener(ProxyHandler({})).open(url, timeout=_TIMEOUT_S) as answer:
            return _parsed(answer.read(_MOST_BYTES))
    except HTTPException as error:
        raise OSError(f"no answer of HTTP ({type(error).__name__})") from None


def _parsed(data: bytes) -> tuple[Key, ...]:
    """Raises ValueError."""
    try:
        found = json.loads(data)
    except ValueError:
        raise ValueError("it is no JSON Web Key Set") from None
    keys = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(keys, list) or not all(isinstance(each, dict) for each in keys):
        raise ValueError("it is no JSON Web Key Set")
    return tuple(keys)


_CURVES = {"ES256": ("P-256", 32), "ES384": ("P-384", 48), "ES512": ("P-521", 66)}


class Signed:
    def __init__(
        self, keys: Keys, *, audience: list[str], issuer: str | None, user_claim: str, skew_ms: int
    ) -> None:
        self._keys = keys
        self._audience = set(audience)
        self._issuer = issuer
        self._user_claim = user_claim
        self._skew_ms = skew_ms

    def __call__(self, token: str, now: int) -> Claims:
        """The claims of a token. Raises BadToken."""
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
    kid = header.get("kid")
    return [key for key in keys if kid is None or key.get("kid") == kid]


def _holds(
    key: Mapping[str, Any], header: Mapping[str, Any], signed: bytes, signature: bytes
) -> bool:
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
