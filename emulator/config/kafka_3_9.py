"""The configs of Kafka 3.9 that differ from those of 4.3 (semantics, L30).

Each table has the rows that only 3.9 has, and those that differ; definition.py says how one is
read. What 4.3 has and 3.9 has not (GONE) keeps its default, and is neither shown nor settable.
`message.format.version` is accepted and shown, and means nothing: what is stored is always magic 2.

Left out: what ZooKeeper's configs mean. Source: Kafka 3.9.2's answers.
"""

from __future__ import annotations

from functools import cache

from .broker_table import broker_definitions
from .definition import Definition, parse_table
from .topic_table import topic_definitions

_GONE_TEXT = """
add.partitions.to.txn.retry. config.providers controller.quorum.auto.join.enable
controller.quorum.fetch.max.bytes controller.quorum.fetch.snapshot.max.bytes cordoned.log.dirs
follower.fetch.last.tiered.offset.enable group.consumer.assignment.interval.ms
group.consumer.max.assignment.interval.ms group.consumer.migration.policy
group.consumer.min.assignment.interval.ms group.consumer.regex.refresh.interval.ms
group.coordinator.background.threads group.coordinator.cached.buffer.max.bytes
group.share.assignment.interval.ms group.share.assignors group.share.initialize.retry.interval.ms
group.share.max.delivery.count.limit group.share.max.assignment.interval.ms
group.share.max.partition.max.record.locks group.share.max.share.sessions
group.share.min.assignment.interval.ms group.share.min.delivery.count.limit
group.share.min.partition.max.record.locks group.streams. remote.list.offsets.request.timeout.ms
remote.log.manager.follower.thread.pool.size sasl.oauthbearer.assertion.
sasl.oauthbearer.client.credentials. sasl.oauthbearer.jwt. sasl.oauthbearer.scope
share.coordinator. share.fetch.purgatory.purge.interval.requests
transaction.two.phase.commit.enable unstable.api.versions.enable unstable.feature.versions.enable
internal.metadata.delete.delay.millis internal.metadata.log.segment.bytes
internal.metadata.max.batch.size.in.bytes internal.segment.bytes
controller.performance.always.log.threshold.ms controller.performance.sample.period.ms
group.share.persister.class.name remote.log.index.file.cache.ttl.ms
"""
GONE = tuple(_GONE_TEXT.split())
"""Names of configs that came after 3.9, or how they begin where they end in a dot."""
_STAYED = frozenset({"sasl.oauthbearer.scope.claim.name"})


@cache
def old_topic_definitions() -> dict[str, Definition]:
    """The configs of a topic in 3.9, by name."""
    return _without_gone(topic_definitions()) | parse_table(_TOPIC)


@cache
def old_broker_definitions() -> dict[str, Definition]:
    """The configs of a broker in 3.9, by name; those that came later are internal ones."""
    known = {
        name: each._replace(mode="internal") if _is_gone(name) else each
        for name, each in broker_definitions().items()
    } | parse_table(_BROKER)
    return dict(sorted(known.items()))


def is_settable(name: str) -> bool:
    """Whether 3.9 has a broker config of this name."""
    return name in old_broker_definitions() and not _is_gone(name)


def _is_gone(name: str) -> bool:
    begins = any(each.endswith(".") and name.startswith(each) for each in GONE)
    return (begins or name in GONE) and name not in _STAYED


def _without_gone(definitions: dict[str, Definition]) -> dict[str, Definition]:
    return {name: each for name, each in definitions.items() if not _is_gone(name)}


def _format_versions() -> str:
    """Every version of the message format that 3.9 knows, as alternatives.

    What follows the second number, or the third in versions that begin with 0, is not
    looked at, but for the numbers of unreleased ones: `3.0.7` is 3.0, `3.0-IV1` one of two.
    """
    old = r"0\.(8\.[012]|9\.0|10\.0(-IV[01])?|10\.1(-IV[0-2])?|10\.2(-IV0)?|11\.0(-IV[0-2])?)"
    ones = r"1\.[01](-IV0)?"
    twos = r"2\.([0234]|8)(-IV[01])?|2\.[17](-IV[0-2])?|2\.[56](-IV0)?"
    threes = r"3\.[12489](-IV0)?|3\.0(-IV[01])?|3\.3(-IV[0-3])?|3\.[56](-IV[0-2])?|3\.7(-IV[0-4])?"
    return rf"({old}|{ones}|{twos}|{threes}|4\.0-IV[01])(\..*)?"


