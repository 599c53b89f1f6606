"""What is recorded: the families of sequences, one file for each."""

from __future__ import annotations

from pathlib import Path

from tests.differential.cases import all_cases
from tests.differential.draw.sequences import draw_sequence
from tests.differential.engine.served import Served
from tests.differential.engine.steps import Sequence

from .take import Tape

RECORDED = Path(__file__).parent / "recorded"
DRAWN = "drawn"
LEFT_OUT = ("zstd_frames",)
"""Cases that are not recorded: their megabytes cannot be compressed. Kafka is asked each time."""
SEEDS = range(1, 61)
"""Those of the drawn sequences that are recorded."""


def sequences_of(family: str, served: Served) -> list[Sequence]:
    """The cases of a module, in the first and last version, or the drawn sequences."""
    if family == DRAWN:
        return [draw_sequence(seed, served) for seed in SEEDS]
    cases = [case for case in all_cases() if case.family == family and not case.is_old]
    return [
        each
        for case in cases
        if case.name not in LEFT_OUT
        for each in case.sequences(served, every_version=False)
    ]


def family_names() -> list[str]:
    """The families that are recorded."""
    return [*dict.fromkeys(case.family for case in all_cases() if not case.is_old), DRAWN]


def path_of(family: str) -> Path:
    """The file of a family."""
    return RECORDED / f"{family}.tape"


def recorded() -> list[str]:
    """The families of which there is a tape."""
    return sorted(path.stem for path in RECORDED.glob("*.tape"))


def tape_of(family: str) -> Tape:
    """The tape of a family."""
    return Tape.read(path_of(family))
