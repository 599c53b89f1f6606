"""What views of groups of several types have in common: configs, committed offsets and lag, and how
a member that a request has described is seen. What is told of one type alone stands with its view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...wire import Error, Refused
from ...wire.api.delete_groups import DeleteGroupsRequest
from ...wire.api.list_groups import ListGroupsRequest
from ..parameters import ConfigValue, changed_configs
from .configuring import GROUP, set_configs
from .group_waits import LIST_GROUPS, Grouped, WithMembers
from .members import Place, SeenMember
from .reading import EARLIEST, LATEST, existing_topic, offsets_at
from .source import Source, check

_DELETE_GROUPS = 2  # a version that all of these releases serve


class GroupConfigs(WithMembers):
    """Configs of a group, and its end."""

    def delete(self) -> None:
        """Delete the group with its offsets, as DeleteGroups does. Raises Refused: NON_EMPTY_GROUP
        while it has members, GROUP_ID_NOT_FOUND."""
        request = DeleteGroupsRequest(groups_names=[self.group_id])
        (answer,) = self._source.ask(request, _DELETE_GROUPS).results
        code = answer.error_code
        if code in (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE):
            code = Error.GROUP_ID_NOT_FOUND  # nobody coordinates groups before there is one
        check(code, f"deleting group {self.group_id!r}")

    def set_config(self, configs: Mapping[str, ConfigValue | None]) -> None:
        """Set configs of the group, as `consumer.session.timeout.ms`, `share.auto.offset.reset` or
        `streams.num.standby.replicas`; None goes back to the brokers' values. The group need not
        exist yet. All of them are set, or none. Raises Refused(INVALID_CONFIG), TypeError. Source:
        KIP-848 (configs of groups)."""
        set_configs(self._source, GROUP, self.group_id, changed_configs(configs))


class GroupOffsets(Grouped):
    """Offsets of a group that commits them."""

    def offsets(self) -> dict[Place, int]:
        """The committed offsets, by topic and partition."""
        return {place: each.offset for place, each in self.committed().items()}

    def lags(self) -> dict[Place, int]:
        """How many records after its committed offset each partition has, up to the high
        watermark; of assigned partitions without a committed offset, all."""
        offsets = self.offsets()
        assigned = {place for each in self._described().members for place in each.assignment}
        places = sorted({*offsets, *assigned})
        ends = offsets_of(self._source, places, LATEST)
        starts = offsets_of(self._source, places, EARLIEST)
        return {place: ends[place] - offsets.get(place, starts[place]) for place in places}

    def lag(self, topic: str | None = None) -> int:
        """How many records it has yet to read, of one topic or of all. Raises Refused: a mistyped
        topic has no lag (UNKNOWN_TOPIC_OR_PARTITION), nor has a group that has committed nothing
        there and has no member that reads it (GROUP_ID_NOT_FOUND)."""
        return sum_of_lags(self, topic, self.lags())


def group_ids(source: Source) -> list[str]:
    """The ids of all groups, of every type, sorted."""
    found = source.ask(ListGroupsRequest(), LIST_GROUPS).groups
    return sorted(each.group_id for each in found)


def sum_of_lags(group: WithMembers, topic: str | None, lags: Mapping[Place, int]) -> int:
    """The lags of a topic, or of all. Raises Refused: UNKNOWN_TOPIC_OR_PARTITION,
    GROUP_ID_NOT_FOUND where there are none."""
    name = None if topic is None else existing_topic(group._source, topic)
    found = [each for place, each in lags.items() if name in (None, place[0])]
    if not found:
        of = "" if name is None else f" of topic {name}"
        message = f"group {group.group_id!r} has no offsets{of}, and so no lag"
        raise Refused(Error.GROUP_ID_NOT_FOUND, f"{message}: is it another group?")
    return sum(found)


def offsets_of(source: Source, places: Iterable[Place], which: int) -> dict[Place, int]:
    """The offsets at a time, or EARLIEST or LATEST, of partitions of several topics."""
    by_topic: dict[str, list[int]] = {}
    for topic, index in places:
        by_topic.setdefault(topic, []).append(index)
    return {
        (topic, index): offset
        for topic, indexes in by_topic.items()
        for index, offset in offsets_at(source, topic, indexes, which).items()
    }


def seen_member(
    source: Source,
    found: Any,
    instance_id: str | None,
    places: Iterable[Place],
    epoch: int | None,
) -> SeenMember:
    """A member as `found` in the answer of one of Kafka's requests that describe groups."""
    name, version = source.software(found.client_id, found.client_host) or (None, None)
    return SeenMember(
        *(found.member_id, instance_id, found.client_id, name, version),
        *(found.client_host.removeprefix("/"), tuple(places), epoch),
    )
