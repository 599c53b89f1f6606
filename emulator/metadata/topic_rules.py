"""The names that a topic may have, and the brokers that its partitions may be on.

Pure checks of CreateTopics and CreatePartitions, each raising Refused with Kafka's sentence; the
order in which they are made is part of what clients see. Source: Kafka 4.3.1's answers.

Which brokers the partitions of a topic are on, where nobody assigns them.

As Kafka does it (StripedReplicaPlacer), leaders go round the racks, and in each rack round its
brokers; followers come from the racks in turn, so that a partition is in as many racks as it can
be. Those that may not lead come last in their rack. A broker that is alone in its rack leads, and
follows, more than others.

Kafka chooses among the brokers of a rack at random; here the first leads partition 0, and a
follower is the broker that has fewest replicas so far, so that a test knows the leaders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from ...wire import Error, Refused
from ..base.node import Registered
from ..config.configs import BrokerConfig


def places(partitions: Iterable[int], factor: int, brokers: Registered) -> list[list[int]]:
    """The replicas of partitions, which are numbered from 0 on, the leader first. There are as many
    brokers as replicas, at least, and one that may lead."""
    racks = len({*brokers.racks.values()})
    if racks in (1, len(brokers.racks)):  # then all are alike
        active = sorted(brokers.active)
        others = sorted({*brokers.racks} - {*active})
        return [(_from(active, i) + _from(others, i))[:factor] for i in partitions]
    wanted = list(partitions)
    placer = _Placer(brokers)
    found = [placer.place(index, factor) for index in range(max(wanted, default=-1) + 1)]
    return [found[index] for index in wanted]


def _from(ring: list[int], index: int) -> list[int]:
    first = index % len(ring) if ring else 0
    return ring[first:] + ring[:first]


class _Placer:
    """Places partitions on racks of several brokers, one after the other."""

    def __init__(self, brokers: Registered) -> None:
        self._active = frozenset(brokers.active)
        racks: dict[str | None, list[int]] = {}
        for node_id in sorted(brokers.racks):
            racks.setdefault(brokers.racks[node_id], []).append(node_id)
        self._racks = list(racks.values())
        self._leaders = [[each for each in rack if each in self._active] for rack in self._racks]
        self._leading = [rack for rack, able in enumerate(self._leaders) if able]
        self._has: Counter[int] = Counter()

    def place(self, index: int, factor: int) -> list[int]:
        turn, place = index // len(self._leading), index % len(self._leading)
        rack = self._leading[place]
        able = self._leaders[rack]
        chosen = [able[turn % len(able)]]
        while len(chosen) < factor:
            rack = (rack + 1) % len(self._racks)
            left = [each for each in self._racks[rack] if each not in chosen]
            if left and not self._waits(rack, chosen):
                chosen.append(min(left, key=lambda e: (e not in self._active, self._has[e])))
        self._has.update(chosen)
        return chosen

    def _waits(self, rack: int, chosen: list[int]) -> bool:
        """Whether another rack with brokers left has fewer of the replicas."""
        counts = [
            sum(each in chosen for each in ids)
            for ids in self._racks
            if any(each not in chosen for each in ids)
        ]
        return sum(each in chosen for each in self._racks[rack]) > min(counts)


NAME_LENGTH_MAX = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")

DEFAULT = -1
"""As number of partitions or replicas: what the broker's configs say."""
LARGEST_REQUEST = 10_000
"""Partitions that one request may create, and records of the metadata log that it may write."""

Assignments = Sequence[tuple[int, Sequence[int]]]
"""Partitions and the brokers of their replicas, as a request assigns them."""


