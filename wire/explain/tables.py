"""Messages found by name, and printed as aligned tables.

A name may be written in any case, in snake or camel: `list_offsets`, `ListOffsets`, `LISTOFFSETS`
and the key `2` are the same API; `FetchRequest` is half of one; `OffsetCommitValue` is a record of
an internal topic.

Rules: a table shows what one version has. A nested struct's fields are below the field that holds
it, indented. Versions are those of the field, within those of its message.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from .. import stored
from ..api import API_MODULES, api_name, request_class, response_class
from ..codec.source import default_of
from ..errors import WireError
from ..primitives import NO_ID
from ..schema import ALWAYS, NEVER, Field, Message, Struct, Type
from ..stored.keyed import Key


class Unknown(WireError):
    """No message has this name, or it has no such version."""


@cache
def stored_modules() -> list[tuple[ModuleType, list[type[Message]]]]:
    """Each module of stored records with its messages, in order."""
    found = []
    for info in pkgutil.iter_modules(stored.__path__):
        module = import_module(f"{stored.__name__}.{info.name}")
        messages = [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, Message)
            and value.__module__ == module.__name__
            and hasattr(value, "first_version")
        ]
        if messages:
            found.append((module, messages))
    return found


@cache
def names() -> dict[str, tuple[str, list[type[Message]]]]:
    """Every message by its plain name, with the name as it is shown."""
    found: dict[str, tuple[str, list[type[Message]]]] = {}
    for key in API_MODULES:
        request, response = request_class(key), response_class(key)
        found[_plain(api_name(key))] = (api_name(key), [request, response])
        found[_plain(request.__name__)] = (request.__name__, [request])
        found[_plain(response.__name__)] = (response.__name__, [response])
    for _, messages in stored_modules():
        found.update({_plain(cls.__name__): (cls.__name__, [cls]) for cls in messages})
    return found


def find(word: str) -> list[type[Message]]:
    """The messages of this name or API key. Raises Unknown, with similar names."""
    if word.isascii() and word.isdigit():
        key = int(word[:9])
        if key in API_MODULES:
            return [request_class(key), response_class(key)]
        raise Unknown(f"No API has the key {word}; `python -m odradek.wire` lists those there are.")
    plain = _plain(word)
    if plain in names():
        return names()[plain][1]
    whole = [key for key in names() if not key.endswith(("request", "response"))]
    within = sorted((key for key in whole if plain and plain in key), key=len)
    close = dict.fromkeys([*get_close_matches(plain, whole, n=3), *within])
    meant = ", ".join(names()[key][0] for key in list(close)[:5])
    hint = f"did you mean {meant}?" if meant else "`python -m odradek.wire` lists those there are."
    raise Unknown(f"There is no message called {word!r}: {hint}")


def find_api(word: str) -> int:
    """The key of the API with this name or key. Raises Unknown."""
    for cls in find(word):
        api_key: int | None = getattr(cls, "api_key", None)
        if api_key is not None:
            return api_key
    raise Unknown(f"{word} is a stored record, and not an API.")


def check_version(cls: type[Message], version: int) -> None:
    """Raises Unknown, which lists the versions."""
    if not cls.first_version <= version <= cls.last_version:
        there = _span((cls.first_version, cls.last_version))
        raise Unknown(f"{cls.__name__} has versions {there}, and not {version}.")


def aligned(lines: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    """Each line with its cells in columns, the columns of these numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def catalogue() -> Iterator[str]:
    """The lines that list every API, and every stored record."""
    lines = [["key", "api", "request", "response", "flexible", "unstable"]]
    for key in sorted(API_MODULES):
        request, response = request_class(key), response_class(key)
        unstable = "" if request.unstable == NEVER else _span(request.unstable)
        versions = _versions(request), _versions(response)
        lines.append([str(key), api_name(key), *versions, _flexible(request), unstable])
    yield from aligned(lines, right=(0,))
    for module, messages in stored_modules():
        yield ""
        yield (module.__doc__ or "").split("\n")[0]
        rows = [["type", "record", "versions", "flexible"]]
        rows += [[_type_of(cls), cls.__name__, _versions(cls), _flexible(cls)] for cls in messages]
        yield from aligned(rows, right=(0,))


def table(cls: type[Message], version: int) -> Iterator[str]:
    """The lines that show one version of a message. Raises Unknown if there is none."""
    check_version(cls, version)
    key = getattr(cls, "api_key", None)
    about = [f"versions {_versions(cls)}", f"flexible {_flexible(cls) or 'never'}"]
    yield f"{cls.__name__} v{version} ({', '.join([f'key {key}'] * (key is not None) + about)})"
    yield (cls.__doc__ or "").split("\n")[0]
    yield ""
    rows = list(_rows(cls, version, cls, 0))
    if rows:
        yield from aligned([["field", "type", "nullable", "default", "tag", "versions"], *rows])
    else:
        yield "no fields"


def _rows(cls: type[Struct], version: int, message: type[Message], depth: int) -> Iterator[Any]:
    for field, t in cls.fields():
        if not field.is_in(version):
            continue
        null = field.may_be_null(t, version)
        tagged = message.is_flexible(version) and field.is_tagged(version)
        yield [
            "  " * depth + field.name,
            type_name(t),
            "yes" if null else "",
            _default(field, t),
            str(field.tag) if tagged else "",
            _within(field.versions, message),
        ]
        if t.struct is not None:
            yield from _rows(t.struct, version, message, depth + 1)


def type_name(t: Type) -> str:
    """A type as Kafka's own tables write it: `int32`, `[]string`, `[]Topic`."""
    inner = t.struct.__name__ if t.struct is not None else t.kind.name if t.kind else ""
    return f"[]{inner}" if t.is_list else inner


def _default(field: Field, t: Type) -> str:
    value = default_of(field, t)
    if isinstance(value, Struct):
        return ""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if value == NO_ID:
        return "zero"
    return '""' if value in ("", b"") else str(value)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _span(versions: tuple[int, int]) -> str:
    first, last = versions
    return str(first) if first == last else f"{first}-{last}"


def _versions(cls: type[Message]) -> str:
    return _span((cls.first_version, cls.last_version))


def _flexible(cls: type[Message]) -> str:
    return f"{cls.first_flexible}+" if cls.first_flexible <= cls.last_version else ""


def _within(versions: tuple[int, int], message: type[Message]) -> str:
    first, last = max(versions[0], message.first_version), versions[1]
    return f"{first}+" if last == ALWAYS[1] else _span((first, last))


def _type_of(cls: type[Message]) -> str:
    """The record type of a key or of a metadata record."""
    if issubclass(cls, Key):
        return _span((cls.first_type, cls.last_type))
    return str(getattr(cls, "record_type", ""))
