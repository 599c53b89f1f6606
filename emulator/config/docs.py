"""What a config is for, in a sentence of our own: DescribeConfigs with `include_documentation`.

Of topics, groups and metrics subscriptions all configs are described, of brokers those from which
topics and groups take their defaults. Left out: the other configs of brokers, which have none.
"""

from __future__ import annotations

from functools import cache

from .tables import TOPIC_DEFAULTS, group_definitions, group_synonym

_TABLE = """
cleanup.policy: What becomes of old segments: delete them, compact them to the newest record of each key, or both.
compression.gzip.level: Level of gzip when the broker compresses; -1 is the library's own choice.
compression.lz4.level: Level of lz4 when the broker compresses.
compression.type: Codec in which batches are stored; producer keeps the one they came in.
compression.zstd.level: Level of zstd when the broker compresses.
delete.retention.ms: How long tombstones and transaction markers outlive the compaction that first meets them.
file.delete.delay.ms: How long a segment that was deleted keeps its file, so that readers can finish.
flush.messages: Records after which the log is synced to the disk.
flush.ms: Time after which records are synced to the disk.
follower.replication.throttled.replicas: Replicas that copy at a limited rate: partition:broker pairs, or * for all.
index.interval.bytes: Bytes between two entries of the offset index.
internal.segment.bytes: Size of segments below the least that segment.bytes takes, for tests of Kafka's own.
leader.replication.throttled.replicas: Replicas that are copied from at a limited rate: partition:broker pairs, or * for all.
local.retention.bytes: Bytes of a partition kept on the broker when segments are tiered; -2 follows retention.bytes.
local.retention.ms: Time for which records stay on the broker when segments are tiered; -2 follows retention.ms.
max.compaction.lag.ms: Time after which a record must have been compacted.
max.message.bytes: Size of the largest batch that is taken, as it is stored.
message.timestamp.after.max.ms: How far a record's time may lie ahead of the broker's clock.
message.timestamp.before.max.ms: How far a record's time may lie behind the broker's clock.
message.timestamp.type: Whose time a record has: CreateTime the producer's, LogAppendTime the broker's.
min.cleanable.dirty.ratio: Share of a log, not yet compacted, from which on compaction begins.
min.compaction.lag.ms: Time for which a record stays as it is before it may be compacted.
min.insync.replicas: Replicas in sync without which acks=all is refused.
preallocate: Whether a new segment gets its whole size on the disk at once.
remote.log.copy.disable: Whether segments are no longer copied to the remote tier.
remote.log.delete.on.disable: Whether what lies in the remote tier is deleted when that is switched off.
remote.storage.enable: Whether segments are copied to a remote tier.
retention.bytes: Bytes of a partition above which the oldest segments are deleted; -1 for no limit.
retention.ms: Time after which segments are deleted; -1 for never.
segment.bytes: Size at which a new segment is begun.
segment.index.bytes: Size that an index may have; a segment ends when one is full.
segment.jitter.ms: Random time by which segments end earlier, lest all do so at once.
segment.ms: Time after which a new segment is begun though the old one is not full.
unclean.leader.election.enable: Whether a replica that is not in sync may lead when there is no other.
consumer.session.timeout.ms: Silence after which a member is taken for gone.
consumer.heartbeat.interval.ms: How often members are to send heartbeats.
consumer.assignment.interval.ms: Least time between two assignments of a group.
share.session.timeout.ms: Silence after which a member of a share group is taken for gone.
share.heartbeat.interval.ms: How often members of a share group are to send heartbeats.
share.record.lock.duration.ms: How long a record stays with the member that acquired it.
share.delivery.count.limit: How often a record is delivered before it counts as unprocessable.
share.partition.max.record.locks: Records of a partition that may be acquired at one time.
share.auto.offset.reset: Where a share group without a position begins.
share.isolation.level: Whether a share group reads records of open transactions.
share.renew.acknowledge.enable: Whether members may extend the time for which a record stays with them.
share.assignment.interval.ms: Least time between two assignments of a share group.
streams.session.timeout.ms: Silence after which a member of a streams group is taken for gone.
streams.heartbeat.interval.ms: How often members of a streams group are to send heartbeats.
streams.num.standby.replicas: Copies of each task's state that are kept ready.
streams.initial.rebalance.delay.ms: How long a new streams group waits for members before it is assigned tasks.
streams.assignment.interval.ms: Least time between two assignments of a streams group.
interval.ms: How often a client sends the metrics that are asked for.
match: Which clients are asked: a list of selector=expression.
metrics: Which metrics are asked for: a list of name prefixes, or * for all.
"""  # noqa: E501 (a row is a line)


@cache
def documentation(name: str) -> str | None:
    """The sentence about a config of any resource, or None."""
    return _sentences().get(name)


@cache
def _sentences() -> dict[str, str]:
    sentences: dict[str, str] = {}
    for row in _TABLE.strip().splitlines():
        name, sentence = row.split(": ", 1)
        sentences[name] = sentence
    for topic, brokers in TOPIC_DEFAULTS.items():
        for broker in brokers:
            if broker.factor == 1:
                sentences.setdefault(broker.name, sentences[topic])
    for group in group_definitions():
        if (synonym := group_synonym(group)) is not None:
            sentences.setdefault(synonym, sentences[group])
    return sentences
