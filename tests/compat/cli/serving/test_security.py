"""`serve --security ... --user ...`: what it says, and what it takes."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.cli.serving.security import add_security, tell_access, tell_reach
from odradek.emulator.security.tls.certificates import Certificates


def options(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_security(parser)
    return parser.parse_args(given)


def test_protocol_and_users_are_read() -> None:
    found = options("--security", "SASL_SSL", "--user", "alice:a:b", "--user", "bob:c")
    assert found.security == "SASL_SSL"
    assert found.user == [("alice", "a:b"), ("bob", "c")]


@pytest.mark.parametrize("text", ["opensesame", ":opensesame", "opensesame:"])
def test_what_is_no_user_is_refused_and_not_quoted(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        options("--user", text)
    said = capsys.readouterr().err
    assert "argument --user: not of the form NAME:PASSWORD" in said
    assert "opensesame" not in said


def test_a_user_with_two_passwords_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options("--user", "alice:opensesame", "--user", "bob:b", "--user", "alice:other")
    said = capsys.readouterr().err
    assert "argument --user: alice is there twice" in said
    assert "opensesame" not in said


def said_by(**arguments: Any) -> list[str]:
    lines: list[str] = []
    with Emulator(**arguments) as kafka, ExitStack() as running:
        tell_access(kafka, running, lines.append)
        tell_reach(kafka, lines.append)
        for line in lines:
            if "ssl.ca.location=" in line:
                path = Path(line.rpartition("=")[2])
                assert path.read_text() == kafka.certificates.ca
        return [line.replace(kafka.bootstrap_servers, "HOST:PORT") for line in lines]


def test_it_says_what_clients_need() -> None:
    (line,) = said_by(security="SASL_SSL", users={"alice": "opensesame"})
    assert line.startswith(
        "clients of SASL_SSL need bootstrap.servers=HOST:PORT, security.protocol=SASL_SSL, "
        "sasl.mechanism=PLAIN or SCRAM-SHA-256 or SCRAM-SHA-512, sasl.username=alice, "
        "ssl.ca.location="
    )
    assert "opensesame" not in line


def test_it_says_who_else_can_reach_it() -> None:
    assert said_by() == []
    assert said_by(host="0.0.0.0") == [
        "anyone who reaches this machine can use the broker: 0.0.0.0 (PLAINTEXT)"
    ]
    lines = said_by(host="0.0.0.0", security="SASL_PLAINTEXT", users={"alice": "x"})
    assert not any("anyone" in line for line in lines)


def ca_of(data_dir: Path) -> tuple[str, list[str]]:
    lines: list[str] = []
    with Emulator(security="SSL", data_dir=data_dir) as kafka, ExitStack() as running:
        tell_access(kafka, running, lines.append, str(data_dir))
        return kafka.certificates.ca, lines


def test_the_authority_is_kept_with_the_data(tmp_path: Path) -> None:
    first, lines = ca_of(tmp_path)
    assert lines[0] == (
        f"the certificate authority is kept in {tmp_path}: clients trust odradek-ca.pem"
    )
    assert lines[1].endswith(f"ssl.ca.location={tmp_path / 'odradek-ca.pem'}")
    assert (tmp_path / "odradek-ca.pem").read_text() == first
    assert (tmp_path / "odradek-ca-key.pem").stat().st_mode & 0o777 == 0o600
    assert ca_of(tmp_path)[0] == first, "clients that trust it still do"


@pytest.mark.parametrize("name", ["odradek-ca.pem", "odradek-ca-key.pem"])
def test_an_authority_that_is_none_is_named(tmp_path: Path, name: str) -> None:
    ca_of(tmp_path)
    (tmp_path / name).write_text("nonsense")
    with pytest.raises(ValueError, match=r"odradek-ca.pem and odradek-ca-key.pem hold no"):
        ca_of(tmp_path)


def test_the_key_of_another_authority_is_named(tmp_path: Path) -> None:
    ca_of(tmp_path)
    Certificates().write_ca(tmp_path / "odradek-ca.pem")
    with pytest.raises(ValueError, match=r"odradek-ca-key.pem is not the key of odradek-ca.pem"):
        ca_of(tmp_path)
