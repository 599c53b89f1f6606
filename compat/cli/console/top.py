"""A live view: topics with their rates, groups with lag and rebalances. Ctrl-C ends it.

What is `/s` is of the time since the last look. A group rebalanced when its members or what they
are assigned have changed between two looks.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep, strftime
from typing import Any

from .arguments import INT32, seconds, whole
from .client import Brokers
from .group_reading import CLASSIC, CONSUMER, STREAMS, committed, describe, list_groups, owners
from .offsets import EARLIEST, LATEST, Place, look_up
from .tables import add_json, objects, print_json, print_table

TOPIC_HEADS = ("topic", "partitions", "records", "in/s", "no leader")
GROUP_HEADS = ("group", "state", "members", "lag", "out/s", "rebalances")
_CLEAR = "\x1b[H\x1b[J"
_EVERY_S = 2.0
_NOTHING = -1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the view's arguments."""
    parser.add_argument(
        "--every",
        type=seconds,
        metavar="SECONDS",
        default=_EVERY_S,
        help=f"how long from look to look (default: {_EVERY_S:g})",
    )
    parser.add_argument(
        "--times", type=whole(1, INT32), metavar="N", help="end after so many looks"
    )
    parser.set_defaults(json=False, follow=True)
    add_json(parser)


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    top = Top()
    number = 0
    while True:
        rows = top.look(Sample.of(brokers))
        if options.json:
            print_json(rows.as_objects())
        else:
            _show(options.address, rows)
        sys.stdout.flush()
        number += 1
        if number == options.times:
            return 0
        sleep(options.every)


@dataclass
class GroupSample:
    state: str
    members: int
    assigned: object
    committed: Mapping[Place, int]
    """Offsets, and where nothing is committed of what its members have, -1."""


@dataclass
class Sample:
    ends: Mapping[Place, int]
    starts: Mapping[Place, int]
    no_leader: Mapping[str, int]
    groups: Mapping[str, GroupSample]
    at: float = field(default_factory=monotonic)

    @classmethod
    def of(cls, brokers: Brokers) -> Sample:
        """Ask. Raises ConsoleError."""
        topics = [topic for topic in brokers.topics() if not topic.is_internal]
        no_leader = {
            topic.name or "": sum(part.leader_id < 0 for part in topic.partitions)
            for topic in topics
        }
        groups = {}
        for name, listed in list_groups(brokers).items():
            if listed.kind not in (CLASSIC, CONSUMER, STREAMS):
                groups[name] = GroupSample(listed.state, 0, None, {})
                continue
            group = describe(brokers, name, listed)
            assigned = sorted((each.member_id, str(each.assigned)) for each in group.members)
            offsets = dict.fromkeys(owners(group), _NOTHING) | committed(brokers, name)
            groups[name] = GroupSample(group.state, len(group.members), assigned, offsets)
        starts, ends = look_up(brokers, topics, EARLIEST), look_up(brokers, topics, LATEST)
        return cls(ends, starts, no_leader, groups)


@dataclass
class Rows:
    topics: list[list[Any]]
    groups: list[list[Any]]

    def as_objects(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "topics": objects(TOPIC_HEADS, self.topics),
            "groups": objects(GROUP_HEADS, self.groups),
        }


class Top:
    def __init__(self) -> None:
        self._before: Sample | None = None
        self._rebalances: dict[str, int] = {}

    def look(self, sample: Sample) -> Rows:
        """The rows: the busiest topics first, the groups that lag most."""
        before, self._before = self._before, sample
        topics = [self._topic(name, sample, before) for name in sample.no_leader]
        groups = [self._group(name, sample, before) for name in sample.groups]
        topics.sort(key=lambda row: (-row[3], -row[2], row[0]))
        groups.sort(key=lambda row: (-(row[3] or 0), row[0]))
        return Rows(topics, groups)

    def _topic(self, name: str, sample: Sample, before: Sample | None) -> list[Any]:
        places = [place for place in sample.ends if place[0] == name]
        records = sum(sample.ends[place] - sample.starts.get(place, 0) for place in places)
        come = 0
        if before is not None:
            # A topic that was created anew begins again.
            new = (sample.ends[place] - before.ends.get(place, 0) for place in places)
            come = sum(max(each, 0) for each in new)
        count = len(places) + sample.no_leader[name]
        return [name, count, records, _rate(come, sample, before), sample.no_leader[name]]

    def _group(self, name: str, sample: Sample, before: Sample | None) -> list[Any]:
        group = sample.groups[name]
        lags = [
            max(
                sample.ends[place]
                - (sample.starts.get(place, 0) if offset == _NOTHING else offset),
                0,
            )
            for place, offset in group.committed.items()
            if place in sample.ends
        ]
        lag = sum(lags) if lags else None
        gone = 0
        old = None if before is None else before.groups.get(name)
        if old is not None:
            was = {place: at for place, at in old.committed.items() if at != _NOTHING}
            moved = (at - was.get(place, at) for place, at in group.committed.items())
            gone = sum(max(each, 0) for each in moved)
            if old.assigned != group.assigned:
                self._rebalances[name] = self._rebalances.get(name, 0) + 1
        rate = _rate(gone, sample, before)
        return [name, group.state, group.members, lag, rate, self._rebalances.get(name, 0)]


def _rate(count: int, sample: Sample, before: Sample | None) -> int:
    if before is None or sample.at <= before.at:
        return 0
    return round(count / (sample.at - before.at))


def _show(address: str, rows: Rows) -> None:
    room = None
    if sys.stdout.isatty():
        room = max((shutil.get_terminal_size().lines - 6) // 2, 1)
        print(_CLEAR, end="")
    print(f"{address}  {strftime('%H:%M:%S')}")
    print()
    print_table(TOPIC_HEADS, rows.topics[:room])
    print()
    print_table(GROUP_HEADS, rows.groups[:room])
    if room is not None and max(len(rows.topics), len(rows.groups)) > room:
        print("... and more, for which there is no room")
