"""All that a broker has and a snapshot is to have: compared before and after."""

from __future__ import annotations

from typing import Any

from odradek import Emulator
from odradek.emulator.cluster import Cluster
from odradek.wire.primitives import id_text


def everything(kafka: Emulator) -> dict[Any, Any]:
    """Topics with configs, bytes and producers of each partition; groups, transactions, time."""
    return kafka.run(_everything) | {
        "groups": {
            name: group
            for name in kafka.run(_groups)
            # Of a group with nothing the log need not have a record any more, after a compaction.
            if (group := _group(kafka, name)) != ("Empty", "", 0, [], {})
        },
        "transactions": sorted(map(repr, kafka.transactions())),
    }


def _everything(cluster: Cluster) -> dict[Any, Any]:
    found: dict[Any, Any] = {"time": cluster.clock.now(), "cluster": cluster.cluster_id}
    for topic in cluster.topics:
        found[topic.name, id_text(topic.id)] = dict(topic.config.overrides)
        for partition in topic.partitions:
            log, start = partition.log, partition.log_start_offset
            bases = [(segment.base_offset, segment.size) for segment in log.segments]
            found[topic.name, partition.index] = (
                (log.log_start_offset, log.log_end_offset, partition.last_stable_offset),
                # A segment without batches is not on disk, and so may begin with another start.
                [each for each in bases if each[1]],
                log.producers.snapshot().hex(),
                b"".join(
                    bytes(log.read(max(base, start), 1 << 30)) for base, size in bases if size
                ),
            )
    return found


def _groups(cluster: Cluster) -> list[str]:
    coordinator = cluster.groups.at(cluster.controller_id)
    return sorted(listing.group_id for listing in coordinator.list_groups())


def _group(kafka: Emulator, name: str) -> tuple[Any, ...]:
    group = kafka.group(name)
    members = sorted(member.member_id for member in group.members)
    return group.state, group.protocol, group.generation, members, group.committed()
