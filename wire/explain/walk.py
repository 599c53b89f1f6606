"""Bytes decoded slowly, field by field, by following the table of their message.

This is for people: every byte is in a row that says where it is and what it means. It shares the
tables with the compiled codec (codec/messages.py) but none of its code, and the two agree on every
input: either both read the same message, or both refuse it.

Rules: a row's bytes begin at its `pos`; the rows of a buffer, one after the other, are the buffer.
What cannot be decoded raises Misfit, which names field and byte; the rows up to there remain.
Nothing larger than the bytes given can fill is allocated, and recursion is only that of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct as Packer
from typing import Any, NamedTuple

from ..errors import Error, WireError
from ..primitives import id_text, read_uvarint, read_varint, read_varlong
from ..schema import BYTES, STRING, Field, Kind, Message, Struct, Type

TEXT_SIZE_MAX = 0x7FFF
_SHOWN = 60
_NUMBERS_SHOWN = 10
_VARLONG_BYTES = 10


class Misfit(WireError):
    """A field that cannot be decoded, and the byte of the buffer where."""

    def __init__(self, field: str, pos: int, reason: str, *, unpacked: bool = False) -> None:
        where = f"byte {pos}" + " of what is decompressed" * unpacked
        super().__init__(f"{field} does not fit at {where}: {reason}")
        self.field = field
        self.pos = pos
        self.reason = reason


class Row(NamedTuple):
    """A field in its buffer; `raw` is empty for what has no bytes of its own."""

    depth: int
    pos: int
    raw: bytes
    name: str
    value: str
    unpacked: bool = False
    """Whether the position is one in decompressed bytes, not in the frame."""


class Reading:
    """A buffer, how far it has been read, and the rows made of it."""

    def __init__(self, buf: bytes, *, unpacked: bool = False) -> None:
        self.buf = buf
        self.pos = 0
        self.end = len(buf)
        self.rows: list[Row] = []
        self.misfits: list[Misfit] = []
        self.path: list[str] = []
        self.depth = 0
        self.unpacked = unpacked
        self._covered = 0

    @property
    def left(self) -> int:
        return self.end - self.pos

    def misfit(self, name: str, reason: str, pos: int | None = None) -> Misfit:
        """The error if `name` cannot be decoded at `pos`, or at the current position."""
        field = "".join([*self.path, name if name.startswith("[") else f".{name}"]).lstrip(".")
        return Misfit(field, self.pos if pos is None else pos, reason, unpacked=self.unpacked)

    def take(self, size: int, name: str) -> bytes:
        """The next bytes. Raises Misfit if there are fewer."""
        if size > self.left:
            raise self.misfit(name, f"{size} bytes are needed, {self.left} are left")
        self.pos += size
        return self.buf[self.pos - size : self.pos]

    def number(self, code: str, name: str) -> Any:
        packer = Packer(f">{code}")
        return packer.unpack(self.take(packer.size, name))[0]

    def varint(self, name: str) -> int:
        """The next signed 32-bit varint."""
        return self._varying(read_varint, name)

    def varlong(self, name: str) -> int:
        """The next signed 64-bit varint."""
        return self._varying(read_varlong, name)

    def uvarint(self, name: str) -> int:
        """The next unsigned 32-bit varint."""
        return self._varying(read_uvarint, name)

    def _varying(self, read: Callable[[bytes, int], tuple[int, int]], name: str) -> int:
        window = self.buf[self.pos : min(self.pos + _VARLONG_BYTES, self.end)]
        try:
            value, size = read(window, 0)
        except WireError as error:
            raise self.misfit(name, str(error).partition(" at byte")[0]) from None
        self.pos += size
        return value

    def row(self, name: str, value: str) -> None:
        """Add a row of the bytes since the last one."""
        raw = self.buf[self._covered : self.pos]
        self.rows.append(Row(self.depth, self._covered, raw, name, value, self.unpacked))
        self._covered = self.pos

    def rest(self, name: str, value: str) -> None:
        """Add a row of all bytes left."""
        self.pos = self.end
        self.row(name, value)

    def give_up(self, misfit: Misfit) -> None:
        """Add a row of all bytes left, since they cannot be decoded."""
        self.rest(misfit.field, f"does not fit: {misfit.reason}")

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Inside, what is read belongs to `name`."""
        self.path.append(name if name.startswith("[") else f".{name}")
        self.depth += 1
        try:
            yield
        finally:
            self.path.pop()
            self.depth -= 1


# Reads the records in a field, to their end.
ReadRecords = Callable[[Reading], None]


def read_message(
    reading: Reading, cls: type[Message], version: int, records: ReadRecords
) -> Message:
    """Read a message and add its rows; returns the same message as `cls.decode`. Raises Misfit."""
    message: Message = Walk(reading, version, cls.is_flexible(version), records).struct(cls)
    return message


def shown(value: Any) -> str:
    """Text or bytes for people, shortened."""
    if value is None:
        return "null"
    start = value[:_SHOWN]
    cut = repr(start if isinstance(start, str) else bytes(start))
    return cut if len(value) <= _SHOWN else f"{cut}... ({len(value)} in all)"


