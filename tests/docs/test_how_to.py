"""docs/how-to.md: what it says runs, and what it links to is there."""

from __future__ import annotations

import inspect
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import odradek
import pytest
from odradek import Emulator
from odradek.compat.cli.console.aliases import with_address
from odradek.compat.commands import main

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "how-to.md").read_text()
ROWS = re.findall(r"^\| ([^|]+) \| (`[^|]+`|) ?\| (.+) \|$", TEXT, re.MULTILINE)
SAID = [(task, said.strip("`")) for task, said, _ in ROWS if said]
PYTHON = [(task, said) for task, said in SAID if not re.match("odradek |pytest |@", said)]


@pytest.mark.parametrize(("task", "said"), PYTHON, ids=[task for task, _ in PYTHON])
def test_what_a_row_says_runs(task: str, said: str) -> None:
    replicas = {"default.replication.factor": 2}
    with Emulator(replicas, brokers=2, topics={"orders": 2}) as kafka:
        orders, billing = kafka.topic("orders"), kafka.group("billing")
        orders.produce_all(["espresso", "latte"])
        billing.commit({("orders", 0): 0, ("orders", 1): 0})
        names = {"kafka": kafka, "orders": orders, "billing": billing, "Emulator": Emulator}
        result = eval(said, {each: getattr(odradek, each) for each in odradek.__all__} | names)
        if not said.endswith(")"):
            assert callable(result) or isinstance(result, str), task
        kafka.forget_faults()  # no client comes


@pytest.mark.parametrize("said", [each for _, each in SAID if each.startswith("odradek ")])
def test_commands_have_the_options_that_are_named(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(said)[1:]
    if words[0] == "topics":
        assert with_address(words) == ["topics", "localhost:9092", "list"]
        words = ["topics"]
    with pytest.raises(SystemExit):
        main([words[0], "--help"])
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: odradek {words[0]}")
    assert [each for each in words if each.startswith("--") and each not in shown] == []


def anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    named = re.findall(r'<a id="([^"]+)"', path.read_text())
    return {*named} | {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", sorted(each.name for each in DOCS.glob("*.md")))
def test_every_link_leads_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", (DOCS / page).read_text(), flags=re.DOTALL)
    for file, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        path = DOCS / file if file else DOCS / page
        assert path.exists(), file
        assert not anchor or anchor in anchors(path), f"{file}#{anchor}"


def test_readme_links_to_the_page_that_links_to_all() -> None:
    """tests/docs/test_site.py holds the page to that."""
    assert "(docs/index.md)" in (DOCS.parent / "README.md").read_text()


def test_every_argument_of_an_emulator_is_named() -> None:
    (named,) = re.findall(r"`Emulator\((config, [^)]*)\)`", TEXT)
    names = [name.strip().rstrip("=") for name in named.split(",")]
    assert sorted(names) == sorted(inspect.signature(Emulator).parameters)
    table = TEXT.partition("| argument |")[2]
    assert set(re.findall(r"`(\w+)`", table)) >= {*names}


@pytest.fixture
def odradek_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    command = tmp_path / "bin/odradek"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m odradek "$@" --no-file\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "name", "command"),
    [("go", "main.go", "go run main.go"), ("java", "Odradek.java", "java Odradek.java")],
)
def test_another_language_starts_one(
    language: str, name: str, command: str, odradek_in_path: Path
) -> None:
    if shutil.which(language) is None:
        pytest.skip(f"there is no {language}")
    (text,) = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    (odradek_in_path / name).write_text(text)
    done = subprocess.run(
        shlex.split(command), cwd=odradek_in_path, capture_output=True, text=True, timeout=120
    )
    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", done.stdout), done.stderr
    assert done.returncode == 0
