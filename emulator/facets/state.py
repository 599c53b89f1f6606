"""The broker's state: reset, kept, put back, doubled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ...storage import Directory, MemoryDisk
from ...storage.naming import Naming, name_of
from .. import parameters
from ..base.addresses import Advertised, Listening
from ..base.clock import Clock, ManualClock, Movable, SystemClock
from ..base.journal import Journal
from ..base.node import Node
from ..base.release import Release
from ..cluster import Cluster
from ..config.configs import BrokerConfig
from ..control.rules.rules import Rules
from ..state.downtime import start_again
from ..state.errors import StateError
from .disk import Disk
from .facet import Facet, Thread
from .network import Network

if TYPE_CHECKING:
    from ..control.traffic.journal import RequestJournal
    from ..state.snapshot import Snapshot


class Keeping(Facet):
    """Verbs about everything that a broker has, at once."""

    # What of Emulator is used here.
    _listening: Listening
    _advertised: Advertised | None
    _began_ms: int | None
    _config: BrokerConfig
    _listens_by_config: bool
    _clock: Clock
    _control: Any
    _disk: MemoryDisk | None
    _given_dir: Path | None
    _is_handed_over: bool
    _naming: Naming
    _network: Network
    _disk_faults: Disk
    _begin_without_faults: Callable[[], None]
    _release: Release
    _rules: Rules
    _state: Snapshot | None
    _topics: dict[str, int]
    _new_users: dict[str, str]
    _racks: dict[int, str | None]
    _thread: object | None
    start: Callable[[], Self]
    _started: Callable[[], Thread]
    _ensure_given: Callable[[Cluster], None]
    _journal: Journal
    _requests: RequestJournal | None
    _new_journal: Callable[..., None]
    _new_cluster: Callable[[Path | Directory, Sequence[Node] | None, Snapshot | None], Cluster]

    @property
    def _is_temporary(self) -> bool:
        raise NotImplementedError

    def reset(self) -> None:
        """Be as new: without topics but those that the Emulator was given, or as the `state` that
        it was given. Address and port stay, clients are cut, a ManualClock goes back to where it
        began. What a data_dir or disk had is removed.

        Raises OSError if the disk fails; then the broker stops. StateError if no broker runs in
        the `state` of those that there are.
        """
        thread = self._started()
        if self._state is not None:
            self._check_opens(self._state)
        self._network.heal()
        self._network.forget_all()
        self._disk_faults.forget_all()
        if thread.call_anyhow(lambda server: server.is_down):
            thread.call_anyhow(partial(start_again, make=self._as_new))
        else:
            thread.exchange(self._as_new, keeps_clients=False)

    def snapshot(self) -> Snapshot:
        """What the broker is now, to be put back by `restore`, opened by `Emulator(state=...)` or
        saved to a file. Clients do not notice it, and files are shared, not copied.

        Raises Refused (KAFKA_STORAGE_ERROR) or OSError if the disk fails.
        """
        from ..state.snapshot import take_snapshot

        return self.run(partial(take_snapshot, disk=self._disk))

    def restore(self, state: Snapshot | str | Path, *, clients: str = "cut") -> None:
        """Be what a broker was, as after a restart of it: with its topics, records, groups,
        transactions, producers and configs. Address and port stay. A ManualClock goes back to its
        time then. Another clock goes on, as far ahead of the machine's as `advance` had moved it
        then; so time has passed for what is restored.

        state       a Snapshot, or the path of a file that Snapshot.save has written
        clients     "cut": connections are closed; "keep": they stay, and what waits is answered so
                    that clients ask again

        Leader epochs and producer ids go on from the highest there were, as clients that live on
        compare them. A network between brokers that was broken is whole, and there are controllers.

        Raises StateError, before anything is changed, if the snapshot was closed or does not fit,
        or if no broker runs in it of those that there are; OSError or LogDirectoryError if it
        cannot be put back; then the broker stops.
        """
        from ..state.snapshot import state_of

        keeps = parameters.one_of("clients", clients, ("cut", "keep")) == "keep"
        state = state_of(state)
        state.check_fits(self._release.name, name_of(self._naming))
        self._check_opens(state)
        self._started().exchange(partial(self._as_it_was, state), keeps_clients=keeps)

    def fork(self) -> Self:
        """A second broker from this moment, started, with a port and a directory of its own: what
        happens at one does not reach the other. `with kafka.fork() as other:` stops it at the end.

        Raises as `snapshot` and `start` do.
        """
        state = self.snapshot()
        twin = copy(self)
        twin._state, twin._began_ms, twin._thread = state, None, None
        twin._control = None
        twin._given_dir, twin._disk = None, None if self._disk is None else MemoryDisk()
        twin._clock = copy(self._clock)
        if isinstance(twin._clock, Movable):
            twin._clock.release()
        twin._racks = dict(self._racks)
        twin._topics, twin._new_users = {}, {}  # they are in the state, as clients have left them
        twin._rules = Rules()
        twin._journal = Journal(twin._clock, self._journal.most)
        twin._listening, twin._advertised = Listening(self._listening.host, 0), None
        if self._listens_by_config:
            from ..security.given import free_ports

            twin._config = free_ports(self._config)
        twin.__dict__.pop("_inside", None)
        twin._new_journal(is_on=self._requests is not None and self._requests.is_on)
        twin._begin_without_faults()
        twin.start()
        twin._is_handed_over = True
        return twin

    # Within

    def _check_opens(self, state: Snapshot) -> None:
        """Raises StateError, before anything is changed."""
        state.check_opens(self._config.get("node.id"), self._racks)

    def _begin_state(self, home: Path | Directory) -> Snapshot | None:
        """Before a start: have the state that was given, once, and return it. Raises StateError if
        there is anything already."""
        clock, first = self._clock, self._began_ms is None
        if first:
            self._began_ms = clock.now() if isinstance(clock, ManualClock) else 0
        if self._state is None or not (first or self._is_temporary):
            return None
        self._check_opens(self._state)
        from ..state.placing import is_empty

        if self._disk is not None:
            is_there, where = bool(self._disk.files()), "the disk"
        else:
            assert isinstance(home, Path)
            is_there, where = not is_empty(home), str(home)
        if is_there:
            text = f"{where} has data already, which state=... would replace: give an empty one"
            raise StateError(f"{text}, or begin without state= and use kafka.restore(state)")
        self._place(str(home), self._state)
        return self._state

    def _as_new(self, old: Cluster) -> Cluster:
        if isinstance(self._clock, ManualClock) and self._began_ms is not None:
            self._clock.set(self._began_ms)
        self._place(old.log_dir.path, self._state)
        self._journal.clear()
        self._rules.clear()
        if self._requests is not None:
            self._requests.traffic.clear()
        new = self._reopened(old, self._state)
        self._ensure_given(new)
        return new

    def _as_it_was(self, state: Snapshot, old: Cluster) -> Cluster:
        self._place(old.log_dir.path, state)
        self._rules.clear()
        from ..state.ahead import stay_ahead

        new = self._reopened(old, state)
        new.keep_chain(old)
        stay_ahead(new.metadata, old.metadata.image, old.controller_id)
        return new

    def _place(self, home: str, state: Snapshot | None) -> None:
        from ..state.placing import place_in, place_on

        image = None if state is None else state.image
        if state is not None and isinstance(self._clock, ManualClock):
            self._clock.set(state.time_ms)
        if isinstance(self._clock, SystemClock):
            self._clock.set_ahead(0 if state is None else state.ahead_ms)
        if self._disk is not None:
            place_on(image, self._disk)
        else:
            place_in(image, Path(home), is_temporary=self._is_temporary)

    def _reopened(self, old: Cluster, state: Snapshot | None = None) -> Cluster:
        """The cluster that there is now on disk, with brokers as they were in a state; without one
        all of them run."""
        home = Path(old.log_dir.path) if self._disk is None else self._disk.directory()
        new = self._new_cluster(home, list(old.nodes.values()), state)
        new.replication.register(is_start=True)
        return new