class Walk:
    """One version of a message, being read."""

    def __init__(
        self, reading: Reading, version: int, flexible: bool, records: ReadRecords
    ) -> None:
        self.reading = reading
        self.version = version
        self.flexible = flexible
        self.records = records

    def struct(self, cls: type[Struct]) -> Any:
        given = {}
        for field, t in cls.fields():
            if field.is_in(self.version) and not self.is_tagged(field):
                given[field.name] = self.field(field, t)
        if self.flexible:
            tagged = {f.tag: (f, t) for f, t in cls.fields() if self.is_tagged(f)}
            self.tags(tagged, given)
        return cls(**given)

    def is_tagged(self, field: Field) -> bool:
        return self.flexible and field.is_in(self.version) and field.is_tagged(self.version)

    def field(self, field: Field, t: Type) -> Any:
        null = field.may_be_null(t, self.version)
        if t.is_list:
            return self.list(field.name, t, null)
        if t.struct is not None:
            return self.nested(field.name, t.struct, null)
        assert t.kind is not None
        return self.value(field.name, t.kind, null)

    def value(self, name: str, kind: Kind, null: bool) -> Any:
        start = self.reading.pos
        if kind.code:
            number = self.reading.number(kind.code, name)
            self.reading.row(name, _number(name, kind, number))
            return number
        size = self.length("h" if kind is STRING else "i", name, null)
        if kind is STRING and size is not None and size > TEXT_SIZE_MAX:
            raise self.reading.misfit(name, f"text of {size} bytes, more than Kafka allows", start)
        if size is None:
            self.reading.row(name, "null")
            return None
        if kind is STRING or kind is BYTES:
            raw = self.reading.take(size, name)
            content = raw.decode("utf-8", "replace") if kind is STRING else raw
            self.reading.row(name, shown(content))
            return content
        return self.record_field(name, size)

    def record_field(self, name: str, size: int) -> bytes:
        """Records, shown one by one. Damage in them does not end the message."""
        reading = self.reading
        if size > reading.left:
            raise reading.misfit(name, f"{size} bytes are announced, {reading.left} are left")
        reading.row(name, f"{size} bytes")
        begin, outer_end = reading.pos, reading.end
        reading.end = begin + size
        try:
            with reading.inside(name):
                self.records(reading)
        except Misfit as misfit:
            reading.misfits.append(misfit)
            reading.give_up(misfit)
        reading.end = outer_end
        return reading.buf[begin : begin + size]

    def length(self, code: str, name: str, null: bool) -> int | None:
        """A length or count; None means null."""
        start = self.reading.pos
        if self.flexible:
            size = self.reading.uvarint(name) - 1
            if size < 0 and self.reading.pos - start > 1:
                raise self.reading.misfit(name, "a zero in more than one byte", start)
        else:
            size = self.reading.number(code, name)
        if size >= 0:
            return size
        if null:
            return None
        raise self.reading.misfit(name, f"null, or a negative length ({size})", start)

    def list(self, name: str, t: Type, null: bool) -> Any:
        start = self.reading.pos
        count = self.length("i", name, null)
        if count is None:
            self.reading.row(name, "null")
            return None
        least = t.kind.size if t.kind is not None and t.kind.code else 1
        if count * least > self.reading.left:
            reason = f"{count} items are announced, {self.reading.left} bytes are left"
            raise self.reading.misfit(name, reason, start)
        if t.kind is not None and t.kind.code:
            numbers = [self.reading.number(t.kind.code, name) for _ in range(count)]
            self.reading.row(name, _numbers(name, t.kind, numbers))
            return numbers
        self.reading.row(name, "1 item" if count == 1 else f"{count} items")
        with self.reading.inside(name):
            return [self.item(f"[{index}]", t) for index in range(count)]

    def item(self, name: str, t: Type) -> Any:
        if t.struct is None:
            assert t.kind is not None
            return self.value(name, t.kind, False)
        self.reading.row(name, "")
        with self.reading.inside(name):
            return self.struct(t.struct)

    def nested(self, name: str, cls: type[Struct], null: bool) -> Any:
        there = self.reading.number("b", name) if null else 1
        self.reading.row(name, "null" if there < 0 else "")
        if there < 0:
            return None
        with self.reading.inside(name):
            return self.struct(cls)

    def tags(self, known: dict[int | None, tuple[Field, Type]], given: dict[str, Any]) -> None:
        """The tagged fields of a struct; unknown ones are shown as bytes."""
        reading, start = self.reading, self.reading.pos
        count = reading.uvarint("tagged fields")
        if count == 0 and reading.pos - start > 1:
            raise reading.misfit("tagged fields", "a zero in more than one byte", start)
        reading.row("tagged fields", str(count) if count else "none")
        for _ in range(count):
            number = reading.uvarint("tag")
            size = reading.uvarint(f"tag {number}")
            if size > reading.left:
                reason = f"{size} bytes are announced, {reading.left} are left"
                raise reading.misfit(f"tag {number}", reason)
            after = reading.pos + size
            if number not in known:
                reading.pos = after
                reading.row(f"tag {number}", f"{size} bytes, not known in this version")
                continue
            field, t = known[number]
            reading.row(f"tag {number}", f"{size} bytes")
            given[field.name] = self.field(field, t)
            if reading.pos != after:
                reason = f"it ends at byte {reading.pos}, its size says {after}"
                raise reading.misfit(field.name, reason)


def _numbers(name: str, kind: Kind, values: list[Any]) -> str:
    said = ", ".join(_number(name, kind, value) for value in values[:_NUMBERS_SHOWN])
    more = f", ... ({len(values)} in all)" if len(values) > _NUMBERS_SHOWN else ""
    return f"[{said}{more}]"


def _number(name: str, kind: Kind, value: Any) -> str:
    """A fixed-width value for people: errors by name, ids as Kafka writes them."""
    if kind.name == "uuid":
        return id_text(value)
    if kind.name == "bool":
        return str(value).lower()
    if name.endswith("error_code") and value in Error.__members__.values():
        return f"{value} ({Error(value).name})"
    return str(value)
