"""A topic with records, and a share group that begins with the first of them."""

from __future__ import annotations

from itertools import count

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from odradek.compat import NewRecord
from odradek.compat import client as client_named

_ENOUGH_S = 60.0
_numbers = count()


class Work:
    """A topic with records, and a share group that begins with the first."""

    def __init__(self, bootstrap: str, values: int = 10, partitions: int = 1) -> None:
        number = next(_numbers)
        self.bootstrap, self.topic, self.group = bootstrap, f"jobs-{number}", f"workers-{number}"
        self.values = [f"{i}" for i in range(values)]
        client = client_named("confluent-kafka")
        client.create_topic(bootstrap, self.topic, partitions=partitions)
        self.configure({"share.auto.offset.reset": "earliest"})
        for i, value in enumerate(self.values):
            record = NewRecord(value.encode())
            client.produce(bootstrap, self.topic, [record], partition=i % partitions)

    def configure(self, configs: dict[str, str]) -> None:
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in configs.items()
        ]
        resource = ConfigResource(
            ConfigResource.Type.GROUP, self.group, incremental_configs=entries
        )
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for done in admin.incremental_alter_configs([resource]).values():
            done.result(_ENOUGH_S)

    @property
    def names(self) -> tuple[str, str, str]:
        return self.bootstrap, self.topic, self.group
