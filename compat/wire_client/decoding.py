"""Decoders of keys and values: functions of bytes, or their names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from .record import Raw, SeenRecord

if TYPE_CHECKING:
    from ..schemas.reading import Reader

Decoder: TypeAlias = Callable[[bytes], Any] | str | None
"""A function, "json", "text" or "auto" (by a registry), or None for the bytes as they are."""

_NAMED: dict[str, Callable[[bytes], Any]] = {"json": json.loads, "text": bytes.decode}


class Auto:
    """Decodes by a registry's schemas, which are looked at anew with each reading."""

    def __init__(self, new_reader: Callable[[], Reader]) -> None:
        self._new_reader = new_reader
        self._reader: Reader | None = None

    def __call__(self, data: bytes) -> Any:
        """The value. Raises ValueError, SchemaError."""
        if self._reader is None:
            self._reader = self._new_reader()
        return self._reader.auto(data)

    def begin(self) -> None:
        self._reader = None


def function_of(
    decoder: Decoder, name: str, auto: Callable[[bytes], Any] | None = None
) -> Callable[[bytes], Any]:
    """The function of a decoder; "auto" is this one, by a registry's schemas. Raises ValueError,
    TypeError."""
    if decoder is None:
        return bytes
    if isinstance(decoder, str):
        if decoder == "auto" and auto is not None:
            return auto
        if decoder not in _NAMED:
            known = " or ".join(map(repr, _NAMED if auto is None else (*_NAMED, "auto")))
            raise ValueError(f"{name} is {known} or a function of bytes, not {decoder!r}")
        return _NAMED[decoder]
    if not callable(decoder):
        raise TypeError(f"{name} is a function of bytes, or the name of one, not {decoder!r}")
    return decoder


def decoded(
    record: Raw, key: Callable[[bytes], Any], value: Callable[[bytes], Any]
) -> SeenRecord[Any, Any]:
    """The record with its key and value decoded; None stays None. Raises ValueError that names the
    record."""
    parts: dict[str, Any] = {}
    for name, decode, data in (("key", key, record.key), ("value", value, record.value)):
        try:
            parts[name] = None if data is None else decode(data)
        except Exception as error:
            raise ValueError(f"the {name} of {record!r} was not decoded: {error}") from error
    return replace(record, **parts)
