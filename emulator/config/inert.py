"""The configs that are kept, judged and shown, and that nothing here obeys; each with the reason.

`python -m odradek.emulator.cli.inert_configs` prints them. A test holds the table against the
source: every config either stands here or is read somewhere, and none does both. So what begins to
obey a config has to take it off this list.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from .broker_table import broker_definitions
from .tables import group_definitions, topic_definitions

# Reason, and names; * stands for anything.
_BROKER: tuple[tuple[str, str], ...] = (
    (
        "one thread serves everything",
        "background.threads num.*.threads num.recovery.threads.* num.replica.fetchers "
        "group.coordinator.*threads",
    ),
    ("requests do not queue up between threads", "queued.max.*"),
    (
        "there are no connections between brokers",
        "controller.socket.timeout.ms controller.quorum.* controller.quota.window.* "
        "controller.listener.names controller.performance.* early.start.listeners "
        "inter.broker.listener.name security.inter.broker.protocol broker.heartbeat.interval.ms "
        "broker.session.timeout.ms initial.broker.registration.timeout.ms request.timeout.ms "
        "socket.connection.setup.* sasl.mechanism.* num.replica.alter.log.dirs.threads "
        "controlled.shutdown.enable metadata.max.idle.interval.ms server.max.startup.time.ms "
        "internal.metadata.max.batch.size.in.bytes replica.fetch.* replica.socket.* "
        "add.partitions.to.txn.retry.*",
    ),
    (
        "the brokers share their data: nothing is copied, and no replica falls behind",
        "replica.lag.time.max.ms replica.high.watermark.checkpoint.interval.ms "
        "replica.selector.class replication.quota.* alter.log.dirs.replication.quota.* "
        "unclean.leader.election.* auto.leader.rebalance.enable leader.imbalance.check.*",
    ),
    ("there is no tiered storage", "remote.* log.local.retention.* follower.fetch.last.tiered.*"),
    (
        "there are no share groups",
        "group.share.* share.coordinator.threads share.coordinator.write.* "
        "share.coordinator.cold.* "
        "share.coordinator.snapshot.* share.coordinator.state.topic.prune.*",
    ),
    ("there are no streams groups", "group.streams.*"),
    ("the listener speaks plain text", "ssl.* sasl.* connections.max.reauth.ms security.providers"),
    ("the listener follows from the start", "listeners listener.security.protocol.map"),
    ("no classes are loaded", "*.class *.class.name metric.reporters config.providers"),
    ("there are no metrics", "metrics.* kafka.metrics.*"),
    (
        "nothing is throttled",
        "quota.window.* connection.failed.authentication.delay.ms *.throttled.rate "
        "replica.alter.log.dirs.io.*",
    ),
    ("connections are not counted", "max.connection*"),
    ("sockets are the operating system's", "socket.*.buffer.bytes socket.listen.backlog.size"),
    ("requests are parked in no purgatory", "*.purgatory.purge.interval.requests"),
    ("there are no delegation tokens", "delegation.token.*"),
    ("clients are not asked for metrics", "telemetry.max.bytes"),
    ("there is one data directory, and it does not fail over", "log.dir cordoned.log.dirs"),
    ("there is one data directory, and it does not fail over", "metadata.log.dir"),
    ("there is one data directory, and it does not fail over", "log.dir.failure.timeout.ms"),
    ("log starts are written when they move", "log.flush.start.offset.checkpoint.interval.ms"),
    ("files grow as they are written", "log.preallocate"),
    ("the cleaner takes no more than it needs", "log.cleaner.io.buffer.size"),
    ("the cleaner takes no more than it needs", "log.cleaner.io.max.bytes.per.second"),
    (
        "coordinators write at once, and load at once",
        "*.append.linger.ms *.cached.buffer.max.bytes *.load.buffer.size offsets.commit.timeout.ms",
    ),
    ("their records are not compressed", "*.topic.compression.codec"),
    ("every protocol that is emulated is on", "group.coordinator.rebalance.protocols"),
    ("there is no two-phase commit", "transaction.two.phase.commit.enable"),
    ("there are no unstable versions", "unstable.*"),
)
_TOPIC: tuple[tuple[str, str], ...] = (
    ("there is no tiered storage", "remote.* local.retention.*"),
    ("nothing is throttled", "*.replication.throttled.replicas"),
    ("files grow as they are written", "preallocate"),
    ("every replica that is alive is in sync", "unclean.leader.election.enable"),
)
_GROUP: tuple[tuple[str, str], ...] = (
    ("there are no share groups", "share.*"),
    ("there are no streams groups", "streams.*"),
)


def inert_broker_configs() -> dict[str, str]:
    """Broker configs without effect, by name, with the reason."""
    return _matching(_BROKER, broker_definitions())


def inert_topic_configs() -> dict[str, str]:
    """Topic configs without effect, by name, with the reason."""
    return _matching(_TOPIC, topic_definitions())


def inert_group_configs() -> dict[str, str]:
    """Group configs without effect, by name, with the reason."""
    return _matching(_GROUP, group_definitions())


def _matching(table: tuple[tuple[str, str], ...], names: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in sorted(names):
        for reason, patterns in table:
            if name not in found and any(fnmatchcase(name, each) for each in patterns.split()):
                found[name] = reason
    return found


def page() -> str:
    """All of them as text, by reason."""
    lines = []
    for title, found in (
        ("Topics", inert_topic_configs()),
        ("Groups", inert_group_configs()),
        ("Brokers", inert_broker_configs()),
    ):
        lines += [title, ""]
        for reason in dict.fromkeys(found.values()):
            lines.append(f"  {reason}:")
            lines += [f"    {name}" for name, why in found.items() if why == reason]
        lines.append("")
    return "\n".join(lines)
