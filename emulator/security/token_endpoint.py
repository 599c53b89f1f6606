"""A small token endpoint for tests: an HTTP server in a thread, which signs JSON Web Tokens.

    POST /token   a token by `grant_type=client_credentials`; the client's id is the token's subject
    GET  /keys    the public keys, as a JSON Web Key Set

A client shows its id and secret by the header Authorization (Basic), or as `client_id` and
`client_secret` in the form. Tokens are signed by ES256. Times are those of the machine's clock, by
which clients judge tokens, too. Needs the package `cryptography`, of the extra `odradek[tls]`.

Left out: other grants, refresh tokens, TLS. Source: RFC 6749 (4.4, 5), RFC 7517, RFC 7519.
"""

from __future__ import annotations

import json
import threading
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import compare_digest, token_hex
from typing import Any
from urllib.parse import parse_qs

from ..base.real_time import wall_time
from .login.oauthbearer import NAME
from .mechanisms import LoginModule, written
from .tls.certificates import TlsUnavailable

_MODULES = "org.apache.kafka.common.security.oauthbearer"
_HANDLER = f"{_MODULES}.OAuthBearerLoginCallbackHandler"
_JAVA, _LIBRDKAFKA = ("java", "spark"), ("confluent", "librdkafka")
_MOST_BYTES = 1 << 16
_SIZE = 32  # bytes of a number of P-256


