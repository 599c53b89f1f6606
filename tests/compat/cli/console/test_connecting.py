"""How a verb connects: what wins among options, files and profiles; what is wrong with them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main

HERE = "127.0.0.1:9"


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "profiles.toml"
    monkeypatch.setenv("ODRADEK_PROFILES", str(path))
    monkeypatch.delenv("ODRADEK_BOOTSTRAP", raising=False)
    monkeypatch.delenv("ODRADEK_PROFILE", raising=False)
    return path


def refused(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    with suppress(SystemExit):  # of a parser; otherwise it returns
        assert main(given) == 2
    return capsys.readouterr().err


def test_a_profile_has_the_address(
    kafka: Emulator,
    profiles: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profiles.write_text(
        f'[here]\nbootstrap.servers = "{kafka.bootstrap_servers}"\n[gone]\n'
        f'bootstrap.servers = "{HERE}"\nsecurity.protocol = "PLAINTEXT"\n'
    )
    assert main(["topics", "--profile", "here", "ls"]) == 0
    assert "orders" in capsys.readouterr().out
    monkeypatch.setenv("ODRADEK_PROFILE", "here")
    assert main(["topics", "show", "orders"]) == 0
    assert main(["topics", "--profile", "gone"]) == 1  # what is typed wins
    monkeypatch.setenv("ODRADEK_BOOTSTRAP", HERE)
    assert main(["topics"]) == 1
    assert main(["topics", "--profile=here"]) == 0


def test_what_is_wrong_with_a_profile_is_named(
    profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No such file" in refused(capsys, "topics", "--profile", "staging")
    profiles.write_text("[staging]\nsasl.mecanism = 'PLAIN'\n")
    assert "is staging meant?" in refused(capsys, "topics", "--profile", "stagging")
    assert "is sasl.mechanism meant?" in refused(capsys, "topics", "--profile", "staging")
    profiles.write_text("[staging\n")
    assert "is no TOML" in refused(capsys, "topics", "--profile", "staging")


def test_what_is_wrong_with_properties_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "topics", HERE, "-X", "ssl.ca.locaton=x")
    assert "is ssl.ca.location meant?" in said
    said = refused(capsys, "topics", HERE, "--command-config", f"{tmp_path}/none")
    assert "cannot be read: No such file" in said
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SASL_SSL\nclient.id=x\n")
    assert "name sasl.mechanism" in refused(capsys, "topics", HERE, "--command-config", str(file))


def test_what_is_typed_wins_over_the_file(kafka: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\n")
    given = ["topics", kafka.bootstrap_servers, "--command-config", str(file)]
    assert main(given) == 1
    assert main([*given, "-X", "security.protocol=PLAINTEXT"]) == 0
