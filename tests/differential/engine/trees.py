"""Decoded messages as plain trees: dicts, lists and leaves."""

from __future__ import annotations

from typing import Any, TypeAlias

from odradek.wire import Struct
from odradek.wire.schema import Type

Tree: TypeAlias = Any
"""dict, list, or a leaf."""


class Id(bytes):
    """A UUID: a class of its own, so that it differs from other bytes."""


def plain(message: Struct, version: int) -> dict[str, Tree]:
    """The fields that a message has in a version."""
    return {
        field.name: _value(getattr(message, field.name), type_, version)
        for field, type_ in type(message).fields()
        if field.is_in(version)
    }


def _value(value: Any, type_: Type, version: int) -> Tree:
    if value is None:
        return None
    if type_.is_list:
        return [_value(each, type_._replace(is_list=False), version) for each in value]
    if type_.struct is not None:
        return plain(value, version)
    assert type_.kind is not None
    if type_.kind.name == "uuid":
        return Id(value)
    return bytes(value) if type_.kind.name in ("bytes", "records") else value
