"""The brokers of a cluster: they stop, die, stand still and come back, and partitions follow.

Data is stored once. A replica whose broker is at work has what the log has; one whose broker is
not keeps the log end that it had (partitions/replicas.py). What is done about it, and when:

- A stop: the controller moves the leaders away first; the broker answers for a while (leaving.py),
  and is fenced.
- A kill, a pause: nothing is known of it until the session of the broker ends; then it is fenced.
- A leader whose follower has not caught up for `replica.lag.time.max.ms` takes it out of the ISR.
- A broker that is back is unfenced at once, follows every leader at once, and is in sync then. The
  leaders stay where they are. One that was killed is not eligible to lead by what it had before.
- A replica that is elected, and lacks part of the log, truncates the log to what it has.

Session and lag are short, unless `timing="kafka"` or a config asks for more, and pass under the
cluster's clock. A partition without a leader whose topic allows unclean elections gets one when the
config is changed, a replica comes back, or one is added, which itself elects nobody: with
`timing="kafka"` that is `unclean.leader.election.interval.ms` later. What a test does to single
replicas: lagging.py.

- Brokers that do not reach the controller (quorum.py) are fenced when their sessions end, and
  followers that do not reach their leader get nothing. Without a controller nothing is written:
  leaders and replicas in sync stay as they are.

Not emulated: log directories that fail; what a broker that does not reach the controller still
takes for true (it learns of changes all the same). What differs from a real node: a replica that
was truncated, and has not yet come back, is taken to have what the others have in common with it.
Source: three nodes of Kafka 4.3.1 (semantics O).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.stored.cluster import MetadataRecord
from ..base.logger import log
from ..base.node import Registered
from ..base.timers import Timer
from ..metadata.features import ELIGIBLE_LEADERS
from ..partitions.partition import NO_LEADER
from .brokers import BrokerState, Process, Registrations
from .changes import Policy
from .controller import Balance, Controller
from .quorum import NOBODY, ControllerGate, Quorum, TimeOut

if TYPE_CHECKING:
    from ..environment import Environment
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..metadata.log import MetadataLog
    from ..metadata.topics import Catalogue
    from ..partitions.partition import Partition

SHORT_MS = 200
"""How long sessions and lags are, if nobody asks for another time."""


class Replication:
    """The processes of a cluster's brokers, and their effect on partitions."""

    moved: Callable[[int, BrokerState], None] | None = None
    """Called when the process of a broker has begun to do something else; set by a server."""
    has_clients: Callable[[int], bool] | None = None
    """Whether anybody is connected to a broker; set by a server."""
    answers_ms: Callable[[], int] | None = None
    """How long a broker that stops answers without its leaders; set by `timing="kafka"`."""

    def __init__(
        self,
        environment: Environment,
        metadata: MetadataLog,
        topics: Catalogue,
        time_out: TimeOut,
        *,
        await_replicas: Callable[[], None],
        forget: Callable[[int], None],
        is_short: bool,
    ) -> None:
        self.environment, self.metadata, self.topics = environment, metadata, topics
        self._await_replicas, self._forget = await_replicas, forget
        self.brokers = {
            node_id: BrokerState() if node.is_alive else BrokerState(Process.DOWN, is_fenced=True)
            for node_id, node in environment.nodes.items()
        }
        self.controller = Controller(metadata.image, self.brokers, self._policy)
        self.quorum = Quorum(self.brokers)
        self._gate = ControllerGate(self.quorum, environment.after, time_out)
        self._registrations = Registrations(
            metadata.image, environment.release, environment.log_dir.properties.directory_id
        )
        self._is_short = is_short
        self._sessions: dict[int, Timer] = {}
        self._lag_check: Timer | None = None
        self._balance = Balance(environment, metadata, self._move_back)

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Take in a change of the metadata: new replicas whose brokers are not at work have
        nothing, and configs or replicas that are added may now allow an unclean election."""
        if len(self.brokers) == 1:
            return
        is_whole = not self.quorum.sides and all(each.is_at_work for each in self.brokers.values())
        for topic_id in {*delta.created, *(topic_id for topic_id, _ in delta.partitions)}:
            topic = self.topics.by_id(topic_id)
            for partition in topic.partitions if topic is not None and not is_whole else ():
                self._hold_back(partition)
        may_elect = bool(delta.configs)
        for topic_id in {*delta.created, *(topic_id for topic_id, _ in delta.partitions)}:
            if topic_id in image.topics:
                partitions = image.topics[topic_id].partitions.values()
                self._balance.noticed(partitions)
                may_elect = may_elect or any(p.adding and p.leader == NO_LEADER for p in partitions)
        if may_elect:
            self._elect_later()

    @property
    def may_lag(self) -> bool:
        """Whether some broker may get less than leaders have."""
        is_whole = not self.quorum.sides
        return not (is_whole and all(each.is_at_work for each in self.brokers.values()))

    # Brokers

    def stop(self, node_id: int) -> None:
        """Shut a broker down in good order, at once. Raises Refused, RuntimeError (`running`)."""
        self.begin_stop(node_id)
        self.end_stop(node_id)

    def begin_stop(self, node_id: int) -> None:
        """Move the leaders of a broker away: it goes on until `end_stop`, and follows. Raises
        Refused, RuntimeError (`running`)."""
        broker = self.running(node_id)
        if broker.is_shutting_down:
            return
        self.check_not_last(node_id, "stopped")
        if not self.quorum.reaches(node_id):  # which cannot move its leaders
            self._end(node_id, Process.DOWN)
            self._await_session(node_id)
            return
        broker.is_shutting_down = True
        try:
            records = self.controller.without(node_id)
            self._write([*self._registrations.shuts_down(node_id), *records])
        except Refused:
            broker.is_shutting_down = False
            raise
        self._settle()
        self.environment.settle()  # who waits there learns that it does not lead any more

    def end_stop(self, node_id: int) -> None:
        """A broker that shuts down ends; nothing if it has ended meanwhile. Raises Refused."""
        broker = self.brokers.get(node_id)
        if broker is not None and broker.is_shutting_down and broker.process is not Process.DOWN:
            self._end(node_id, Process.DOWN)
            self._fence(node_id)
            self._settle()

    def kill(self, node_id: int) -> None:
        """End its process, paused or not; nobody knows it until its session ends. Raises
        RuntimeError."""
        broker = self.broker(node_id)
        if broker.process is not Process.PAUSED:
            self.running(node_id)
            self.check_not_last(node_id, "killed")
        broker.has_crashed = True
        self._end(node_id, Process.DOWN)
        if not broker.is_fenced:
            self._await_session(node_id)
            self.watch_lags()

    def pause(self, node_id: int) -> None:
        """Let its process stand still. Raises RuntimeError."""
        self.running(node_id)
        self.check_not_last(node_id, "paused")
        self._end(node_id, Process.PAUSED)
        self._await_session(node_id)
        self.watch_lags()

    def resume(self, node_id: int) -> None:
        """Let its process go on. Raises RuntimeError if it was not paused."""
        broker = self.broker(node_id)
        if broker.process is not Process.PAUSED:
            raise RuntimeError(f"broker {node_id} is not paused: it is {broker}")
        self._begin(node_id)

    def start(self, node_id: int) -> None:
        """Start its process again. Raises RuntimeError if it has not ended."""
        broker = self.broker(node_id)
        self.end_stop(node_id)
        if broker.process is not Process.DOWN:
            raise RuntimeError(f"broker {node_id} has not ended: it is {broker}")
        if not self.quorum.reaches(node_id):
            raise RuntimeError(f"broker {node_id} cannot start: it reaches no controller")
        if not broker.is_fenced:  # its old session ends before it may have a new one
            self._session_over(node_id)
        records = self.controller.lost(node_id) if broker.has_crashed else []
        self._write([*records, *self._registration(node_id, len(records))])
        broker.has_crashed = False
        self._forget(node_id)
        for partition in self.replicas_at(node_id):
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
        self._write(self._registrations.gone(node_id))
        broker.is_registered = False
        self._settle()

    def set_isr(self, partition: Partition, isr: list[int]) -> None:
        """The leader of a partition says who is in sync. Raises Refused."""
        self._write([*self.controller.alter_isr(partition.topic.id, partition.index, isr)])

    def watch_again(self) -> None:
        """Brokers were put where they are: those that run are heard of, sessions of others end from
        now on, and replicas lag."""
        self._elect_controller()
        for node_id, broker in self.brokers.items():
            if broker.process is Process.UP:
                if broker.is_fenced and broker.is_registered:
                    self._unfence(node_id)
            elif not broker.is_fenced:
                self._await_session(node_id)
        self._give_leaders()
        self.watch_lags()

    def register(self, *, is_start: bool = False) -> None:
        """Write down which brokers there are, if there are several: those that are not known yet,
        or at a start of the cluster all of them. Raises Refused (KAFKA_STORAGE_ERROR)."""
        if len(self.brokers) == 1:
            return
        known = self.metadata.image.brokers
        new = [
            node_id
            for node_id, each in self.brokers.items()
            if node_id not in known or (is_start and each.is_at_work)
        ]
        records: list[MetadataRecord] = []
        for node_id in new:
            records += self._registration(node_id, len(records))
        self._write(records)
        self._write([each for node_id in new for each in self._registrations.unfenced(node_id)])

    def _registration(self, node_id: int, after: int) -> list[MetadataRecord]:
        """That a broker starts, if there are several; `after` other records."""
        metadata = self.metadata
        if len(self.brokers) == 1:
            return []
        node = self.environment.nodes[node_id]
        return [self._registrations.start(node, metadata.end_offset + after)]

    def add(self, node_id: int) -> None:
        """One more broker, which runs: it follows where it has replicas already. Raises Refused
        (KAFKA_STORAGE_ERROR); then it is none."""
        self.brokers[node_id] = BrokerState()
        self.quorum.add(node_id)
        try:
            self.register()
        except BaseException:
            del self.brokers[node_id]
            self.quorum.remove(node_id)
            raise
        for partition in self.replicas_at(node_id):
            self._hold_back(partition)
            partition.start_again(node_id)
        self._elect_controller()
        self.topics.changed()
        self._give_leaders()

    def remove(self, node_id: int) -> None:
        """A broker that has ended is none any more. Raises Refused (KAFKA_STORAGE_ERROR)."""
        self._write(self._registrations.gone(node_id))
        session = self._sessions.pop(node_id, None)
        if session is not None:
            session.cancel()
        del self.brokers[node_id]
        self.quorum.remove(node_id)
        if self.quorum.sides:
            self._quorum_changed()
        else:
            self._elect_controller()

    def end_session(self, node_id: int) -> None:
        """Fence the brokers that do not run now. Raises Refused (KAFKA_STORAGE_ERROR)."""
        if not self.brokers[node_id].is_fenced:
            session = self._sessions.pop(node_id, None)
            if session is not None:
                session.cancel()
            self._fence(node_id)
            self._settle()

    def change(self, records: list[MetadataRecord]) -> None:
        """Write a change of partitions: followers follow at once. Raises Refused."""
        self._write(records)
        self._settle()

    def broker(self, node_id: int) -> BrokerState:
        """A broker. Raises ValueError for an id that none has."""
        if node_id not in self.brokers:
            there = ", ".join(map(str, self.brokers))
            raise ValueError(f"there is no broker {node_id!r}, but {there}")
        return self.brokers[node_id]

    def is_up(self, node_id: int) -> bool:
        return self.brokers[node_id].process is Process.UP

    def replicas_at(self, node_id: int) -> list[Partition]:
        return [each for each in self._partitions() if node_id in each.replicas]

    def registered(self) -> Registered:
        """Those that partitions may be on."""
        there = {n: each for n, each in self.brokers.items() if each.is_registered}
        racks = {node_id: self.environment.nodes[node_id].rack for node_id in there}
        return Registered(racks, [node_id for node_id, each in there.items() if each.is_active])

    # Controllers

    def break_network(self, sides: Sequence[frozenset[int]]) -> None:
        """Break the network between brokers into sides, or, with none, make it whole. Raises
        Refused (KAFKA_STORAGE_ERROR)."""
        self.quorum.sides = sides
        for partition in self._partitions():
            self._hold_back(partition)
        self._quorum_changed()
        self.watch_lags()

    def lose_quorum(self, *, is_lost: bool) -> None:
        """Let the controllers be gone, or be back. Raises Refused (KAFKA_STORAGE_ERROR)."""
        self.quorum.is_lost = is_lost
        self._quorum_changed()

    def _quorum_changed(self) -> None:
        """Brokers that reach the controller are heard of; the sessions of others begin to end, if
        there is one who waits for that."""
        self._elect_controller()
        chain = self.environment.chain
        if self._gate not in chain:
            chain.append(self._gate)
        if all(map(self.quorum.reaches, self.brokers)):
            chain.remove(self._gate)
        self.environment.woken.append(self._gate.open)
        if not self.quorum.is_there:
            for session in self._sessions.values():
                session.cancel()
            self._sessions.clear()
            return
        for node_id, broker in self.brokers.items():
            if broker.process is Process.UP and self.quorum.reaches(node_id):
                if broker.is_registered:
                    self._unfence(node_id)
            elif not broker.is_fenced:
                self._await_session(node_id)
        self._give_leaders()

    def _elect_controller(self) -> None:
        metadata = self.metadata
        is_another = self.quorum.elect(metadata.end_offset, self.environment.clock.now())
        if is_another:
            self.topics.changed()
            if self.quorum.leader != NOBODY:
                metadata.begin_epoch()
        text = "" if self.quorum.is_there else "there is no controller that could write it"
        metadata.halted = text

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
        broker = self.broker(node_id)
        if broker.process is not Process.UP:
            raise RuntimeError(f"broker {node_id} is not running: it is {broker}")
        return broker

    def check_not_last(self, node_id: int, done: str) -> None:
        """Raises RuntimeError if no other broker runs."""
        others = (each for other, each in self.brokers.items() if other != node_id)
        if not any(each.process is Process.UP and not each.is_shutting_down for each in others):
            raise RuntimeError(f"broker {node_id} is the last one that runs, and cannot be {done}")

    def check_controlled(self, what: str) -> None:
        """Whether there is a controller for this. Raises Refused (REQUEST_TIMED_OUT)."""
        halted = self.metadata.halted
        if halted:
            raise Refused(Error.REQUEST_TIMED_OUT, f"{what}: {halted}")

    def check_restarts(self, node_id: int) -> None:
        """Whether a broker runs, and could start again. Raises RuntimeError."""
        self.running(node_id)
        if not self.quorum.reaches(node_id):
            text = f"broker {node_id} is not restarted: it reaches no controller"
            raise RuntimeError(f"{text}, and could not start again")

    # Within

    def _end(self, node_id: int, process: Process) -> None:
        self.brokers[node_id].process = process
        now = self.environment.clock.now()
        for partition in self.replicas_at(node_id):
            partition.hold(node_id, now)
        self._await_replicas()
        self._elect_controller()
        self._tell(node_id)

    def _begin(self, node_id: int) -> None:
        self.brokers[node_id].process = Process.UP
        self._elect_controller()
        if self.quorum.reaches(node_id):
            self._unfence(node_id)
        self._give_leaders()
        self._tell(node_id)

    def _unfence(self, node_id: int) -> None:
        """It is heard of. A failing disk is logged: it stays fenced."""
        broker = self.brokers[node_id]
        if broker.is_fenced:
            try:
                self._write(self._registrations.unfenced(node_id))
            except Refused as refused:
                log.warning("broker %d stays fenced: %s", node_id, refused)
                return
        session = self._sessions.pop(node_id, None)
        if session is not None:
            session.cancel()
        broker.is_fenced = False
        broker.is_registered = True
        self._listed(node_id, is_listed=True)

    def _tell(self, node_id: int) -> None:
        if self.moved is not None:
            self.moved(node_id, self.brokers[node_id])

    def _fence(self, node_id: int) -> None:
        broker = self.brokers[node_id]
        broker.is_fenced = True
        try:
            records = self.controller.without(node_id)
            self._write([*records, *self._registrations.fenced(node_id)])
        except Refused:
            broker.is_fenced = False
            raise
        broker.is_shutting_down = False
        self._listed(node_id, is_listed=False)

    def _listed(self, node_id: int, *, is_listed: bool) -> None:
        self.environment.nodes[node_id].is_alive = is_listed
        self.topics.changed()

    def _give_leaders(self) -> None:
        """To partitions that have none, and let everybody follow. A failing disk is logged."""
        try:
            if self.quorum.is_there:
                self._write(self.controller.with_again())
            self._settle()
        except Refused as refused:
            log.warning("partitions without a leader stay so: %s", refused)

    def _move_back(self) -> None:
        """Preferred replicas lead, if there is a controller. A failing disk is logged."""
        try:
            if self.quorum.is_there:
                self._write(self.controller.balanced())
                self._settle()
        except Refused as refused:
            log.warning("leaders stay where they are: %s", refused)

    # Time

    def _elect_later(self) -> None:
        """Configs may now allow an unclean election."""
        wait_ms: int = self.environment.config.get("unclean.leader.election.interval.ms")
        self._at(0 if self._is_short else wait_ms, self._give_leaders)

    def _await_session(self, node_id: int) -> None:
        if node_id in self._sessions or not self.quorum.is_there:
            return
        session_ms = self.environment.config.get("broker.session.timeout.ms")
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
        self._await_replicas()
        if self._lag_check is None:
            lag_ms = self._lag_ms if wait_ms is None else wait_ms
            self._lag_check = self._at(lag_ms, self._check_lags)

    @property
    def _lag_ms(self) -> int:
        lag_ms = self.environment.config.get("replica.lag.time.max.ms")
        return self._short("replica.lag.time.max.ms", lag_ms)

    def _check_lags(self) -> None:
        """Leaders take followers out of the ISR that have not caught up."""
        self._lag_check = None
        records: list[MetadataRecord] = []
        is_needed = bool(self.quorum.sides) or any(
            each.process is Process.PAUSED or not (each.process is Process.UP or each.is_fenced)
            for each in self.brokers.values()
        )
        before = self.environment.clock.now() - self._lag_ms
        for partition in self._led():
            if not self.quorum.reaches(partition.leader):
                continue
            is_needed = is_needed or (partition.apart is not None and bool(partition.apart.lags))
            late = [each for each in partition.isr if partition.is_late(each, before)]
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
        is_asked_for = not self._is_short or name in self.environment.config.overrides
        return milliseconds if is_asked_for else SHORT_MS

    def _at(self, wait_ms: int, callback: Callable[[], None]) -> Timer:
        return self.environment.timers.at(self.environment.clock.now() + wait_ms, callback)

    # Partitions

    def _settle(self) -> None:
        """Replicas at work have what their leaders have, and are in sync."""
        records: list[MetadataRecord] = []
        for partition in self._led():
            at_work = [each for each in partition.replicas if self._follows(partition, each)]
            for node_id in at_work:
                partition.follow(node_id)
            coming = {each for each in at_work if each not in partition.isr}
            coming = {each for each in coming if self._may_join(partition, each)}
            if coming and self.quorum.reaches(partition.leader):
                isr = sorted({*partition.isr, *coming})
                records += self.controller.alter_isr(partition.topic.id, partition.index, isr)
        self._write(records)

    def _hold_back(self, partition: Partition) -> None:
        """Its replicas get nothing that cannot follow."""
        for node_id in partition.replicas:
            if not self._follows(partition, node_id):
                partition.hold(node_id, self.environment.clock.now())

    def _follows(self, partition: Partition, node_id: int) -> bool:
        broker = self.brokers.get(node_id)
        is_there = broker is not None and broker.process is Process.UP and not broker.is_fenced
        return is_there and self.quorum.connects(partition.leader, node_id)

    def _may_join(self, partition: Partition, node_id: int) -> bool:
        """Whether a replica that follows may be in sync: not so at a broker that shuts down."""
        return self.brokers[node_id].is_active and partition.has_caught_up(node_id)

    def _led(self) -> Iterator[Partition]:
        for partition in self._partitions():
            leader = self.brokers.get(partition.leader)
            if leader is not None and leader.is_at_work:
                yield partition

    def _partitions(self) -> Iterator[Partition]:
        for topic in self.topics:
            yield from topic.partitions

    def _write(self, records: list[MetadataRecord]) -> None:
        if records:
            self.metadata.append(records)

    def _policy(self, name: str) -> Policy:
        config = self.topics.named(name).config
        has_elr = self.metadata.image.features.get(ELIGIBLE_LEADERS, 0) > 0
        return Policy(config.min_insync_replicas, has_elr, config.unclean_election)
