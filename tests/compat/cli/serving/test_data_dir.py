"""`odradek serve --data-dir`: a directory with other things in it is not written to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.serving.data_dir import refusal

from tests.support.ended import Ended


def fill(directory: Path, *names: str) -> None:
    """Make files, and folders of names that end with a slash."""
    for name in names:
        path = directory / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["setup.py"], "but setup.py;"),
        (["src/", "README.md", "a", "b", "c"], "but README.md, a, b and 2 more;"),
        (["orders-0/main.py"], "but orders-0;"),
        (["orders-1"], "but orders-1;"),
        (["recovery-point-offset-checkpoint", "notes.txt"], "but notes.txt;"),
    ],
)
def test_other_things_are_named_and_what_to_do(names: list[str], said: str, tmp_path: Path) -> None:
    fill(tmp_path, *names)
    why = refusal(str(tmp_path)) or ""
    assert why.startswith(f"{tmp_path} is no data directory: it has no meta.properties, {said}")
    assert why.endswith(f"empty or not there yet, such as {tmp_path}/kafka-data")


@pytest.mark.parametrize(
    "names",
    [
        [],
        [".gitkeep", "lost+found/"],
        ["meta.properties", "my notes.txt"],  # it was used, and kept what was laid there since
        ["orders-0/", "orders-1/partition.metadata", "a_2/00000000000.kafka", ".lock"],
        ["__cluster_metadata-0/00000000000000000000.log", "bootstrap.checkpoint"],
        [f"orders-0.{'0' * 32}-delete/x", "replication-offset-checkpoint"],
    ],
)
def test_what_is_empty_or_of_a_broker_may_be_used(names: list[str], tmp_path: Path) -> None:
    fill(tmp_path, *names)
    assert refusal(str(tmp_path)) is None


@pytest.mark.parametrize("naming", ["kafka", "documented"])
def test_what_a_broker_left_is_its_own_even_without_its_name(naming: str, tmp_path: Path) -> None:
    with Emulator(topics={"orders": 2}, data_dir=tmp_path, naming=naming) as kafka:
        kafka.topic("orders").produce("espresso")
        kafka.delete_topic("orders")
    (tmp_path / "meta.properties").unlink()
    assert refusal(str(tmp_path)) is None


def test_it_is_refused_before_anything_is_written(
    command: Callable[..., Ended], tmp_path: Path
) -> None:
    fill(tmp_path, "pyproject.toml")
    ended = command("serve", "--no-file", "--port", "0", "--data-dir", str(tmp_path))
    assert (ended.status, ended.output) == (2, "")
    assert ended.errors.startswith(f"odradek: --data-dir: {tmp_path} is no data directory")
    assert [each.name for each in tmp_path.iterdir()] == ["pyproject.toml"]
