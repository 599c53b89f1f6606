"""Findings of an audit: damage, and remarks.

Damage is what a broker would trip over, or what a reader would miss or be given wrongly. A remark
is worth knowing and no fault: a skewed key, an open transaction, a file that a broker left over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

FINDINGS_MAX = 100
"""How many findings of each kind a segment tells of; more are counted only."""


_NUMBER = re.compile(r"\d[\d.,e+]*( (?=(ms|s|min|h|d)\b)\w+)?")


class Finding(NamedTuple):
    partition: str
    """The partition's directory, "topic-0"; "" for what belongs to no partition."""
    file: str
    """The file's name; "" if it is the directory, or a topic of a broker."""
    what: str
    byte: int | None = None
    """The first byte in the file."""
    offset: int | None = None
    """The first offset."""
    next_offset: int | None = None
    """The offset after the last one that is lost, if offsets are lost."""
    is_damage: bool = True

    @property
    def offsets(self) -> str:
        """The offset, or the lost ones, as text."""
        if self.offset is None:
            return ""
        if self.next_offset is None or self.next_offset <= self.offset + 1:
            return str(self.offset)
        return f"{self.offset} to {self.next_offset - 1}"

    @property
    def kind(self) -> tuple[bool, str]:
        """Findings that differ in their numbers only are of one kind."""
        return not self.is_damage, _NUMBER.sub("N", self.what)


def shared(findings: Sequence[Finding], limit: int) -> tuple[list[Finding], dict[str, int]]:
    """At most `limit` of the findings, damage first; each kind has its share of them. And how many
    of each kind are left out, by the first one's words."""
    kinds: dict[tuple[bool, str], list[Finding]] = {}
    for each in findings:
        kinds.setdefault(each.kind, []).append(each)
    some: dict[tuple[bool, str], int] = {}
    left = limit
    for number, kind in enumerate(sorted(kinds, key=lambda each: (len(kinds[each]), each))):
        some[kind] = min(len(kinds[kind]), -(-left // (len(kinds) - number)))
        left -= some[kind]
    found = [each for kind in sorted(kinds) for each in kinds[kind][: some[kind]]]
    more = {of_one[0].what: len(of_one) - some[kind] for kind, of_one in sorted(kinds.items())}
    found.sort(key=lambda each: (not each.is_damage, in_order(each)))
    return found, {what: count for what, count in more.items() if count}


def in_order(finding: Finding) -> tuple[str, str, int, int, str]:
    """By partition, file and byte."""
    byte = -1 if finding.byte is None else finding.byte
    offset = -1 if finding.offset is None else finding.offset
    return finding.partition, finding.file, byte, offset, finding.what


@dataclass
class Findings:
    """Findings of one place, at most `FINDINGS_MAX` of each kind."""

    partition: str
    file: str = ""
    found: list[Finding] = field(default_factory=list)
    kinds: dict[tuple[bool, str], int] = field(default_factory=dict)
    damages: int = 0
    """How many damages there are, also those that are not in `found`."""
    remarks: int = 0

    def damage(
        self,
        what: str,
        *,
        file: str | None = None,
        byte: int | None = None,
        offset: int | None = None,
        next_offset: int | None = None,
    ) -> None:
        """Add damage; `file`, if it is in another one."""
        name = self.file if file is None else file
        self.add(Finding(self.partition, name, what, byte, offset, next_offset))

    def remark(
        self,
        what: str,
        *,
        file: str | None = None,
        byte: int | None = None,
        offset: int | None = None,
    ) -> None:
        name = self.file if file is None else file
        self.add(Finding(self.partition, name, what, byte, offset, is_damage=False))

    def add(self, finding: Finding) -> None:
        """Add a finding, or only count it."""
        self.damages += finding.is_damage
        self.remarks += not finding.is_damage
        kind = finding.kind if len(self.kinds) < FINDINGS_MAX else (not finding.is_damage, "")
        number = self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if number <= FINDINGS_MAX:
            self.found.append(finding)

    def join(self, other: Findings) -> None:
        self.found += other.found
        self.damages += other.damages
        self.remarks += other.remarks
