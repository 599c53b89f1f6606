"""The twenty tasks with `odradek`, and with kcat where it is there; the page has its commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tasks.doing import do, programs
from tests.tasks.tasks import KCAT, ODRADEK, TASKS

PAGE = (Path(__file__).parents[2] / "docs/tasks.md").read_text()


def test_there_are_twenty_and_the_page_has_them() -> None:
    assert len(TASKS) == 20
    for number, task in enumerate(TASKS):
        assert f"\n| {number + 1}. {task.name}" in PAGE
        lines = "\n".join([f"# {task.name}", *task.odradek])
        assert f"\n{lines}\n" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("tool", [ODRADEK, KCAT])
def test_each_is_done(tool: str, tmp_path: Path) -> None:
    if tool == KCAT and shutil.which("kcat") is None:
        pytest.skip("there is no kcat")
    programs(tmp_path)
    done = list(do(tool, TASKS, tmp_path))
    assert [each is not None for each in done] == [bool(each.commands(tool)) for each in TASKS]
