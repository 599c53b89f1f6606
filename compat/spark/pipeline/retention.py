"""Records that are older than their topic keeps them: a broker deletes them soon after they came.

Kafka counts retention from the records' own times. So what is loaded or replayed with times of last
year goes with the next check, silently, where `retention.ms` is the default of seven days. Commands
note the oldest time that they write to each topic, and warn.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from .broker import BrokerError, Cluster
from .broker.topics import all_topic_configs

RETENTION_MS = 604_800_000
"""Kafka's default of retention.ms: 7 days."""
ADVICE = "--topic-config retention.ms=-1 keeps them in a topic that is created"


def retention_of(configs: Mapping[str, str]) -> int | None:
    """For how many milliseconds of its own time a record is kept; None if time deletes none."""
    if "delete" not in configs.get("cleanup.policy", "delete"):
        return None
    if configs.get("message.timestamp.type") == "LogAppendTime":
        return None
    kept = int(configs.get("retention.ms", RETENTION_MS))
    return None if kept < 0 else kept


def retentions(cluster: Cluster, topics: list[str]) -> dict[str, int | None]:
    """Of each of these topics of a cluster; nothing if the brokers do not tell it."""
    try:
        return {
            name: retention_of(configs)
            for name, configs in all_topic_configs(cluster, topics).items()
        }
    except BrokerError:  # old, or it is not allowed: a warning is not worth ending a command
        return {}


class Oldest:
    """The oldest time that is written to each topic, in milliseconds."""

    def __init__(self) -> None:
        self.by_topic: dict[str, int] = {}

    def add(self, topic: str, records: pa.RecordBatch) -> None:
        """Records of a topic; those without a time are as old as now."""
        least = pc.min(records["timestamp"].cast(pa.int64())).as_py()
        if least is None:
            return
        ms = least // 1000 if pa.types.is_timestamp(records["timestamp"].type) else least
        if ms >= 0:
            self.join({topic: ms})

    def join(self, other: Mapping[str, int]) -> None:
        for topic, ms in other.items():
            self.by_topic[topic] = min(ms, self.by_topic.get(topic, ms))


@dataclass(frozen=True)
class Expired:
    """A topic with records that its broker is about to delete."""

    topic: str
    oldest_ms: int
    retention_ms: int

    @property
    def text(self) -> str:
        kept = timedelta(milliseconds=self.retention_ms)
        return (
            f"warning: topic {self.topic} has records of {_moment(self.oldest_ms)} and keeps them "
            f"for {str(kept).removesuffix(', 0:00:00')} (retention.ms={self.retention_ms}): the "
            f"broker deletes older ones at its next check; {ADVICE}"
        )

    def as_json(self) -> dict[str, Any]:
        return {"warning": "older than retention", **asdict(self)}


def expired(
    oldest: Mapping[str, int], kept: Mapping[str, int | None], now_ms: int
) -> list[Expired]:
    """The topics with records that are too old. `kept`: `retention_of` each topic."""
    found = []
    for topic, ms in sorted(oldest.items()):
        retention = kept.get(topic)
        if retention is not None and ms < now_ms - retention:
            found.append(Expired(topic, ms, retention))
    return found


class Expiring(Protocol):
    @property
    def text(self) -> str:
        """One line."""


def warn(found: Sequence[Expiring]) -> list[str]:
    """Say it on standard error, too; the lines of the summary."""
    for each in found:
        print(f"odradek: {each.text}", file=sys.stderr)
    return [each.text for each in found]


def _moment(ms: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
