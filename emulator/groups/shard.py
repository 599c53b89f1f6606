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
        self.vanished: dict[str, Group] = {}
        """Groups that are gone without a record of it, nor any record to the partition since.
        Describing, listing and fetching offsets still show them."""
        self.writes = 0
        """How often records were written to the partition since it is here."""

    def visible(self, group_id: str) -> Group | None:
        """The group, for calls that only look at it."""
        if group_id in self.vanished:
            return self.vanished[group_id]
        return None if group_id in self.unwritten else self.groups.get(group_id)

    def visible_groups(self) -> list[Group]:
        """All groups that calls which only look are shown."""
        shown = {n: group for n, group in self.groups.items() if n not in self.unwritten}
        return list((shown | self.vanished).values())

    def vanish(self, group_id: str) -> None:
        """The group is no more, but its offsets are; after a restart it is there again."""
        self.vanished[group_id] = self.groups.pop(group_id)

    def written(self) -> None:
        """A record was written to the partition: what is there now is visible."""
        self.writes += 1
        self.unwritten.clear()
        self.vanished.clear()

    def forget(self, group_id: str) -> None:
        """Remove a group from memory."""
        self.unwritten.discard(group_id)
        self.groups.pop(group_id, None)
