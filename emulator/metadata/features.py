"""Features: which levels the cluster has agreed on, and which ones this release can have (KIP-584).

A feature that is not finalized has level 0: it is off. The levels are those of the metadata log
(FeatureLevelRecord), `metadata.version` among them; `kraft.version`, which says whether the voters
are kept in the log itself, has a control record of its own.

Which levels a release has: base/release.py.

Left out: several nodes with different ranges. What a level means is up to whoever asks for it.
How levels change while the cluster runs: feature_updates.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..base.release import KAFKA_4_3, Release
from ..config.definition import ConfigError

if TYPE_CHECKING:
    from .log import MetadataLog

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
ELIGIBLE_LEADERS = "eligible.leader.replicas.version"

NEW_FEATURES = {
    METADATA_VERSION: 30,
    ELIGIBLE_LEADERS: 1,
    "group.version": 1,
    "share.version": 1,
    "streams.version": 1,
    "transaction.version": 2,
}
"""The level that `format` gives a new Kafka 4.3 cluster."""

# The level of other features in a new cluster, and the metadata.version from which on it has them.
_DEFAULTS = {
    ELIGIBLE_LEADERS: (26, 1),
    "group.version": (22, 1),
    "share.version": (28, 1),
    "streams.version": (29, 1),
    "transaction.version": (24, 2),
}


def check_known(finalized: Mapping[str, int], release: Release) -> None:
    """Whether a node of a release can run in a cluster with these levels. Raises ConfigError."""
    known = release.levels
    for name, level in finalized.items():
        first, last = known.get(name, (0, 0))
        if level and not first <= level <= last:
            what = f"of which Kafka {release.name} knows the levels {first}-{last}"
            if not release.has_kraft:
                what = f"and Kafka {release.name}, without KRaft, opens one of up to {last}"
            elif name not in known:
                what = f"which Kafka {release.name} does not know"
            raise ConfigError(name, f"the data directory has {name} {level}, {what}")


def initial_features(asked: Mapping[str, int], release: Release = KAFKA_4_3) -> dict[str, int]:
    """The levels of a new cluster: those asked for, and those that its metadata.version brings."""
    level = asked.get(METADATA_VERSION, release.levels[METADATA_VERSION][1])
    found = {METADATA_VERSION: level}
    found |= {name: given for name, (since, given) in _DEFAULTS.items() if level >= since}
    return found | dict(asked)


def check_features(asked: Mapping[str, int], release: Release = KAFKA_4_3) -> dict[str, int]:
    """The same levels, if a node of this release can have them. Raises ConfigError."""
    supported = release.levels
    for name, level in asked.items():
        if name not in supported or name == KRAFT_VERSION:
            known = ", ".join(sorted(supported.keys() - {KRAFT_VERSION}))
            raise ConfigError(name, f"Unknown feature: {name}. There are: {known}")
        first, last = supported[name]
        if type(level) is not int or not first <= level <= last:
            raise ConfigError(name, f"Feature {name} has the levels {first}-{last}, not {level!r}")
    if asked.get(ELIGIBLE_LEADERS, 0) and asked.get(METADATA_VERSION, 30) < 23:
        sentence = f"{ELIGIBLE_LEADERS} 1 depends on {METADATA_VERSION} level 23"
        raise ConfigError(ELIGIBLE_LEADERS, sentence)
    return dict(asked)


class Features:
    """The finalized features of a cluster, as they are now."""

    def __init__(self, metadata_log: MetadataLog) -> None:
        self.log = metadata_log

    @property
    def finalized(self) -> Mapping[str, int]:
        """Every feature above level 0, and its level."""
        image = self.log.image
        if not image.kraft_version:
            return image.features
        return {**image.features, KRAFT_VERSION: image.kraft_version}

    @property
    def quorum_version(self) -> int:
        """How the quorum keeps its voters: from 1 on in the log. Up to 3.9 it stays 0, whatever the
        level of kraft.version."""
        return self.log.image.kraft_version

    @property
    def epoch(self) -> int:
        """A number that rises with every change: the offset of the last metadata record."""
        return self.log.end_offset - 1

    def level(self, name: str) -> int:
        """The level of a feature; 0 if it is not finalized."""
        return self.finalized.get(name, 0)
