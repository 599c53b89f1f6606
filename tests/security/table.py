"""The cases of the table: each row with all it needs, and without each of its needs in two ways."""

from __future__ import annotations

from typing import NamedTuple

from odradek.emulator.security.authorizer.acl import Acl, Pattern, Permission
from odradek.wire.api.offset_commit import OffsetCommitRequest

from tests.requests.committed_offsets import commit_all

from .rows import ROWS, About, Need, Row

ALLOWED, ABSENT, DENIED = "allowed", "absent", "denied"


class Case(NamedTuple):
    """A row, and what of its needs is missing."""

    number: int
    row: Row
    state: str
    missing: Need | None

    @property
    def user(self) -> str:
        return f"u{self.number}"

    @property
    def name(self) -> str:
        what = "" if self.missing is None else f" {self.missing.operation.name}"
        return f"{self.row.name}: {self.state}{what}"

    def about(self, topic_id: bytes) -> About:
        n = self.number
        return About(f"t{n}", topic_id, f"g{n}", f"x{n}")

    @property
    def has_topic(self) -> bool:
        """Whether its topic is there before it is asked about."""
        words = ("CreateTopics", "missing topic", "creates a topic")
        return not any(word in self.row.name for word in words)

    @property
    def has_offsets(self) -> bool:
        """Whether its group has committed an offset of its topic before."""
        return self.row.name in ("OffsetDelete", "DeleteGroups")

    def acls(self) -> list[Acl]:
        """The rules for its user. What is denied is allowed by another rule."""
        about = self.about(b"")
        rules = []
        for need in self.row.needs:
            if need != self.missing or self.state == DENIED:
                rules.append(_rule(self.user, need, about, Permission.ALLOW))
            if need == self.missing and self.state == DENIED:
                rules.append(_rule(self.user, need, about, Permission.DENY))
        return rules


def commit_of(case: Case) -> OffsetCommitRequest:
    """Commit an offset of the case's topic in its group."""
    about = case.about(b"")
    return commit_all((about.topic, 0, 1), group=about.group)


def _rule(user: str, need: Need, about: About, permission: Permission) -> Acl:
    name, who = need.name(about), f"User:{user}"
    return Acl(need.kind, name, Pattern.LITERAL, who, "*", need.operation, permission)


def cases() -> list[Case]:
    made: list[tuple[Row, str, Need | None]] = []
    for row in ROWS:
        made.append((row, ALLOWED, None))
        made += [(row, state, need) for need in row.needs for state in (ABSENT, DENIED)]
    return [Case(number, *each) for number, each in enumerate(made)]
