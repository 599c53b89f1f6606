"""odradek.toml as it is read, and what is said of mistakes in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.compat.cli.serving.settings import SettingsError, TopicSettings
from odradek.compat.cli.serving.toml_file import find, read_toml

OPTIONS = {"port": False, "data-dir": True, "quiet": False, "kafka-version": False}


def written(directory: Path, text: str, name: str = "odradek.toml") -> Path:
    path = directory / name
    path.write_text(text)
    return path


def test_what_a_file_says(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        port = 9093
        data-dir = "data"
        quiet = true
        seed = ["a.jsonl", "b.csv"]

        [configs]
        log.retention.hours = 24
        "num.partitions" = 3
        auto.create.topics.enable = false

        [features]
        "transaction.version" = 1

        [topics]
        clicks = 6
        "views.v1" = { partitions = 2, replicas = 1 }

        [topics.orders]
        configs = { cleanup.policy = ["compact", "delete"], retention.ms = -1 }
        seed = "orders.jsonl"

        [topics.cities]
        seed = ["Oslo", { population = 5 }]
        """,
    )
    found = read_toml(path, OPTIONS)
    assert found.options == {"port": 9093, "data-dir": str(tmp_path / "data"), "quiet": True}
    assert found.where["port"] == f"{path}: port"
    assert found.configs == {
        "log.retention.hours": "24",
        "num.partitions": "3",
        "auto.create.topics.enable": "false",
    }
    assert found.features == {"transaction.version": 1}
    assert found.seeds == [tmp_path / "a.jsonl", tmp_path / "b.csv"]
    assert found.topics == {
        "clicks": TopicSettings(6),
        "views.v1": TopicSettings(2, replicas=1),
        "orders": TopicSettings(
            configs={"cleanup.policy": "compact,delete", "retention.ms": "-1"},
            seed=tmp_path / "orders.jsonl",
        ),
        "cities": TopicSettings(seed=["Oslo", {"population": 5}]),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port = [", "Invalid value (at end of document)"),
        ("prot = 1", "there is no setting 'prot'; is port meant?"),
        ("[topic]\na = 1", "there is no setting 'topic'; is topics meant?"),
        ("set = 'a=b'", "there is no setting 'set'; is configs meant?"),
        ("topics = 3", "topics has to be a table, not 3"),
        ("data-dir = 3", "data-dir has to be a path, not 3"),
        ("port = { a = 1 }", "port has to be a value, not {'a': 1}"),
        ("topics.a = 0", "topics: a has to be a number, at least 1, not 0"),
        ("topics.a = true", "topics: a has to be a number, at least 1, not True"),
        ("topics.a.seed = 3", "topics: a: seed has to be a file, or a list of values, not 3"),
        ("topics.a.config = 'x'", "topics: a: there is no setting 'config'; is configs meant?"),
        (
            "topics.a.b = 3",
            "topics: a: there is no setting 'b'; a topic with a dot is written in quotes: \"a.b\"",
        ),
        (
            "[configs]\nlog.dir = 1979-05-27",
            "configs: log.dir has to be a text, a number, true, false, or a list of them, "
            "not datetime.date(1979, 5, 27)",
        ),
        ("features.a = 'x'", "features: a has to be a level, not 'x'"),
        ("seed = [3]", "seed has to be a file, or a list of files, not 3"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SettingsError) as raised:
        read_toml(path, OPTIONS)
    assert str(raised.value) == f"{path}: {said}"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none.toml: No such file or directory"):
        read_toml(tmp_path / "none.toml", OPTIONS)
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"binary.toml: 'utf-8' codec can't decode"):
        read_toml(path, OPTIONS)


def test_which_file_is_read_when_none_is_named(tmp_path: Path) -> None:
    assert find(tmp_path) is None
    project = written(tmp_path, "[project]\nname = 'x'\n", "pyproject.toml")
    assert find(tmp_path) is None
    project.write_text("[tool.odradek]\nport = 9099\n[tool.other]\nx = 1\n")
    assert find(tmp_path) == project
    assert read_toml(project, OPTIONS).options == {"port": 9099}
    project.write_text("[tool.odradek]\nprot = 9099\n")
    with pytest.raises(SettingsError, match=r"pyproject.toml: \[tool.odradek\]: there is no"):
        read_toml(project, OPTIONS)
    own = written(tmp_path, "port = 1")
    assert find(tmp_path) == own


def test_users_are_options_with_their_passwords(tmp_path: Path) -> None:
    text = 'security = "SASL_PLAINTEXT"\nuser = ["bob:pw"]\n[users]\nalice = "a:b"\n'
    found = read_toml(written(tmp_path, text), OPTIONS | {"security": False, "user": False})
    assert found.options["user"] == ["bob:pw", "alice:a:b"]


@pytest.mark.parametrize("password", ["7", '""', '["secret"]'])
def test_a_password_is_a_text_and_is_not_quoted(tmp_path: Path, password: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read_toml(written(tmp_path, f"[users]\nalice = {password}\n"), OPTIONS | {"user": False})
    said = str(raised.value)
    assert said.endswith("users: alice has to be a password, a text that is not empty")
