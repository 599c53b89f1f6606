"""The process of a broker of several, and its registration with the controller.

The two differ for a while: a broker whose process has died is taken for alive until its session
ends (`broker.session.timeout.ms`); one that is back is fenced until the controller has heard of it.

    process   fenced  shutting down
    up        no      no             as usual
    up        no      yes            its leaders have moved, and it is about to end
    paused    no      no             stopped by SIGSTOP: its connections are open
    down      no      no             killed, and nobody knows it yet
    any       yes     no             it leads nothing and is in no ISR; Metadata does not list it

Source: KIP-631 (broker registration and fencing), semantics O24-O26.

Which brokers there are, as the metadata log has it: they register, are fenced and unfenced, shut
down, and are taken out.

The records and their order are those of three nodes of Kafka 4.3.1:
- A start: RegisterBroker, fenced, with a broker epoch that is the offset of this record; then a
  change that unfences it, before the changes of the partitions that it leads then.
- A stop: a change that says that it shuts down, before those of partitions, and one that it is
  fenced at its end.
- The end of a session: the changes of partitions, and then one that it is fenced.

A cluster of one broker keeps no registrations. Left out: those of controllers. Source: KIP-631,
KIP-841.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...wire import random_id
from ...wire.stored.cluster import (
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from ..base.node import Node
from ..base.release import Release
from ..metadata.image import MetadataImage


class Process(Enum):
    UP = "up"
    PAUSED = "paused"
    DOWN = "down"


@dataclass(slots=True)
class BrokerState:
    process: Process = Process.UP
    is_fenced: bool = False
    is_shutting_down: bool = False
    is_registered: bool = True
    has_crashed: bool = False
    """Whether it has ended without a stop, and was not started since."""

    def __str__(self) -> str:
        words = [self.process.value]
        words += ["shutting down"] * self.is_shutting_down
        words += ["fenced"] * self.is_fenced
        return ", ".join(words)

    @property
    def is_active(self) -> bool:
        """Whether the controller lets it lead, and be in sync."""
        return not self.is_fenced and not self.is_shutting_down

    @property
    def is_at_work(self) -> bool:
        """Whether it follows leaders, and leads what it is given."""
        return self.process is Process.UP and self.is_active


_NO, _YES = -1, 1
_LISTENER = "PLAINTEXT"


class Registrations:
    """The records about brokers, given what the metadata log has of them."""

    def __init__(self, image: MetadataImage, release: Release, directory_id: bytes | None) -> None:
        self._image = image
        self._release = release
        self._directories = [] if directory_id is None else [directory_id]

    def start(self, node: Node, broker_epoch: int) -> RegisterBrokerRecord:
        """A broker starts: it is fenced at first."""
        endpoints = [
            RegisterBrokerRecord.Endpoint(
                name=name, host=host, port=port, security_protocol=node.protocols.get(name, 0)
            )
            for name, (host, port) in (node.listeners or {_LISTENER: node.at(_LISTENER)}).items()
        ]
        features = [
            RegisterBrokerRecord.Feature(
                name=name, min_supported_version=first, max_supported_version=last
            )
            for name, (first, last) in self._release.features.items()
        ]
        return RegisterBrokerRecord(
            broker_id=node.node_id,
            incarnation_id=random_id(),
            broker_epoch=broker_epoch,
            end_points=endpoints,
            features=features,
            rack=node.rack,
            log_dirs=self._directories,
        )

    def unfenced(self, node_id: int) -> list[MetadataRecord]:
        return self._change(node_id, fenced=_NO)

    def fenced(self, node_id: int) -> list[MetadataRecord]:
        return self._change(node_id, fenced=_YES)

    def shuts_down(self, node_id: int) -> list[MetadataRecord]:
        return self._change(node_id, in_controlled_shutdown=_YES)

    def gone(self, node_id: int) -> list[MetadataRecord]:
        known = self._image.brokers.get(node_id)
        if known is None:
            return []
        return [UnregisterBrokerRecord(broker_id=node_id, broker_epoch=known.broker_epoch)]

    def _change(
        self, node_id: int, *, fenced: int = 0, in_controlled_shutdown: int = 0
    ) -> list[MetadataRecord]:
        """Nothing for one that is not registered."""
        known = self._image.brokers.get(node_id)
        if known is None:
            return []
        return [
            BrokerRegistrationChangeRecord(
                broker_id=node_id,
                broker_epoch=known.broker_epoch,
                fenced=fenced,
                in_controlled_shutdown=in_controlled_shutdown,
            )
        ]
