"""The state of a broker at a start, after a reset or a restore, and as the twin of another."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ...storage import Directory, MemoryDisk
from ..base.addresses import Listening
from ..base.clock import ManualClock, Movable, SystemClock
from ..base.journal import Journal
from ..base.release import Release
from ..control.rules.rules import Rules
from ..parameters import ZooKeeperPlace
from ..snapshots.archive import StateError
from .requests import RequestLog

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..snapshots.snapshot import Snapshot
    from .embedded import Embedded

K = TypeVar("K", bound="Embedded")


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
    from ..snapshots.images import is_empty

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
    from ..snapshots.images import place_in, place_on

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


def reopened(kafka: Embedded, old: Cluster, state: Snapshot | None = None) -> Cluster:
    """The cluster that there is now on disk, with brokers as they were in a state; without one
    all of them run."""
    home = Path(old.log_dir.path) if kafka._disk is None else kafka._disk.directory()
    new = kafka._new_cluster(home, list(old.nodes.values()), state)
    new.replication.register(is_start=True)
    return new


def as_new(kafka: Embedded, old: Cluster) -> Cluster:
    if isinstance(kafka._clock, ManualClock) and kafka._began_ms is not None:
        kafka._clock.set(kafka._began_ms)
    place(kafka, old.log_dir.path, kafka._state)
    kafka._journal.clear()
    kafka._rules.clear()
    kafka._requests.clear()
    new = reopened(kafka, old, kafka._state)
    kafka._ensure_given(new)
    return new


def as_it_was(kafka: Embedded, state: Snapshot, old: Cluster) -> Cluster:
    place(kafka, old.log_dir.path, state)
    kafka._rules.clear()
    from ..snapshots.images import stay_ahead

    new = reopened(kafka, old, state)
    new.keep_chain(old)
    stay_ahead(new.metadata, old.metadata.image, old.controller_id)
    return new


def twin_of(kafka: K, state: Snapshot) -> K:
    """A second broker, not started, that begins with the state: at a port and in a directory of
    its own, with a clock, rules and events of its own."""
    twin = copy(kafka)
    twin._state, twin._began_ms, twin._thread = state, None, None
    twin._given_dir, twin._disk = None, None if kafka._disk is None else MemoryDisk()
    twin._clock = copy(kafka._clock)
    if isinstance(twin._clock, Movable):
        twin._clock.release()
    twin._racks = dict(kafka._racks)
    twin._topics, twin._new_users = {}, {}  # they are in the state, as clients have left them
    twin._rules = Rules()
    twin._journal = Journal(twin._clock, kafka._journal.most)
    twin._listening, twin._advertised = Listening(kafka._listening.host, 0), None
    if kafka._zookeeper.port is not None:
        twin._zookeeper = ZooKeeperPlace(0)
    if kafka._listens_by_config:
        from ..security.initial_users import free_ports

        twin._config = free_ports(kafka._config)
    twin._requests = RequestLog(twin, is_on=kafka._requests.is_on)
    twin._new_disk_rules()
    return twin
