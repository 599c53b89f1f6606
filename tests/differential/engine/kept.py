"""What a sequence keeps of an answer for its later requests: what a step's `keep` names, the ids of
the sequence's own topics, and the last session id and producer id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odradek.wire import Response

from .steps import OWN, World

_USUAL = {"session": "session_id", "pid": "producer_id"}
"""Label, and field of an answer."""


def keep(world: World, answer: Response, paths: Mapping[str, str]) -> None:
    """Keep the values at these paths, by label, and the usual ones."""
    for topic in getattr(answer, "topics", ()):
        topic_id = getattr(topic, "topic_id", None)
        name = getattr(topic, "name", None)
        if topic_id and any(topic_id) and name and name.startswith(world.namespace):
            world.kept[OWN + name[len(world.namespace) :]] = topic_id
    for label, name in _USUAL.items():
        value = getattr(answer, name, 0)
        if isinstance(value, int) and value >= 0:
            world.kept[label] = value
    for label, path in paths.items():
        found = _at(answer, path)
        if found is not None:
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
