"""Generates writers: `run(o, w, e)`, where w takes one buffer and e takes several.

- Consecutive fixed-width fields are one struct call; consecutive parts without a branch between
  them are one call of e.
- Compact lengths up to 1022 are in a table.
- Tagged fields are compared with their defaults first; nearly always there is nothing to write.
- Records are passed on as they are, whatever kind of buffer they are.
- A list that is marked as shared is encoded apart and joined; its bytes are passed on wherever the
  same object occurs again.
- A writer in slices is a generator, which yields after every STRUCTS_A_SLICE structs in lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct as Packer
from typing import Any

from ..errors import WireError
from ..primitives import Buffer, write_uvarint
from ..schema import STRING, Field, Kind, Struct, Type
from .reader_source import TEXT_SIZE_MAX
from .source import Source, default_of, fresh_default

_READY = 1024
_UVARINTS = [write_uvarint(n) for n in range(_READY)]

STRUCTS_A_SLICE = 200
"""How many structs a writer in slices encodes before it yields: about a tenth of a millisecond."""

# Lists of up to this many numbers are written with a cached struct.
_FEW = 16


def _long_text(n: int) -> bytes:
    if n > TEXT_SIZE_MAX + 1:
        raise WireError(f"text of {n - 1} bytes; there may be {TEXT_SIZE_MAX}")
    return write_uvarint(n)


def _tagged(number: int, body: list[Buffer]) -> bytes:
    joined = b"".join(body)
    return write_uvarint(number) + write_uvarint(len(joined)) + joined


def _many(kind: Kind, flexible: bool) -> Callable[[list[Any]], bytes]:
    def pack(values: list[Any]) -> bytes:
        n = len(values)
        repeated = kind.code * n if kind.code == "16s" else f"{n}{kind.code}"
        head = write_uvarint(n + 1) if flexible else Packer(">i").pack(n)
        return head + Packer(">" + repeated).pack(*values)

    return pack


class WriterSource(Source):
    def __init__(self, version: int, flexible: bool, *, sliced: bool = False) -> None:
        super().__init__(version, flexible)
        self.sliced = sliced
        self.known = ""  # the local with the bytes of shared lists, if there are any
        self.parts: list[str] = []
        self.env.update(_U=_UVARINTS, _long=write_uvarint, _long_text=_long_text, _tagged=_tagged)

    def compile(self, cls: type[Struct]) -> Any:
        if self.sliced:
            self.line(f"left = {STRUCTS_A_SLICE}")
            self.line("if not left: yield")
        self.struct(cls, "o")
        self.flush()
        if self.known:
            self.lines.insert(0, f" {self.known} = {{}}")
        if not self.lines:
            self.line("pass")
        return self.function("def run(o, w, e):")

    def pack(self) -> None:
        """Turn the pending fixed-width fields into a pending part."""
        if self.codes:
            packer = Packer(">" + "".join(self.codes))
            given = ", ".join(name for name in self.names if name)
            made = self.constant(packer.pack if given else packer.pack())
            self.parts.append(f"{made}({given})" if given else made)
            self.codes.clear()
            self.names.clear()

    def part(self, expression: str) -> None:
        """Add a buffer to the pending parts."""
        self.pack()
        self.parts.append(expression)

    def flush(self) -> None:
        self.pack()
        if len(self.parts) == 1:
            self.line(f"w({self.parts[0]})")
        elif self.parts:
            self.line(f"e(({', '.join(self.parts)}))")
        self.parts.clear()

    def struct(self, cls: type[Struct], var: str) -> None:
        """Write a struct; parts at its end stay pending."""
        for field, t in self.plain_fields(cls):
            self.field(field, t, f"{var}.{field.name}")
        if self.flexible:
            self.tags(cls, var)

    def field(self, field: Field, t: Type, source: str) -> None:
        null = self.may_be_null(field, t)
        if t.is_list and t.kind is not None and t.kind.code:
            self.numbers(t.kind, source, null)
        elif t.is_list and field.shared:
            self.shared_list(t, source, null)
        elif t.is_list:
            self.list(t, source, null)
        elif t.struct is not None:
            self.nested(t.struct, source, null)
        else:
            assert t.kind is not None
            self.value(t.kind, source, null)

    def value(self, kind: Kind, source: str, null: bool) -> None:
        """Write a field that is neither a struct nor a list."""
        if kind.code:
            self.fixed(kind.code, source)
            return
        raw = self.fresh("raw")
        encoded = ".encode()" if kind is STRING else ""
        if null:
            self.line(f"{raw} = {source}")
            self.line(f"if {raw} is None: {raw} = b''; {raw}n = {0 if self.flexible else -1}")
            full = f"{raw} = {raw}{encoded}; " if encoded else ""
            self.line(f"else: {full}{raw}n = len({raw}){' + 1' if self.flexible else ''}")
        else:
            self.line(f"{raw} = {source}{encoded}")
            self.line(f"{raw}n = len({raw}){' + 1' if self.flexible else ''}")
        self.length(f"{raw}n", kind)
        self.part(raw)

    def length(self, n: str, kind: Kind | None) -> None:
        """Write a length in a local (plus one if compact); without a kind, a list's."""
        if self.flexible:
            long = "_long_text" if kind is STRING else "_long"
            self.part(f"_U[{n}] if {n} < {_READY} else {long}({n})")
        else:
            self.fixed("h" if kind is STRING else "i", n)

    def numbers(self, kind: Kind, source: str, null: bool) -> None:
        """Write a list of fixed-width items."""
        items, n = self.fresh("items"), self.fresh("n")
        head, more = ("B", 1) if self.flexible else ("i", 0)
        few = [Packer(">" + head + kind.code * i).pack for i in range(_FEW)]
        many = self.constant(_many(kind, self.flexible))
        self.line(f"{items} = {source}")
        self.line(
            f"{n} = 0 if {items} is None else len({items})" if null else f"{n} = len({items})"
        )
        short = f"{self.constant(few)}[{n}]({n} + {more}, *{items})"
        made = f"{short} if {n} < {_FEW} else {many}({items})"
        if null:
            made = f"{self.null('i')} if {items} is None else {made}"
        self.part(made)

    def null(self, code: str) -> str:
        """The name of the length that means null."""
        return self.constant(b"\0" if self.flexible else Packer(">" + code).pack(-1))

    def list(self, t: Type, source: str, null: bool) -> None:
        """Write a list of structs, or of texts and the like."""
        items, item = self.fresh("items"), self.fresh("item")
        self.line(f"{items} = {source}")
        if null:
            self.flush()
            self.line(f"if {items} is None: w({self.null('i')})")
            self.line("else:")
            self.depth += 1
        self.line(f"{items}n = len({items}){' + 1' if self.flexible else ''}")
        self.length(f"{items}n", None)
        self.flush()
        self.line(f"for {item} in {items}:")
        self.depth += 1
        before = len(self.lines)
        if t.struct is not None:
            if self.sliced:
                self.line("left -= 1")
                self.line(f"if not left: left = {STRUCTS_A_SLICE}; yield")
            self.struct(t.struct, item)
        else:
            assert t.kind is not None
            self.value(t.kind, item, False)
        self.flush()
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 2 if null else 1

    def shared_list(self, t: Type, source: str, null: bool) -> None:
        """Write a list of structs, encoded only if this object was not before. Objects are known
        by their addresses: the message keeps all of them alive."""
        self.flush()
        self.known = "known"
        shared = self.fresh("shared")
        self.line(f"{shared} = {self.known}.get(id({source}))")
        self.line(f"if {shared} is None:")
        self.depth += 1
        with self.apart() as body:
            self.list(t, source, null)
        self.line(f"{shared} = {self.known}[id({source})] = b''.join({body})")
        self.depth -= 1
        self.line(f"w({shared})")

    @contextmanager
    def apart(self) -> Iterator[str]:
        """Parts written meanwhile go into a list of its own, whose name is given."""
        body, outer = self.fresh("body"), self.fresh("outer")
        self.line(f"{outer} = w, e; {body} = []; w = {body}.append; e = {body}.extend")
        yield body
        self.flush()
        self.line(f"w, e = {outer}")

    def nested(self, cls: type[Struct], source: str, null: bool, tagged: bool = False) -> None:
        """Write a struct that is a field. Null is -1, or 0 (no signed byte, a varint) if tagged."""
        var = self.fresh("s")
        self.line(f"{var} = {source}")
        if null:
            self.flush()
            self.line(f"if {var} is None: w({self.constant(bytes([0 if tagged else 255]))})")
            self.line("else:")
            self.depth += 1
            self.fixed("b", "1")
        self.struct(cls, var)
        if null:
            self.flush()
            self.depth -= 1

    def tags(self, cls: type[Struct], var: str) -> None:
        """Write the tagged fields of a struct that differ from their defaults."""
        tagged = [(f, t, self.is_set(f, t, f"{var}.{f.name}")) for f, t in self.tagged_fields(cls)]
        if not tagged:
            self.fixed("x", "")
            return
        field, t, is_set = tagged[0]
        if len(tagged) == 1 and t.kind and t.kind.code and not t.is_list:
            made = self.constant(Packer(f">BBB{t.kind.code}").pack)
            given = f"{made}(1, {field.tag}, {t.kind.size}, {var}.{field.name})"
            self.part(f"{given} if {is_set} else {self.constant(bytes(1))}")
            return
        self.flush()
        found = self.fresh("found")
        self.line(f"if {' or '.join(is_set for _, _, is_set in tagged)}:")
        self.depth += 1
        self.line(f"{found} = []")
        for field, t, is_set in tagged:
            self.line(f"if {is_set}:")
            self.depth += 1
            with self.apart() as body:
                if t.struct is not None and not t.is_list:
                    null = self.may_be_null(field, t)
                    self.nested(t.struct, f"{var}.{field.name}", null, tagged=True)
                else:
                    self.field(field, t, f"{var}.{field.name}")
            self.line(f"{found}.append(_tagged({field.tag}, {body}))")
            self.depth -= 1
        self.line(f"w(_U[len({found})]); e({found})")
        self.depth -= 1
        self.line(f"else: w({self.constant(bytes(1))})")

    def is_set(self, field: Field, t: Type, source: str) -> str:
        """An expression: whether the field differs from its default."""
        default = default_of(field, t)
        if default is None:
            return f"{source} is not None"
        if fresh_default(field, t) == "list":
            # Null, where it is not allowed, fails here instead of being written as an empty list.
            return f"({source} is None or len({source}))" if t.nullable else f"len({source})"
        if t.struct is not None and not t.is_list:
            inner = t.struct.fields()
            if t.nullable or any(x.struct or x.is_list for _, x in inner):
                return f"{source} != {self.constant(default)}"
            parts = (self.is_set(f, x, f"{source}.{f.name}") for f, x in t.struct.fields())
            return f"({' or '.join(parts)})"
        return f"{source} != {self.constant(default)}"
