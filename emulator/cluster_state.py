"""What the coordinators of a cluster stand on: its metadata, topics, brokers and disks.

A coordinator takes this and what else it uses, and not the `Cluster` that holds the parts together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .broker import Broker
    from .environment import Environment
    from .maintenance.log_manager import LogManager
    from .metadata.features import Features
    from .metadata.log import MetadataLog
    from .metadata.topics import Catalogue
    from .replication.replication import Replication


@dataclass(frozen=True, slots=True)
class ClusterState:
    environment: Environment
    metadata: MetadataLog
    features: Features
    topics: Catalogue
    brokers: dict[int, Broker]
    replication: Replication
    log_manager: LogManager
    once_decided: Callable[[Callable[[], None]], None]
    """Completes a transaction whose end is decided: right after the answer, or later."""
