"""What a sequence keeps of an answer for its later requests: the values that a step's `keep` names,
the ids of the sequence's own topics, the last session id, the last producer id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odradek.wire import Response

from .steps import OWN, World

_ALWAYS_KEPT = {"session": "session_id", "pid": "producer_id"}
"""The label, and the field of any answer whose value is kept under it."""
_NOT_OF_ERRORS = {"member_epoch", "endpoint_information_epoch"}
"""Fields that are 0 in an answer with an error: what was kept before is still right."""


def keep(world: World, answer: Response, paths: Mapping[str, str]) -> None:
    """Keep the values at these paths (label to path), and those that are always kept."""
    for topic in getattr(answer, "topics", ()):
        topic_id = getattr(topic, "topic_id", None)
        name = getattr(topic, "name", None)
        if topic_id and any(topic_id) and name and name.startswith(world.namespace):
            world.kept[OWN + name[len(world.namespace) :]] = topic_id
    for label, name in _ALWAYS_KEPT.items():
        value = getattr(answer, name, -1)
        if isinstance(value, int) and value >= 0:
            world.kept[label] = value
    is_refused = bool(getattr(answer, "error_code", 0))
    for label, path in paths.items():
        found = _at(answer, path)
        if found is not None and not (is_refused and path in _NOT_OF_ERRORS):
            world.kept[label] = found


def _at(value: Any, path: str) -> Any:
    """The value at a path like "topics.0.name"; None if there is none."""
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = getattr(value, part, None)
        if value is None:
            return None
    return value
