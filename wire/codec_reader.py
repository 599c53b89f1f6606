"""Writes out readers: `run(buf, pos) -> (message, position behind it)`.

- Neighbouring fixed-width fields, and the length in front of what follows, are one struct call.
- A compact length is one byte nearly always; the rest is left to a function.
- A slice that goes past the end comes out too short, and the next read, or the check at the end,
  notices. So only counts of lists, which make objects, are compared with the bytes left.
- Text is first read as strict UTF-8, which is faster; if it is not, codec.py asks for another
  reader.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Packer
from typing import Any

from .codec_source import Source, default_of, fresh_default
from .errors import WireError
from .primitives import read_uvarint
from .schema import BYTES, STRING, Field, Kind, Struct, Type

# Kafka's limit for text, compact or not.
TEXT_SIZE_MAX = 0x7FFF

# Lists of numbers up to this many take the short way.
_FEW = 16


def _bad(what: str, length: int, pos: int, size: int) -> WireError:
    if length < 0:
        return WireError(f"{what} is null or of negative length {length} at byte {pos}")
    return WireError(f"{what} of length {length} at byte {pos} goes past the end ({size} bytes)")


def _long(buf: Any, pos: int) -> tuple[int, int]:
    """Read a compact length that is longer than one byte."""
    n, pos = read_uvarint(buf, pos)
    if n < 1:
        raise WireError(f"length of zero in more than one byte at byte {pos}")
    return n, pos


def _long_text(buf: Any, pos: int) -> tuple[int, int]:
    n, pos = _long(buf, pos)
    if n > TEXT_SIZE_MAX + 1:
        raise WireError(f"text of {n - 1} bytes at byte {pos}; there may be {TEXT_SIZE_MAX}")
    return n, pos


def _few(kind: Kind) -> list[Callable[[Any, int], tuple[Any, ...]]]:
    return [Packer(">" + kind.code * n).unpack_from for n in range(_FEW + 1)]


def _many(kind: Kind) -> Callable[[int, Any, int], list[Any]]:
    def unpack(n: int, buf: Any, pos: int) -> list[Any]:
        if n * kind.size > len(buf) - pos:
            raise _bad(f"list of {kind.name}", n, pos, len(buf))
        repeated = kind.code * n if kind.code == "16s" else f"{n}{kind.code}"
        return list(Packer(">" + repeated).unpack_from(buf, pos))

    return unpack


class ReaderSource(Source):
    """The text of the reader of one version."""

    def __init__(self, version: int, flexible: bool, holds_records: bool, errors: str) -> None:
        super().__init__(version, flexible)
        self.holds_records = holds_records
        self.errors = errors
        self.env.update(_bad=_bad, _long=_long, _long_text=_long_text, _uvarint=read_uvarint)

    def compile(self, cls: type[Struct]) -> Any:
        """Return the reader."""
        self.line("size = len(buf)")
        if self.holds_records:
            self.line("view = memoryview(buf)")
        self.struct(cls, "o")
        self.flush()
        self.line(f"if pos > size: raise _bad({cls.__name__!r}, pos, 0, size)")
        self.line("return o, pos")
        return self.function("def run(buf, pos):")

    def flush(self) -> None:
        """Read the fixed-width fields that are waiting."""
        if not self.codes:
            return
        if self.codes == ["B"]:
            self.line(f"{self.names[0]} = buf[pos]; pos += 1")
        else:
            packer = Packer(">" + "".join(self.codes))
            comma = "," if len(self.names) == 1 else ""
            targets = ", ".join(self.names) + comma
            self.line(f"{targets} = {self.constant(packer.unpack_from)}(buf, pos)")
            self.line(f"pos += {packer.size}")
        self.codes.clear()
        self.names.clear()

    def struct(self, cls: type[Struct], var: str) -> None:
        """Read a struct into a local; fixed-width fields at its end are left waiting."""
        self.line(f"{var} = {self.constant(cls.__new__)}({self.constant(cls)})")
        here = self.plain_fields(cls)
        names = {f.name for f, _ in here}
        for field, t in cls.fields():
            if field.name not in names:
                self.line(f"{var}.{field.name} = {self.default(field, t)}")
        for field, t in here:
            self.field(field, t, f"{var}.{field.name}")
        if self.flexible:
            self.tags(cls, var)

    def default(self, field: Field, t: Type) -> str:
        """An expression for a field that is not there."""
        how = fresh_default(field, t)
        if how == "list":
            return "[]"
        if how == "struct":
            return f"{self.constant(t.struct)}()"
        value = self.constant(default_of(field, t))
        return f"list({value})" if how == "copy" else value

    def field(self, field: Field, t: Type, target: str) -> None:
        """Read a field into its target."""
        null = self.may_be_null(field, t)
        if t.is_list and t.kind is not None and t.kind.code:
            self.numbers(field, t.kind, target, null)
        elif t.is_list:
            self.list(field, t, target, null)
        elif t.struct is not None:
            self.nested(t.struct, target, null)
        else:
            assert t.kind is not None
            self.value(t.kind, target, null, field.name)

    def value(self, kind: Kind, target: str, null: bool, name: str) -> None:
        """Read a field that is neither a struct nor a list."""
        if kind.code:
            self.fixed(kind.code, target)
            return
        less = self.length(kind, null, target, name)
        if kind is STRING:
            piece = f"buf[pos:pos + {less}]"
            given = "" if self.errors == "strict" else f", 'utf-8', {self.errors!r}"
            if self.holds_records:
                self.line(f"{target} = str({piece}{given or ', ' + repr('utf-8')})")
            else:
                self.line(f"{target} = {piece}.decode({given[2:]})")
        elif kind is BYTES:
            piece = f"buf[pos:pos + {less}]"
            self.line(f"{target} = {f'bytes({piece})' if self.holds_records else piece}")
        else:
            self.line(f"{target} = view[pos:pos + {less}]")
        self.line(f"pos += {less}")
        if null:
            self.depth -= 1

    def length(self, kind: Kind | None, null: bool, target: str, name: str) -> str:
        """Read a length; return an expression for it. If null is allowed, an `else:` is left open.

        A `kind` of None is a list's.
        """
        n = self.fresh("n")
        if self.flexible:
            self.fixed("B", n)
            self.flush()
            long = "_long_text" if kind is STRING else "_long"
            self.line(f"if {n} > 127: {n}, pos = {long}(buf, pos - 1)")
            zero, less = f"not {n}", f"{n} - 1"
            refuse = f"elif {zero}: raise _bad({name!r}, -1, pos, size)"
        else:
            self.fixed("h" if kind is STRING else "i", n)
            self.flush()
            zero, less = f"{n} < 0", n
            refuse = f"if {zero}: raise _bad({name!r}, {n}, pos, size)"
        if null:
            self.line(f"if {zero}: {target} = None")
            self.line("else:")
            self.depth += 1
        else:
            self.line(refuse)
        return less

    def numbers(self, field: Field, kind: Kind, target: str, null: bool) -> None:
        """Read a list of fixed-width items."""
        n = self.length(None, null, target, field.name).removesuffix(" - 1")
        few = _few(kind)
        if self.flexible:
            few.insert(0, few[0])
            self.line(f"if {n} < {len(few)}: {target} = [*{self.constant(few)}[{n}](buf, pos)]")
            self.line(f"else: {target} = {self.constant(_many(kind))}({n} - 1, buf, pos)")
            self.line(f"pos += {n} * {kind.size} - {kind.size}")
        else:
            self.line(f"if {n} < {len(few)}: {target} = [*{self.constant(few)}[{n}](buf, pos)]")
            self.line(f"else: {target} = {self.constant(_many(kind))}({n}, buf, pos)")
            self.line(f"pos += {n} * {kind.size}")
        if null:
            self.depth -= 1

    def list(self, field: Field, t: Type, target: str, null: bool) -> None:
        """Read a list of structs, or of texts and the like."""
        less = self.length(None, null, target, field.name)
        n, items, item = less.removesuffix(" - 1"), self.fresh("items"), self.fresh("item")
        if n != less:
            self.line(f"{n} -= 1")
        least = self.least_size(t)
        self.line(f"if {n} * {least} > size - pos: raise _bad('list {field.name}', {n}, pos, size)")
        self.line(f"{target} = {items} = []")
        self.line(f"for _ in range({n}):")
        self.depth += 1
        if t.struct is not None:
            self.struct(t.struct, item)
        else:
            assert t.kind is not None
            self.value(t.kind, item, False, field.name)
        self.flush()
        self.line(f"{items}.append({item})")
        self.depth -= 2 if null else 1

    def nested(self, cls: type[Struct], target: str, null: bool) -> None:
        """Read a struct into a field."""
        var = self.fresh("s")
        if null:
            there = self.fresh("there")
            self.fixed("b", there)
            self.flush()
            self.line(f"if {there} < 0: {target} = None")
            self.line("else:")
            self.depth += 1
        self.struct(cls, var)
        self.line(f"{target} = {var}")
        if null:
            self.flush()
            self.depth -= 1

    def tags(self, cls: type[Struct], var: str) -> None:
        """Read the tagged fields of a struct; those not known are skipped."""
        count, number, length, behind = (self.fresh(x) for x in ("tags", "tag", "len", "behind"))
        self.fixed("B", count)
        self.flush()
        self.line(f"if {count}:")
        self.depth += 1
        self.line(f"if {count} > 127: {count}, pos = _long(buf, pos - 1)")
        self.line(f"for _ in range({count}):")
        self.depth += 1
        self.line(f"{number}, pos = _uvarint(buf, pos)")
        self.line(f"{length}, pos = _uvarint(buf, pos)")
        self.line(f"{behind} = pos + {length}")
        self.line(f"if {behind} > size: raise _bad('tagged field', {length}, pos, size)")
        for field, t in self.tagged_fields(cls):
            self.line(f"if {number} == {field.tag}:")
            self.depth += 1
            self.field(field, t, f"{var}.{field.name}")
            self.flush()
            self.line(f"if pos != {behind}: raise _bad('{field.name}', {length}, pos, size)")
            self.depth -= 1
        self.line(f"pos = {behind}")
        self.depth -= 2

    def least_size(self, t: Type) -> int:
        """The fewest bytes an item of a list can take, so that its count can be checked."""
        if t.struct is None:
            assert t.kind is not None
            return t.kind.size or (1 if self.flexible else 2 if t.kind is STRING else 4)
        total = int(self.flexible)
        for field, inner in self.plain_fields(t.struct):
            if inner.is_list or (inner.kind is not None and not inner.kind.code):
                total += 1 if self.flexible else 2 if inner.kind is STRING else 4
            elif inner.struct is not None:
                total += 1 if self.may_be_null(field, inner) else self.least_size(inner)
            else:
                assert inner.kind is not None
                total += inner.kind.size
        return max(total, 1)
