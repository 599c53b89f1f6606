"""Snapshot: what a broker was at one moment.

What is in it: topics with their configs and every record, committed offsets, groups and their
members, transactions (open ones too) and producers with their sequences, access rules, quotas and
users as far as the metadata log has them, configs set at run time, and the time. It is what the
logs of the broker say, so it comes back as after a clean restart of the broker. Of several brokers
also which of them run, and what the replicas have (replication/broker_states.py).

What is not: connections, requests that wait, fetch sessions, rates of quotas, telemetry, the
timeline, and what the Emulator was started with: config, clock, retention.
"""

from __future__ import annotations

from collections.abc import Collection
from os import PathLike
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Self

from ...storage import MemoryDisk
from ...storage.checkpoints import META_PROPERTIES, read_meta_properties
from ...storage.naming import name_of
from ..base.clock import SystemClock
from ..replication.broker_states import BrokerStates, idle_brokers, states_of
from . import archive
from .archive import StateError
from .images import Image, take

if TYPE_CHECKING:
    from ..cluster import Cluster


class Snapshot:
    """The state of a broker at one moment; Emulator's `snapshot` makes it. It never changes, and
    may be put back any number of times.

    It takes space in the temporary directory until nobody holds it any more, or `close`.
    """

    def __init__(self, image: Image, head: dict[str, Any]) -> None:
        self._image: Image | None = image
        self._head = head

    def __repr__(self) -> str:
        if self._image is None:
            return "<Snapshot, closed>"
        return f"<Snapshot of {self._head['cluster_id']} at {self.time_ms}, {self.size} bytes>"

    @property
    def time_ms(self) -> int:
        """The broker's time then, in ms since 1970."""
        time: int = self._head["time_ms"]
        return time

    @property
    def ahead_ms(self) -> int:
        """How far a clock that runs was moved forward then."""
        ahead: int = self._head["ahead_ms"]
        return ahead

    @property
    def brokers(self) -> BrokerStates | None:
        """Which of several brokers ran then, and what replicas had; None of a single one, or in a
        file of an earlier release."""
        return self._head.get("brokers")

    @property
    def size(self) -> int:
        """The bytes of all its files, those that are shared included."""
        return sum(entry.size for entry in self.image.entries())

    @property
    def image(self) -> Image:
        """Its files. Raises StateError if it was closed."""
        if self._image is None:
            raise StateError("the snapshot was closed, so nothing of it is left: take another one")
        return self._image

    @property
    def release(self) -> str:
        """The version of Kafka that wrote it."""
        return str(self._head["release"])

    def check_fits(self, release: str, naming: str) -> None:
        """Raises StateError for an Emulator that has another version or naming."""
        for argument, mine, theirs in (
            ("version", self.release, release),
            ("naming", self._head["naming"], naming),
        ):
            if mine != theirs:
                raise StateError(
                    f"the state is of an Emulator with {argument}={mine!r}, this one has "
                    f"{theirs!r}: use Emulator(state=..., {argument}={mine!r})"
                )

    def check_opens(self, node_id: int, brokers: Collection[int]) -> None:
        """Whether brokers with these ids can be what it says, of which the first one had or has
        this id: said before anything is changed. Raises StateError."""
        owner = read_meta_properties(self.image.read(META_PROPERTIES)).node_id
        if owner != node_id:
            text = f"the state is of an Emulator with node.id={owner}, this one has {node_id}"
            raise StateError(f'{text}: use Emulator({{"node.id": {owner}}}, state=...)')
        if self.brokers is None:
            return
        idle = idle_brokers(self.brokers)
        if set(brokers) <= idle:
            there = ", ".join(map(str, sorted(brokers)))
            text = f"in that state no broker runs of those that there are: {there}"
            raise StateError(f"{text}; take it while one of them runs")

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it to a file, which another process can open; return the file's path. A name that
        ends in `.gz`, `.bz2` or `.xz` is compressed. Raises OSError, StateError."""
        image, target = self.image, Path(path)
        archive.write(target, self._head, image)
        return target

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Open a file that `save` has written. Raises StateError if it is none, is damaged, or has
        another format; OSError."""
        head, image = archive.read(Path(path))
        return cls(image, head)

    def close(self) -> None:
        """Give up the space that it takes. What was restored from it goes on."""
        image, self._image = self._image, None
        if image is not None:
            image.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def take_snapshot(cluster: Cluster, disk: MemoryDisk | None) -> Snapshot:
    """A snapshot as of now, in the broker's thread; `disk` is the one in memory, if it is on that.
    Raises Refused (KAFKA_STORAGE_ERROR), OSError."""
    cluster.settle()
    head = {
        "release": cluster.release.name,
        "naming": name_of(cluster.log_dir.naming),
        "time_ms": cluster.clock.now(),
        "ahead_ms": cluster.clock.ahead_ms if isinstance(cluster.clock, SystemClock) else 0,
        "cluster_id": cluster.cluster_id,
        "brokers": states_of(cluster.replication) if len(cluster.nodes) > 1 else None,
    }
    return Snapshot(take(cluster.log_dir, disk), head)


def state_of(given: Snapshot | str | PathLike[str]) -> Snapshot:
    """A state, loaded if it is the path of a file. Raises StateError, TypeError, OSError."""
    if isinstance(given, Snapshot):
        return given
    if not isinstance(given, str | PathLike):
        wanted = "a Snapshot, or the path of a file that Snapshot.save has written"
        raise TypeError(f"state is {wanted}, not {shortened(given)}")
    return Snapshot.load(given)
