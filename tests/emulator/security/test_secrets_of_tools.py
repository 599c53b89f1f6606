"""No secret is written by what is around a broker: the shell, a token endpoint, saved states."""

from __future__ import annotations

import json
import logging
import stat
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from odradek import ConfigError, Emulator, TokenEndpoint
from odradek.compat.cli.main import main
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from tests.support.connection import Connection

PASSWORD, WRONG, KEY = "opensesame-1", "opensesame-2", "opensesame-3"
SECRETS = (PASSWORD, WRONG, KEY)


def is_hidden(secret: str | bytes, where: str | bytes) -> bool:
    """Whether a secret is nowhere in this, neither as it is nor encoded."""
    data = secret.encode() if isinstance(secret, str) else secret
    text = where.encode() if isinstance(where, str) else where
    forms = (data, data.hex().encode(), b64encode(data).rstrip(b"="))
    return not any(form in text for form in forms)


# A token endpoint, and the keys of its tokens


def asked_for_a_token(tokens: TokenEndpoint, secret: str) -> str:
    shown = b64encode(f"alice:{secret}".encode()).decode()
    body = b"grant_type=client_credentials"
    request = Request(tokens.url, body, {"Authorization": f"Basic {shown}"})
    try:
        with urlopen(request, timeout=30) as answer:
            return str(answer.read().decode())
    except HTTPError as error:
        with error:
            return f"{error} {error.read().decode()}"


