"""Every config of a topic: Kafka 4.3.1's. definition.py says how a row is read."""

from __future__ import annotations

from functools import cache

from .definition import Definition, parse_table


@cache
def topic_definitions() -> dict[str, Definition]:
    return parse_table(_TABLE)


_TABLE = """
segment.bytes                            INT      1073741824 1048576.. cluster
    from log.segment.bytes
    Size at which a new segment begins.
segment.ms                               LONG     604800000 1.. cluster
    from log.roll.ms, log.roll.hours * 3600000
    Time after which a new segment begins although the old one is not full.
segment.jitter.ms                        LONG     0 0.. cluster
    from log.roll.jitter.ms, log.roll.jitter.hours * 3600000
    Random time by which segments end earlier, so that they do not all end at once.
segment.index.bytes                      INT      10485760 4.. cluster
    from log.index.size.max.bytes
    Maximum size of an index; a segment ends when one of its indexes is full.
flush.messages                           LONG     9223372036854775807 1.. cluster
    from log.flush.interval.messages
    Number of records after which the log is synced to the disk.
flush.ms                                 LONG     9223372036854775807 0.. cluster
    from log.flush.interval.ms, log.flush.scheduler.interval.ms
    Time after which records are synced to the disk.
retention.bytes                          LONG     -1 * cluster
    from log.retention.bytes
    Size of a partition above which its oldest segments are deleted; -1 is no limit.
retention.ms                             LONG     604800000 -1.. cluster
    from log.retention.ms, log.retention.minutes * 60000, log.retention.hours * 3600000
    Time after which segments are deleted; -1 is never.
max.message.bytes                        INT      1048588 0.. cluster
    from message.max.bytes
    Maximum size of a batch, as it is stored.
index.interval.bytes                     INT      4096 0.. cluster
    from log.index.interval.bytes
    Bytes between two entries of the offset index.
delete.retention.ms                      LONG     86400000 0.. cluster
    from log.cleaner.delete.retention.ms
    How long tombstones and transaction markers stay after the first compaction that finds them.
min.compaction.lag.ms                    LONG     0 0.. cluster
    from log.cleaner.min.compaction.lag.ms
    Minimum age at which a record may be compacted.
max.compaction.lag.ms                    LONG     9223372036854775807 1.. cluster
    from log.cleaner.max.compaction.lag.ms
    Maximum age that a record may reach before it is compacted.
file.delete.delay.ms                     LONG     60000 0.. cluster
    from log.segment.delete.delay.ms
    Time from the deletion of a segment to that of its files, so that readers can finish.
min.cleanable.dirty.ratio                DOUBLE   0.5 0..1 cluster
    from log.cleaner.min.cleanable.ratio
    Ratio of the uncompacted part of a log to the whole, from which on the log is compacted.
cleanup.policy                           LIST     delete unique:compact|delete cluster
    from log.cleanup.policy
    What happens to old segments: delete deletes them, compact keeps the newest record of each key.
unclean.leader.election.enable           BOOLEAN  false * cluster
    from unclean.leader.election.enable
    Whether a replica that is not in sync may lead when no other can.
min.insync.replicas                      INT      1 1.. cluster
    from min.insync.replicas
    Number of replicas in sync below which acks=all is refused.
compression.type                         STRING   producer @codec cluster
    from compression.type
    Codec in which batches are stored; producer keeps the producer's.
compression.gzip.level                   INT      -1 -1,1..9 cluster
    from compression.gzip.level
    Level of gzip when the broker compresses; -1 is the library's default.
compression.lz4.level                    INT      9 1..17 cluster
    from compression.lz4.level
    Level of lz4 when the broker compresses.
compression.zstd.level                   INT      3 -131072..22 cluster
    from compression.zstd.level
    Level of zstd when the broker compresses.
preallocate                              BOOLEAN  false * cluster #growing-files
    from log.preallocate
    Whether the file of a new segment has its full size at once.
message.timestamp.type                   STRING   CreateTime CreateTime|LogAppendTime cluster
    from log.message.timestamp.type
    Whose timestamp a record has: CreateTime the producer's, LogAppendTime the broker's.
message.timestamp.before.max.ms          LONG     9223372036854775807 0.. cluster
    from log.message.timestamp.before.max.ms
    How much older than the broker's clock a record's timestamp may be.
message.timestamp.after.max.ms           LONG     3600000 0.. cluster
    from log.message.timestamp.after.max.ms
    How far ahead of the broker's clock a record's timestamp may be.
leader.replication.throttled.replicas    LIST     "" replicas cluster #no-throttling
    Replicas whose leaders send at a limited rate: partition:broker pairs, or * for all.
follower.replication.throttled.replicas  LIST     "" replicas cluster #no-throttling
    Replicas whose followers receive at a limited rate: partition:broker pairs, or * for all.
remote.storage.enable                    BOOLEAN  false * cluster #no-tiers
    Whether segments are copied to the remote tier.
local.retention.ms                       LONG     -2 -2.. cluster #no-tiers
    from log.local.retention.ms
    Time for which segments stay on the broker when they are tiered; -2 is that of retention.ms.
local.retention.bytes                    LONG     -2 -2.. cluster #no-tiers
    from log.local.retention.bytes
    Size that a partition has on the broker when it is tiered; -2 is that of retention.bytes.
remote.log.copy.disable                  BOOLEAN  false * cluster #no-tiers
    Whether segments are no longer copied to the remote tier.
remote.log.delete.on.disable             BOOLEAN  false * cluster #no-tiers
    Whether the segments of the remote tier are deleted when it is switched off.
internal.segment.bytes                   INT      - * internal
    Segment size, also below the minimum of segment.bytes; for tests.
""".replace("@codec", "uncompressed|zstd|lz4|snappy|gzip|producer")
