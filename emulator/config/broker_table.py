# ruff: noqa: E501 (a row is a line)
"""Every config of a broker: Kafka 4.3.1's. definition.py says how a row is read.

Most of them mean nothing to an emulator (sockets, SSL, replication, tiered storage): they can be
set, are checked, and are shown by DescribeConfigs. What is obeyed is what other modules `get`.
"""

from __future__ import annotations

from functools import cache

from .definition import Definition, parse_table


@cache
def broker_definitions() -> dict[str, Definition]:
    """The table, by name, in the order in which Kafka looks at them."""
    return parse_table(_TABLE)


UNLISTED = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
"""Known to a broker that runs only: shown when they are set."""

_TABLE = """
leader.replication.throttled.rate                  LONG     - 0.. cluster
follower.replication.throttled.rate                LONG     - 0.. cluster
replica.alter.log.dirs.io.max.bytes.per.second     LONG     - 0.. cluster
remote.log.storage.system.enable                   BOOLEAN  false
remote.log.storage.manager.impl.prefix             STRING   rsm.config. !
remote.log.metadata.manager.impl.prefix            STRING   rlmm.config. !
remote.log.storage.manager.class.name              STRING   - !
remote.log.storage.manager.class.path              STRING   -
remote.log.metadata.manager.class.name             STRING   org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager !
remote.log.metadata.manager.class.path             STRING   -
remote.log.metadata.manager.listener.name          STRING   - !
remote.log.metadata.custom.metadata.max.bytes      INT      128 0..
remote.log.index.file.cache.total.size.bytes       LONG     1073741824 1.. cluster
remote.log.index.file.cache.ttl.ms                 LONG     900000 -1.. internal
remote.log.manager.thread.pool.size                INT      2 1..
remote.log.manager.copier.thread.pool.size         INT      10 1.. cluster
remote.log.manager.expiration.thread.pool.size     INT      10 1.. cluster
remote.log.manager.follower.thread.pool.size       INT      2 1.. cluster
remote.log.manager.task.interval.ms                LONG     30000 1..
remote.log.manager.task.retry.backoff.ms           LONG     500 1.. internal
remote.log.manager.task.retry.backoff.max.ms       LONG     30000 1.. internal
remote.log.manager.task.retry.jitter               DOUBLE   0.2 0..0.5 internal
remote.log.reader.threads                          INT      10 1.. cluster
remote.log.reader.max.pending.tasks                INT      100 1..
log.local.retention.ms                             LONG     -2 -2.. cluster
log.local.retention.bytes                          LONG     -2 -2.. cluster
remote.log.manager.copy.max.bytes.per.second       LONG     9223372036854775807 1.. cluster
remote.log.manager.copy.quota.window.num           INT      11 1..
remote.log.manager.copy.quota.window.size.seconds  INT      1 1..
remote.log.manager.fetch.max.bytes.per.second      LONG     9223372036854775807 1.. cluster
remote.log.manager.fetch.quota.window.num          INT      11 1..
remote.log.manager.fetch.quota.window.size.seconds INT      1 1..
remote.fetch.max.wait.ms                           INT      500 1.. cluster
remote.list.offsets.request.timeout.ms             LONG     30000 1.. cluster
broker.id                                          INT      -1
message.max.bytes                                  INT      1048588 0.. cluster
num.io.threads                                     INT      8 1.. cluster
num.replica.alter.log.dirs.threads                 INT      -
background.threads                                 INT      10 1.. cluster
request.timeout.ms                                 INT      30000
socket.connection.setup.timeout.ms                 LONG     10000
socket.connection.setup.timeout.max.ms             LONG     30000
config.providers                                   LIST     "" free cluster
authorizer.class.name                              STRING   ""
early.start.listeners                              LIST     -
broker.rack                                        STRING   -
controlled.shutdown.enable                         BOOLEAN  true
delete.topic.enable                                BOOLEAN  true
compression.type                                   STRING   producer uncompressed|zstd|lz4|snappy|gzip|producer cluster
compression.gzip.level                             INT      -1 -1,1..9 cluster
compression.lz4.level                              INT      9 1..17 cluster
compression.zstd.level                             INT      3 -131072..22 cluster
max.incremental.fetch.session.cache.slots          INT      1000 0..
fetch.max.bytes                                    INT      57671680 1024..
max.request.partition.size.limit                   INT      2000 1..
unstable.api.versions.enable                       BOOLEAN  false * internal
unstable.feature.versions.enable                   BOOLEAN  false * internal
process.roles                                      LIST     - !broker|controller
node.id                                            INT      - 0..
initial.broker.registration.timeout.ms             INT      60000
broker.heartbeat.interval.ms                       INT      2000
broker.session.timeout.ms                          INT      9000
controller.listener.names                          LIST     - !
sasl.mechanism.controller.protocol                 STRING   GSSAPI
controller.performance.sample.period.ms            LONG     60000 100.. internal
controller.performance.always.log.threshold.ms     LONG     2000 0.. internal
server.max.startup.time.ms                         LONG     9223372036854775807 0.. internal
metadata.log.max.record.bytes.between.snapshots    LONG     20971520 1..
metadata.log.max.snapshot.interval.ms              LONG     3600000 0..
metadata.log.dir                                   STRING   -
metadata.log.segment.bytes                         INT      1073741824 8388608..
metadata.log.segment.ms                            LONG     604800000
metadata.max.retention.bytes                       LONG     104857600
metadata.max.retention.ms                          LONG     604800000
metadata.max.idle.interval.ms                      INT      500 0..
internal.metadata.log.segment.bytes                INT      - * internal
internal.metadata.max.batch.size.in.bytes          INT      8388608 * internal
internal.metadata.delete.delay.millis              LONG     60000 * internal
listeners                                          LIST     PLAINTEXT://:9092 ! broker
advertised.listeners                               LIST     - !
listener.security.protocol.map                     STRING   SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT * broker
socket.send.buffer.bytes                           INT      102400
socket.receive.buffer.bytes                        INT      102400
socket.request.max.bytes                           INT      104857600 1..
socket.listen.backlog.size                         INT      50 1..
max.connections.per.ip                             INT      2147483647 0.. cluster
max.connections.per.ip.overrides                   STRING   "" * cluster
max.connections                                    INT      2147483647 0.. cluster
max.connection.creation.rate                       INT      2147483647 0.. cluster
connections.max.idle.ms                            LONG     600000
connection.failed.authentication.delay.ms          INT      100 0..
queued.max.requests                                INT      500 1..
queued.max.request.bytes                           LONG     -1
num.network.threads                                INT      3 1.. cluster
controller.socket.timeout.ms                       INT      30000
default.replication.factor                         INT      1
replica.lag.time.max.ms                            LONG     30000
replica.socket.timeout.ms                          INT      30000
replica.socket.receive.buffer.bytes                INT      65536
replica.fetch.max.bytes                            INT      1048576 0..
replica.fetch.wait.max.ms                          INT      500
replica.fetch.backoff.ms                           INT      1000 0..
replica.fetch.min.bytes                            INT      1
replica.fetch.response.max.bytes                   INT      10485760 0..
num.replica.fetchers                               INT      1 1.. cluster
replica.high.watermark.checkpoint.interval.ms      LONG     5000
fetch.purgatory.purge.interval.requests            INT      1000
producer.purgatory.purge.interval.requests         INT      1000
delete.records.purgatory.purge.interval.requests   INT      1
auto.leader.rebalance.enable                       BOOLEAN  true
leader.imbalance.check.interval.seconds            LONG     300 1..
unclean.leader.election.interval.ms                LONG     300000 1.. internal
unclean.leader.election.enable                     BOOLEAN  false * cluster
security.inter.broker.protocol                     STRING   PLAINTEXT PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL
inter.broker.listener.name                         STRING   -
replica.selector.class                             STRING   -
follower.fetch.last.tiered.offset.enable           BOOLEAN  false * cluster
group.coordinator.rebalance.protocols              LIST     classic,consumer,streams !consumer|classic|share|streams
group.coordinator.threads                          INT      4 1..
group.coordinator.background.threads               INT      2 1..
group.coordinator.append.linger.ms                 INT      -1 -1..
offsets.commit.timeout.ms                          INT      5000 1..
offsets.load.buffer.size                           INT      5242880 1..
offsets.topic.replication.factor                   SHORT    3 1..
offsets.topic.num.partitions                       INT      50 1..
offsets.topic.segment.bytes                        INT      104857600 1..
offsets.topic.compression.codec                    INT      0
group.coordinator.cached.buffer.max.bytes          INT      1048588 524288.. cluster
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
group.share.assignors                              LIST     simple !
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
log.cleaner.io.max.bytes.per.second                DOUBLE   1.7976931348623157E308 * cluster
log.cleaner.dedupe.buffer.size                     LONG     134217728 * cluster
log.cleaner.io.buffer.size                         INT      524288 0.. cluster
log.cleaner.io.buffer.load.factor                  DOUBLE   0.9 * cluster
log.cleaner.backoff.ms                             LONG     15000 0.. cluster
log.cleaner.min.cleanable.ratio                    DOUBLE   0.5 0..1 cluster
log.cleaner.enable                                 BOOLEAN  true
log.cleaner.delete.retention.ms                    LONG     86400000 0.. cluster
log.cleaner.min.compaction.lag.ms                  LONG     0 0.. cluster
log.cleaner.max.compaction.lag.ms                  LONG     9223372036854775807 1.. cluster
num.partitions                                     INT      1 1..
log.dir                                            LIST     /tmp/kafka-logs !
log.dirs                                           LIST     - !
cordoned.log.dirs                                  LIST     "" * broker
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
log.flush.start.offset.checkpoint.interval.ms      INT      60000 0..
log.preallocate                                    BOOLEAN  false * cluster
num.recovery.threads.per.data.dir                  INT      2 1.. cluster
auto.create.topics.enable                          BOOLEAN  true
min.insync.replicas                                INT      1 1.. cluster
log.message.timestamp.type                         STRING   CreateTime CreateTime|LogAppendTime cluster
log.message.timestamp.before.max.ms                LONG     9223372036854775807 0.. cluster
log.message.timestamp.after.max.ms                 LONG     3600000 0.. cluster
create.topic.policy.class.name                     CLASS    -
alter.config.policy.class.name                     CLASS    -
log.dir.failure.timeout.ms                         LONG     30000 1..
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
share.fetch.purgatory.purge.interval.requests      INT      1000
group.share.max.share.sessions                     INT      2000 1..
group.share.persister.class.name                   STRING   org.apache.kafka.server.share.persister.DefaultStatePersister * internal
share.coordinator.state.topic.num.partitions       INT      50 1..
share.coordinator.state.topic.replication.factor   SHORT    3 1..
share.coordinator.state.topic.min.isr              SHORT    2 1..
share.coordinator.state.topic.segment.bytes        INT      104857600 1..
share.coordinator.threads                          INT      1 1..
share.coordinator.snapshot.update.records.per.snapshot INT      500 0..500
share.coordinator.load.buffer.size                 INT      5242880 1..
share.coordinator.state.topic.compression.codec    INT      0
share.coordinator.append.linger.ms                 INT      -1 -1..
share.coordinator.write.timeout.ms                 INT      5000 1..
share.coordinator.state.topic.prune.interval.ms    INT      300000 1.. internal
share.coordinator.cold.partition.snapshot.interval.ms INT      300000 1.. internal
share.coordinator.cached.buffer.max.bytes          INT      1048588 524288.. cluster
transaction.state.log.min.isr                      INT      2 1..
transaction.state.log.load.buffer.size             INT      5242880 1..
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
transaction.two.phase.commit.enable                BOOLEAN  false
controller.quorum.voters                           LIST     "" !
controller.quorum.bootstrap.servers                LIST     "" !
controller.quorum.election.timeout.ms              INT      1000 0..
controller.quorum.fetch.timeout.ms                 INT      2000 0..
controller.quorum.election.backoff.max.ms          INT      1000 0..
controller.quorum.append.linger.ms                 INT      25 0..
controller.quorum.request.timeout.ms               INT      2000 0..
controller.quorum.retry.backoff.ms                 INT      20 0..
controller.quorum.auto.join.enable                 BOOLEAN  false
controller.quorum.fetch.snapshot.max.bytes         INT      1048576 1..
controller.quorum.fetch.max.bytes                  INT      1048576 1..
metrics.num.samples                                INT      2 1..
metrics.sample.window.ms                           LONG     30000 1..
metric.reporters                                   LIST     org.apache.kafka.common.metrics.JmxReporter * cluster
metrics.recording.level                            STRING   INFO
kafka.metrics.reporters                            LIST     ""
kafka.metrics.polling.interval.secs                INT      10 1..
telemetry.max.bytes                                INT      1048576 1..
quota.window.num                                   INT      11 1..
replication.quota.window.num                       INT      11 1..
alter.log.dirs.replication.quota.window.num        INT      11 1..
controller.quota.window.num                        INT      11 1..
quota.window.size.seconds                          INT      1 1..
replication.quota.window.size.seconds              INT      1 1..
alter.log.dirs.replication.quota.window.size.seconds INT      1 1..
controller.quota.window.size.seconds               INT      1 1..
client.quota.callback.class                        CLASS    -
connections.max.reauth.ms                          LONG     0
sasl.server.max.receive.size                       INT      524288
security.providers                                 STRING   -
principal.builder.class                            CLASS    org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder * broker
ssl.client.auth                                    STRING   none required|requested|none broker
ssl.principal.mapping.rules                        STRING   DEFAULT
ssl.allow.dn.changes                               BOOLEAN  false
ssl.allow.san.changes                              BOOLEAN  false
ssl.protocol                                       STRING   TLSv1.3 * broker
ssl.provider                                       STRING   - * broker
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
ssl.keymanager.algorithm                           STRING   SunX509 * broker
ssl.trustmanager.algorithm                         STRING   PKIX * broker
ssl.endpoint.identification.algorithm              STRING   https * broker
ssl.secure.random.implementation                   STRING   - * broker
ssl.cipher.suites                                  LIST     "" * broker
ssl.engine.factory.class                           CLASS    - * broker
sasl.mechanism.inter.broker.protocol               STRING   GSSAPI * broker
sasl.enabled.mechanisms                            LIST     GSSAPI * broker
sasl.server.callback.handler.class                 CLASS    -
sasl.kerberos.principal.to.local.rules             LIST     DEFAULT * broker
sasl.jaas.config                                   PASSWORD - * broker
sasl.client.callback.handler.class                 CLASS    -
sasl.login.class                                   CLASS    -
sasl.login.callback.handler.class                  CLASS    -
sasl.kerberos.service.name                         STRING   - * broker
sasl.kerberos.kinit.cmd                            STRING   /usr/bin/kinit * broker
sasl.kerberos.ticket.renew.window.factor           DOUBLE   0.8 * broker
sasl.kerberos.ticket.renew.jitter                  DOUBLE   0.05 * broker
sasl.kerberos.min.time.before.relogin              LONG     60000 * broker
sasl.login.refresh.window.factor                   DOUBLE   0.8 * broker
sasl.login.refresh.window.jitter                   DOUBLE   0.05 * broker
sasl.login.refresh.min.period.seconds              SHORT    60 * broker
sasl.login.refresh.buffer.seconds                  SHORT    300 * broker
sasl.login.connect.timeout.ms                      INT      -
sasl.login.read.timeout.ms                         INT      -
sasl.login.retry.backoff.max.ms                    LONG     10000
sasl.login.retry.backoff.ms                        LONG     100
sasl.oauthbearer.jwt.retriever.class               CLASS    org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever
sasl.oauthbearer.jwt.validator.class               CLASS    org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator
sasl.oauthbearer.scope                             STRING   -
sasl.oauthbearer.client.credentials.client.id      STRING   -
sasl.oauthbearer.client.credentials.client.secret  PASSWORD -
sasl.oauthbearer.assertion.algorithm               STRING   RS256 ~ES256|RS256
sasl.oauthbearer.assertion.claim.aud               STRING   -
sasl.oauthbearer.assertion.claim.exp.seconds       INT      300 0..86400
sasl.oauthbearer.assertion.claim.iss               STRING   -
sasl.oauthbearer.assertion.claim.jti.include       BOOLEAN  false
sasl.oauthbearer.assertion.claim.nbf.seconds       INT      60 0..3600
sasl.oauthbearer.assertion.claim.sub               STRING   -
sasl.oauthbearer.assertion.file                    STRING   -
sasl.oauthbearer.assertion.private.key.file        STRING   -
sasl.oauthbearer.assertion.private.key.passphrase  PASSWORD -
sasl.oauthbearer.assertion.template.file           STRING   -
sasl.oauthbearer.scope.claim.name                  STRING   scope
sasl.oauthbearer.sub.claim.name                    STRING   sub
sasl.oauthbearer.token.endpoint.url                STRING   -
sasl.oauthbearer.jwks.endpoint.url                 STRING   -
sasl.oauthbearer.jwks.endpoint.refresh.ms          LONG     3600000
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms    LONG     100
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms LONG     10000
sasl.oauthbearer.clock.skew.seconds                INT      30
sasl.oauthbearer.expected.audience                 LIST     ""
sasl.oauthbearer.expected.issuer                   STRING   -
delegation.token.secret.key                        PASSWORD -
delegation.token.max.lifetime.ms                   LONG     604800000 1..
delegation.token.expiry.time.ms                    LONG     86400000 1..
delegation.token.expiry.check.interval.ms          LONG     3600000 1..
add.partitions.to.txn.retry.backoff.max.ms         INT      100 0..
add.partitions.to.txn.retry.backoff.ms             INT      20 1..
"""
