"""From a message's table to functions that read and write one version of it.

For each (message, version) one Python function is written out, compiled and kept, when first used.
What makes it fast:
- neighbouring fixed-width fields, and the length in front of a following string or list, are one
  `struct` call;
- nested structs are written inline, so a list of a thousand costs no thousand calls;
- nothing is looked up by name or version while reading or writing.

Every length is checked against the bytes that are left before anything of that size is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct as Packer
from struct import error as StructError
from typing import Any, TypeVar

from .errors import WireError
from .primitives import Buffer, read_uvarint, write_uvarint
from .schema import BYTES, MISSING, STRING, Field, Kind, Message, Struct, Type

M = TypeVar("M", bound=Message)
Write = Callable[[Buffer], None]

# Lengths plus one of compact strings and lists, ready to be sent.
_UVARINTS = [write_uvarint(n) for n in range(1 << 12)]


def _uvarint(n: int) -> bytes:
    return _UVARINTS[n] if n < 4096 else write_uvarint(n)


def _too_long(what: str, length: int, pos: int, size: int) -> WireError:
    if length < 0:
        return WireError(f"{what} is null or of negative length {length} at byte {pos}")
    return WireError(f"{what} of length {length} at byte {pos} goes past the end ({size} bytes)")


def _skip_tag(buf: Any, pos: int, length: int) -> int:
    if pos + length > len(buf):
        raise _too_long("tagged field", length, pos, len(buf))
    return pos + length


def read_message(cls: type[M], buf: Buffer, version: int, pos: int = 0) -> tuple[M, int]:
    """Decode one message at `pos`; return it and the position behind it. Raises WireError."""
    read, holds_records = reader(cls, version)
    if not holds_records and type(buf) is not bytes:
        buf = bytes(buf)
    try:
        message, end = read(buf, pos)
    except (IndexError, StructError) as error:
        raise WireError(f"{cls.__name__} v{version} is cut short: {error}") from None
    return message, end


def write_parts(message: Message, version: int) -> list[Buffer]:
    """Encode a message as buffers, records among them uncopied. Raises WireError."""
    parts: list[Buffer] = []
    try:
        writer(type(message), version)(message, parts.append)
    except (StructError, AttributeError, TypeError) as error:
        name = type(message).__name__
        raise WireError(f"{name} v{version} holds a value that does not fit: {error}") from error
    return parts


@cache
def reader(
    cls: type[M], version: int
) -> tuple[Callable[[Any, int], tuple[M, int]], bool]:
    """The compiled reader of one version, and whether it leaves views of records behind."""
    cls.check_version(version)
    source = _ReaderSource(version, cls.is_flexible(version), _holds_records(cls, version))
    return source.compile(cls), source.holds_records


@cache
def writer(cls: type[M], version: int) -> Callable[[M, Write], None]:
    """The compiled writer of one version."""
    cls.check_version(version)
    return _WriterSource(version, cls.is_flexible(version)).compile(cls)


def _holds_records(cls: type[Struct], version: int) -> bool:
    for field, t in cls.fields():
        if field.is_in(version) and (
            (t.kind and t.kind.name == "records")
            or (t.struct and _holds_records(t.struct, version))
        ):
            return True
    return False


def default_of(field: Field, t: Type) -> Any:
    """The value of a field that is not there: what its table says, else Kafka's default."""
    if field.default is not MISSING:
        return list(field.default) if isinstance(field.default, list) else field.default
    if t.is_list:
        return []
    if t.struct is not None:
        return None if t.nullable and field.tag is not None else t.struct()
    assert t.kind is not None
    return t.kind.natural


def compile_init(cls: type[Struct]) -> None:
    """Give a struct a constructor of its own, with its fields as keywords."""
    given, body, env = [], [], {"_M": MISSING, "_default": default_of}
    for i, (field, t) in enumerate(cls.fields()):
        name = field.name
        if field.default is MISSING and (t.is_list or t.struct):
            env[f"_f{i}"], env[f"_t{i}"] = field, t
            given.append(f"{name}=_M")
            body.append(f"self.{name} = _default(_f{i}, _t{i}) if {name} is _M else {name}")
        else:
            env[f"_d{i}"] = default_of(field, t)
            fresh = f"list(_d{i}) if {name} is _d{i} else {name}"
            given.append(f"{name}=_d{i}")
            body.append(f"self.{name} = {fresh if isinstance(env[f'_d{i}'], list) else name}")
    head = f"def __init__(self, *, {', '.join(given)}):" if given else "def __init__(self):"
    exec("\n ".join([head, *(body or ["pass"])]), env)
    cls.__init__ = env["__init__"]  # type: ignore[misc]


