"""`odradek check`, and what `odradek serve` says of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ended import Ended


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "odradek.toml"


def test_a_file_that_is_right(command: Callable[..., Ended], file: Path) -> None:
    file.write_text("port = 0\n[configs]\nnum.partitions = 3\n[topics]\nt = 1\nu = 2\n")
    said = f"{file} is right: 1 option, 1 config, 2 topics\n"
    assert command("check") == (0, said, "")
    assert command("check", str(file)) == (0, said, "")


def test_each_mistake_in_topics_is_named(command: Callable[..., Ended], file: Path) -> None:
    file.write_text('[topics.t]\nconfigs = { a = 1 }\n[topics."u v"]\nseed = "none.csv"\n')
    ended = command("check")
    assert (ended.status, ended.output) == (2, "")
    assert ended.errors.splitlines() == [
        f"odradek: {file}: topics: t: Unknown topic config name: a",
        f"odradek: {file}: topics: u v: INVALID_TOPIC_EXCEPTION: Topic name is invalid: 'u v' "
        "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
    ]
    ended = command("serve")
    assert (ended.status, ended.output) == (2, "")
    assert "topics: t: Unknown topic config name: a; topics: u v: " in ended.errors


@pytest.mark.parametrize("verb", ["check", "serve"])
def test_a_mistake_in_settings(command: Callable[..., Ended], file: Path, verb: str) -> None:
    file.write_text("prot = 1\n")
    ended = command(verb)
    assert (ended.status, ended.output) == (2, "")
    assert f"{file}: there is no setting 'prot'; is port meant?" in ended.errors


def test_a_config_that_is_refused(command: Callable[..., Ended], file: Path) -> None:
    file.write_text("[configs]\nlog.retention.hours = 'x'\n")
    assert command("check").errors == (
        f"odradek: {file}: configs: Invalid value x for configuration log.retention.hours: "
        "Not a number of type INT\n"
    )


def test_a_config_that_is_unknown(command: Callable[..., Ended], file: Path) -> None:
    file.write_text("[configs]\nlog.retention.hour = 1\n")
    assert command("check") == (
        0,
        f"{file} is right: 0 options, 0 configs, 0 topics\n"
        "  not obeyed: log.retention.hour (Kafka has no such broker config; "
        "is log.retention.hours meant?)\n",
        "",
    )


def test_no_file(command: Callable[..., Ended], file: Path) -> None:
    assert command("check").errors == (
        "odradek: there is no odradek.toml here, and no [tool.odradek] in a pyproject.toml\n"
    )
    assert command("check", "none.toml").errors == "odradek: none.toml: No such file or directory\n"


def test_kafkas_own_file(command: Callable[..., Ended], file: Path) -> None:
    properties = file.with_name("server.properties")
    properties.write_text("num.io.threads=8\nnum.partitions=3\nno.such=1\n")
    assert command("check", "server.properties") == (
        0,
        "server.properties is right: 0 options, 2 configs, 0 topics\n"
        "  not obeyed: num.io.threads (one thread serves everything)\n"
        "  not obeyed: no.such (Kafka has no such broker config)\n",
        "",
    )
