"""Every config of a group, and of a metrics subscription: Kafka 4.3.1's. definition.py says how a
row is read.
"""

from __future__ import annotations

from functools import cache

from .definition import Definition, parse_table


@cache
def group_definitions() -> dict[str, Definition]:
    return parse_table(_GROUP)


@cache
def client_metrics_definitions() -> dict[str, Definition]:
    return parse_table(_CLIENT_METRICS)


_GROUP = """
consumer.session.timeout.ms              INT      45000 1.. cluster
    from group.consumer.session.timeout.ms
    Time without a heartbeat after which a member is removed.
consumer.heartbeat.interval.ms           INT      5000 1.. cluster
    from group.consumer.heartbeat.interval.ms
    Interval at which members are to send heartbeats.
consumer.assignment.interval.ms          INT      1000 0.. cluster
    from group.consumer.assignment.interval.ms
    Minimum time between two assignments of a group.
share.session.timeout.ms                 INT      45000 1.. cluster
    from group.share.session.timeout.ms
    Time without a heartbeat after which a member of a share group is removed.
share.heartbeat.interval.ms              INT      5000 1.. cluster
    from group.share.heartbeat.interval.ms
    Interval at which members of a share group are to send heartbeats.
share.record.lock.duration.ms            INT      30000 1000.. cluster
    from group.share.record.lock.duration.ms
    Time for which a record stays with the member that acquired it.
share.delivery.count.limit               INT      5 2.. cluster
    from group.share.delivery.count.limit
    Maximum number of times that a record is delivered.
share.partition.max.record.locks         INT      2000 100.. cluster
    from group.share.partition.max.record.locks
    Maximum number of a partition's records that are acquired at a time.
share.auto.offset.reset                  STRING   latest offsets cluster
    Where a share group without an offset begins.
share.isolation.level                    STRING   read_uncommitted @isolation cluster
    Whether a share group reads records of open transactions.
share.renew.acknowledge.enable           BOOLEAN  true * cluster
    Whether members may extend the time for which they hold a record.
share.assignment.interval.ms             INT      1000 0.. cluster
    from group.share.assignment.interval.ms
    Minimum time between two assignments of a share group.
streams.session.timeout.ms               INT      45000 1.. cluster
    from group.streams.session.timeout.ms
    Time without a heartbeat after which a member of a streams group is removed.
streams.heartbeat.interval.ms            INT      5000 1.. cluster
    from group.streams.heartbeat.interval.ms
    Interval at which members of a streams group are to send heartbeats.
streams.num.standby.replicas             INT      0 0.. cluster
    from group.streams.num.standby.replicas
    Number of standby copies of each task's state.
streams.initial.rebalance.delay.ms       INT      3000 0.. cluster
    from group.streams.initial.rebalance.delay.ms
    Time for which a new streams group waits for members before it is assigned tasks.
streams.assignment.interval.ms           INT      1000 0.. cluster
    from group.streams.assignment.interval.ms
    Minimum time between two assignments of a streams group.
""".replace("@isolation", "read_committed|read_uncommitted")

_CLIENT_METRICS = """
metrics                                  LIST     "" unique cluster
    Which metrics are asked for: a list of prefixes of names, or * for all.
interval.ms                              INT      300000 * cluster
    Interval at which a client sends the metrics that are asked for.
match                                    LIST     "" unique cluster
    Which clients are asked: a list of selector=expression.
"""