class _Source:
    """Lines of Python being put together, with the fixed-width fields not yet written out."""

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.lines: list[str] = []
        self.env: dict[str, Any] = {"_uvarint": _uvarint, "_too_long": _too_long}
        self.depth = 1
        self.codes: list[str] = []
        self.names: list[str] = []
        self.counter = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def constant(self, value: Any) -> str:
        name = self.fresh("_c")
        self.env[name] = value
        return name

    def fixed(self, code: str, name: str) -> None:
        self.codes.append(code)
        self.names.append(name)

    def function(self, head: str) -> Any:
        exec("\n".join([head, *self.lines]), self.env)
        return self.env["run"]

    def plain_fields(self, cls: type[Struct]) -> list[tuple[Field, Type]]:
        return [
            (f, t) for f, t in cls.fields() if f.is_in(self.version) and not self.tagged(f)
        ]

    def tagged_fields(self, cls: type[Struct]) -> list[tuple[Field, Type]]:
        found = [(f, t) for f, t in cls.fields() if f.is_in(self.version) and self.tagged(f)]
        return sorted(found, key=lambda pair: pair[0].tag or 0)

    def tagged(self, field: Field) -> bool:
        return self.flexible and field.is_tagged(self.version)

    def may_be_null(self, field: Field, t: Type) -> bool:
        if field.nullable is not None:
            return field.nullable[0] <= self.version <= field.nullable[1]
        return t.nullable


