"""Which setting counts: option, environment, file, server.properties."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.compat.cli.serving.apply import brokers_of
from odradek.compat.cli.serving.settings import SettingsError, TopicSettings
from odradek.compat.cli.serving.start import merged

from tests.support.serve_options import serve_options as options

FILE = """
port = 2
host = "::1"
data-dir = "of-file"
properties = "server.properties"
[configs]
log.retention.hours = 2
num.partitions = 2
[topics.orders]
partitions = 2
configs = { retention.ms = 2 }
"""
PROPERTIES = """
listeners=PLAINTEXT://localhost:1
log.dirs=/of-properties
log.retention.hours=1
num.partitions=1
log.segment.bytes=1000001
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "odradek.toml").write_text(FILE)
    (tmp_path / "server.properties").write_text(PROPERTIES)
    return tmp_path


def test_an_option_before_the_environment_before_the_file_before_properties(
    monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    environment = {
        "ODRADEK_PORT": "3",
        "ODRADEK_QUIET": "yes",
        "ODRADEK_SET_LOG_RETENTION_HOURS": "3",
        "ODRADEK_SET_LOG_ROLL_HOURS": "3",
        "ODRADEK_TOPIC": "clicks:3,views",
        "ODRADEK_FEATURE": "transaction.version=1",
        "ODRADEK_HOST": "",
    }
    given = ["--set", "log.roll.hours=4", "--topic", "orders:4", "--topic", "more"]
    found = options(monkeypatch, directory, *given, environment=environment)
    assert (found.port, found.host, found.quiet) == (3, "::1", True)
    assert found.data_dir == str(directory / "of-file")
    settings = merged(found.settings, found)
    assert settings.configs == {
        "log.segment.bytes": "1000001",
        "num.partitions": "2",
        "log.retention.hours": "3",
        "log.roll.hours": "4",
    }
    assert settings.features == {"transaction.version": 1}
    assert settings.topics == {
        "orders": TopicSettings(4, configs={"retention.ms": "2"}),
        "clicks": TopicSettings(3),
        "views": TopicSettings(1),
        "more": TopicSettings(1),
    }
    assert options(monkeypatch, directory, "--port", "9").port == 9


def test_several_brokers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "odradek.toml").write_text('brokers = 3\nracks = ["a", "b", "c"]')
    of_file = brokers_of(options(monkeypatch, tmp_path))
    assert (of_file["brokers"], of_file["racks"]) == (3, ["a", "b", "c"])
    given = brokers_of(options(monkeypatch, tmp_path, "--racks", "x,y,z"))
    assert given["racks"] == ["x", "y", "z"]
    environment = {"ODRADEK_RACKS": "u,v", "ODRADEK_BROKERS": "2"}
    found = brokers_of(options(monkeypatch, tmp_path, environment=environment))
    assert (found["brokers"], found["racks"]) == (2, ["u", "v"])


