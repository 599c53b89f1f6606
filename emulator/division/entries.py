"""The entries of a request: what it asks for, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from ...wire import Request
from ...wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from ...wire.api.metadata import MetadataRequest
from .places import (
    GROUP,
    INSTANCE,
    KEY,
    KEY_TYPE,
    MEMBER,
    RESOURCE,
    RESOURCE_TYPE,
    TOPIC,
    TOPIC_ID,
    TRANSACTIONAL_ID,
    Part,
    asked,
)

Entry: TypeAlias = Mapping[str, Any]
"""One entry: what it is about, by role. What it does not say is not there."""
TopicNames: TypeAlias = Callable[[bytes], str | None]
"""The name of the topic with an id, None if there is none."""


class _Everything:
    def __repr__(self) -> str:
        return "all of them"


ALL: Final = _Everything()
"""In an entry that asks for everything: whatever a rule is narrowed to is in it."""
_RESOURCES = {2: TOPIC, 3: GROUP, 32: GROUP}
"""By their type in rules of access, and in configs."""
_KEYS = {0: GROUP, 1: TRANSACTIONAL_ID}


def entries(request: Request, version: int, names: TopicNames) -> Iterator[Entry]:
    """Each entry of a request; of one without any, what it says of itself."""
    part = asked(type(request), version)
    is_all = empty_is_all(request, version)
    for values in _entries(request, part, {}, is_all):
        yield resolved(values, names)


def empty_is_all(request: Request, version: int) -> bool:
    """Whether an empty list asks for everything; else null does, where a list may be null."""
    is_old = isinstance(request, MetadataRequest) and version == 0
    return is_old or isinstance(request, DescribeTopicPartitionsRequest)


def resolved(values: Mapping[str, Any], names: TopicNames) -> Entry:
    """The same with names of topics in place of ids, and resources and keys as what they are."""
    found = {role: each for role, each in values.items() if role != TOPIC_ID}
    if not found.get(TOPIC) and TOPIC_ID in values:
        topic_id = values[TOPIC_ID]
        found[TOPIC] = topic_id if topic_id is ALL else names(topic_id)
    if (kind := _RESOURCES.get(found.pop(RESOURCE_TYPE, -1))) is not None:
        found[kind] = found.get(RESOURCE)
    if KEY in found and (kind := _KEYS.get(found.get(KEY_TYPE, 0))) is not None:
        found[kind] = found[KEY]
    return found


def _entries(
    item: Any, part: Part, above: dict[str, Any], is_all: bool
) -> Iterator[dict[str, Any]]:
    here = with_own(item, part, above)
    is_whole = True
    for name, below in part.lists:
        found = getattr(item, name)
        if found is None or (not found and is_all):
            here |= dict.fromkeys(below.roles(), ALL)
        for each in found or ():
            is_whole = False
            yield from _entries(each, below, here, is_all)
    if is_whole:
        yield here


def with_own(item: Any, part: Part, above: Mapping[str, Any]) -> dict[str, Any]:
    """What a part of a request says of itself, and what is said above it."""
    if part.struct is None:
        return {**above, part.role: item}
    return {**above, **{role: getattr(item, name) for name, role in part.fields}}


def own_values(request: Request, version: int) -> dict[str, Any]:
    """What a request says of itself, and so of each of its entries."""
    return with_own(request, asked(type(request), version), {})


def said(entry: Entry, role: str) -> tuple[Any, ...]:
    """What an entry says of something: nothing, or one thing; of a member also its static id."""
    roles = (MEMBER, INSTANCE) if role == MEMBER else (role,)
    return tuple(entry[each] for each in roles if each in entry)
