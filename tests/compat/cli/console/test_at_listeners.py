"""`odradek acls`, `quotas` and `users` at listeners with TLS and a log-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main

from tests.support.security_verbs import Shell, made_seen_and_removed, refused

LISTENERS = ("SASL_SSL", "SASL_PLAINTEXT", "SSL")


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    config = {
        "listeners": ",".join(f"{name}://127.0.0.1:0" for name in LISTENERS),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "ssl.client.auth": "requested",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?)$/$1/,DEFAULT",
        "super.users": "User:alice",
    }
    users = {"alice": "secret", "bob": "word"}
    with Emulator(config, users=users, acls=True) as made:
        yield made


def shell_as(
    kafka: Emulator, listener: str, user: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """A shell at a listener, with the properties of its client in a file."""
    host, port = kafka.run(lambda cluster: cluster.nodes[1].at(listener))
    config = {"security.protocol": listener}
    if listener.endswith("SSL"):
        config["ssl.ca.location"] = str(kafka.certificates.write_ca(folder / "ca.pem"))
    if listener.startswith("SASL"):
        password = {"alice": "secret", "bob": "word"}[user]
        config |= {"sasl.mechanism": "SCRAM-SHA-256"}
        config |= {"sasl.username": user, "sasl.password": password}
    else:
        path = kafka.certificates.client(user).write(folder / f"{user}.pem")
        config["ssl.keystore.location"] = str(path)
    file = folder / f"{user}.properties"
    file.write_text("".join(f"{name}={text}\n" for name, text in config.items()))

    def run(view: str, *given: str, status: int = 0) -> str:
        done = main([view, f"{host}:{port}", "--command-config", str(file), *given])
        out = capsys.readouterr()
        assert done == status, out
        return out.err if status else out.out

    return run


@pytest.mark.slow
@pytest.mark.parametrize("listener", LISTENERS)
def test_who_may_makes_sees_and_removes(
    kafka: Emulator, listener: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = shell_as(kafka, listener, "alice", tmp_path, capsys)
    made_seen_and_removed(shell, f"ann-{listener.lower()}")


@pytest.mark.parametrize("listener", LISTENERS)
def test_who_may_not_learns_so(
    kafka: Emulator, listener: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(shell_as(kafka, listener, "bob", tmp_path, capsys))
