"""Where a request names topics, partitions, groups, members and transactional ids, and where its
response has errors: found once for each class and version, from the names of their fields.

Both are trees: a struct with fields of its own, and lists of entries. What a field is about is its
role. A request's list of entries and the list of the response that answers it have the same depth.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ...wire import Request, Response
from ...wire.schema import Struct

TOPIC, PARTITION, GROUP, MEMBER = "topic", "partition", "group", "member"
TRANSACTIONAL_ID, USER = "transactional_id", "user"
NARROWED_BY = (TOPIC, PARTITION, GROUP, MEMBER, TRANSACTIONAL_ID)
"""What a rule may be narrowed by."""
# Roles that become others when a request is looked at (entries.py).
TOPIC_ID, INSTANCE = "topic_id", "instance"
RESOURCE, RESOURCE_TYPE, KEY, KEY_TYPE = "resource", "resource_type", "key", "key_type"

_ROLES = {
    "topic": TOPIC,
    "topic_name": TOPIC,
    "topic_names": TOPIC,
    "topic_id": TOPIC_ID,
    "partition": PARTITION,
    "index": PARTITION,
    "partition_index": PARTITION,
    "partition_id": PARTITION,
    "partitions": PARTITION,
    "partition_indexes": PARTITION,
    "group_id": GROUP,
    "group_ids": GROUP,
    "groups": GROUP,
    "groups_names": GROUP,
    "member_id": MEMBER,
    "group_instance_id": INSTANCE,
    "instance_id": INSTANCE,
    "transactional_id": TRANSACTIONAL_ID,
    "transactional_ids": TRANSACTIONAL_ID,
    "v3_and_below_transactional_id": TRANSACTIONAL_ID,
    "resource_name": RESOURCE,
    "resource_type": RESOURCE_TYPE,
    "user": USER,
    "key": KEY,
    "key_type": KEY_TYPE,
    "coordinator_keys": KEY,
}
_NAMED_TOPIC = ("Topic", "CreatePartitionsResponse.Result")
"""Structs whose `name` is that of a topic."""
_NAMED_USER = ("Deletion", "Upsertion")
_ENTRIES = frozenset(
    {
        *("coordinator_keys", "creations", "deletions", "dirs", "entries", "feature_updates"),
        *("filters", "group_ids", "groups", "groups_names", "markers", "members", "partition_data"),
        *("partition_indexes", "partitions", "resources", "topic_data", "topic_names"),
        *("topic_partitions", "topics", "transactional_ids", "transactions", "upsertions"),
        "v3_and_below_topics",
    }
)
"""Lists of what a request asks for; other lists belong to one entry."""
_NO_ENTRIES = ("TopicPartitions",)
"""What a member of a group has, and does not ask for."""
CODES = ("error_code", "partition_error_code")
_WIDER = {
    RESOURCE: (TOPIC, GROUP),
    KEY: (GROUP, TRANSACTIONAL_ID),
    TOPIC_ID: (TOPIC,),
    INSTANCE: (MEMBER,),
}


class Part(NamedTuple):
    """A struct, or a plain value in a list of them."""

    struct: type[Struct] | None
    role: str
    """Of a plain value."""
    fields: tuple[tuple[str, str], ...]
    """Names of fields, and their roles."""
    lists: tuple[tuple[str, Part], ...]
    """Lists of entries, and what is in each."""
    code: str
    """The field with an error of its own, "" without one."""

    def roles(self) -> set[str]:
        found = {role for _, role in self.fields} | ({self.role} if self.role else set())
        return found.union(*(below.roles() for _, below in self.lists))


def narrowed_by(request: type[Request]) -> list[str]:
    """What rules for this API can be narrowed by, in any of its versions."""
    versions = range(request.first_version, request.last_version + 1)
    found = set().union(*(said_in(request, version) for version in versions))
    return [role for role in NARROWED_BY if role in found]


def said_in(request: type[Request], version: int) -> set[str]:
    """What requests of a version say."""
    return set().union(*(_WIDER.get(r, (r,)) for r in asked(request, version).roles()))


PASSED_OVER = "dirs"
"""A list of a request which its response does not have: what is in it stands there itself."""


def depth_of(part: Part, roles: set[str]) -> int:
    """How deep in a request one has to go to know all of these: 0 if it says them once for all."""
    known = {part.role, *(role for _, role in part.fields)}
    for role in tuple(known):
        known.update(_WIDER.get(role, ()))
    missing = roles - known
    if not missing or not part.lists:
        return 0
    name, below = part.lists[0]
    return depth_of(below, missing) + (name != PASSED_OVER)


@cache
def asked(request: type[Struct], version: int) -> Part:
    """What a request, or a part of it, asks for in a version."""
    return _part(request, version, _is_asked)


@cache
def answered(response: type[Struct], version: int) -> Part:
    """What a response, or a part of it, answers in a version: lists of what has errors."""
    return _part(response, version, _has_errors)


def entry_depth(part: Part) -> int:
    """How deep in a request its entries are."""
    if not part.lists:
        return 0
    name, below = part.lists[0]
    return entry_depth(below) + (name != PASSED_OVER)


def refusable(response: type[Response], version: int) -> list[str]:
    """The field with an error at each level of a response, "" where there is none, from the whole
    of it down to its smallest part."""
    part, found = answered(response, version), []
    while True:
        found.append(part.code)
        if not part.lists:
            return found
        part = part.lists[0][1]


def _part(struct: type[Struct], version: int, is_entries: object) -> Part:
    fields, lists, code = [], [], ""
    for field, t in struct.fields():
        if not field.is_in(version):
            continue
        role = _role(struct, field.name)
        if field.name in CODES:
            code = field.name
        elif t.is_list and is_entries(field.name, t.struct, version):  # type: ignore[operator]
            below = Part(None, role, (), (), "")
            if t.struct is not None:
                below = _part(t.struct, version, is_entries)
            lists.append((field.name, below))
        elif role and not t.is_list:
            fields.append((field.name, role))
    return Part(struct, "", tuple(fields), tuple(lists), code)


def _role(struct: type[Struct], name: str) -> str:
    if name == "name":
        if struct.__name__ in _NAMED_USER:
            return USER
        return TOPIC if struct.__qualname__.endswith(_NAMED_TOPIC) else ""
    return _ROLES.get(name, "")


def _is_asked(name: str, struct: type[Struct] | None, version: int) -> bool:
    return name in _ENTRIES and (struct is None or struct.__name__ not in _NO_ENTRIES)


def _has_errors(name: str, struct: type[Struct] | None, version: int) -> bool:
    if struct is None or name == "matching_acls":  # of a filter, which has an error itself
        return False
    part = answered(struct, version)
    return bool(part.code or part.lists)
