"""Views of a cluster under a manual clock, without a server."""

from __future__ import annotations

from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.emulator.seen import GroupView, Inside, ShareGroupView, TopicView


def no_server() -> Any:
    raise AssertionError("there is no server")


class Seen(Inside):
    """The cluster as its views see it, with no connections."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(lambda action: action(cluster), no_server)
        self.cluster = cluster

    def software(self, client_id: str, host: str) -> tuple[str, str] | None:
        return None

    def topic(self, name: str = "t", partitions: int = 1, **configs: str) -> TopicView:
        """A new topic; config names with _ for dots."""
        named = {key.replace("_", "."): value for key, value in configs.items()}
        self.cluster.create_topic(name, partitions, named)
        return self.view(name)

    def view(self, name: str = "t") -> TopicView:
        """Of a topic that may not exist."""
        return TopicView(self, name)

    def group(self, group_id: str = "g") -> GroupView:
        return GroupView(self, group_id)

    def share_group(self, group_id: str = "g") -> ShareGroupView:
        return ShareGroupView(self, group_id)
