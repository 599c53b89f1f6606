"""The states of several brokers in a snapshot: which of them run, and what replicas have.

Where all brokers run, and every replica has everything, there is nothing to keep. The rest is in
the metadata log: leaders, replicas, those in sync.

Left out: how long sessions and lags have lasted; they begin anew when a state is put back. Then the
network between brokers is whole, and there are controllers: brokers that run are heard of again,
also those that were fenced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ..partitions.partition import Partition
from ..partitions.replicas import Replicas
from .brokers import BrokerState, Process

if TYPE_CHECKING:
    from .replication import Replication

BrokerStates: TypeAlias = Mapping[str, Any]
"""Of a JSON file."""


def states_of(replication: Replication) -> dict[str, Any]:
    return {
        "brokers": [
            [node_id, each.process.value, each.is_fenced, each.is_registered, each.has_crashed]
            for node_id, each in replication.brokers.items()
            if each != BrokerState()
        ],
        "partitions": [
            _of_partition(partition, partition.apart)
            for topic in replication.topics
            for partition in topic.partitions
            if partition.apart is not None
        ],
    }


def _of_partition(partition: Partition, apart: Replicas) -> dict[str, Any]:
    return {
        "topic": partition.topic.name,
        "index": partition.index,
        "high_watermark": apart.high_watermark,
        "isr": partition.isr,
        "ends": [*apart.ends.items()],
        "standing": [*apart.standing.items()],
        "unheard": [*apart.unheard],
        "lags": [*apart.lags.items()],
        "kept_out": [*apart.kept_out],
    }


def idle_brokers(kept: BrokerStates) -> set[int]:
    return {node_id for node_id, process, *_ in kept["brokers"] if process != Process.UP.value}


def fenced_brokers(kept: BrokerStates) -> set[int]:
    """The brokers that were fenced: they lead nothing when the state is opened."""
    return {node_id for node_id, _, is_fenced, *_ in kept["brokers"] if is_fenced}


def restore(replication: Replication, kept: BrokerStates) -> None:
    """Have brokers and replicas be as they were, in a cluster that was opened without those that
    were fenced. Raises Refused (KAFKA_STORAGE_ERROR)."""
    for node_id, process, is_fenced, is_registered, has_crashed in kept["brokers"]:
        if node_id in replication.environment.nodes:
            broker = replication.brokers[node_id]
            broker.process, broker.is_fenced = Process(process), is_fenced
            broker.is_registered, broker.has_crashed = is_registered, has_crashed
            replication.environment.nodes[node_id].is_alive = not is_fenced
    replication.topics.changed()
    for each in kept["partitions"]:
        topic = replication.topics.get(each["topic"])
        if topic is not None:
            _restore(replication, topic.partitions[each["index"]], each)
    replication.watch_again()


def _restore(replication: Replication, partition: Partition, each: BrokerStates) -> None:
    apart, end = partition.set_apart(), partition.log_end_offset
    apart.high_watermark = min(each["high_watermark"], end)
    there = set(partition.replicas) - {partition.leader}
    apart.ends = {node_id: min(at, end) for node_id, at in each["ends"] if node_id in there}
    apart.unheard = {node_id for node_id in each.get("unheard", ()) if node_id in there}
    apart.standing = {node_id: at for node_id, at in each["standing"] if node_id in there}
    apart.lags = {node_id: most for node_id, most in each["lags"] if node_id in there}
    apart.kept_out = {node_id for node_id in each["kept_out"] if node_id in there}
    apart.behind_since = dict.fromkeys(apart.ends, replication.environment.clock.now())
    isr = [node_id for node_id in partition.isr if node_id in each["isr"]]
    if partition.leader in isr and isr != partition.isr:
        replication.set_isr(partition, isr)
    partition.advance()