class _ReaderSource(_Source):
    """Writes out a reader: `run(buf, pos) -> (message, position behind it)`."""

    def __init__(self, version: int, flexible: bool, holds_records: bool) -> None:
        super().__init__(version, flexible)
        self.holds_records = holds_records
        self.env.update(_long=read_uvarint, _skip=_skip_tag, _view=memoryview)

    def compile(self, cls: type[Struct]) -> Any:
        self.line("size = len(buf)")
        self.struct(cls, "o")
        self.flush()
        self.line("return o, pos")
        return self.function("def run(buf, pos):")

    def flush(self) -> None:
        if not self.codes:
            return
        packer = Packer(">" + "".join(self.codes))
        comma = "," if len(self.names) == 1 else ""
        targets = ", ".join(self.names) + comma
        self.line(f"{targets} = {self.constant(packer.unpack_from)}(buf, pos)")
        self.line(f"pos += {packer.size}")
        self.codes.clear()
        self.names.clear()

    def struct(self, cls: type[Struct], var: str) -> None:
        self.flush()
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
        if t.is_list and field.default is MISSING:
            return "[]"
        value = default_of(field, t)
        if isinstance(value, list | Struct):
            return f"{self.constant(default_of)}({self.constant(field)}, {self.constant(t)})"
        return self.constant(value)

    def field(self, field: Field, t: Type, target: str) -> None:
        null = self.may_be_null(field, t)
        if t.is_list:
            self.list(field, t, target, null)
        elif t.struct is not None:
            self.nested(t.struct, target, null)
        else:
            assert t.kind is not None
            self.value(t.kind, target, null, field.name)

    def value(self, kind: Kind, target: str, null: bool, name: str) -> None:
        if kind.code:
            self.fixed(kind.code, target)
            return
        n = self.length("h" if kind is STRING else "i")
        if null:
            self.line(f"if {n} < 0: {target} = None")
            self.line("else:")
            self.depth += 1
        self.line(f"end = pos + {n}")
        self.line(f"if {n} < 0 or end > size: raise _too_long({name!r}, {n}, pos, size)")
        if kind is STRING:
            # Kafka replaces what is not UTF-8 rather than refuse it.
            text = "str(buf[pos:end], 'utf-8', 'replace')"
            fast = "buf[pos:end].decode('utf-8', 'replace')"
            self.line(f"{target} = {text if self.holds_records else fast}")
        elif kind is BYTES:
            self.line(f"{target} = {'bytes(buf[pos:end])' if self.holds_records else 'buf[pos:end]'}")
        else:
            self.line(f"{target} = _view(buf)[pos:end]")
        self.line("pos = end")
        if null:
            self.depth -= 1

    def length(self, code: str) -> str:
        """Read a length into a fresh variable; -1 is null."""
        n = self.fresh("n")
        if not self.flexible:
            self.fixed(code, n)
            self.flush()
            return n
        self.fixed("B", n)
        self.flush()
        self.line(f"if {n} > 127: {n}, pos = _long(buf, pos - 1)")
        self.line(f"{n} -= 1")
        return n

    def list(self, field: Field, t: Type, target: str, null: bool) -> None:
        n, items = self.length("i"), self.fresh("items")
        if null:
            self.line(f"if {n} < 0: {items} = None")
            self.line("else:")
            self.depth += 1
        least = self.least_size(t)
        self.line(
            f"if {n} < 0 or {n} * {least} > size - pos: "
            f"raise _too_long('list {field.name}', {n}, pos, size)"
        )
        if t.kind is not None and t.kind.code and t.kind.code != "16s":
            unpack = self.constant(_unpack_many(t.kind.code))
            self.line(f"{items} = {unpack}({n}, buf, pos)")
            self.line(f"pos += {n} * {t.kind.size}")
        else:
            item = self.fresh("item")
            self.line(f"{items} = []")
            self.line(f"for _ in range({n}):")
            self.depth += 1
            if t.struct is not None:
                self.struct(t.struct, item)
            else:
                assert t.kind is not None
                self.value(t.kind, item, False, field.name)
            self.flush()
            self.line(f"{items}.append({item})")
            self.depth -= 1
        if null:
            self.depth -= 1
        self.line(f"{target} = {items}")

    def nested(self, cls: type[Struct], target: str, null: bool) -> None:
        var = self.fresh("s")
        if null:
            there = self.fresh("there")
            self.fixed("b", there)
            self.flush()
            self.line(f"if {there} < 0: {target} = None")
            self.line("else:")
            self.depth += 1
        self.struct(cls, var)
        self.flush()
        self.line(f"{target} = {var}")
        if null:
            self.depth -= 1

    def tags(self, cls: type[Struct], var: str) -> None:
        count, number, length, behind = (self.fresh(x) for x in ("tags", "tag", "len", "behind"))
        self.fixed("B", count)
        self.flush()
        self.line(f"if {count}:")
        self.depth += 1
        self.line(f"if {count} > 127: {count}, pos = _long(buf, pos - 1)")
        self.line(f"for _ in range({count}):")
        self.depth += 1
        self.line(f"{number}, pos = _long(buf, pos)")
        self.line(f"{length}, pos = _long(buf, pos)")
        self.line(f"{behind} = _skip(buf, pos, {length})")
        for field, t in self.tagged_fields(cls):
            self.line(f"if {number} == {field.tag}:")
            self.depth += 1
            self.field(field, t, f"{var}.{field.name}")
            self.flush()
            self.line(
                f"if pos != {behind}: raise _too_long('tagged {field.name}', {length}, pos, size)"
            )
            self.depth -= 1
        self.line(f"pos = {behind}")
        self.depth -= 2

    def least_size(self, t: Type) -> int:
        """The fewest bytes an item of a list can take, so that its count can be checked."""
        if t.struct is None:
            assert t.kind is not None
            return t.kind.size or (1 if self.flexible else 2)
        total = int(self.flexible)
        for field, inner in self.plain_fields(t.struct):
            if inner.is_list or (inner.kind is not None and not inner.kind.code):
                total += 1 if self.flexible else (2 if inner.kind is STRING else 4)
            elif inner.struct is not None:
                total += 1 if self.may_be_null(field, inner) else self.least_size(inner)
            else:
                assert inner.kind is not None
                total += inner.kind.size
        return max(total, 1)


def _unpack_many(code: str) -> Callable[[int, Any, int], list[Any]]:
    packers: dict[int, Any] = {}

    def unpack(n: int, buf: Any, pos: int) -> list[Any]:
        if n > 64:
            return list(Packer(f">{n}{code}").unpack_from(buf, pos))
        if n not in packers:
            packers[n] = Packer(f">{n}{code}").unpack_from
        return list(packers[n](buf, pos))

    return unpack


def _pack_many(code: str) -> Callable[[list[Any]], bytes]:
    packers: dict[int, Any] = {}

    def pack(values: list[Any]) -> bytes:
        n = len(values)
        if n > 64:
            return Packer(f">{n}{code}").pack(*values)
        if n not in packers:
            packers[n] = Packer(f">{n}{code}").pack
        return packers[n](*values)  # type: ignore[no-any-return]

    return pack


