"""A snapshot that a broker begins with, or is put back to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...storage import Directory
from ..base.clock import ManualClock, SystemClock
from ..base.release import Release
from ..snapshots.errors import StateError

if TYPE_CHECKING:
    from ..snapshots.snapshot import Snapshot
    from .embedded import Embedded


def fitting(state: Snapshot | str | Path, release: Release, naming: str) -> Snapshot:
    """The snapshot, or that of a file. Raises StateError if it is of another release or naming."""
    from ..snapshots.snapshot import state_of

    found = state_of(state)
    found.check_fits(release.name, naming)
    return found


def check_opens(kafka: Embedded, state: Snapshot) -> None:
    """Raises StateError, before anything is changed."""
    state.check_opens(kafka._config.get("node.id"), kafka._racks)


def begin_state(kafka: Embedded, home: Path | Directory) -> Snapshot | None:
    """Before a start: have the state that the broker was given, once, and return it. Raises
    StateError if there is anything already."""
    clock, first = kafka._clock, kafka._began_ms is None
    if first:
        kafka._began_ms = clock.now() if isinstance(clock, ManualClock) else 0
    if kafka._state is None or not (first or kafka._is_temporary):
        return None
    check_opens(kafka, kafka._state)
    from ..snapshots.placing import is_empty

    if kafka._disk is not None:
        is_there, where = bool(kafka._disk.files()), "the disk"
    else:
        assert isinstance(home, Path)
        is_there, where = not is_empty(home), str(home)
    if is_there:
        text = f"{where} has data already, which state=... would replace: give an empty one"
        raise StateError(f"{text}, or begin without state= and use kafka.restore(state)")
    place(kafka, str(home), kafka._state)
    return kafka._state


def place(kafka: Embedded, home: str, state: Snapshot | None) -> None:
    """Have the files and the time of a state; of None those of a new broker."""
    from ..snapshots.placing import place_in, place_on

    clock = kafka._clock
    image = None if state is None else state.image
    if state is not None and isinstance(clock, ManualClock):
        clock.set(state.time_ms)
    if isinstance(clock, SystemClock):
        clock.set_ahead(0 if state is None else state.ahead_ms)
    if kafka._disk is not None:
        place_on(image, kafka._disk)
    else:
        place_in(image, Path(home), is_temporary=kafka._is_temporary)