def name_problem(name: str) -> str | None:
    """Why a topic cannot have that name, or None if it can."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    if not _LEGAL.fullmatch(name):
        return (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    return None


def check_name(name: str) -> None:
    """Raises Refused(INVALID_TOPIC_EXCEPTION)."""
    problem = name_problem(name)
    if problem is not None:
        raise Refused(Error.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")


def folded(name: str) -> str:
    """The name as in metrics, where `.` is `_`; two topics must not have the same."""
    return name.replace(".", "_")


def assigned(
    assignments: Assignments, partitions: int, factor: int, brokers: Registered
) -> list[list[int]]:
    """The replicas of a new topic as a request assigns them. Raises Refused."""
    what = "A manual partition assignment was specified, but"
    if factor != DEFAULT:
        raise Refused(Error.INVALID_REQUEST, f"{what} replication factor was not set to -1.")
    if partitions != DEFAULT:
        raise Refused(Error.INVALID_REQUEST, f"{what} numPartitions was not set to -1.")
    by_index: dict[int, list[int]] = {}
    count = None
    for index, replicas in assignments:
        if index in by_index:
            raise _misplaced(f"Found multiple manual partition assignments for partition {index}")
        _check_replicas(replicas, brokers.racks, count)
        _check_active(index, replicas, brokers)
        by_index[index], count = list(replicas), len(replicas)
    if sorted(by_index) != list(range(len(by_index))):
        raise _misplaced("partitions should be a consecutive 0-based integer sequence")
    return [by_index[index] for index in range(len(by_index))]


def check_request_size(partitions: int) -> None:
    """Raises Refused for more partitions than one request may make."""
    if partitions > LARGEST_REQUEST:
        message = "Excessively large number of partitions per request."
        raise Refused(Error.POLICY_VIOLATION, message)


def placed(
    partitions: int, factor: int, brokers: Registered, config: BrokerConfig
) -> list[list[int]]:
    """The replicas of a new topic for which none are assigned. Raises Refused."""
    if factor == 0 or factor < DEFAULT:
        raise Refused(
            Error.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partitions == 0 or partitions < DEFAULT:
        raise Refused(
            Error.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    count = config.get("num.partitions") if partitions == DEFAULT else partitions
    check_request_size(count)
    replicas = config.get("default.replication.factor") if factor == DEFAULT else factor
    return _place(range(count), replicas, brokers, config)


def added(
    name: str,
    existing: int,
    total: int,
    factor: int,
    assignments: Sequence[Sequence[int]] | None,
    brokers: Registered,
    config: BrokerConfig,
) -> list[list[int]]:
    """The replicas of the partitions that make a topic grow to `total`. Raises Refused."""
    if total == existing:
        raise Refused(Error.INVALID_PARTITIONS, f"Topic already has {existing} partition(s).")
    if total < existing:
        raise Refused(
            Error.INVALID_PARTITIONS,
            f"The topic {name} currently has {existing} partition(s); "
            f"{total} would not be an increase.",
        )
    if assignments is None:
        return _place(range(existing, total), factor, brokers, config)
    if len(assignments) != total - existing:
        raise _misplaced(
            f"Attempted to add {total - existing} additional partition(s), "
            f"but only {len(assignments)} assignment(s) were specified."
        )
    for index, replicas in enumerate(assignments, existing):
        _check_replicas(replicas, brokers.racks, factor)
        _check_active(index, replicas, brokers)
    return [list(replicas) for replicas in assignments]


def _check_replicas(replicas: Sequence[int], brokers: Collection[int], count: int | None) -> None:
    """Whether a partition may have these replicas; `count` is how many others of the topic have."""
    what = "The manual partition assignment includes"
    if not replicas:
        raise _misplaced(f"{what} an empty replica list.")
    before = None
    for broker in sorted(replicas):
        if broker not in brokers:
            raise _misplaced(f"{what} broker {broker}, but no such broker is registered.")
        if broker == before:
            raise _misplaced(f"{what} the broker {broker} more than once.")
        before = broker
    if count is not None and len(replicas) != count:
        raise _misplaced(
            f"{what} a partition with {len(replicas)} replica(s), but this is not consistent with "
            f"previous partitions, which have {count} replica(s)."
        )


def _check_active(index: int, replicas: Sequence[int], brokers: Registered) -> None:
    if not any(replica in brokers.active for replica in replicas):
        raise _misplaced(
            f"All brokers specified in the manual partition assignment for partition {index} are "
            "fenced or in controlled shutdown."
        )


def _place(
    partitions: Iterable[int], factor: int, brokers: Registered, config: BrokerConfig
) -> list[list[int]]:
    """Where these partitions are. Raises Refused(INVALID_REPLICATION_FACTOR)."""
    registered = len(brokers.racks)
    if factor > registered:
        cordoned = " or some brokers have all their log directories cordoned"
        raise Refused(
            Error.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): The target replication factor of "
            f"{factor} cannot be reached because only {registered} broker(s) are registered"
            f"{cordoned if config.release.cordons_directories else ''}.",
        )
    if not brokers.active:
        message = "All brokers are currently fenced or in controlled shutdown."
        raise Refused(Error.INVALID_REPLICATION_FACTOR, message)
    return places(partitions, factor, brokers)


def _misplaced(message: str) -> Refused:
    return Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)