def test_without_a_file(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    found = options(monkeypatch, directory, "--no-file")
    assert (found.port, found.data_dir, found.settings.files) == (9092, None, [])
    found = options(monkeypatch, directory, "--no-file", "--properties", "server.properties")
    assert (found.port, found.host, found.data_dir) == (1, "localhost", "/of-properties")


def test_another_file(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    (directory / "other.toml").write_text("port = 7")
    assert options(monkeypatch, directory, "--file", "other.toml").port == 7
    found = options(monkeypatch, directory, environment={"ODRADEK_FILE": "other.toml"})
    assert found.port == 7


@pytest.mark.parametrize(
    ("given", "environment", "said"),
    [
        ((), {"ODRADEK_PORT": "x"}, "ODRADEK_PORT: not a port: 'x'"),
        ((), {"ODRADEK_QUIET": "x"}, "ODRADEK_QUIET has to be true or false, not 'x'"),
        (
            (),
            {"ODRADEK_NAMING": "x"},
            "ODRADEK_NAMING has to be one of kafka, documented, not 'x'",
        ),
        (("--no-file", "--file", "x"), {}, "--no-file, and --file beside it"),
        (("--no-file", "--watch"), {}, "--no-file, and --watch beside it"),
        (("--properties", "none"), {}, "none: No such file or directory"),
    ],
)
def test_a_mistake_is_named(
    monkeypatch: pytest.MonkeyPatch,
    directory: Path,
    given: tuple[str, ...],
    environment: dict[str, str],
    said: str,
) -> None:
    with pytest.raises(SettingsError) as raised:
        options(monkeypatch, directory, *given, environment=environment)
    assert str(raised.value) == said


def test_a_watch_by_the_environment(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    watched = {"ODRADEK_WATCH": "true"}
    assert options(monkeypatch, directory, environment=watched).watch is True
    with pytest.raises(SettingsError, match="--no-file, and --watch beside it"):
        options(monkeypatch, directory, "--no-file", environment=watched)


def test_a_watch_needs_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--watch: there is no odradek.toml here"):
        options(monkeypatch, tmp_path, "--watch")


def test_a_value_of_the_file_is_judged_as_an_option(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "odradek.toml").write_text("port = 70000")
    with pytest.raises(SettingsError) as raised:
        options(monkeypatch, tmp_path)
    assert str(raised.value) == f"{tmp_path / 'odradek.toml'}: port: not a port: '70000'"


def test_variables_that_do_nothing_are_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment = {
        "ODRADEK_PRT": "9093",
        "ODRADEK_NONSENSE": "",
        "ODRADEK_TIMEOUT": "30",  # the pytest plugin's
        "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
        "KAFKA_CFG_LOG_RETENTION_HOURS": "1",
        "KAFKA_LOG_DIRS": "/data",
        "KAFKA_HOME": "/opt/kafka",
    }
    found = options(monkeypatch, tmp_path, environment=environment)
    assert found.settings.not_obeyed == {
        "ODRADEK_PRT": "there is no such variable; is ODRADEK_PORT meant?",
        "ODRADEK_NONSENSE": "there is no such variable",
        "KAFKA_ADVERTISED_LISTENERS": "it is of another image; ODRADEK_ADVERTISED is read here",
        "KAFKA_CFG_LOG_RETENTION_HOURS": "it is of another image; "
        "ODRADEK_SET_LOG_RETENTION_HOURS is read here",
        "KAFKA_LOG_DIRS": "it is of another image; ODRADEK_DATA_DIR is read here",
    }
    assert found.settings.configs == {}


def test_a_config_that_kafka_does_not_have_is_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    (directory / "odradek.toml").write_text("[configs]\nnum.partition = 2\nnum.partitions = 3\n")
    environment = {"ODRADEK_SET_LOG_RETENTION_HOUR": "1"}
    given = ["--set", "listener.name.other.max.connections=4", "--set", "foo.bar=1"]
    given += ["--set", "listener.name.plaintext.max.connections=4"]
    found = options(monkeypatch, directory, *given, environment=environment)
    settings = merged(found.settings, found)
    assert settings.configs == {
        "num.partitions": "3",
        "listener.name.plaintext.max.connections": "4",
    }
    assert settings.not_obeyed == {
        "num.partition": "Kafka has no such broker config; is num.partitions meant?",
        "ODRADEK_SET_LOG_RETENTION_HOUR": "Kafka has no such broker config; "
        "is ODRADEK_SET_LOG_RETENTION_HOURS meant?",
        "foo.bar": "Kafka has no such broker config",
        "listener.name.other.max.connections": "there is no listener OTHER, but PLAINTEXT",
    }
    assert settings.ignored == {
        "num.partition": "2",
        "foo.bar": "1",
        "listener.name.other.max.connections": "4",
    }


def test_listeners_are_those_of_the_option_for_security(
    monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    given = ["--no-file", "--security", "SASL_PLAINTEXT"]
    for name in ("plaintext", "sasl_plaintext"):
        given += ["--set", f"listener.name.{name}.max.connections=4"]
    found = options(monkeypatch, directory, *given)
    settings = merged(found.settings, found)
    assert settings.configs.keys() == {"listener.name.sasl_plaintext.max.connections"}
