"""Functions that read and write one version of a message, made from the message's table.

For each (message, version) one Python function is generated, compiled and kept when first used
(reader_source.py, writer_source.py). Nested structs are written inline, and nothing is looked up by
name or version while reading or writing: that makes it fast.

Reading allocates nothing larger than the bytes given can fill.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import cache
from itertools import groupby
from struct import error as StructError
from typing import Any, TypeVar

from ..errors import WireError
from ..primitives import Buffer
from ..schema import MISSING, Message, Struct
from .reader_source import ReaderSource
from .source import default_of, fresh_default
from .writer_source import WriterSource

M = TypeVar("M", bound=Message)

JOINED_MAX = 512
"""Bytes of a buffer that is copied to have fewer of them."""

# What readers raise, besides WireError; the first two if bytes are missing.
CUT_SHORT = (IndexError, StructError)
DAMAGE = (*CUT_SHORT, UnicodeDecodeError)
# What writers raise, besides WireError.
WRITE_ERRORS = (StructError, AttributeError, TypeError, UnicodeEncodeError)


def read_message(cls: type[M], buf: Buffer, version: int, pos: int = 0) -> tuple[M, int]:
    """Decode one message at `pos`; return it and the position after it. Raises WireError."""
    try:
        return reader(cls, version)(buf, pos)
    except DAMAGE as error:
        return read_again(cls, buf, version, pos, error)


def read_again(
    cls: type[M], buf: Buffer, version: int, pos: int, error: Exception
) -> tuple[M, int]:
    """Read again what a reader failed at. Text that is not UTF-8 is replaced, as in Kafka.

    Raises WireError for all other damage.
    """
    if isinstance(error, UnicodeDecodeError):
        try:
            return reader(cls, version, "replace")(buf, pos)
        except CUT_SHORT as again:
            error = again
    raise _cut_short(cls, version, error) from None


def read_in_slices(
    cls: type[M], buf: Buffer, version: int, pos: int = 0
) -> Generator[None, None, M]:
    """Decode one message at `pos`, yielding between pieces. Raises WireError."""
    message: M
    try:
        try:
            message, _ = yield from slicing_reader(cls, version)(buf, pos)
        except UnicodeDecodeError:
            message, _ = yield from slicing_reader(cls, version, "replace")(buf, pos)
    except CUT_SHORT as error:
        raise _cut_short(cls, version, error) from None
    return message


def _cut_short(cls: type[Message], version: int, error: Exception) -> WireError:
    return WireError(f"{cls.__name__} v{version} is cut short: {error}")


def write_parts(message: Message, version: int) -> list[Buffer]:
    """Encode a message as buffers; records are not copied. Raises WireError."""
    parts: list[Buffer] = []
    try:
        writer(type(message), version)(message, parts.append, parts.extend)
    except WRITE_ERRORS as error:
        raise _does_not_fit(message, version, error) from error
    return parts


def write_in_slices(message: Message, version: int) -> Generator[None, None, list[Buffer]]:
    """The same as `write_parts`, yielding between pieces well under a millisecond, whose small
    buffers are joined. Nothing in the message may change meanwhile. Raises WireError."""
    parts: list[Buffer] = []
    done = 0
    try:
        for _ in slicing_writer(type(message), version)(message, parts.append, parts.extend):
            done = _join_from(done, parts)
            yield
    except WRITE_ERRORS as error:
        raise _does_not_fit(message, version, error) from error
    return parts


def _join_from(first: int, parts: list[Buffer]) -> int:
    """Join small buffers that follow each other, from the first one that is given; return how many
    there are then."""
    joined: list[Buffer] = []
    for is_small, run in groupby(parts[first:], _is_small):
        pieces = list(run)
        joined += [b"".join(pieces)] if is_small else pieces
    parts[first:] = joined
    return len(parts)


def _is_small(part: Buffer) -> bool:
    return len(part) <= JOINED_MAX


def _does_not_fit(message: Message, version: int, error: Exception) -> WireError:
    name = type(message).__name__
    return WireError(f"{name} v{version} holds a value that does not fit: {error}")


@cache
def reader(
    cls: type[M], version: int, errors: str = "strict"
) -> Callable[[Buffer, int], tuple[M, int]]:
    """The compiled reader of one version; raises WireError, or DAMAGE that read_again explains.

    `errors`: whether text that is not UTF-8 raises UnicodeDecodeError ("strict") or is replaced
    ("replace").
    """
    read: Callable[[Buffer, int], tuple[M, int]] = _compile_reader(cls, version, errors)
    return read


@cache
def slicing_reader(
    cls: type[M], version: int, errors: str = "strict"
) -> Callable[[Buffer, int], Generator[None, None, tuple[M, int]]]:
    """The same as a generator function, which yields between the items of its lists."""
    read: Callable[[Buffer, int], Generator[None, None, tuple[M, int]]]
    read = _compile_reader(cls, version, errors, sliced=True)
    return read


def _compile_reader(cls: type[Message], version: int, errors: str, *, sliced: bool = False) -> Any:
    cls.check_version(version)
    source = ReaderSource(
        version, cls.is_flexible(version), _holds_records(cls, version), errors, sliced=sliced
    )
    return source.compile(cls)


@cache
def writer(cls: type[Message], version: int) -> Callable[[Message, Any, Any], None]:
    """The compiled writer of one version. Call it with `append` and `extend` of a list."""
    cls.check_version(version)
    write: Callable[[Message, Any, Any], None]
    write = WriterSource(version, cls.is_flexible(version)).compile(cls)
    return write


@cache
def slicing_writer(
    cls: type[Message], version: int
) -> Callable[[Message, Any, Any], Generator[None, None, None]]:
    """The same as a generator function, which yields between the structs of its lists."""
    cls.check_version(version)
    write: Callable[[Message, Any, Any], Generator[None, None, None]]
    write = WriterSource(version, cls.is_flexible(version), sliced=True).compile(cls)
    return write


def _holds_records(cls: type[Struct], version: int) -> bool:
    for field, t in cls.fields():
        if field.is_in(version) and (
            (t.kind and t.kind.name == "records")
            or (t.struct and _holds_records(t.struct, version))
        ):
            return True
    return False


def compile_init(cls: type[Struct]) -> None:
    given, body = [], []
    env: dict[str, Any] = {"_M": MISSING}
    for i, (field, t) in enumerate(cls.fields()):
        name, how = field.name, fresh_default(field, t)
        if how is None:
            env[f"_d{i}"] = default_of(field, t)
            given.append(f"{name}=_d{i}")
            body.append(f"self.{name} = {name}")
            continue
        env[f"_d{i}"] = t.struct if how == "struct" else default_of(field, t)
        made = {"list": "[]", "struct": f"_d{i}()", "copy": f"list(_d{i})"}[how]
        given.append(f"{name}=_M")
        body.append(f"self.{name} = {made} if {name} is _M else {name}")
    head = f"def __init__(self, *, {', '.join(given)}):" if given else "def __init__(self):"
    exec("\n ".join([head, *(body or ["pass"])]), env)
    cls.__init__ = env["__init__"]  # type: ignore[method-assign]
