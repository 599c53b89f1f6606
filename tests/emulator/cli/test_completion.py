"""`odradek completion`: what bash completes with its script."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.support.ended import Ended

_BASH = shutil.which("bash")


@pytest.mark.skipif(_BASH is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["to"], ["topics", "top"]),
        (["serve", "--po"], ["--port"]),
        (["topics", "localhost:9092", "cr"], ["create"]),
        (["topics", "localhost:9092", "create", "orders", "--part"], ["--partitions"]),
        (["completion", ""], ["--help", "bash", "fish", "zsh"]),
    ],
)
def test_bash_completes(command: Callable[..., Ended], words: list[str], found: list[str]) -> None:
    script = command("completion", "bash").output
    given = " ".join(f"'{word}'" for word in ["odradek", *words])
    ask = f"COMP_WORDS=({given}); COMP_CWORD={len(words)}; _odradek"
    say = 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        [str(_BASH), "-c", f"{script}\n{ask}\n{say}"], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.splitlines(), done.stderr) == (found, "")


def test_every_verb_is_in_each_script(command: Callable[..., Ended]) -> None:
    for shell in ("bash", "zsh", "fish"):
        ended = command("completion", shell)
        assert ended.status == 0
        for word in ("serve", "topics", "data-dir", "create"):
            assert word in ended.output
    assert command("completion", "tcsh").status == 2
