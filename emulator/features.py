"""Features: which levels the cluster has agreed on, and which ones this release can have (KIP-584).

A feature that is not finalized has level 0: what it brings is not there. The levels are what the
metadata log says (FeatureLevelRecord), `metadata.version` among them.

Left out: several nodes with different ranges; what a level means is up to whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .metadata_log import MetadataLog

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"

SUPPORTED: dict[str, tuple[int, int]] = {
    "group.version": (0, 1),
    KRAFT_VERSION: (0, 1),
    METADATA_VERSION: (7, 30),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
    "eligible.leader.replicas.version": (0, 1),
}
"""First and last level of what a Kafka 4.3 node knows, in the order in which it says so."""

NEW_FEATURES = {
    METADATA_VERSION: 30,
    "eligible.leader.replicas.version": 1,
    "group.version": 1,
    "share.version": 1,
    "streams.version": 1,
    "transaction.version": 2,
}
"""What `format` gives a new Kafka 4.3 cluster."""


class Features:
    """The finalized features of a cluster, as they are now."""

    def __init__(self, metadata_log: MetadataLog) -> None:
        self._log = metadata_log

    @property
    def finalized(self) -> Mapping[str, int]:
        """Every feature above level 0, and its level."""
        return self._log.image.features

    @property
    def epoch(self) -> int:
        """What rises with every change: the offset of the last record of the metadata log."""
        return self._log.end_offset - 1

    def level(self, name: str) -> int:
        """The level of a feature; 0 if it is not finalized."""
        return self.finalized.get(name, 0)