class TokenEndpoint:
    """Gives tokens to clients, and their keys to a broker:

    `with TokenEndpoint({"alice": "secret"}) as tokens, Emulator(tokens.broker_config, ...):`

    `clients` are ids and secrets; without them every id is given a token. Raises TypeError,
    ValueError; TlsUnavailable without the package that signs.
    """

    def __init__(
        self, clients: Mapping[str, str] | None = None, *, lifetime_s: float = 3600
    ) -> None:
        if clients is not None and not isinstance(clients, Mapping):
            raise TypeError("clients is a mapping, id of a client -> secret")
        for name, secret in (clients or {}).items():
            if not isinstance(name, str) or not isinstance(secret, str):
                raise TypeError("clients is a mapping, id of a client -> secret, both a str")
            if not name or not secret:
                raise ValueError("clients: neither an id nor a secret is empty")
        if not isinstance(lifetime_s, int | float) or lifetime_s < 1:
            raise ValueError(f"lifetime_s is at least 1, in seconds, not {lifetime_s!r}")
        self._clients = None if clients is None else dict(clients)
        self._lifetime_s = lifetime_s
        self.given = 0
        """How many tokens clients were given."""
        self.new_key()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<token endpoint, {self.given} tokens given>"

    def start(self) -> TokenEndpoint:
        """Listen at a free port of this machine."""
        if self._server is None:
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
            self._server.daemon_threads = True
            serve = self._server.serve_forever
            self._thread = threading.Thread(target=serve, args=(0.02,), daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Listen no more."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = self._thread = None

    def __enter__(self) -> TokenEndpoint:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # For clients and brokers

    @property
    def url(self) -> str:
        """Where clients get tokens. Raises RuntimeError before `start`."""
        return f"{self._address}/token"

    @property
    def keys_url(self) -> str:
        """Where brokers get the keys. Raises RuntimeError before `start`."""
        return f"{self._address}/keys"

    @property
    def broker_config(self) -> dict[str, str]:
        """Configs of a broker that takes these tokens, and no others."""
        return {
            "sasl.enabled.mechanisms": NAME,
            "sasl.oauthbearer.jwks.endpoint.url": self.keys_url,
        }

    def client_config(self, client: str, name: str) -> dict[str, Any]:
        """Settings by which a stock client gets its tokens here, to be added to those of
        `kafka.client_config(client, mechanism="OAUTHBEARER")`. A client of Java also needs the
        property `-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls` with `url`. Raises ValueError
        for a client that has no such settings, and for an id that there is not."""
        if self._clients is not None and name not in self._clients:
            known = ", ".join(map(repr, self._clients)) or "none"
            raise ValueError(f"name is one of the clients, {known}; not {name!r}")
        secret = "any" if self._clients is None else self._clients[name]
        if client in _LIBRDKAFKA:
            return {
                "enable.sasl.oauthbearer.unsecure.jwt": False,
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.token.endpoint.url": self.url,
                "sasl.oauthbearer.client.id": name,
                "sasl.oauthbearer.client.secret": secret,
            }
        if client in _JAVA:
            options = {"clientId": name, "clientSecret": secret}
            found = {
                "sasl.jaas.config": written(
                    LoginModule(f"{_MODULES}.OAuthBearerLoginModule", options)
                ),
                "sasl.login.callback.handler.class": _HANDLER,
                "sasl.oauthbearer.token.endpoint.url": self.url,
            }
            prefix = "kafka." if client == "spark" else ""
            return {f"{prefix}{each}": text for each, text in found.items()}
        known = ", ".join((*_LIBRDKAFKA, *_JAVA))
        raise ValueError(
            f"client is one of {known}, not {client!r}; others call tokens.token(name) themselves"
        )

    @property
    def _address(self) -> str:
        if self._server is None:
            raise RuntimeError("the token endpoint does not listen: start it, or use `with`")
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    # Tokens and keys

    def new_key(self) -> None:
        """Sign with a new key from now on; the old one is not among the keys any more. Raises
        TlsUnavailable."""
        try:
            from cryptography.hazmat.primitives.asymmetric import ec
        except ImportError:
            raise TlsUnavailable(
                "tokens are signed by a package: pip install 'odradek[tls]'"
            ) from None
        self._key = ec.generate_private_key(ec.SECP256R1()), token_hex(8)

    def token(self, name: str, **claims: Any) -> str:
        """A token of a client; `claims` are added to its own (`sub`, `iat`, `exp`), or replace
        them."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        key, key_id = self._key
        now = int(wall_time())
        said = {"sub": name, "iat": now, "exp": now + int(self._lifetime_s), **claims}
        text = f"{_json_part({'alg': 'ES256', 'kid': key_id})}.{_json_part(said)}"
        both = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{_part(b''.join(each.to_bytes(_SIZE) for each in both))}"

    def keys(self) -> dict[str, Any]:
        """The public keys, as a JSON Web Key Set."""
        key, key_id = self._key
        point = key.public_key().public_numbers()
        place = {"x": _part(point.x.to_bytes(_SIZE)), "y": _part(point.y.to_bytes(_SIZE))}
        return {"keys": [{"kty": "EC", "crv": "P-256", "kid": key_id, "use": "sig", **place}]}

    def answer(self, authorization: str, form: Mapping[str, list[str]]) -> tuple[int, Any]:
        """Status and content of the answer to a client that asks for a token."""
        if form.get("grant_type") != ["client_credentials"]:
            return 400, {"error": "unsupported_grant_type"}
        name, secret = _credentials(authorization, form)
        if not name or not self._is_client(name, secret):
            return 401, {"error": "invalid_client"}
        self.given += 1
        scope = {"scope": form["scope"][0]} if "scope" in form else {}
        lifetime = {"expires_in": int(self._lifetime_s)}
        token = self.token(name, **scope)
        return 200, {"access_token": token, "token_type": "Bearer", **lifetime, **scope}

    def _is_client(self, name: str, secret: str) -> bool:
        if self._clients is None:
            return True
        wanted = self._clients.get(name)
        return wanted is not None and compare_digest(wanted.encode(), secret.encode())


def _credentials(authorization: str, form: Mapping[str, list[str]]) -> tuple[str, str]:
    """Id and secret of a client, empty if it shows none."""
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() != "basic":
        return form.get("client_id", [""])[0], form.get("client_secret", [""])[0]
    try:
        name, _, secret = b64decode(text, validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return name, secret


def _handler(endpoint: TokenEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            self._send(*((200, endpoint.keys()) if self.path == "/keys" else (404, {})))

        def do_POST(self) -> None:
            size = self.headers.get("Content-Length", "")
            if self.path != "/token":
                self._send(404, {})
            elif not size.isdecimal() or int(size) > _MOST_BYTES:
                self._send(400, {"error": "invalid_request"})
            else:
                form = parse_qs(self.rfile.read(int(size)).decode("utf-8", "replace"))
                self._send(*endpoint.answer(self.headers.get("Authorization", ""), form))

        def _send(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is logged: a request may have a secret in it."""

    return Handler


def _json_part(value: object) -> str:
    return _part(json.dumps(value).encode())


def _part(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
