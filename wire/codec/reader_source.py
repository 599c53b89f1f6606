"""Generates readers: `run(buf, pos) -> (message, position after it)`.

- Consecutive fixed-width fields, and the length before what follows, are one struct call.
- A compact length is nearly always one byte; longer ones are left to a function. Before text or
  bytes `pos` stays at the length's last byte, since `pos + n` is then the end of what it counts.
- A slice that goes past the end is too short, and the next read, or the check at the end, finds
  that. So only counts of lists, which create objects, are compared with the bytes left.
- A request may hold no more than REQUEST_ITEMS_MAX items in all its lists: an item of three bytes
  can cost a broker microseconds, and one frame must not stop it for minutes.
- The structs of a list are created as they are read, not ahead: a false count creates none.
- A reader in slices is a generator, which yields after every ITEMS_A_SLICE items of such lists.
- Text is first read as strict UTF-8, which is faster; if that fails, messages.py uses another
  reader.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import repeat
from struct import Struct as Packer
from typing import Any

from ..errors import WireError
from ..primitives import read_uvarint
from ..schema import BYTES, STRING, Field, Kind, Request, Struct, Type
from .source import Source

# Kafka's limit for the length of text, compact or not.
TEXT_SIZE_MAX = 0x7FFF

REQUEST_ITEMS_MAX = 250_000
"""Items in all lists of structs and texts of one request; a request with more is refused."""

ITEMS_A_SLICE = 200

# Shorter lists of numbers are read with a cached struct.
_FEW = 17

Unpack = Callable[[Any, int], tuple[Any, ...]]


def _bad(what: str, length: int, pos: int, size: int) -> WireError:
    if length < 0:
        return WireError(f"{what} is null or of negative length {length} at byte {pos}")
    return WireError(f"{what} of length {length} at byte {pos} goes past the end ({size} bytes)")


def _too_many(what: str, pos: int) -> WireError:
    return WireError(f"{what} at byte {pos}: more than {REQUEST_ITEMS_MAX} items in one request")


def _long_count(buf: Any, pos: int) -> tuple[int, int]:
    """Read a compact length of more than one byte; also return the position after it."""
    n, pos = read_uvarint(buf, pos)
    if n < 1:
        raise WireError(f"length of zero in more than one byte at byte {pos}")
    return n, pos


def _long_size(buf: Any, pos: int) -> tuple[int, int]:
    """Read a compact length of more than one byte; also return the position of its last byte."""
    n, pos = _long_count(buf, pos)
    return n, pos - 1


def _long_text(buf: Any, pos: int) -> tuple[int, int]:
    """Like _long_size, of text."""
    n, pos = _long_size(buf, pos)
    if n > TEXT_SIZE_MAX + 1:
        raise WireError(f"text of {n - 1} bytes at byte {pos}; there may be {TEXT_SIZE_MAX}")
    return n, pos


def _skip_tags(buf: Any, pos: int) -> int:
    """Skip the tagged fields of a struct that knows none; return the position after them."""
    count, pos = _long_count(buf, pos)
    for _ in range(count):
        _, pos = read_uvarint(buf, pos)
        length, pos = read_uvarint(buf, pos)
        if pos + length > len(buf):
            raise _bad("tagged field", length, pos, len(buf))
        pos += length
    return pos


@cache
def _few(kind: Kind) -> list[Unpack]:
    """Structs that read 0, 1, 2, ... numbers."""
    return [Packer(">" + kind.code * n).unpack_from for n in range(_FEW)]


@cache
def _many(kind: Kind) -> Callable[[int, Any, int], list[Any]]:
    """A function that reads any number of them."""

    def unpack(n: int, buf: Any, pos: int) -> list[Any]:
        if n * kind.size > len(buf) - pos:
            raise _bad(f"list of {kind.name}", n, pos, len(buf))
        repeated = kind.code * n if kind.code == "16s" else f"{n}{kind.code}"
        return list(Packer(">" + repeated).unpack_from(buf, pos))

    return unpack


class ReaderSource(Source):
    def __init__(
        self,
        version: int,
        flexible: bool,
        holds_records: bool,
        errors: str,
        *,
        sliced: bool = False,
    ) -> None:
        super().__init__(version, flexible)
        self.holds_records = holds_records
        self.errors = errors
        self.sliced = sliced
        self.is_request = False
        self.env.update(
            _bad=_bad,
            _too_many=_too_many,
            _long_count=_long_count,
            _long_size=_long_size,
            _long_text=_long_text,
            _skip_tags=_skip_tags,
            _uvarint=read_uvarint,
            _map=map,
            _new=object.__new__,
            _repeat=repeat,
        )

    def compile(self, cls: type[Struct]) -> Any:
        if self.holds_records:
            self.line("view = memoryview(buf)")
        else:
            self.line("if type(buf) is not bytes: buf = bytes(buf)")
        self.line("size = len(buf)")
        if self.sliced:
            self.line(f"todo = {ITEMS_A_SLICE}")
            self.line("if not todo: yield")
        self.is_request = issubclass(cls, Request)
        if self.is_request:
            self.line(f"left = {REQUEST_ITEMS_MAX}")
        self.line(f"o = _new({self.constant(cls)})")
        self.struct(cls, "o")
        self.flush()
        self.line(f"if pos > size: raise _bad({cls.__name__!r}, pos, 0, size)")
        self.line("return o, pos")
        return self.function("def run(buf, pos):")

    def flush(self, back: int = 0) -> None:
        """Read the pending fixed-width fields; stop `back` bytes early."""
        codes = "".join(self.codes)
        names = ", ".join(self.names) + ("," if len(self.names) == 1 and codes != "B" else "")
        self.codes.clear()
        self.names.clear()
        if codes == "B":
            self.line(f"{names} = buf[pos]" + ("" if back else "; pos += 1"))
        elif codes:
            packer = Packer(">" + codes)
            self.line(f"{names} = {self.constant(packer.unpack_from)}(buf, pos)")
            if packer.size > back:
                self.line(f"pos += {packer.size - back}")

    def struct(self, cls: type[Struct], var: str) -> None:
        """Read a struct into a new local; fixed-width fields at its end stay pending."""
        here = self.plain_fields(cls)
        names = {f.name for f, _ in here}
        for field, t in cls.fields():
            if field.name not in names:
                self.default(field, t, f"{var}.{field.name}")
        for field, t in here:
            self.field(field, t, f"{var}.{field.name}")
        if self.flexible:
            self.tags(cls, var)

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
        long = "_long_text" if kind is STRING else "_long_size"
        n = self.length("h" if kind is STRING else "i", 1, long, null, target, name)
        begin = "pos + 1" if self.flexible else "pos"
        piece = f"[{begin}:(pos := pos + {n})]"
        if kind is STRING and self.holds_records:
            self.line(f"{target} = str(buf{piece}, 'utf-8', {self.errors!r})")
        elif kind is STRING:
            given = "" if self.errors == "strict" else f"'utf-8', {self.errors!r}"
            self.line(f"{target} = buf{piece}.decode({given})")
        elif kind is BYTES:
            self.line(f"{target} = {f'bytes(buf{piece})' if self.holds_records else f'buf{piece}'}")
        else:
            self.line(f"{target} = view{piece}")
        if null:
            self.depth -= 1

    def count(self, null: bool, target: str, name: str) -> str:
        """Read the count of a list; return the local that holds it."""
        n = self.length("i", 0, "_long_count", null, target, name)
        if self.flexible:
            self.line(f"{n} -= 1")
        return n

    def length(self, code: str, back: int, long: str, null: bool, target: str, name: str) -> str:
        """Read a length; return the local that holds it (plus one if it is compact).

        A compact one stops `back` bytes early. If null is allowed, an `else:` is left open.
        """
        n = self.fresh("n")
        self.fixed("B" if self.flexible else code, n)
        self.flush(back if self.flexible else 0)
        zero = f"not {n}" if self.flexible else f"{n} < 0"
        if null:
            skip = "; pos += 1" if self.flexible and back else ""
            self.line(f"if {zero}: {target} = None{skip}")
            self.line("else:")
            self.depth += 1
        else:
            shown = "-1" if self.flexible else n
            self.line(f"if {zero}: raise _bad({name!r}, {shown}, pos, size)")
        if self.flexible:
            self.line(f"if {n} > 127:")
            if long == "_long_size":  # two bytes are enough for most records
                self.line(" second = buf[pos + 1]")
                self.line(f" if 0 < second < 128: {n} += second - 1 << 7; pos += 1")
                self.line(f" else: {n}, pos = _long_size(buf, pos)")
            else:
                self.line(f" {n}, pos = {long}(buf, {'pos' if back else 'pos - 1'})")
        return n

    def numbers(self, field: Field, kind: Kind, target: str, null: bool) -> None:
        """Read a list of fixed-width items."""
        n = self.count(null, target, field.name)
        few, many = self.constant(_few(kind)), self.constant(_many(kind))
        self.line(f"if {n} < {_FEW}: {target} = [*{few}[{n}](buf, pos)]")
        self.line(f"else: {target} = {many}({n}, buf, pos)")
        self.line(f"pos += {n} * {kind.size}")
        if null:
            self.depth -= 1

    def list(self, field: Field, t: Type, target: str, null: bool) -> None:
        """Read a list of structs, or of texts and the like."""
        n, items, item = (
            self.count(null, target, field.name),
            self.fresh("items"),
            self.fresh("item"),
        )
        least = self.least_size(t)
        self.line(f"if {n} * {least} > size - pos: raise _bad('list {field.name}', {n}, pos, size)")
        if self.is_request:
            self.line(f"left -= {n}")
            self.line(f"if left < 0: raise _too_many('list {field.name}', pos)")
        self.line(f"{target} = {items} = []")
        if t.struct is not None:
            self.line(f"for {item} in _map(_new, _repeat({self.constant(t.struct)}, {n})):")
        else:
            self.line(f"for _ in range({n}):")
        self.depth += 1
        if self.sliced:
            self.line("todo -= 1")
            self.line(f"if not todo: todo = {ITEMS_A_SLICE}; yield")
        if t.struct is not None:
            self.struct(t.struct, item)
        else:
            assert t.kind is not None
            self.value(t.kind, item, False, field.name)
        self.flush()
        self.line(f"{items}.append({item})")
        self.depth -= 2 if null else 1

    def nested(self, cls: type[Struct], target: str, null: bool, tagged: bool = False) -> None:
        """Read a struct into a field. Null is -1, or 0 (no signed byte, a varint) if tagged."""
        var = self.fresh("s")
        if null:
            there = self.fresh("there")
            self.fixed("b", there)
            self.flush()
            self.line(f"if {there} < {int(tagged)}: {target} = None")
            self.line("else:")
            self.depth += 1
        self.line(f"{target} = {var} = _new({self.constant(cls)})")
        self.struct(cls, var)
        if null:
            self.flush()
            self.depth -= 1

    def tags(self, cls: type[Struct], var: str) -> None:
        """Read the tagged fields of a struct; those not known are skipped."""
        known = self.tagged_fields(cls)
        if not known and not self.codes:
            self.line("if buf[pos]: pos = _skip_tags(buf, pos)")
            self.line("else: pos += 1")
            return
        count, number, length, after = (self.fresh(x) for x in ("tags", "tag", "len", "after"))
        self.fixed("B", count)
        self.flush()
        if not known:
            self.line(f"if {count}: pos = _skip_tags(buf, pos - 1)")
            return
        self.line(f"if {count}:")
        self.depth += 1
        self.line(f"if {count} > 127: {count}, pos = _long_count(buf, pos - 1)")
        self.line(f"for _ in range({count}):")
        self.depth += 1
        self.line(f"{number}, pos = _uvarint(buf, pos)")
        self.line(f"{length}, pos = _uvarint(buf, pos)")
        self.line(f"{after} = pos + {length}")
        self.line(f"if {after} > size: raise _bad('tagged field', {length}, pos, size)")
        for field, t in known:
            self.line(f"if {number} == {field.tag}:")
            self.depth += 1
            if t.struct is not None and not t.is_list:
                null = self.may_be_null(field, t)
                self.nested(t.struct, f"{var}.{field.name}", null, tagged=True)
            else:
                self.field(field, t, f"{var}.{field.name}")
            self.flush()
            self.line(f"if pos != {after}: raise _bad('{field.name}', {length}, pos, size)")
            self.depth -= 1
        self.line(f"pos = {after}")
        self.depth -= 2

    def least_size(self, t: Type) -> int:
        """The fewest bytes that an item of a list can take, to check its count."""
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
