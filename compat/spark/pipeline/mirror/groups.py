"""Committed offsets of groups, copied: they mean the same where offsets are kept.

A group that has members in the target is left alone: it has moved over. Offsets only go forward: a
group that has gone on in the target, and is not running at the moment, would read again what it has
read. An offset that the target has not reached yet is left until it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ..broker import LATEST, Cluster, Place, offsets
from ..broker.groups import GroupInUse, commit_offsets, committed_offsets, consumer_groups


@dataclass
class Copied:
    """What became of groups."""

    offsets: dict[str, int] = field(default_factory=dict)
    """How many of each group are in the target."""
    in_use: set[str] = field(default_factory=set)
    """Groups that have members in the target."""
    unmatched: set[str] = field(default_factory=set)
    """Patterns that no group of the source has."""


def copy_groups(
    source: Cluster, target: Cluster, patterns: Sequence[str], places: Iterable[Place]
) -> Copied:
    """Copy what these groups have committed for these partitions."""
    mirrored = set(places)
    there = consumer_groups(source)
    names = [name for name in there if any(fnmatchcase(name, pattern) for pattern in patterns)]
    copied = Copied()
    copied.unmatched |= {
        pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in there)
    }
    ends = offsets(target, mirrored, LATEST) if names else {}
    for name in names:
        theirs = committed_offsets(source, name)
        known = committed_offsets(target, name)
        wanted = {
            place: offset
            for place, offset in theirs.items()
            if place in mirrored and known.get(place, -1) < offset <= ends[place]
        }
        try:
            if wanted:
                commit_offsets(target, name, wanted)
        except GroupInUse:
            copied.in_use.add(name)
            continue
        copied.offsets[name] = sum(
            place in mirrored and offset <= ends[place] for place, offset in theirs.items()
        )
    return copied
