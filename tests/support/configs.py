"""What is set at run time, by the records that a request for it writes."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.emulator.cluster import Cluster
from odradek.emulator.metadata.config_changes import plan_broker_configs
from odradek.emulator.metadata.image import BROKER_RESOURCE
from odradek.emulator.metadata.topics import config_records


def set_configs(cluster: Cluster, kind: int, name: str, texts: Mapping[str, str]) -> None:
    """Replace what a broker, all brokers (""), a group or a metrics subscription sets."""
    if kind == BROKER_RESOURCE:
        records = plan_broker_configs(cluster.config, name, texts)
    else:
        before = cluster.metadata.image.configs_of(kind, name)
        records = config_records(kind, name, before, texts)
    cluster.metadata.append(records)
