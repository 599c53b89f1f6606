"""Hostile beginnings at each kind of listener: nothing is found; and what would be wrong is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.__main__ import main
from tests.fuzz.arena import Arena, Setup, in_arena
from tests.fuzz.beginnings import LISTENERS
from tests.fuzz.siege import Siege

BROKEN = "tests.fuzz.support.broken"
FRAMES = 1_500


@pytest.mark.parametrize("listener", LISTENERS[1:])
def test_a_short_siege_finds_nothing(
    listener: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--frames", str(FRAMES), "--seed", "7", "--listener", listener.lower()]
    status = main([*given, "--found", str(tmp_path)])
    said = capsys.readouterr().out
    assert status == 0, said
    assert "a guest is served" in said


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("keeps_descriptors", "kept"), ("turns_clients_away", "guest"), ("is_held_up", "guest")],
)
def test_what_is_broken_is_found(fault: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", fault)
    setup = Setup(
        "4.3",
        hang_s=2.0,
        stop_s=3.0,
        has_polite=False,
        ends=False,
        module=BROKEN,
        listener="SASL_PLAINTEXT",
    )

    def play(arena: Arena) -> None:
        Siege(arena, "SASL_PLAINTEXT", "3", 4).run(3_000, lambda _: None)

    assert kind in {place[0] for place in in_arena(setup, play).findings}
