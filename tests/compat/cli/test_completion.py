"""`odradek completion`: what bash, zsh and fish complete with its script."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
from odradek import Emulator

from tests.support.ended import Ended

_BASH, _ZSH, _FISH = map(shutil.which, ("bash", "zsh", "fish"))
WORDS = [
    (["to"], ["top", "topics"]),
    (["serve", "--po"], ["--port"]),
    (["topics", "localhost:9092", "cr"], ["create"]),
    (["topics", "localhost:9092", "create", "orders", "--part"], ["--partitions"]),
]


def bash(script: str, words: list[str], **environment: str) -> list[str]:
    given = " ".join(f"'{word}'" for word in ["odradek", *words])
    ask = f"COMP_WORDS=({given}); COMP_CWORD={len(words)}; _odradek"
    say = 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        [str(_BASH), "-c", f"{script}\n{ask}\n{say}"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return sorted(done.stdout.splitlines())


def fish(script: str, words: list[str], **environment: str) -> list[str]:
    ask = f"complete -C '{' '.join(['odradek', *words])}'"
    done = subprocess.run(
        [str(_FISH), "--no-config", "-c", f"{script}\n{ask}"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return sorted(done.stdout.splitlines())


@pytest.mark.skipif(_BASH is None, reason="there is no bash")
def test_bash_completes(command: Callable[..., Ended]) -> None:
    script = command("completion", "bash").output
    for words, found in [*WORDS, (["completion", ""], ["--help", "bash", "fish", "man", "zsh"])]:
        assert bash(script, words) == found


@pytest.mark.slow
@pytest.mark.skipif(_FISH is None, reason="there is no fish")
def test_fish_completes(command: Callable[..., Ended]) -> None:
    script = command("completion", "fish").output
    for words, found in WORDS:
        assert fish(script, words) == found


class Terminal:
    """An interactive zsh without anybody's settings."""

    def __init__(self, zsh: str, home: Path) -> None:
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", PS1="> ", HOME=str(home), ZDOTDIR=str(home))
            os.execv(zsh, ["zsh", "-f", "-i"])

    def type(self, text: str, until: str) -> str:
        """Type something; return what the screen has got when a pattern is there."""
        os.write(self._end, text.encode())
        seen, end = "", monotonic() + 30
        while not re.search(until, seen):
            left = end - monotonic()
            assert left > 0, seen
            assert select.select([self._end], [], [], left)[0], seen
            seen += os.read(self._end, 65536).decode()
        return seen

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._end)


@pytest.fixture
def zsh(tmp_path: Path) -> Iterator[Terminal]:
    assert _ZSH is not None
    terminal = Terminal(_ZSH, tmp_path)
    yield terminal
    terminal.close()


@pytest.mark.slow
@pytest.mark.skipif(_ZSH is None, reason="there is no zsh")
def test_zsh_completes(command: Callable[..., Ended], zsh: Terminal, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(command("completion", "zsh").output)
    said = zsh.type(f"source {script}; echo do''ne\n", "done\r")
    assert "not found" not in said
    for words, (found, *others) in WORDS:
        if not others:
            *before, last = words
            zsh.type(f"odradek {' '.join(before)} {last}\t", f"{found} ")
            zsh.type("\x15echo cle''ared\n", "cleared\r")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_names_of_topics_are_those_of_the_broker(
    command: Callable[..., Ended], shell: str, tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    odradek = tmp_path / "odradek"
    odradek.write_text(f'#!/bin/sh\nexec {sys.executable} -m odradek.compat.cli "$@"\n')
    odradek.chmod(0o755)
    complete = {"bash": bash, "fish": fish}[shell]
    script = command("completion", shell).output
    with Emulator(topics={"orders": 1, "orders.late": 1, "clicks": 1}) as kafka:
        around = {
            "ODRADEK_BOOTSTRAP": kafka.bootstrap_servers,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
        }
        assert complete(script, ["records", "ord"], **around) == ["orders", "orders.late"]
        assert complete(script, ["topics", "delete", "cl"], **around) == ["clicks"]


def test_every_verb_is_in_each_script(command: Callable[..., Ended]) -> None:
    for shell in ("bash", "zsh", "fish"):
        ended = command("completion", shell)
        assert ended.status == 0
        for word in ("serve", "topics", "data-dir", "create"):
            assert word in ended.output
    assert command("completion", "tcsh").status == 2


def test_the_man_page_has_every_command_and_option(command: Callable[..., Ended]) -> None:
    page = command("completion", "man").output
    sections = re.split(r"^\.SS odradek ", page, flags=re.MULTILINE)
    assert {each.split("\n")[0] for each in sections[1:]} >= {"serve", "topics", "completion"}
    for option in (r"\-\-data\-dir", r"\-\-follow", r"\-\-if\-not\-exists"):
        assert f"\\fB{option}\\fR" in page
    assert not [line for line in page.splitlines() if re.match(r"'|\.(?![A-Z]|nf|fi)", line)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_the_man_page_is_right_to_groff(command: Callable[..., Ended]) -> None:
    page = command("completion", "man").output
    done = subprocess.run(
        ["groff", "-man", "-ww", "-z"], input=page, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
