"""What destroys asks, at a terminal; `--yes` answers. Tables fit the terminal."""

from __future__ import annotations

import io

import pytest
from odradek import Emulator
from odradek.compat.cli.console.tables import fitted
from odradek.compat.cli.main import main


class Terminal(io.StringIO):
    """Standard input that somebody types at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdin", terminal)
    return terminal


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("yes\n", 0), ("n\n", 1), ("", 1)])
def test_a_topic_is_deleted_after_a_yes(
    kafka: Emulator,
    typed: Terminal,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    status: int,
) -> None:
    typed.write(answer)
    typed.seek(0)
    assert main(["topics", kafka.bootstrap_servers, "delete", "orders"]) == status
    said = capsys.readouterr().err
    assert said.startswith("delete orders? [y/N]")
    assert ("nothing was done" in said) == bool(status)
    assert ("orders" in kafka.topics()) == bool(status)


def test_yes_answers_before_it_is_asked(
    kafka: Emulator, typed: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", kafka.bootstrap_servers, "delete", "orders", "--yes"]) == 0
    assert capsys.readouterr().err == ""


def test_a_table_is_cut_to_the_terminal() -> None:
    heads, rows = fitted(["name", "number"], [["a" * 50, "1"], ["short", "22"]], 30)
    assert rows == [["a" * 21 + "…", "1"], ["short", "22"]]
    assert heads == ["name", "number"]
    assert fitted(["name"], [["short"]], 3) == (["name"], [["short"]])
