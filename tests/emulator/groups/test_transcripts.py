"""Groups, told as transcripts: support/transcripts.py has the commands, and how to rewrite them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator.groups.support.transcripts import play

SCENES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_the_transcript_is_what_happens(path: Path) -> None:
    written, played = play(path)
    assert played == written


def test_every_scene_asks_something() -> None:
    assert len(SCENES) >= 12
    for path in SCENES:
        assert path.read_text().startswith("# "), f"{path.name} does not say what it is about"