_TOPIC = """
segment.bytes                            INT      1073741824 14.. cluster
    from log.segment.bytes
cleanup.policy                           LIST     delete repeated:compact|delete cluster
    from log.cleanup.policy
message.downconversion.enable            BOOLEAN  true * cluster
    from log.message.downconversion.enable
message.format.version                   STRING   3.0-IV1 version:@formats cluster
    from log.message.format.version
message.timestamp.after.max.ms           LONG     9223372036854775807 0.. cluster
    from log.message.timestamp.after.max.ms
message.timestamp.difference.max.ms      LONG     9223372036854775807 0.. cluster
    from log.message.timestamp.difference.max.ms
""".replace("@formats", _format_versions())

_BROKER = """
advertised.listeners                     STRING   - * broker
alter.config.policy.kraft.compatibility.enable BOOLEAN false
auto.include.jmx.reporter                BOOLEAN  true
broker.id.generation.enable              BOOLEAN  true
control.plane.listener.name              STRING   -
controlled.shutdown.max.retries          INT      3
controlled.shutdown.retry.backoff.ms     LONG     5000
controller.listener.names                STRING   -
delegation.token.master.key              PASSWORD -
early.start.listeners                    STRING   -
eligible.leader.replicas.enable          BOOLEAN  false
group.consumer.assignors                 LIST     @UniformAssignor,@RangeAssignor
group.coordinator.append.linger.ms       INT      10 0..
group.coordinator.rebalance.protocols    LIST     classic repeated:consumer|classic|share
group.coordinator.threads                INT      1 1..
group.share.max.groups                   SHORT    10 1..100
group.share.max.size                     SHORT    200 10..1000
group.share.partition.max.record.locks   INT      200 100..10000
inter.broker.protocol.version            STRING   3.9-IV0
leader.imbalance.per.broker.percentage   INT      10
listeners                                STRING   PLAINTEXT://:9092 * broker
log.cleanup.policy                       LIST     delete repeated:compact|delete cluster
log.dir                                  STRING   /tmp/kafka-logs
log.dirs                                 STRING   -
log.message.downconversion.enable        BOOLEAN  true * cluster
log.message.format.version               STRING   3.0-IV1 version:@formats
log.message.timestamp.after.max.ms       LONG     9223372036854775807 0.. cluster
log.message.timestamp.difference.max.ms  LONG     9223372036854775807 0.. cluster
log.segment.bytes                        INT      1073741824 14.. cluster
metric.reporters                         LIST     "" * cluster
num.recovery.threads.per.data.dir        INT      1 1.. cluster
offsets.commit.required.acks             SHORT    -1
password.encoder.cipher.algorithm        STRING   AES/CBC/PKCS5Padding
password.encoder.iterations              INT      4096 1024..
password.encoder.key.length              INT      128 8..
password.encoder.keyfactory.algorithm    STRING   -
password.encoder.old.secret              PASSWORD -
password.encoder.secret                  PASSWORD -
remote.log.manager.copier.thread.pool.size INT    -1
remote.log.manager.expiration.thread.pool.size INT -1
remote.log.manager.thread.pool.size      INT      10 1..
remote.log.reader.threads                INT      10 1..
reserved.broker.max.id                   INT      1000 0..
sasl.oauthbearer.expected.audience       LIST     -
zookeeper.clientCnxnSocket               STRING   -
zookeeper.connect                        STRING   -
zookeeper.connection.timeout.ms          INT      -
zookeeper.max.in.flight.requests         INT      10 1..
zookeeper.metadata.migration.enable      BOOLEAN  false
zookeeper.session.timeout.ms             INT      18000
zookeeper.set.acl                        BOOLEAN  false
zookeeper.ssl.cipher.suites              LIST     -
zookeeper.ssl.client.enable              BOOLEAN  false
zookeeper.ssl.crl.enable                 BOOLEAN  false
zookeeper.ssl.enabled.protocols          LIST     -
zookeeper.ssl.endpoint.identification.algorithm STRING HTTPS
zookeeper.ssl.keystore.location          STRING   -
zookeeper.ssl.keystore.password          PASSWORD -
zookeeper.ssl.keystore.type              STRING   -
zookeeper.ssl.ocsp.enable                BOOLEAN  false
zookeeper.ssl.protocol                   STRING   TLSv1.2
zookeeper.ssl.truststore.location        STRING   -
zookeeper.ssl.truststore.password        PASSWORD -
zookeeper.ssl.truststore.type            STRING   -
""".replace("@formats", _format_versions()).replace(
    "@", "org.apache.kafka.coordinator.group.assignor."
)
