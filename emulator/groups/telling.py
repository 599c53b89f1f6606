"""What happens to groups of any type, told to the journal (base/event.py has the sentences)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..base.journal import Journal

_GONE = frozenset({"left", "kicked", "session timed out"})


class TellsOf(Protocol):
    """A member, as far as events name it."""

    @property
    def member_id(self) -> str: ...

    @property
    def instance_id(self) -> str | None: ...

    @property
    def client_id(self) -> str: ...


class Telling:
    """Tells events of groups; without a journal none."""

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal

    @property
    def is_on(self) -> bool:
        """Whether anything is told."""
        return self._journal is not None and self._journal.is_on

    def tell(
        self,
        group_id: str,
        kind: str,
        member: TellsOf | None = None,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Something has happened to a group, or to one of its members."""
        journal = self._journal
        if journal is None or not journal.is_on:
            return
        more = {} if details is None else dict(details)
        client = member_id = ""
        if member is not None:
            if kind == "joined":
                more["max_poll_interval_ms"] = getattr(member, "rebalance_timeout_ms", -1)
            member_id, instance_id = member.member_id, member.instance_id
            key = instance_id or member_id  # an instance comes back under another id
            client = journal.members.name(member.client_id, key)
            if kind in _GONE:
                journal.members.gone(key)
            if instance_id is not None:
                more["instance"] = instance_id
                more["as_instance"] = f" as static member {instance_id}"
        journal.add(
            kind, client=client, group=group_id, member=member_id, reason=reason, details=more
        )
