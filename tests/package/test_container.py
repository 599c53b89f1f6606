"""docs/local: what Containerfile, compose.yaml and odradek.service say, without a container."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.building import ROOT, installed
from tests.support.serve_options import serve_options

FILES = ROOT / "docs/local"
CONTAINERFILE = (FILES / "Containerfile").read_text()
COMPOSE = (FILES / "compose.yaml").read_text()
ENV = dict(re.findall(r"^ENV (\w+)=(.*)$", CONTAINERFILE, re.MULTILINE))
NOBODY = 65534


def command(instruction: str) -> list[str]:
    """The words of an instruction in its exec form."""
    found = re.search(rf"^{instruction}.*?(\[.*\])$", CONTAINERFILE, re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that any user may enter."""
    path = Path(tempfile.mkdtemp(prefix="odradek-container-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.slow
def test_the_image_as_far_as_it_goes_without_one(plain: Path, place: Path) -> None:
    """Installed, then run by a user without rights, asked for its health, and stopped."""
    bin = installed(plain, place / "venv").parent
    data = place / "data"
    data.mkdir()
    who: dict[str, int] = {}
    if os.getuid() == 0 and _may_be_run_by_all(bin / "python"):
        os.chown(data, NOBODY, NOBODY)
        who = {"user": NOBODY, "group": NOBODY}
    own = {"ODRADEK_DATA_DIR": str(data), "ODRADEK_PORT": "0", "PATH": str(bin)}
    environment = {**ENV, **own, "ODRADEK_ADVERTISED": "localhost:{port}"}
    program, *arguments = command("ENTRYPOINT")
    broker = subprocess.Popen(
        [bin / program, *arguments, "--topic", "orders:3"],
        **who,  # type: ignore[call-overload]
        cwd=data,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = broker.stdout.readline().split()[3]
        words = [each.replace("localhost:9092", address) for each in command("HEALTHCHECK")]
        words[0] = str(bin / words[0])
        well = subprocess.run([*words, "--wait", "30"], capture_output=True, text=True)
    finally:
        broker.terminate()
        broker.communicate(timeout=60)
    ill = subprocess.run(words, capture_output=True, text=True)
    assert well.stdout == f"{address} is well: 1 broker, 1 topic, 3 partitions\n"
    assert (well.returncode, broker.returncode, ill.returncode) == (0, 0, 1)
    assert (data / ".kafka_cleanshutdown").exists()


def _may_be_run_by_all(program: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in program.resolve().parents)


def test_the_image_is_built_in_stages_and_runs_without_rights() -> None:
    assert re.findall(r"^FROM (\S+)", CONTAINERFILE, re.MULTILINE) == [
        "python:3.12",
        "python:3.12-slim",
    ]
    assert re.findall(r"^USER (\S+)$", CONTAINERFILE, re.MULTILINE) == ["odradek"]
    assert CONTAINERFILE.index("\nUSER") < CONTAINERFILE.index("\nENTRYPOINT")


def test_their_variables_are_options_of_serve(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "odradek.toml").write_text("[topics]\norders = 3\n")
    of_compose = dict(re.findall(r'^ +(ODRADEK_\w+): "?(.*?)"?(?: #.*)?$', COMPOSE, re.MULTILINE))
    assert len(of_compose) == 4
    of_compose["ODRADEK_FILE"] = str(tmp_path / Path(of_compose["ODRADEK_FILE"]).name)
    environment = {**ENV, **of_compose}
    environment.pop("PATH")
    found = serve_options(monkeypatch, tmp_path, environment=environment)
    assert (found.host, found.advertised, found.watch) == ("0.0.0.0", "localhost:9092", True)
    assert found.data_dir == "/data"
    assert found.settings.configs == {"log.retention.hours": "24"}
    assert [*found.settings.topics] == ["orders"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("docker-compose") is None, reason="there is no docker-compose")
def test_compose_takes_its_file() -> None:
    done = subprocess.run(
        ["docker-compose", "--file", FILES / "compose.yaml", "config"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, "kafka-data:/data" in done.stdout) == (0, True), done.stderr


def test_the_unit_starts_what_serve_understands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]
    unit.read(FILES / "odradek.service")
    (tmp_path / "odradek.toml").touch()
    program, verb, *options = unit["Service"]["ExecStart"].split()
    assert (Path(program).name, verb) == ("odradek", "serve")
    given = [each.replace("/etc/", f"{tmp_path}/") for each in options]
    found = serve_options(monkeypatch, tmp_path, *given)
    state, run = unit["Service"]["StateDirectory"], unit["Service"]["RuntimeDirectory"]
    assert found.data_dir == f"/var/lib/{state}"
    assert Path(found.ready_file).parent == Path(f"/run/{run}")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    text = (FILES / "odradek.service").read_text().replace("/opt/odradek/bin/odradek", "/bin/true")
    unit = tmp_path / "odradek.service"
    unit.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60
    )
    assert [line for line in done.stderr.splitlines() if "odradek" in line] == []
