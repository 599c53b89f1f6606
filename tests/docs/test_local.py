"""docs/local.md: its file is served, its commands print what it says, its tables are right."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from odradek.compat.cli.serving.settings import Settings
from odradek.compat.cli.serving.start import merged

from tests.support.serve_options import serve_options as options

TEXT = (Path(__file__).parents[2] / "docs/local.md").read_text()
FILE = "".join(re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL))
STEPS = re.findall(
    r"^\$ odradek (.*)\n((?:(?!\$ ).*\n)*)",
    "".join(re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)),
    re.MULTILINE,
)
CITIES = "".join(re.findall(r"```text\n(key,.*?)```", TEXT, re.DOTALL))
WRONG = '[topics.orders]\nconfigs = { "retention.mss" = 1 }\n'
PROPERTIES = """
process.roles=broker,controller
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=data
num.network.threads=3
num.partitions=3
"""
ODRADEK = [sys.executable, "-m", "odradek"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in {
        "odradek.toml": FILE,
        "cities.csv": CITIES,
        "wrong.toml": WRONG,
        "server.properties": PROPERTIES,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def ran(directory: Path, command: str) -> str:
    done = subprocess.run(
        [*ODRADEK, *command.split()],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return done.stdout.replace(f"{directory}/", "")


@pytest.mark.slow
def test_the_commands_say_what_the_page_says(directory: Path) -> None:
    checks = [step for step in STEPS if step[0].startswith("check")]
    assert len(checks) == 3
    for command, said in checks:
        assert ran(directory, command) == said
    assert tomllib.loads(FILE)["topics"]["clicks"] == 6


@pytest.mark.slow
def test_the_file_is_served(directory: Path) -> None:
    (health,) = [step for step in STEPS if step[0].startswith("health")]
    process = subprocess.Popen(
        [*ODRADEK, "serve", "--port", "0", "--ready-file", "ready.json", "--log-format", "json"],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().split()[3]
    try:
        ready = json.loads((directory / "ready.json").read_text())
        assert ready["bootstrap_servers"] == address
        assert ready.keys() == json.loads(_quoted("bootstrap_servers")).keys()
        said = ran(directory, health[0].replace("localhost:9092", address))
        assert said == health[1].replace("localhost:9092", address)
        values = ran(directory, f"records {address} orders --json").splitlines()
        assert [json.loads(line)["value"] for line in values] == ["espresso", '{"table": 7}']
        keys = ran(directory, f"records {address} cities --json").splitlines()
        assert [json.loads(line)["key"] for line in keys] == ["Oslo", "Bergen"]
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    lines = [json.loads(line) for line in errors.splitlines()]
    assert all(line.keys() == {"time", "level", "kind", "message"} for line in lines)
    assert not (directory / "ready.json").exists()
    assert (directory / "data").is_dir()


def _quoted(key: str) -> str:
    """The object of JSON on the page that begins with this key."""
    found = re.search(rf'`(\{{"{key}".*?\}})`', TEXT)
    assert found is not None
    return found[1]


ROWS = re.findall(r"^\| `(ODRADEK_\w+)=(\S+)` \| `(.*?)` \|$", TEXT, re.MULTILINE)


def test_there_are_variables_on_the_page() -> None:
    assert len(ROWS) == 6


@pytest.mark.parametrize(("name", "value", "option"), ROWS)
def test_a_variable_is_as_its_option(
    monkeypatch: pytest.MonkeyPatch, directory: Path, name: str, value: str, option: str
) -> None:
    (directory / "odradek.toml").unlink()
    (directory / "team.toml").write_text("port = 7")
    merges = ("set", "topic", "file", "parser", "settings")

    def merged_from(given: list[str], environment: Mapping[str, str]) -> tuple[object, Settings]:
        found = options(monkeypatch, directory, *given, environment=environment)
        plain = {key: each for key, each in vars(found).items() if key not in merges}
        return plain, replace(merged(found.settings, found), options={}, where={})

    by_option = merged_from(option.split(), {})
    assert by_option != merged_from([], {})
    assert by_option == merged_from([], {name: value})
