"""The brokers of a cluster, each of which a test can stop, kill, pause and start again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar, cast

from .. import parameters, seen
from ..base.addresses import bracketed
from ..base.node import Node
from ..cluster import Cluster
from ..partitions.partition import Bounds, Partition
from ..replication.lagging import catch_up, catch_up_everywhere, check_replica, lag
from .facet import Facet

T = TypeVar("T")


class BrokerView:
    """One broker, by its id. Each verb returns when all that follows from it at once has happened;
    what takes the broker's time, as the end of a session, passes under the broker's clock.

    Verbs raise RuntimeError for a broker that does not run (or runs already), and for the last one
    that runs: `kafka.kill()` and `kafka.restart()` are for all of them. What is asked of a broker
    that was removed raises ValueError.
    """

    def __init__(self, run: Callable[[Callable[[Cluster], object]], object], node_id: int) -> None:
        self.id = node_id
        self._run = run

    def __repr__(self) -> str:
        return f"<broker {self.id}>"

    @property
    def address(self) -> str:
        """Its "host:port"."""
        node = self._node()
        return f"{bracketed(node.host)}:{node.port}"

    @property
    def rack(self) -> str | None:
        """Its rack, if it has one."""
        return self._node().rack

    @property
    def is_fenced(self) -> bool:
        """Whether the cluster knows that it is gone: it leads nothing, and is not listed."""
        return bool(self._run(lambda cluster: cluster.replication.broker(self.id).is_fenced))

    @property
    def state(self) -> str:
        """What its process does, "up", "paused" or "down"; and whether it is fenced."""
        return str(self._run(lambda cluster: str(cluster.replication.broker(self.id))))

    def stop(self) -> None:
        """Stop it in good order, as by SIGTERM: its leaders move first, and clients that are
        connected are answered for a while that it leads and coordinates nothing any more. Returns
        when it has ended (0.1 s later, 2 s with `timing="kafka"`); in the broker's own thread when
        its leaders have moved."""
        from ..replication.stopping import stop

        thread = threading.get_ident()

        def begin(cluster: Cluster) -> Future[None] | None:
            def told(done: Future[None]) -> None:
                if done.exception() is None:
                    self._tell(cluster, "stopped")

            gone = stop(cluster, self.id)
            gone.add_done_callback(told)
            return None if threading.get_ident() == thread else gone

        gone = cast("Future[None] | None", self._run(begin))
        if gone is not None:
            gone.result()

    def kill(self) -> None:
        """End it at once, paused or not, as `kill -9`: connections are reset. That it is gone is
        known when its session ends (`broker.session.timeout.ms`, 200 ms if it is not set): leaders
        move then."""
        self._do("killed", lambda cluster: cluster.replication.kill(self.id))

    def start(self) -> None:
        """Start it again at its address: it follows, and is in sync. Leaders stay as they are."""
        self._do("started again", lambda cluster: cluster.replication.start(self.id))

    def restart(self) -> None:
        """Stop it, and start it again. Raises RuntimeError, before it is stopped, if it could not
        start: where it reaches no controller."""
        self._run(lambda cluster: cluster.replication.check_restarts(self.id))
        self.stop()
        self.start()

    def pause(self) -> None:
        """Let its process stand still, as by SIGSTOP: connections stay open, and nothing is
        answered. It falls out of the replicas in sync, and its session ends."""
        self._do("paused", lambda cluster: cluster.replication.pause(self.id))

    def resume(self) -> None:
        """Let its process go on."""
        self._do("resumed", lambda cluster: cluster.replication.resume(self.id))

    # Its replicas

    def lag(self, partition: seen.PartitionView, records: int | None = None) -> None:
        """Let its replica of a partition fall behind as records come, and stay so many behind the
        end; without `records` it gets nothing more. It holds the high watermark back until its
        leader takes it out of those in sync, after `replica.lag.time.max.ms` (200 ms if that is not
        set), and lasts until `catch_up`.

        Raises ValueError for a partition that it leads or has no replica of, and for fewer than one
        record; RuntimeError if the broker does not run; TypeError.
        """
        if records is not None:
            parameters.record_count(records)
        self._on(partition, lambda cluster, found: lag(cluster, found, self.id, records))

    def catch_up(self, partition: seen.PartitionView | None = None) -> None:
        """Let its replica of a partition, or each that it has, get everything again, at once if the
        broker runs: it is in sync then. Raises ValueError for a partition that it has not."""
        if partition is None:
            self._run(lambda cluster: catch_up_everywhere(cluster, self.id))
        else:
            self._on(partition, lambda cluster, found: catch_up(cluster, found, self.id))

    def log_end_offset(self, partition: seen.PartitionView) -> int:
        """Where its replica of a partition ends. Raises ValueError if it has none."""
        return self._bounds(partition).log_end_offset

    def high_watermark(self, partition: seen.PartitionView) -> int:
        """Up to where those see records of a partition who read them here. Raises ValueError if the
        broker has no replica of it."""
        return self._bounds(partition).high_watermark

    def _bounds(self, partition: seen.PartitionView) -> Bounds:
        def found(_: Cluster, partition: Partition) -> Bounds:
            check_replica(partition, self.id)
            return partition.bounds_at(self.id)

        return self._on(partition, found)

    def _on(self, view: seen.PartitionView, action: Callable[[Cluster, Partition], T]) -> T:
        if not isinstance(view, seen.PartitionView):
            raise TypeError(f"a partition is wanted, as kafka.topic('orders')[0], not {view!r}")

        def done(cluster: Cluster) -> T:
            cluster.replication.broker(self.id)
            return action(cluster, cluster.partition(view.topic, view.index))

        return cast(T, self._run(done))

    def _do(self, kind: str, action: Callable[[Cluster], None]) -> None:
        def done(cluster: Cluster) -> None:
            action(cluster)
            self._tell(cluster, kind)

        self._run(done)

    def _tell(self, cluster: Cluster, kind: str) -> None:
        cluster.journal.add(f"broker {kind}", details={"node": self.id})

    def _node(self) -> Node:
        def found(cluster: Cluster) -> Node:
            cluster.replication.broker(self.id)
            return cluster.nodes[self.id]

        return cast(Node, self._run(found))


class BrokerViews:
    """The brokers, by their ids: `kafka.brokers[2]`. Iterated in the order of these."""

    def __init__(self, run: Callable[[Callable[[Cluster], object]], object], ids: Sequence[int]):
        self._run = run
        self._ids = ids

    def __repr__(self) -> str:
        return f"<brokers {', '.join(map(str, self._ids))}>"

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[BrokerView]:
        return (BrokerView(self._run, node_id) for node_id in self._ids)

    def __getitem__(self, node_id: int) -> BrokerView:
        """Raises ValueError for an id that no broker has, TypeError for what is no id."""
        if type(node_id) is not int:
            raise TypeError(f"a broker is named by its id, an int, not {node_id!r}")
        if node_id not in self._ids:
            there = ", ".join(map(str, self._ids))
            raise ValueError(f"there is no broker {node_id!r}, but {there}")
        return BrokerView(self._run, node_id)


class Clustered(Facet):
    """Verbs about leaders."""

    def elect_leader(self, topic: str, partition: int = 0, *, unclean: bool = False) -> int:
        """Have a partition led by its preferred replica, the first one; with `unclean`, if nobody
        leads it, by any that runs, though it may lack records. Returns the leader's id.

        Raises Refused as ElectLeaders answers, but not if there is nothing to do.
        """
        view = seen.TopicView(self._inside, parameters.topic_name(topic))
        return view[partition].elect(unclean=unclean)
