"""The groups whose records one partition of `__consumer_offsets` keeps."""

from __future__ import annotations

from enum import Enum

from .group import Group


class ShardState(Enum):
    """Whether a shard can serve."""

    LOADING = "loading"
    ACTIVE = "active"


class Shard:
    """The groups of one partition, by id. A group that has only offsets is in here too."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.state = ShardState.LOADING
        self.groups: dict[str, Group] = {}
        self.unwritten: set[str] = set()
        """Groups of which no record has been written, nor any record to the partition since they
        were created. Describing and listing do not show them: a real coordinator shows the state
        below the high watermark."""

    def visible(self, group_id: str) -> Group | None:
        """The group, for calls that only look at it."""
        return None if group_id in self.unwritten else self.groups.get(group_id)

    def visible_groups(self) -> list[Group]:
        """All groups that calls which only look are shown."""
        return [group for name, group in self.groups.items() if name not in self.unwritten]

    def forget(self, group_id: str) -> None:
        """Remove a group from memory."""
        self.unwritten.discard(group_id)
        self.groups.pop(group_id, None)
