"""The two brokers of a comparison: what both are configured with, and the emulated one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from odradek import Emulator
from odradek.emulator.base.release import KAFKA_4_3, release_named
from odradek.emulator.config.release_tables import config_tables
from odradek.emulator.releases.tables import numbers

from tests.releases.brokers import VERSIONS

_NEVER_MS = str(24 * 3600 * 1000)
CONFIG = {
    # Sequences write records of long ago, which retention would delete at any moment.
    "log.initial.task.delay.ms": _NEVER_MS,
    # As RealKafka sets it, so that both refuse the same numbers of cleaner threads.
    "log.cleaner.dedupe.buffer.size": "4194304",
    # A group's assignment is computed at once after a change, not a second later.
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    # Locks of acquired records, which groups may set no lower than this.
    "group.share.min.record.lock.duration.ms": "1000",
    # Transactions that have timed out are aborted within 0.1 s, not 10 s.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    # Producers, offsets and transactional ids would expire at any moment.
    "producer.id.expiration.check.interval.ms": _NEVER_MS,
    "offsets.retention.check.interval.ms": _NEVER_MS,
    "transaction.remove.expired.transaction.cleanup.interval.ms": _NEVER_MS,
}
"""The configs of both brokers."""
_INTERNAL = ("log.initial.task.delay.ms", "producer.id.expiration.check.interval.ms")
"""Of 3.9 and later: internal configs, which no table of an older release says that it lacks."""
_CONFIG_BEFORE_3_9 = {
    # The first look at retention cannot be put off there: nothing is old enough.
    "log.retention.ms": "-1",
}
_CONFIG_BEFORE_1_0 = {
    # Else topics are only marked to be deleted.
    "delete.topic.enable": "true",
}
_CONFIG_BEFORE_0_9 = {
    # What creates topics there cannot say how many partitions they have.
    "num.partitions": "2",
    # The first look at retention cannot be put off there; it knows no unlimited time.
    "log.retention.hours": "100000",
    "log.retention.check.interval.ms": _NEVER_MS,
}
REAL_VERSIONS = VERSIONS
"""The version of the real Kafka for each release."""


def config_of(release: str) -> dict[str, str]:
    """The configs of both brokers of a release: those that it has."""
    if numbers(release) >= (3, 9):
        return CONFIG
    is_settable = config_tables(release_named(release)).is_settable
    known = {n: text for n, text in CONFIG.items() if is_settable(n) and n not in _INTERNAL}
    if numbers(release) < (1, 0):
        known |= _CONFIG_BEFORE_1_0
    if numbers(release) < (0, 9):
        known |= _CONFIG_BEFORE_0_9
    return known if numbers(release) < (0, 9) else known | _CONFIG_BEFORE_3_9


class Broker(Protocol):
    """A broker to be compared: it has an address, and can be restarted on it."""

    @property
    def bootstrap_servers(self) -> str: ...

    def kill(self) -> None: ...

    def restart(self) -> None: ...


class EmulatedBroker:
    """An Emulator that keeps port and directory over restarts."""

    def __init__(
        self,
        config: Mapping[str, str | int | float | bool] | None = None,
        release: str = KAFKA_4_3.name,
    ) -> None:
        self._config = dict(config or {})
        is_settable = config_tables(release_named(release)).is_settable
        self._config = {n: value for n, value in self._config.items() if is_settable(n)}
        self._release = release
        self._dir = Path(tempfile.mkdtemp(prefix="odradek-differential-"))
        self.emulator = self._make(0).start()

    def _make(self, port: int) -> Emulator:
        return Emulator(self._config, data_dir=self._dir, port=port, version=self._release)

    @property
    def bootstrap_servers(self) -> str:
        """The address, "127.0.0.1:PORT"."""
        return self.emulator.bootstrap_servers

    def kill(self) -> None:
        """Leave its directory as a crash would."""
        self.emulator.run(lambda cluster: cluster.log_dir.close(clean=False))

    def restart(self) -> None:
        """Stop it, cleanly unless it was killed, and start it again."""
        port = int(self.bootstrap_servers.rpartition(":")[2])
        self.emulator.stop()
        self.emulator = self._make(port).start()

    def close(self) -> None:
        """Stop it and remove its directory."""
        self.emulator.stop()
        shutil.rmtree(self._dir, ignore_errors=True)

    def __enter__(self) -> EmulatedBroker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
