"""MemberNames: what the members of groups are called in events.

A member is called by its client id. If there are several of one client id at the same time, the
second one is "id#2": with a library's default id, all consumers of a process have the same.
"""

from __future__ import annotations

_MOST = 10_000


class MemberNames:
    """A name for each member that is in a group."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, client_id: str, member_id: str) -> str:
        """The name of a member, perhaps a new one."""
        known = self._names.get(member_id)
        if known is not None:
            return known
        if len(self._names) >= _MOST:  # nobody reads so many names
            return client_id
        number, name = 1, client_id
        while name in self._taken:
            number += 1
            name = f"{client_id}#{number}"
        self._names[member_id] = name
        self._taken.add(name)
        return name

    def known(self, member_id: str, client_id: str) -> str:
        """The name of a member that may be gone, or never was one."""
        return self._names.get(member_id, client_id)

    def gone(self, member_id: str) -> None:
        """A member is in no group any more: another may have its number."""
        name = self._names.pop(member_id, None)
        if name is not None:
            self._taken.discard(name)
