# ruff: noqa: E501 (a row is a line)
"""Every config of a broker: Kafka 4.3.1's. definition.py says how a row is read.

Most of them mean nothing to an emulator (sockets, SSL, replication, tiered storage): they can be
set, are checked, and are shown by DescribeConfigs. Their rows have the reason (inert.py); the others
are obeyed by the modules that `get` them.

Also here: where this emulator's defaults are not Kafka's, which configs are not for the user to
set, and which are other names of one config.
"""

from __future__ import annotations

from functools import cache

from .definition import Definition, parse_table


@cache
def broker_definitions() -> dict[str, Definition]:
    return parse_table(_TABLE)


OF_THE_AUTHORIZER = ("super.users", "allow.everyone.if.no.acl.found")
"""What the authorizer reads when it starts: of these, Kafka knows no more than of any other name."""
UNLISTED = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
    *OF_THE_AUTHORIZER,
)
"""Not among Kafka's own definitions, but known to a broker that runs, or to its authorizer: shown
when they are set."""

OUR_ID = "node.id"
"""The config with the id of the emulator's brokers in every release, also where it is broker.id
alone."""
OLD_ID = "broker.id"
"""What releases with ZooKeeper call it."""
# Broker defaults that differ from Kafka's. Shown as if set in server.properties.
OUR_DEFAULTS = {
    # Kafka has no default: every node must say who it is.
    OUR_ID: "1",
    # Kafka waits 3 s for more members before it starts a new group; a test would wait with it.
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    # Kafka's 3 (and 2 in sync) ask for three brokers before a consumer or a transaction can start.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}

# Follows from how the emulator is started (host, port, data directory, brokers).
NOT_SETTABLE = {
    "broker.id": "set node.id instead",
    "controller.listener.names": "the emulator has no controller listener",
    "controller.quorum.bootstrap.servers": "the emulator has no quorum",
    "controller.quorum.voters": "the emulator has no quorum",
    "log.dir": "it is the data directory that the emulator is started with",
    "log.dirs": "it is the data directory that the emulator is started with",
    "metadata.log.dir": "it is the data directory that the emulator is started with",
    "process.roles": "the emulator is broker and controller at once",
}

# Broker configs of which the first that is set counts; DescribeConfigs shows all of them.
BROKER_SYNONYMS = {
    name: names
    for names in (
        ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
        ("log.roll.ms", "log.roll.hours"),
        ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    )
    for name in names
} | {"log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")}

