"""Which topics a message names: found by the names of its fields, once for each class.

Topics are named by name or by id. An id is looked up among those that are known from answers to
Metadata and CreateTopics, and from the cluster itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from ....wire import NO_ID, Message
from ....wire.schema import Struct

_NAMES = frozenset({"topic", "topic_name"})
_LISTS_OF_NAMES = frozenset({"topic_names", "subscribed_topic_names"})
_NAMED_BY_NAME = ("Topic", "CreatePartitionsResponse.Result")
_TOPIC_RESOURCE = 2


class _Shape(NamedTuple):
    """Where a struct names topics."""

    names: tuple[str, ...]
    lists: tuple[str, ...]
    ids: tuple[str, ...]
    has_resource: bool
    parts: tuple[tuple[str, bool, _Shape], ...]
    """Fields that hold structs, whether as a list, and what is in these."""


def topics_of(message: Message, known: Mapping[bytes, str]) -> Iterator[str]:
    """Each topic that a message names, perhaps several times; those whose id is not known are left
    out."""
    return _topics(message, _shape(type(message)), known)


def ids_of(message: Message) -> Iterator[tuple[bytes, str]]:
    """Ids of topics and their names, where a message has both."""
    return _ids(message, _shape(type(message)))


def _topics(struct: Any, shape: _Shape, known: Mapping[bytes, str]) -> Iterator[str]:
    for name in shape.names:
        if value := getattr(struct, name):
            yield value
    for name in shape.lists:
        yield from getattr(struct, name) or ()
    for name in shape.ids:
        if (found := known.get(bytes(getattr(struct, name)))) is not None:
            yield found
    if shape.has_resource and struct.resource_type == _TOPIC_RESOURCE and struct.resource_name:
        yield struct.resource_name
    for part, below in _parts(struct, shape):
        yield from _topics(part, below, known)


def _ids(struct: Any, shape: _Shape) -> Iterator[tuple[bytes, str]]:
    if len(shape.names) == 1 and len(shape.ids) == 1:
        topic_id, name = bytes(getattr(struct, shape.ids[0])), getattr(struct, shape.names[0])
        if name and topic_id != NO_ID:
            yield topic_id, name
    for part, below in _parts(struct, shape):
        yield from _ids(part, below)


def _parts(struct: Any, shape: _Shape) -> Iterator[tuple[Any, _Shape]]:
    for name, is_list, below in shape.parts:
        value = getattr(struct, name)
        if is_list:
            for part in value or ():
                yield part, below
        elif value is not None:
            yield value, below


@cache
def _shape(cls: type[Struct]) -> _Shape:
    names, lists, ids, parts = [], [], [], []
    has = {field.name for field, _ in cls.fields()}
    is_topic = cls.__qualname__.endswith(_NAMED_BY_NAME)
    for field, kind in cls.fields():
        if kind.struct is not None:
            below = _shape(kind.struct)
            if any(below):
                parts.append((field.name, kind.is_list, below))
        elif (field.name in _NAMES and not kind.is_list) or (field.name == "name" and is_topic):
            names.append(field.name)
        elif field.name in _LISTS_OF_NAMES and kind.is_list:
            lists.append(field.name)
        elif field.name == "topic_id" and not kind.is_list:
            ids.append(field.name)
    has_resource = {"resource_type", "resource_name"} <= has
    return _Shape(tuple(names), tuple(lists), tuple(ids), has_resource, tuple(parts))
