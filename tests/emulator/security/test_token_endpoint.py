"""The token endpoint of tests: whom it gives tokens, and a broker that has its keys from there."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from odradek import ConfigError, Emulator, TokenEndpoint
from odradek.compat.clients.time_limits import wait_until
from odradek.emulator.security.login.key_sets import RemoteKeys
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from tests.support.connection import Connection

GRANT = {"grant_type": "client_credentials"}
HOUR_MS = 3_600_000


@pytest.fixture
def tokens() -> Iterator[TokenEndpoint]:
    with TokenEndpoint({"alice": "a secret"}) as made:
        yield made


def posted(tokens: TokenEndpoint, form: dict[str, str], basic: str = "") -> tuple[int, object]:
    """Status and content of the answer to a form."""
    parts = urlsplit(tokens.url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if basic:
        headers["Authorization"] = f"Basic {b64encode(basic.encode()).decode()}"
    connection.request("POST", parts.path, urlencode(form), headers)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


def test_a_client_that_shows_its_secret_is_given_a_token(tokens: TokenEndpoint) -> None:
    shown = {"client_id": "alice", "client_secret": "a secret"}
    for form, basic in (({**GRANT, **shown}, ""), (GRANT, "alice:a secret")):
        status, content = posted(tokens, form, basic)
        assert status == 200
        assert isinstance(content, dict)
        assert (content["token_type"], content["expires_in"]) == ("Bearer", 3600)
        assert content["access_token"].count(".") == 2
    assert tokens.given == 2


@pytest.mark.parametrize(
    ("form", "basic", "status", "error"),
    [
        (GRANT, "alice:wrong", 401, "invalid_client"),
        (GRANT, "nobody:a secret", 401, "invalid_client"),
        (GRANT, "", 401, "invalid_client"),
        ({"grant_type": "password"}, "alice:a secret", 400, "unsupported_grant_type"),
    ],
)
def test_others_are_not(
    tokens: TokenEndpoint, form: dict[str, str], basic: str, status: int, error: str
) -> None:
    assert posted(tokens, form, basic) == (status, {"error": error})
    assert tokens.given == 0


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="clients is a mapping"):
        TokenEndpoint("alice")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="neither an id nor a secret is empty"):
        TokenEndpoint({"alice": ""})
    with pytest.raises(ValueError, match="lifetime_s is at least 1"):
        TokenEndpoint(lifetime_s=0)
    with pytest.raises(RuntimeError, match="does not listen"):
        _ = TokenEndpoint().url
    with TokenEndpoint({"alice": "a"}) as made:
        with pytest.raises(ValueError, match="name is one of the clients, 'alice'; not 'bob'"):
            made.client_config("java", "bob")
        with pytest.raises(ValueError, match="client is one of confluent"):
            made.client_config("aiokafka", "alice")


# A broker


def broker(tokens: TokenEndpoint, **more: object) -> Emulator:
    return Emulator({**tokens.broker_config, **more}, security="SASL_PLAINTEXT")  # type: ignore[dict-item]


def logs_in(kafka: Emulator, token: str) -> bool:
    """Whether somebody who shows this token is let in."""
    with Connection(kafka.bootstrap_servers) as connection:
        connection.ask(SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
        shown = f"n,,\x01auth=Bearer {token}\x01\x01".encode()
        answer = connection.ask(SaslAuthenticateRequest(auth_bytes=shown), 2)
        return not answer.auth_bytes


def test_a_broker_takes_its_tokens_and_no_others(tokens: TokenEndpoint) -> None:
    with broker(tokens) as kafka, TokenEndpoint() as stranger:
        assert logs_in(kafka, tokens.token("alice"))
        assert not logs_in(kafka, stranger.token("alice"))
        assert not logs_in(kafka, kafka.unsecured_token("alice"))


def test_a_new_key_is_fetched_when_a_token_names_it(tokens: TokenEndpoint) -> None:
    with broker(tokens) as kafka:
        old = tokens.token("alice")
        tokens.new_key()
        new = tokens.token("alice")
        assert not logs_in(kafka, new)
        wait_until(lambda: logs_in(kafka, new), "the new key")
        assert not logs_in(kafka, old)


def test_keys_that_were_withdrawn_go_with_the_next_refresh(tokens: TokenEndpoint) -> None:
    config = {"sasl.oauthbearer.jwks.endpoint.refresh.ms": "1000"}
    with broker(tokens, **config) as kafka:
        old = tokens.token("alice")
        tokens.new_key()
        wait_until(lambda: not logs_in(kafka, old), "the keys of the next refresh")


def test_an_endpoint_that_does_not_answer_holds_nobody_up(tokens: TokenEndpoint) -> None:
    with broker(tokens) as kafka:
        good, port = tokens.token("alice"), urlsplit(tokens.url).port
        tokens.stop()
        with socket.create_server(("127.0.0.1", port)) as silent:
            with TokenEndpoint() as stranger:
                assert not logs_in(kafka, stranger.token("alice"))
            connection, _ = silent.accept()  # it is asked, and does not answer
            assert logs_in(kafka, good)
            connection.close()
        wait_until(lambda: not _asks(), "the end of the question")
        assert logs_in(kafka, good)


def _asks() -> bool:
    return any(each.name == "odradek-keys" for each in threading.enumerate())


def test_a_broker_does_not_start_without_keys(tmp_path: Path) -> None:
    name = "sasl.oauthbearer.jwks.endpoint.url"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    config = {"sasl.enabled.mechanisms": "OAUTHBEARER", name: f"http://127.0.0.1:{port}/keys"}
    kafka = Emulator(config, security="SASL_PLAINTEXT", data_dir=tmp_path)
    for _ in range(2):
        with pytest.raises(ConfigError, match=rf"^{name}: no keys from 127.0.0.1: .*refused"):
            kafka.start()
    for url in ("http:///keys", "http://host:x/keys"):
        with pytest.raises(ConfigError, match=rf"^{name}: it"):
            Emulator({**config, name: url}, security="SASL_PLAINTEXT")


def test_after_failures_it_asks_more_and_more_rarely(tokens: TokenEndpoint) -> None:
    keys = RemoteKeys(tokens.keys_url, 0, refresh_ms=HOUR_MS, backoff_ms=(100, 250))
    tokens.stop()

    def asked(now: int) -> bool:
        before = keys._asked_at
        assert keys(None, now)
        wait_until(lambda: not _asks(), "the end of the question")
        return keys._asked_at != before

    times = [HOUR_MS - 1, HOUR_MS, HOUR_MS + 99, HOUR_MS + 100, HOUR_MS + 299, HOUR_MS + 300]
    assert [asked(now) for now in times] == [False, True, False, True, False, True]
    assert not asked(HOUR_MS + 549)
    assert asked(HOUR_MS + 550)  # not 400 later: 250 is the most