def test_a_token_endpoint_and_its_keys(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        TokenEndpoint({"alice": PASSWORD}) as tokens,
        Emulator(tokens.broker_config, security="SASL_PLAINTEXT", journal=True) as kafka,
    ):
        given = json.loads(asked_for_a_token(tokens, PASSWORD))["access_token"]
        refused = asked_for_a_token(tokens, WRONG)
        damaged = given[:-10] + "AAAAAAAAAA"
        expired = tokens.token("alice", exp=1)
        for token in (given, damaged, expired):
            with Connection(kafka.bootstrap_servers) as client:
                client.ask(SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
                message = f"n,,\x01auth=Bearer {token}\x01\x01".encode()
                for data in (message, b"\x01"):
                    with suppress(EOFError, OSError):
                        client.ask(SaslAuthenticateRequest(auth_bytes=data), 2)
        with pytest.raises(ValueError, match="clients") as raised:
            tokens.client_config("confluent", "nobody")
        kafka.journal.save(path := tmp_path / "journal.jsonl")
        written = [kafka.timeline(), repr(kafka.events), str(list(kafka.journal)), path.read_text()]
        written += [repr(tokens), refused, str(raised.value), caplog.text, repr(kafka)]
        written += [repr(kafka.log_in_failures), *capfd.readouterr()]
        assert len(kafka.log_in_failures) >= 2
        private = f"{tokens._key[0].private_numbers().private_value:x}"
    everything = "\n".join(written)
    assert "as User:alice" in everything
    for secret in (PASSWORD, WRONG, given, damaged, expired, private):
        assert is_hidden(secret, everything)
    for token in (given, damaged, expired):
        assert token.rpartition(".")[2] not in everything


def test_an_address_of_keys_with_a_password_in_it(caplog: pytest.LogCaptureFixture) -> None:
    config = {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": f"http://alice:{PASSWORD}@127.0.0.1:9/keys",
    }
    with pytest.raises(ConfigError, match=r"no keys from 127\.0\.0\.1") as raised:
        Emulator(config, security="SASL_PLAINTEXT").start()
    assert is_hidden(PASSWORD, str(raised.value))
    assert is_hidden(PASSWORD, caplog.text)


# Saved states


@pytest.mark.parametrize("name", ["state.tar", "state.tar.gz"])
def test_a_saved_state_is_its_owners_and_has_no_password(tmp_path: Path, name: str) -> None:
    config = {"delegation.token.secret.key": KEY}
    users = {"alice": PASSWORD}
    with Emulator(config, security="SASL_PLAINTEXT", users=users, topics={"t": 1}) as kafka:
        with Connection(kafka.bootstrap_servers) as alice:
            alice.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
            alice.ask(SaslAuthenticateRequest(auth_bytes=f"\0alice\0{PASSWORD}".encode()), 2)
            request = CreateDelegationTokenRequest(
                owner_principal_type="", owner_principal_name="", renewers=[], max_lifetime_ms=-1
            )
            assert alice.ask(request, 3).error_code == 0
        path = kafka.snapshot().save(tmp_path / name)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        kafka.restore(path)
    with Emulator(config, security="SASL_PLAINTEXT", users=users, state=path) as kafka:
        assert kafka.topic("t").values() == []
        plain = kafka.snapshot().save(tmp_path / "plain.tar")
    for secret in (PASSWORD, KEY):
        assert is_hidden(secret, plain.read_bytes())


# The shell


@contextmanager
def served(tmp_path: Path, *options: str) -> Iterator[tuple[str, Path]]:
    """`odradek serve`: its address, and the folder of everything that it writes."""
    command = [sys.executable, "-m", "odradek.compat.cli", "serve", "--port", "0", *options]
    command += ["--log-level", "debug", "--ready-file", str(tmp_path / "ready")]
    command += ["--journal", str(tmp_path / "journal.jsonl")]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        assert line.startswith("odradek ready at"), (tmp_path / "log").read_text()
        yield line.split()[3], tmp_path
    finally:
        process.terminate()
        (tmp_path / "out").write_text(line + process.stdout.read())
        process.stdout.close()
        process.wait(60)


def test_the_user_of_serve_and_the_password_of_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profiles = tmp_path / "profiles.toml"
    monkeypatch.setenv("ODRADEK_PROFILES", str(profiles))
    (tmp_path / "written").mkdir()
    given = ("--security", "SASL_PLAINTEXT", "--user", f"alice:{PASSWORD}")
    with served(tmp_path / "written", *given) as (address, folder):
        for number, password in enumerate((PASSWORD, WRONG)):
            profiles.write_text(
                f'[here]\nbootstrap.servers = "{address}"\nsecurity.protocol = "SASL_PLAINTEXT"\n'
                f'sasl.mechanism = "PLAIN"\nsasl.username = "alice"\nsasl.password = "{password}"\n'
            )
            assert main(["topics", "--profile", "here"]) == number
        shown = ("users", "--profile", "here", "-X", f"sasl.password={PASSWORD}")
        assert main([*shown, "add", "bob", "--password", KEY]) == 0
        assert main([*shown, "list"]) == 0
    said = capsys.readouterr()
    assert "does not let alice (PLAIN) in" in said.err
    written = [each.read_text() for each in folder.iterdir()]
    everything = "\n".join([*written, said.out, said.err])
    assert "log-in failed: alice, PLAIN, wrong password" in everything
    for secret in SECRETS:
        assert is_hidden(secret, everything)


@pytest.mark.parametrize(
    "text",
    [
        f'[here]\nsasl.pasword = "{PASSWORD}"\n',
        f'[here]\nsasl.password = "{PASSWORD}\n',
        f'[here]\nsecurity.protocol = "SASL_SSL"\nsasl.password = "{PASSWORD}"\n',
        f'[here]\nsecurity.protocol = "SASL_SSL"\nsasl.mechanism = "PLAIN"\n'
        f'sasl.jaas.config = "x {PASSWORD}"\n',
        f'[here]\nsasl.mechanism = "PLAIN"\nsasl.password = "{PASSWORD}"\n',
        f'[here]\nsecurity.protocol = "SSL"\nssl.key.pem = "{PASSWORD}"\n',
    ],
)
def test_a_profile_that_is_wrong_is_not_quoted(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profiles = tmp_path / "profiles.toml"
    profiles.write_text(text)
    monkeypatch.setenv("ODRADEK_PROFILES", str(profiles))
    with suppress(SystemExit):
        assert main(["topics", "--profile", "here", "-b", "127.0.0.1:9"]) != 0
    said = capsys.readouterr()
    assert said.err
    assert is_hidden(PASSWORD, said.out + said.err)
