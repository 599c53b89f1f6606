"""The records that every type of group since KIP-848 has, before they are encoded.

Of each type a table says under which keys and values they are stored. Kafka writes a member, the
group, targets, the target assignment, and what a member has, in this order; when a member leaves
what it has, its target, the member, the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ....wire import Message
from ....wire.stored.keyed import Key
from ..records import MessageRecord, message_decoders
from .member import ModernMember

Stored: TypeAlias = tuple[type[Any], type[Any]]
"""The classes of a key and of a value."""


class GroupRecords:
    """The records of one type of group: five that all types have, and its own."""

    def __init__(
        self,
        *,
        group: Stored,
        member: Stored,
        target_epoch: Stored,
        target: Stored,
        current: Stored,
        others: Mapping[type[Key], type[Message]],
    ) -> None:
        self.group_key, self._group_value = group
        self.member_key, _ = member
        self.target_epoch_key, self._target_epoch_value = target_epoch
        self.target_key, _ = target
        self.current_key, _ = current
        of_all_types: Iterable[Stored] = (group, member, target_epoch, target, current)
        self.decoders = message_decoders({**dict(of_all_types), **others})

    def group_record(
        self, group_id: str, epoch: int, metadata_hash: int, **own: Any
    ) -> MessageRecord:
        """The group's epoch, a hash of the topics it reads, and what its type adds."""
        value = self._group_value(epoch=epoch, metadata_hash=metadata_hash, **own)
        return MessageRecord(self.group_key(group_id=group_id), value)

    def member_record(self, group_id: str, member: ModernMember[Any]) -> MessageRecord:
        key = self.member_key(group_id=group_id, member_id=member.member_id)
        return MessageRecord(key, member.reported_value())

    def target_epoch_record(self, group_id: str, epoch: int, timestamp: int) -> MessageRecord:
        value = self._target_epoch_value(assignment_epoch=epoch, assignment_timestamp=timestamp)
        return MessageRecord(self.target_epoch_key(group_id=group_id), value)

    def target_record(self, group_id: str, member_id: str, value: Message) -> MessageRecord:
        return MessageRecord(self.target_key(group_id=group_id, member_id=member_id), value)

    def current_record(self, group_id: str, member: ModernMember[Any]) -> MessageRecord:
        key = self.current_key(group_id=group_id, member_id=member.member_id)
        return MessageRecord(key, member.current_value())

    def member_tombstones(self, group_id: str, member_id: str) -> list[MessageRecord]:
        return [
            MessageRecord(key(group_id=group_id, member_id=member_id), None)
            for key in (self.current_key, self.target_key, self.member_key)
        ]


def tombstones(group_id: str, *keys: type[Any]) -> list[MessageRecord]:
    """Records of a group, of which it has one each, deleted."""
    return [MessageRecord(key(group_id=group_id), None) for key in keys]
