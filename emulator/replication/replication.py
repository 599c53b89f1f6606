"""The brokers of a cluster: they stop, die, stand still and come back, and partitions follow.

Data is stored once. A replica whose broker is at work has what the log has; one whose broker is
not keeps the log end that it had (partitions/replicas.py). What is done about it, and when:

- A stop: the controller moves the leaders away first, then the broker is fenced.
- A kill, a pause: nothing is known of it until the session of the broker ends; then it is fenced.
- A leader whose follower has not caught up for `replica.lag.time.max.ms` takes it out of the ISR.
- A broker that is back is unfenced at once, follows every leader at once, and is in sync then. The
  leaders stay where they are. One that was killed is not eligible to lead by what it had before.
- A replica that is elected, and lacks part of the log, truncates the log to what it has.

Session and lag are short, unless `timing="kafka"` or a config asks for more, and pass under the
cluster's clock. A partition without a leader whose topic allows unclean elections gets one when the
config is changed, or a replica comes back. What a test does to single replicas: lagging.py.

Not emulated: the quorum of controllers, which is always there; a network between brokers; log
directories that fail. What differs from a real node: a replica that was truncated, and has not yet
come back, is taken to have what the others have in common with it.
Source: three nodes of Kafka 4.3.1 (semantics O).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.stored.cluster import MetadataRecord
from ..base.logger import log
from ..base.node import Registered
from ..base.timers import Timer
from ..metadata.features import ELIGIBLE_LEADERS
from .brokers import BrokerState, Process
from .changes import Policy
from .controller import Controller

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..partitions.partition import Partition

SHORT_MS = 200
"""How long sessions and lags are, if nobody asks for another time."""


class Replication:
    """What the brokers of a cluster are doing, and what partitions have of that."""

    moved: Callable[[int, BrokerState], None] | None = None
    """Called when the process of a broker has begun to do something else; set by a server."""

    def __init__(self, cluster: Cluster, *, is_short: bool) -> None:
        self.brokers = {
            node_id: BrokerState() if node.is_alive else BrokerState(Process.DOWN, is_fenced=True)
            for node_id, node in cluster.nodes.items()
        }
        self.controller = Controller(cluster.metadata.image, self.brokers, self._policy)
        self._cluster = cluster
        self._is_short = is_short
        self._sessions: dict[int, Timer] = {}
        self._lag_check: Timer | None = None

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Take in a change of the metadata: new replicas whose brokers are not at work have
        nothing, and configs may now allow an unclean election."""
        if len(self.brokers) == 1:
            return
        now = self._cluster.clock.now()
        away = [node_id for node_id, each in self.brokers.items() if not each.is_at_work]
        for topic_id in {*delta.created, *(topic_id for topic_id, _ in delta.partitions)}:
            topic = self._cluster.topics.by_id(topic_id)
            for partition in topic.partitions if topic is not None and away else ():
                for node_id in set(away).intersection(partition.replicas):
                    partition.hold(node_id, now)
        if delta.configs:
            self._elect_later()

    # Brokers

    def stop(self, node_id: int) -> None:
        """Shut a broker down in good order. Raises Refused, RuntimeError (`running`)."""
        broker = self.running(node_id)
        self._check_not_last(node_id, "stopped")
        broker.is_shutting_down = True
        try:
            self._write(self.controller.without(node_id))
        except Refused:
            broker.is_shutting_down = False
            raise
        self._cluster.settle()  # who waits there is told that it does not lead any more
        self._end(node_id, Process.DOWN)
        self._fence(node_id)
        self._settle()

    def kill(self, node_id: int) -> None:
        """End its process; nobody knows it until its session ends. Raises RuntimeError."""
        broker = self.running(node_id)
        self._check_not_last(node_id, "killed")
        broker.has_crashed = True
        self._end(node_id, Process.DOWN)
        self._await_session(node_id)

    def pause(self, node_id: int) -> None:
        """Let its process stand still. Raises RuntimeError."""
        self.running(node_id)
        self._check_not_last(node_id, "paused")
        self._end(node_id, Process.PAUSED)
        self._await_session(node_id)
        self.watch_lags()

    def resume(self, node_id: int) -> None:
        """Let its process go on. Raises RuntimeError if it was not paused."""
        broker = self.brokers[node_id]
        if broker.process is not Process.PAUSED:
            raise RuntimeError(f"broker {node_id} is not paused: it is {broker}")
        self._begin(node_id)

    def start(self, node_id: int) -> None:
        """Start its process again. Raises RuntimeError if it has not ended."""
        broker = self.brokers[node_id]
        if broker.process is not Process.DOWN:
            raise RuntimeError(f"broker {node_id} has not ended: it is {broker}")
        if not broker.is_fenced:  # its old session ends before it may have a new one
            self._session_over(node_id)
        if broker.has_crashed:
            self._write(self.controller.lost(node_id))
            broker.has_crashed = False
        self._cluster.brokers[node_id].started_again()
        for partition in self._replicas_at(node_id):
            partition.start_again(node_id)
        self._begin(node_id)

    def unregister(self, node_id: int) -> None:
        """Take a broker out: it leads nothing until it is started again. Raises Refused:
        BROKER_ID_NOT_REGISTERED, KAFKA_STORAGE_ERROR."""
        broker = self.brokers.get(node_id)
        if broker is None or not broker.is_registered:
            message = f"Broker ID {node_id} is not currently registered"
            raise Refused(Error.BROKER_ID_NOT_REGISTERED, message)
        self._fence(node_id)
        broker.is_registered = False
        self._settle()

    def set_isr(self, partition: Partition, isr: list[int]) -> None:
        """The leader of a partition says who is in sync. Raises Refused."""
        self._write([*self.controller.alter_isr(partition.topic.id, partition.index, isr)])

    def watch_again(self) -> None:
        """Brokers were put where they are: sessions end from now on, and replicas lag."""
        for node_id, broker in self.brokers.items():
            if broker.process is not Process.UP and not broker.is_fenced:
                self._await_session(node_id)
        self.watch_lags()

    def is_reached(self, node_id: int) -> bool:
        """Whether the process of a broker answers."""
        return self.brokers[node_id].process is Process.UP

    def registered(self) -> Registered:
        """Those that partitions may be on."""
        there = {n: each for n, each in self.brokers.items() if each.is_registered}
        racks = {node_id: self._cluster.nodes[node_id].rack for node_id in there}
        return Registered(racks, [node_id for node_id, each in there.items() if each.is_active])

    # Requests

    def settle(self) -> None:
        """Records were written that change leaders or replicas: followers follow, and are in sync.
        A failing disk is logged."""
        if len(self.brokers) == 1:
            return
        try:
            self._settle()
        except Refused as refused:
            log.warning("replicas that follow are not in sync: %s", refused)

    def running(self, node_id: int) -> BrokerState:
        """A broker that runs. Raises RuntimeError if it does not."""
        broker = self.brokers[node_id]
        if broker.process is not Process.UP:
            raise RuntimeError(f"broker {node_id} is not running: it is {broker}")
        return broker

    # Within

    def _check_not_last(self, node_id: int, done: str) -> None:
        others = (each for other, each in self.brokers.items() if other != node_id)
        if not any(each.process is Process.UP for each in others):
            raise RuntimeError(f"broker {node_id} is the last one that runs, and cannot be {done}")

    def _end(self, node_id: int, process: Process) -> None:
        self.brokers[node_id].process = process
        for partition in self._replicas_at(node_id):
            partition.hold(node_id, self._cluster.clock.now())
        self._tell(node_id)

    def _begin(self, node_id: int) -> None:
        broker = self.brokers[node_id]
        session = self._sessions.pop(node_id, None)
        if session is not None:
            session.cancel()
        broker.process = Process.UP
        broker.is_fenced = False
        broker.is_registered = True
        self._listed(node_id, is_listed=True)
        self._give_leaders()
        self._tell(node_id)

    def _tell(self, node_id: int) -> None:
        if self.moved is not None:
            self.moved(node_id, self.brokers[node_id])

    def _fence(self, node_id: int) -> None:
        broker = self.brokers[node_id]
        broker.is_fenced = True
        try:
            self._write(self.controller.without(node_id))
        except Refused:
            broker.is_fenced = False
            raise
        broker.is_shutting_down = False
        self._listed(node_id, is_listed=False)

    def _listed(self, node_id: int, *, is_listed: bool) -> None:
        self._cluster.nodes[node_id].is_alive = is_listed
        self._cluster.topics.changed()

    def _give_leaders(self) -> None:
        """To partitions that have none, and let everybody follow. A failing disk is logged."""
        try:
            self._write(self.controller.with_again())
            self._settle()
        except Refused as refused:
            log.warning("partitions without a leader stay so: %s", refused)

    # Time

    def _elect_later(self) -> None:
        """Configs may now allow an unclean election."""
        wait_ms: int = self._cluster.config.get("unclean.leader.election.interval.ms")
        self._at(0 if self._is_short else wait_ms, self._give_leaders)

    def _await_session(self, node_id: int) -> None:
        session_ms = self._cluster.config.get("broker.session.timeout.ms")
        wait_ms = self._short("broker.session.timeout.ms", session_ms)
        self._sessions[node_id] = self._at(wait_ms, partial(self._session_over, node_id))

    def _session_over(self, node_id: int) -> None:
        self._sessions.pop(node_id).cancel()
        try:
            self._fence(node_id)
            self._settle()
        except Refused as refused:
            log.warning("broker %d leads what it led, though it is gone: %s", node_id, refused)

    def watch_lags(self, wait_ms: int | None = None) -> None:
        """Look from now on for replicas that lag, after the time that they may."""
        if self._lag_check is None:
            lag_ms = self._lag_ms if wait_ms is None else wait_ms
            self._lag_check = self._at(lag_ms, self._check_lags)

    @property
    def _lag_ms(self) -> int:
        lag_ms = self._cluster.config.get("replica.lag.time.max.ms")
        return self._short("replica.lag.time.max.ms", lag_ms)

    def _check_lags(self) -> None:
        """Leaders take followers out of the ISR that have not caught up."""
        self._lag_check = None
        records: list[MetadataRecord] = []
        is_needed = any(each.process is Process.PAUSED for each in self.brokers.values())
        before = self._cluster.clock.now() - self._lag_ms
        for partition in self._led():
            is_needed = is_needed or (partition.apart is not None and bool(partition.apart.lags))
            late = [each for each in partition.isr if _is_late(partition, each, before)]
            if late:
                left = [each for each in partition.isr if each not in late]
                records += self.controller.alter_isr(partition.topic.id, partition.index, left)
        if is_needed:
            self.watch_lags(max(1, self._lag_ms // 2))
        try:
            self._write(records)
        except Refused as refused:
            log.warning("replicas that lag stay in sync: %s", refused)

    def _short(self, name: str, milliseconds: int) -> int:
        is_asked_for = not self._is_short or name in self._cluster.config.overrides
        return milliseconds if is_asked_for else SHORT_MS

    def _at(self, wait_ms: int, callback: Callable[[], None]) -> Timer:
        return self._cluster.timers.at(self._cluster.clock.now() + wait_ms, callback)

    # Partitions

    def _settle(self) -> None:
        """Replicas at work have what their leaders have, and are in sync."""
        records: list[MetadataRecord] = []
        for partition in self._led():
            at_work = [each for each in partition.replicas if self.brokers[each].is_at_work]
            for node_id in at_work:
                partition.follow(node_id)
            coming = {each for each in at_work if each not in partition.isr}
            coming = {each for each in coming if partition.has_caught_up(each)}
            if coming:
                isr = sorted({*partition.isr, *coming})
                records += self.controller.alter_isr(partition.topic.id, partition.index, isr)
        self._write(records)

    def _led(self) -> Iterator[Partition]:
        """The partitions whose leader is at work."""
        for partition in self._partitions():
            leader = self.brokers.get(partition.leader)
            if leader is not None and leader.is_at_work:
                yield partition

    def _replicas_at(self, node_id: int) -> Iterator[Partition]:
        return (each for each in self._partitions() if node_id in each.replicas)

    def _partitions(self) -> Iterator[Partition]:
        for topic in self._cluster.topics:
            yield from topic.partitions

    def _write(self, records: list[MetadataRecord]) -> None:
        if records:
            self._cluster.metadata.append(records)

    def _policy(self, name: str) -> Policy:
        config = self._cluster.topic(name).config
        has_elr = self._cluster.metadata.image.features.get(ELIGIBLE_LEADERS, 0) > 0
        return Policy(config.min_insync_replicas, has_elr, config.unclean_election)


def _is_late(partition: Partition, node_id: int, before: int) -> bool:
    """Whether a replica has not had everything since before that time."""
    apart = partition.apart
    if apart is None or partition.end_at(node_id) == partition.log_end_offset:
        return False
    return apart.behind_since.get(node_id, before + 1) <= before
