"""Paths as clients may write them: within a context, /contexts/.staging/subjects/orders; with a
slash in a name, %2F.

Source: `rest/filters/ContextFilter` of Confluent's registry.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from .subjects import DEFAULT, in_context

SLASH = "\0"
"""Stands for a slash within a part of a path."""
_OF_SUBJECT = ("config", "mode")
_OF_IDS = ["schemas", "ids"]


class Place(NamedTuple):
    path: str
    query: bytes


def place_of(raw_path: bytes, query: bytes) -> Place:
    """The place of a path as it was sent. Subjects in it are in its context."""
    parts = [unquote(each).replace("/", SLASH) for each in raw_path.decode("latin-1").split("/")]
    if parts[1:2] != ["contexts"] or len(parts) < len(("", "contexts", "context", "rest")):
        return Place("/".join(parts), query)
    context = parts[2].strip(":") or DEFAULT
    rest = parts[3:]
    return Place("/" + "/".join(_in(context, rest)), _asked(context, rest, query))


def _in(context: str, parts: list[str]) -> list[str]:
    if parts[0] in _OF_SUBJECT:
        return [parts[0], in_context(context, parts[1] if len(parts) > 1 else "")]
    at = parts.index("subjects") + 1 if "subjects" in parts else len(parts)
    return [in_context(context, each) if n == at else each for n, each in enumerate(parts)]


def _asked(context: str, parts: list[str], query: bytes) -> bytes:
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    if parts[:2] == _OF_IDS:
        name = "subject"
    elif parts in (["schemas"], ["subjects"]):
        name = "subjectPrefix"
    else:
        return query
    there = [each for key, each in given if key == name] or [""]
    others = [(key, each) for key, each in given if key != name]
    return urlencode([*others, *((name, in_context(context, each)) for each in there)]).encode()
