"""`diff`, `audit` and `profile` say the same on both engines, to the letter, of damaged directories
too."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.compat.commands import main

from tests.compat.spark.pipeline.audited import build
from tests.storage.support.logs import cut, flip

pytestmark = pytest.mark.spark

NEWEST, OLDEST = f"t-0/{10:020d}.log", f"t-0/{0:020d}.log"
DAMAGE: dict[str, tuple[Callable[[Path], object], dict[str, int]]] = {
    "a bit": (lambda p: flip(p / OLDEST, 290), {"diff": 2, "audit": 1, "profile": 2}),
    "torn": (lambda p: cut(p / NEWEST, 30), {"diff": 2, "audit": 1, "profile": 2}),
    "a segment": (lambda p: (p / OLDEST).unlink(), {"diff": 1, "audit": 1, "profile": 0}),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("built") / "data")


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_directory_is_the_same_to_both(
    damage: str, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Path(shutil.copytree(built, tmp_path / "data"))
    do, expected = DAMAGE[damage]
    do(data)
    for command, places in (
        ("diff", [built / "t", data / "t"]),
        ("audit", [data]),
        ("profile", [data / "t"]),
    ):
        received = []
        for engine in ("arrow", "spark"):
            arguments = [command, *map(str, places), "--json", "--engine", engine]
            received.append((main(arguments), *capsys.readouterr()))
        assert received[0] == received[1], command
        assert received[0][0] == expected[command], (command, received[0])
        if received[0][0] == 2:
            assert received[0][2].startswith(f"odradek: {data / 't-0'}"), received[0]
            assert received[0][2].count("\n") == 1
