"""The errors in a response: where they can be follows from its fields, found once for each class.

A class of a response is a tree of structs; those with an `error_code` are looked at, and those that
hold such ones. What an error is about is named by the fields beside and above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from ...wire import Error, Response
from ...wire.schema import Struct

_TOPIC = ("name", "topic", "topic_name", "resource_name")
_PARTITION = ("partition_index", "partition", "index")
_MOST = 1000
"""Of a longer list only the first are looked at: nobody reads as many."""


class Refusal(NamedTuple):
    """One error, and what it is about."""

    error: Error
    topic: str = ""
    partition: int = -1
    group: str = ""
    message: str = ""
    topic_id: bytes = b""


_NOTHING = Refusal(Error.NONE)


class _Shape(NamedTuple):
    """Where a struct has errors, and the names of what they are about."""

    has_code: bool
    has_message: bool
    topic: str
    partition: str
    has_group: bool
    has_id: bool
    parts: tuple[tuple[str, _Shape], ...]
    """Lists of structs that have errors themselves."""


def refusals(response: Response) -> list[Refusal]:
    return list(_refusals(response, _shape(type(response)), _NOTHING))


@cache
def finder(cls: type[Struct]) -> Callable[[Any], bool]:
    """Finds whether there is an error in a response of a class, made from its fields: nearly never,
    and so found out first."""
    shape = _shape(cls)
    if not shape.has_code and not shape.parts:
        return lambda response: False
    lines = ["def search(s0):", *_lines(shape, 0), " return False"]
    env = {"islice": islice, "most": _MOST}
    exec("\n".join(lines), env)
    return env["search"]  # type: ignore[return-value]


def _lines(shape: _Shape, depth: int) -> Iterator[str]:
    indent = " " * (depth + 1)
    if shape.has_code:
        yield f"{indent}if s{depth}.error_code: return True"
    for name, below in shape.parts:
        items = f"s{depth}.{name}"
        yield f"{indent}for s{depth + 1} in islice({items} or (), most):"
        yield from _lines(below, depth + 1)


def _refusals(struct: Any, shape: _Shape, above: Refusal) -> Iterator[Refusal]:
    code = struct.error_code if shape.has_code else 0
    about = Refusal(
        code if isinstance(code, Error) else Error(code),
        (getattr(struct, shape.topic) or "") if shape.topic else above.topic,
        getattr(struct, shape.partition) if shape.partition else above.partition,
        struct.group_id if shape.has_group else above.group,
        (struct.error_message or "") if code and shape.has_message else "",
        struct.topic_id if shape.has_id else above.topic_id,
    )
    if code:
        yield about
    for name, below in shape.parts:
        for part in islice(getattr(struct, name) or (), _MOST):
            yield from _refusals(part, below, about)


@cache
def _shape(cls: type[Struct]) -> _Shape:
    fields = dict(cls.fields())
    names = {field.name: kind for field, kind in fields.items()}
    parts = tuple(
        (name, _shape(kind.struct))
        for name, kind in names.items()
        if kind.is_list and kind.struct is not None and _has_errors(kind.struct)
    )
    return _Shape(
        "error_code" in names,
        "error_message" in names,
        next((each for each in _TOPIC if each in names), ""),
        next((each for each in _PARTITION if each in names), ""),
        "group_id" in names,
        "topic_id" in names,
        parts,
    )


def _has_errors(cls: type[Struct]) -> bool:
    shape = _shape(cls)
    return shape.has_code or bool(shape.parts)
