"""What is recorded: the families of sequences, one file for each."""

from __future__ import annotations

from pathlib import Path

from odradek.emulator.base.release import KAFKA_4_3, Release, release_named

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
_FIRST = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
SEEDS_OF_OLDER: dict[str, tuple[int, ...]] = {
    "4.2": _FIRST,
    "4.0": (2, 3, 4, 5, 7, 8, 9, 10),
    "3.6": _FIRST,
    "3.3": _FIRST,
    "2.7": (1, 2, 3, 4, 5, 9, 11, 12, 17, 18),
}
"""The same of older releases, each of which has a family. Left out are sequences in which the
emulator is known to answer otherwise (docs/versions.md counts them)."""
_OF_RELEASE = "kafka-"


def sequences_of(family: str, served: Served) -> list[Sequence]:
    """The cases of a module, in the first and last version, or the drawn sequences."""
    if family.startswith(_OF_RELEASE):
        seeds = SEEDS_OF_OLDER[family.removeprefix(_OF_RELEASE)]
        return [draw_sequence(seed, served) for seed in seeds]
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
    families = dict.fromkeys(case.family for case in all_cases() if not case.is_old)
    return [*families, DRAWN, *(_OF_RELEASE + name for name in SEEDS_OF_OLDER)]


def release_of(family: str) -> Release:
    """The release that a family was asked of."""
    is_older = family.startswith(_OF_RELEASE)
    return release_named(family.removeprefix(_OF_RELEASE)) if is_older else KAFKA_4_3


def path_of(family: str) -> Path:
    """The file of a family."""
    return RECORDED / f"{family}.tape"


def recorded() -> list[str]:
    """The families of which there is a tape."""
    return sorted(path.stem for path in RECORDED.glob("*.tape"))


def tape_of(family: str) -> Tape:
    """The tape of a family."""
    return Tape.read(path_of(family))