_TABLE = """
leader.replication.throttled.rate                  LONG     - 0.. cluster #no-throttling
follower.replication.throttled.rate                LONG     - 0.. cluster #no-throttling
replica.alter.log.dirs.io.max.bytes.per.second     LONG     - 0.. cluster #no-throttling
remote.log.storage.system.enable                   BOOLEAN  false #no-tiers
remote.log.storage.manager.impl.prefix             STRING   rsm.config. ! #no-tiers
remote.log.metadata.manager.impl.prefix            STRING   rlmm.config. ! #no-tiers
remote.log.storage.manager.class.name              STRING   - ! #no-tiers
remote.log.storage.manager.class.path              STRING   - #no-tiers
remote.log.metadata.manager.class.name             STRING   org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager ! #no-tiers
remote.log.metadata.manager.class.path             STRING   - #no-tiers
remote.log.metadata.manager.listener.name          STRING   - ! #no-tiers
remote.log.metadata.custom.metadata.max.bytes      INT      128 0.. #no-tiers
remote.log.index.file.cache.total.size.bytes       LONG     1073741824 1.. cluster #no-tiers
remote.log.index.file.cache.ttl.ms                 LONG     900000 -1.. internal #no-tiers
remote.log.manager.thread.pool.size                INT      2 1.. #no-tiers
remote.log.manager.copier.thread.pool.size         INT      10 1.. cluster #no-tiers
remote.log.manager.expiration.thread.pool.size     INT      10 1.. cluster #no-tiers
remote.log.manager.follower.thread.pool.size       INT      2 1.. cluster #no-tiers
remote.log.manager.task.interval.ms                LONG     30000 1.. #no-tiers
remote.log.manager.task.retry.backoff.ms           LONG     500 1.. internal #no-tiers
remote.log.manager.task.retry.backoff.max.ms       LONG     30000 1.. internal #no-tiers
remote.log.manager.task.retry.jitter               DOUBLE   0.2 0..0.5 internal #no-tiers
remote.log.reader.threads                          INT      10 1.. cluster #no-tiers
remote.log.reader.max.pending.tasks                INT      100 1.. #no-tiers
log.local.retention.ms                             LONG     -2 -2.. cluster #no-tiers
log.local.retention.bytes                          LONG     -2 -2.. cluster #no-tiers
remote.log.manager.copy.max.bytes.per.second       LONG     9223372036854775807 1.. cluster #no-tiers
remote.log.manager.copy.quota.window.num           INT      11 1.. #no-tiers
remote.log.manager.copy.quota.window.size.seconds  INT      1 1.. #no-tiers
remote.log.manager.fetch.max.bytes.per.second      LONG     9223372036854775807 1.. cluster #no-tiers
remote.log.manager.fetch.quota.window.num          INT      11 1.. #no-tiers
remote.log.manager.fetch.quota.window.size.seconds INT      1 1.. #no-tiers
remote.fetch.max.wait.ms                           INT      500 1.. cluster #no-tiers
remote.list.offsets.request.timeout.ms             LONG     30000 1.. cluster #no-tiers
broker.id                                          INT      -1
message.max.bytes                                  INT      1048588 0.. cluster
num.io.threads                                     INT      8 1.. cluster #one-thread
num.replica.alter.log.dirs.threads                 INT      - #one-thread
background.threads                                 INT      10 1.. cluster #one-thread
request.timeout.ms                                 INT      30000 #one-process
socket.connection.setup.timeout.ms                 LONG     10000 #one-process
socket.connection.setup.timeout.max.ms             LONG     30000 #one-process
config.providers                                   LIST     "" free cluster #no-classes
authorizer.class.name                              STRING   ""
super.users                                        STRING   -
allow.everyone.if.no.acl.found                     BOOLEAN  false
early.start.listeners                              LIST     - #one-process
broker.rack                                        STRING   -
controlled.shutdown.enable                         BOOLEAN  true #one-process
delete.topic.enable                                BOOLEAN  true
compression.type                                   STRING   producer uncompressed|zstd|lz4|snappy|gzip|producer cluster
compression.gzip.level                             INT      -1 -1,1..9 cluster
compression.lz4.level                              INT      9 1..17 cluster
compression.zstd.level                             INT      3 -131072..22 cluster
max.incremental.fetch.session.cache.slots          INT      1000 0..
fetch.max.bytes                                    INT      57671680 1024..
max.request.partition.size.limit                   INT      2000 1..
unstable.api.versions.enable                       BOOLEAN  false * internal #no-unstable
unstable.feature.versions.enable                   BOOLEAN  false * internal #no-unstable
process.roles                                      LIST     - !broker|controller
node.id                                            INT      - 0..
initial.broker.registration.timeout.ms             INT      60000 #one-process
broker.heartbeat.interval.ms                       INT      2000 #one-process
broker.session.timeout.ms                          INT      9000
controller.listener.names                          LIST     - ! #one-process
sasl.mechanism.controller.protocol                 STRING   GSSAPI #one-process
controller.performance.sample.period.ms            LONG     60000 100.. internal #one-process
controller.performance.always.log.threshold.ms     LONG     2000 0.. internal #one-process
server.max.startup.time.ms                         LONG     9223372036854775807 0.. internal #one-process
metadata.log.max.record.bytes.between.snapshots    LONG     20971520 1..
metadata.log.max.snapshot.interval.ms              LONG     3600000 0..
metadata.log.dir                                   STRING   - #one-directory
metadata.log.segment.bytes                         INT      1073741824 8388608..
metadata.log.segment.ms                            LONG     604800000
metadata.max.retention.bytes                       LONG     104857600
metadata.max.retention.ms                          LONG     604800000
metadata.max.idle.interval.ms                      INT      500 0.. #one-process
internal.metadata.log.segment.bytes                INT      - * internal
internal.metadata.max.batch.size.in.bytes          INT      8388608 * internal #one-process
internal.metadata.delete.delay.millis              LONG     60000 * internal
listeners                                          LIST     PLAINTEXT://:9092 ! broker
advertised.listeners                               LIST     - !
listener.security.protocol.map                     STRING   SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT * broker
socket.send.buffer.bytes                           INT      102400 #os-sockets
socket.receive.buffer.bytes                        INT      102400 #os-sockets
socket.request.max.bytes                           INT      104857600 1..
socket.listen.backlog.size                         INT      50 1.. #os-sockets
max.connections.per.ip                             INT      2147483647 0.. cluster
max.connections.per.ip.overrides                   STRING   "" * cluster
max.connections                                    INT      2147483647 0.. cluster
max.connection.creation.rate                       INT      2147483647 0.. cluster
connections.max.idle.ms                            LONG     600000
connection.failed.authentication.delay.ms          INT      100 0..
queued.max.requests                                INT      500 1.. #no-queues
queued.max.request.bytes                           LONG     -1
num.network.threads                                INT      3 1.. cluster #one-thread
controller.socket.timeout.ms                       INT      30000 #one-process
default.replication.factor                         INT      1
replica.lag.time.max.ms                            LONG     30000
replica.socket.timeout.ms                          INT      30000 #one-process
replica.socket.receive.buffer.bytes                INT      65536 #one-process
replica.fetch.max.bytes                            INT      1048576 0.. #one-process
replica.fetch.wait.max.ms                          INT      500 #one-process
replica.fetch.backoff.ms                           INT      1000 0.. #one-process
replica.fetch.min.bytes                            INT      1 #one-process
replica.fetch.response.max.bytes                   INT      10485760 0.. #one-process
num.replica.fetchers                               INT      1 1.. cluster #one-thread
replica.high.watermark.checkpoint.interval.ms      LONG     5000
fetch.purgatory.purge.interval.requests            INT      1000 #no-purgatory
producer.purgatory.purge.interval.requests         INT      1000 #no-purgatory
delete.records.purgatory.purge.interval.requests   INT      1 #no-purgatory
auto.leader.rebalance.enable                       BOOLEAN  true
leader.imbalance.check.interval.seconds            LONG     300 1..
unclean.leader.election.interval.ms                LONG     300000 1.. internal
unclean.leader.election.enable                     BOOLEAN  false * cluster
security.inter.broker.protocol                     STRING   PLAINTEXT PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL
inter.broker.listener.name                         STRING   -
replica.selector.class                             STRING   -
follower.fetch.last.tiered.offset.enable           BOOLEAN  false * cluster #no-tiers
group.coordinator.rebalance.protocols              LIST     classic,consumer,streams !consumer|classic|share|streams
group.coordinator.threads                          INT      4 1.. #one-thread
group.coordinator.background.threads               INT      2 1.. #one-thread
group.coordinator.append.linger.ms                 INT      -1 -1.. #coordinators
offsets.commit.timeout.ms                          INT      5000 1..
offsets.load.buffer.size                           INT      5242880 1.. #coordinators
offsets.topic.replication.factor                   SHORT    3 1..
offsets.topic.num.partitions                       INT      50 1..
offsets.topic.segment.bytes                        INT      104857600 1..
offsets.topic.compression.codec                    INT      0 #uncompressed
group.coordinator.cached.buffer.max.bytes          INT      1048588 524288.. cluster #coordinators
offset.metadata.max.bytes                          INT      4096
offsets.retention.minutes                          INT      10080 1..
offsets.retention.check.interval.ms                LONG     600000 1..
group.min.session.timeout.ms                       INT      6000
group.max.session.timeout.ms                       INT      1800000
group.initial.rebalance.delay.ms                   INT      3000
group.max.size                                     INT      2147483647 1..
group.consumer.session.timeout.ms                  INT      45000 1..
group.consumer.min.session.timeout.ms              INT      45000 1..
group.consumer.max.session.timeout.ms              INT      60000 1..
group.consumer.heartbeat.interval.ms               INT      5000 1..
group.consumer.min.heartbeat.interval.ms           INT      5000 1..
group.consumer.max.heartbeat.interval.ms           INT      15000 1..
group.consumer.max.size                            INT      2147483647 1..
group.consumer.assignors                           LIST     uniform,range !
group.consumer.migration.policy                    STRING   bidirectional ~DISABLED|DOWNGRADE|UPGRADE|BIDIRECTIONAL
group.consumer.assignment.interval.ms              INT      1000 0.. cluster
group.consumer.min.assignment.interval.ms          INT      0 0..
group.consumer.max.assignment.interval.ms          INT      15000 0..
group.consumer.regex.refresh.interval.ms           INT      600000 10000.. internal
group.share.session.timeout.ms                     INT      45000 1..
group.share.min.session.timeout.ms                 INT      45000 1..
group.share.max.session.timeout.ms                 INT      60000 1..
group.share.heartbeat.interval.ms                  INT      5000 1..
group.share.min.heartbeat.interval.ms              INT      5000 1..
group.share.max.heartbeat.interval.ms              INT      15000 1..
group.share.max.size                               INT      200 1..1000
group.share.assignors                              LIST     simple ! #no-classes
group.share.assignment.interval.ms                 INT      1000 0.. cluster
group.share.min.assignment.interval.ms             INT      0 0..
group.share.max.assignment.interval.ms             INT      15000 0..
group.share.initialize.retry.interval.ms           INT      30000 1.. internal
group.streams.session.timeout.ms                   INT      45000 1..
group.streams.min.session.timeout.ms               INT      45000 1..
group.streams.max.session.timeout.ms               INT      60000 1..
group.streams.heartbeat.interval.ms                INT      5000 1..
group.streams.min.heartbeat.interval.ms            INT      5000 1..
group.streams.max.heartbeat.interval.ms            INT      15000 1..
group.streams.max.size                             INT      2147483647 1..
group.streams.num.standby.replicas                 INT      0 0..
group.streams.max.standby.replicas                 INT      2 0..
group.streams.initial.rebalance.delay.ms           INT      3000 0..
group.streams.assignment.interval.ms               INT      1000 0.. cluster
group.streams.min.assignment.interval.ms           INT      0 0..
group.streams.max.assignment.interval.ms           INT      15000 0..
log.cleaner.threads                                INT      1 0.. cluster
log.cleaner.io.max.bytes.per.second                DOUBLE   1.7976931348623157E308 * cluster #frugal-cleaner
log.cleaner.dedupe.buffer.size                     LONG     134217728 * cluster
log.cleaner.io.buffer.size                         INT      524288 0.. cluster #frugal-cleaner
log.cleaner.io.buffer.load.factor                  DOUBLE   0.9 * cluster
log.cleaner.backoff.ms                             LONG     15000 0.. cluster
log.cleaner.min.cleanable.ratio                    DOUBLE   0.5 0..1 cluster
log.cleaner.enable                                 BOOLEAN  true
log.cleaner.delete.retention.ms                    LONG     86400000 0.. cluster
log.cleaner.min.compaction.lag.ms                  LONG     0 0.. cluster
log.cleaner.max.compaction.lag.ms                  LONG     9223372036854775807 1.. cluster
num.partitions                                     INT      1 1..
log.dir                                            LIST     /tmp/kafka-logs ! #one-directory
log.dirs                                           LIST     - !
cordoned.log.dirs                                  LIST     "" * broker #one-directory
log.segment.bytes                                  INT      1073741824 1048576.. cluster
log.roll.ms                                        LONG     - * cluster
log.roll.hours                                     INT      168 1..
log.roll.jitter.ms                                 LONG     - * cluster
log.roll.jitter.hours                              INT      0 0..
log.retention.ms                                   LONG     - * cluster
log.retention.minutes                              INT      -
log.retention.hours                                INT      168
log.retention.bytes                                LONG     -1 * cluster
log.retention.check.interval.ms                    LONG     300000 1..
log.cleanup.policy                                 LIST     delete unique:compact|delete cluster
log.index.size.max.bytes                           INT      10485760 4.. cluster
log.index.interval.bytes                           INT      4096 0.. cluster
log.flush.interval.messages                        LONG     9223372036854775807 1.. cluster
log.segment.delete.delay.ms                        LONG     60000 0.. cluster
log.flush.scheduler.interval.ms                    LONG     9223372036854775807
log.flush.interval.ms                              LONG     - * cluster
log.flush.offset.checkpoint.interval.ms            INT      60000 0..
log.flush.start.offset.checkpoint.interval.ms      INT      60000 0.. #written-at-once
log.preallocate                                    BOOLEAN  false * cluster #growing-files
num.recovery.threads.per.data.dir                  INT      2 1.. cluster #one-thread
auto.create.topics.enable                          BOOLEAN  true
min.insync.replicas                                INT      1 1.. cluster
log.message.timestamp.type                         STRING   CreateTime CreateTime|LogAppendTime cluster
log.message.timestamp.before.max.ms                LONG     9223372036854775807 0.. cluster
log.message.timestamp.after.max.ms                 LONG     3600000 0.. cluster
create.topic.policy.class.name                     CLASS    - #no-classes
alter.config.policy.class.name                     CLASS    - #no-classes
log.dir.failure.timeout.ms                         LONG     30000 1.. #one-directory
log.initial.task.delay.ms                          LONG     30000 0.. internal
group.share.delivery.count.limit                   INT      5 2..10
group.share.max.delivery.count.limit               INT      10 5..25
group.share.min.delivery.count.limit               INT      2 2..5
group.share.record.lock.duration.ms                INT      30000 1000..3600000
group.share.min.record.lock.duration.ms            INT      15000 1000..30000
group.share.max.record.lock.duration.ms            INT      60000 30000..3600000
group.share.partition.max.record.locks             INT      2000 100..10000
group.share.max.partition.max.record.locks         INT      4000 2000..10000
group.share.min.partition.max.record.locks         INT      100 100..2000
share.fetch.purgatory.purge.interval.requests      INT      1000 #no-purgatory
group.share.max.share.sessions                     INT      2000 1..
group.share.persister.class.name                   STRING   org.apache.kafka.server.share.persister.DefaultStatePersister * internal #no-classes
share.coordinator.state.topic.num.partitions       INT      50 1..
share.coordinator.state.topic.replication.factor   SHORT    3 1..
share.coordinator.state.topic.min.isr              SHORT    2 1..
share.coordinator.state.topic.segment.bytes        INT      104857600 1..
share.coordinator.threads                          INT      1 1.. #one-thread
share.coordinator.snapshot.update.records.per.snapshot INT      500 0..500
share.coordinator.load.buffer.size                 INT      5242880 1.. #coordinators
share.coordinator.state.topic.compression.codec    INT      0 #uncompressed
share.coordinator.append.linger.ms                 INT      -1 -1.. #coordinators
share.coordinator.write.timeout.ms                 INT      5000 1.. #one-process
share.coordinator.state.topic.prune.interval.ms    INT      300000 1.. internal
share.coordinator.cold.partition.snapshot.interval.ms INT      300000 1.. internal
share.coordinator.cached.buffer.max.bytes          INT      1048588 524288.. cluster #coordinators
transaction.state.log.min.isr                      INT      2 1..
transaction.state.log.load.buffer.size             INT      5242880 1.. #coordinators
transaction.state.log.replication.factor           SHORT    3 1..
transaction.state.log.num.partitions               INT      50 1..
transaction.state.log.segment.bytes                INT      104857600 1..
transaction.partition.verification.enable          BOOLEAN  true * cluster
producer.id.expiration.ms                          INT      86400000 1.. cluster
producer.id.expiration.check.interval.ms           INT      600000 1.. internal
transactional.id.expiration.ms                     INT      604800000 1..
transaction.max.timeout.ms                         INT      900000 1..
transaction.abort.timed.out.transaction.cleanup.interval.ms INT      10000 1..
transaction.remove.expired.transaction.cleanup.interval.ms INT      3600000 1..
transaction.two.phase.commit.enable                BOOLEAN  false #no-two-phase-commit
controller.quorum.voters                           LIST     "" ! #one-process
controller.quorum.bootstrap.servers                LIST     "" ! #one-process
controller.quorum.election.timeout.ms              INT      1000 0.. #one-process
controller.quorum.fetch.timeout.ms                 INT      2000 0.. #one-process
controller.quorum.election.backoff.max.ms          INT      1000 0.. #one-process
controller.quorum.append.linger.ms                 INT      25 0.. #one-process
controller.quorum.request.timeout.ms               INT      2000 0.. #one-process
controller.quorum.retry.backoff.ms                 INT      20 0.. #one-process
controller.quorum.auto.join.enable                 BOOLEAN  false #one-process
controller.quorum.fetch.snapshot.max.bytes         INT      1048576 1.. #one-process
controller.quorum.fetch.max.bytes                  INT      1048576 1.. #one-process
metrics.num.samples                                INT      2 1.. #no-metrics
metrics.sample.window.ms                           LONG     30000 1.. #no-metrics
metric.reporters                                   LIST     org.apache.kafka.common.metrics.JmxReporter * cluster #no-classes
metrics.recording.level                            STRING   INFO #no-metrics
kafka.metrics.reporters                            LIST     "" #no-metrics
kafka.metrics.polling.interval.secs                INT      10 1.. #no-metrics
telemetry.max.bytes                                INT      1048576 1.. #no-telemetry
quota.window.num                                   INT      11 1..
replication.quota.window.num                       INT      11 1.. #shared-data
alter.log.dirs.replication.quota.window.num        INT      11 1.. #shared-data
controller.quota.window.num                        INT      11 1..
quota.window.size.seconds                          INT      1 1..
replication.quota.window.size.seconds              INT      1 1.. #shared-data
alter.log.dirs.replication.quota.window.size.seconds INT      1 1.. #shared-data
controller.quota.window.size.seconds               INT      1 1..
client.quota.callback.class                        CLASS    - #no-classes
connections.max.reauth.ms                          LONG     0
sasl.server.max.receive.size                       INT      524288
security.providers                                 STRING   - #plaintext
principal.builder.class                            CLASS    org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder * broker #no-classes
ssl.client.auth                                    STRING   none required|requested|none broker
ssl.principal.mapping.rules                        STRING   DEFAULT
ssl.allow.dn.changes                               BOOLEAN  false #plaintext
ssl.allow.san.changes                              BOOLEAN  false #plaintext
ssl.protocol                                       STRING   TLSv1.3 * broker #plaintext
ssl.provider                                       STRING   - * broker #plaintext
ssl.enabled.protocols                              LIST     TLSv1.2,TLSv1.3 * broker
ssl.keystore.type                                  STRING   JKS * broker
ssl.keystore.location                              STRING   - * broker
ssl.keystore.password                              PASSWORD - * broker
ssl.key.password                                   PASSWORD - * broker
ssl.keystore.key                                   PASSWORD - * broker
ssl.keystore.certificate.chain                     PASSWORD - * broker
ssl.truststore.type                                STRING   JKS * broker
ssl.truststore.location                            STRING   - * broker
ssl.truststore.password                            PASSWORD - * broker
ssl.truststore.certificates                        PASSWORD - * broker
ssl.keymanager.algorithm                           STRING   SunX509 * broker #plaintext
ssl.trustmanager.algorithm                         STRING   PKIX * broker #plaintext
ssl.endpoint.identification.algorithm              STRING   https * broker #plaintext
ssl.secure.random.implementation                   STRING   - * broker #plaintext
ssl.cipher.suites                                  LIST     "" * broker #plaintext
ssl.engine.factory.class                           CLASS    - * broker #plaintext
sasl.mechanism.inter.broker.protocol               STRING   GSSAPI * broker #one-process
sasl.enabled.mechanisms                            LIST     GSSAPI * broker
sasl.server.callback.handler.class                 CLASS    - #plaintext
sasl.kerberos.principal.to.local.rules             LIST     DEFAULT * broker #plaintext
sasl.jaas.config                                   PASSWORD - * broker
sasl.client.callback.handler.class                 CLASS    - #plaintext
sasl.login.class                                   CLASS    - #plaintext
sasl.login.callback.handler.class                  CLASS    - #plaintext
sasl.kerberos.service.name                         STRING   - * broker #plaintext
sasl.kerberos.kinit.cmd                            STRING   /usr/bin/kinit * broker #plaintext
sasl.kerberos.ticket.renew.window.factor           DOUBLE   0.8 * broker #plaintext
sasl.kerberos.ticket.renew.jitter                  DOUBLE   0.05 * broker #plaintext
sasl.kerberos.min.time.before.relogin              LONG     60000 * broker #plaintext
sasl.login.refresh.window.factor                   DOUBLE   0.8 * broker #plaintext
sasl.login.refresh.window.jitter                   DOUBLE   0.05 * broker #plaintext
sasl.login.refresh.min.period.seconds              SHORT    60 * broker #plaintext
sasl.login.refresh.buffer.seconds                  SHORT    300 * broker #plaintext
sasl.login.connect.timeout.ms                      INT      - #plaintext
sasl.login.read.timeout.ms                         INT      - #plaintext
sasl.login.retry.backoff.max.ms                    LONG     10000 #plaintext
sasl.login.retry.backoff.ms                        LONG     100 #plaintext
sasl.oauthbearer.jwt.retriever.class               CLASS    org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever #plaintext
sasl.oauthbearer.jwt.validator.class               CLASS    org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator #plaintext
sasl.oauthbearer.scope                             STRING   - #plaintext
sasl.oauthbearer.client.credentials.client.id      STRING   - #plaintext
sasl.oauthbearer.client.credentials.client.secret  PASSWORD - #plaintext
sasl.oauthbearer.assertion.algorithm               STRING   RS256 ~ES256|RS256 #plaintext
sasl.oauthbearer.assertion.claim.aud               STRING   - #plaintext
sasl.oauthbearer.assertion.claim.exp.seconds       INT      300 0..86400 #plaintext
sasl.oauthbearer.assertion.claim.iss               STRING   - #plaintext
sasl.oauthbearer.assertion.claim.jti.include       BOOLEAN  false #plaintext
sasl.oauthbearer.assertion.claim.nbf.seconds       INT      60 0..3600 #plaintext
sasl.oauthbearer.assertion.claim.sub               STRING   - #plaintext
sasl.oauthbearer.assertion.file                    STRING   - #plaintext
sasl.oauthbearer.assertion.private.key.file        STRING   - #plaintext
sasl.oauthbearer.assertion.private.key.passphrase  PASSWORD - #plaintext
sasl.oauthbearer.assertion.template.file           STRING   - #plaintext
sasl.oauthbearer.scope.claim.name                  STRING   scope #plaintext
sasl.oauthbearer.sub.claim.name                    STRING   sub
sasl.oauthbearer.token.endpoint.url                STRING   - #plaintext
sasl.oauthbearer.jwks.endpoint.url                 STRING   -
sasl.oauthbearer.jwks.endpoint.refresh.ms          LONG     3600000 #plaintext
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms    LONG     100 #plaintext
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms LONG     10000 #plaintext
sasl.oauthbearer.clock.skew.seconds                INT      30
sasl.oauthbearer.expected.audience                 LIST     ""
sasl.oauthbearer.expected.issuer                   STRING   -
delegation.token.secret.key                        PASSWORD -
delegation.token.max.lifetime.ms                   LONG     604800000 1..
delegation.token.expiry.time.ms                    LONG     86400000 1..
delegation.token.expiry.check.interval.ms          LONG     3600000 1..
add.partitions.to.txn.retry.backoff.max.ms         INT      100 0.. #one-process
add.partitions.to.txn.retry.backoff.ms             INT      20 1.. #one-process
"""