class _WriterSource(_Source):
    """Writes out a writer: `run(o, w)`, where w takes one buffer after the other."""

    def compile(self, cls: type[Struct]) -> Any:
        self.struct(cls, "o")
        self.flush()
        if not self.lines:
            self.line("pass")
        return self.function("def run(o, w):")

    def flush(self) -> None:
        if not self.codes:
            return
        given = ", ".join(name for name in self.names if name)
        packer = Packer(">" + "".join(self.codes))
        if given:
            self.line(f"w({self.constant(packer.pack)}({given}))")
        else:
            self.line(f"w({self.constant(packer.pack())})")
        self.codes.clear()
        self.names.clear()

    def zero(self) -> None:
        """A zero byte, joined to the fixed-width fields around it: no tagged fields."""
        self.fixed("x", "")

    def struct(self, cls: type[Struct], var: str) -> None:
        for field, t in self.plain_fields(cls):
            self.field(field, t, f"{var}.{field.name}")
        if self.flexible:
            self.tags(cls, var)

    def field(self, field: Field, t: Type, source: str) -> None:
        null = self.may_be_null(field, t)
        if t.is_list:
            self.list(t, source, null)
        elif t.struct is not None:
            self.nested(t.struct, source, null)
        else:
            assert t.kind is not None
            self.value(t.kind, source, null)

    def value(self, kind: Kind, source: str, null: bool) -> None:
        if kind.code:
            self.fixed(kind.code, source)
            return
        raw = self.fresh("raw")
        code = "h" if kind is STRING else "i"
        if null:
            self.flush()
            self.line(f"{raw} = {source}")
            self.if_null(raw, code)
            source = raw
        encoded = f"{source}.encode('utf-8', 'replace')" if kind is STRING else source
        self.line(f"{raw} = {encoded}")
        self.length(f"len({raw})", code)
        self.flush()
        self.line(f"w({raw})")
        if null:
            self.depth -= 1

    def if_null(self, source: str, code: str) -> None:
        null = b"\0" if self.flexible else Packer(">" + code).pack(-1)
        self.line(f"if {source} is None: w({self.constant(null)})")
        self.line("else:")
        self.depth += 1

    def length(self, expression: str, code: str) -> None:
        if self.flexible:
            self.flush()
            self.line(f"w(_uvarint({expression} + 1))")
        else:
            self.fixed(code, expression)

    def list(self, t: Type, source: str, null: bool) -> None:
        self.flush()
        items = self.fresh("items")
        self.line(f"{items} = {source}")
        if null:
            self.if_null(items, "i")
        self.length(f"len({items})", "i")
        self.flush()
        if t.kind is not None and t.kind.code and t.kind.code != "16s":
            self.line(f"if {items}: w({self.constant(_pack_many(t.kind.code))}({items}))")
        else:
            item = self.fresh("item")
            self.line(f"for {item} in {items}:")
            self.depth += 1
            before = len(self.lines)
            if t.struct is not None:
                self.struct(t.struct, item)
            else:
                assert t.kind is not None
                self.value(t.kind, item, False)
            self.flush()
            if len(self.lines) == before:
                self.line("pass")
            self.depth -= 1
        if null:
            self.depth -= 1

    def nested(self, cls: type[Struct], source: str, null: bool) -> None:
        self.flush()
        var = self.fresh("s")
        self.line(f"{var} = {source}")
        if null:
            self.line(f"if {var} is None: w({self.constant(bytes([255]))})")
            self.line("else:")
            self.depth += 1
            self.fixed("b", "1")
        self.struct(cls, var)
        self.flush()
        if null:
            self.depth -= 1

    def tags(self, cls: type[Struct], var: str) -> None:
        tagged = self.tagged_fields(cls)
        if not tagged:
            self.zero()
            return
        self.flush()
        found = self.fresh("found")
        self.line(f"{found} = []")
        for field, t in tagged:
            default = default_of(field, t)
            is_set = f"{var}.{field.name} != {self.constant(default)}"
            if default is None:
                is_set = f"{var}.{field.name} is not None"
            self.line(f"if {is_set}:")
            self.depth += 1
            body, outer = self.fresh("body"), self.fresh("outer")
            self.line(f"{body} = []; {outer} = w; w = {body}.append")
            self.field(field, t, f"{var}.{field.name}")
            self.flush()
            self.line(f"w = {outer}; {found}.append(({field.tag}, b''.join({body})))")
            self.depth -= 1
        self.line(f"w(_uvarint(len({found})))")
        self.line(f"for tag, body in {found}: w(_uvarint(tag) + _uvarint(len(body)) + body)")
