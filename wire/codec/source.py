"""The common parts of reader and writer: assembling lines of Python, and defaults.

reader_source.py and writer_source.py generate the source of a reader or writer. Everything in it
that is not a literal or a local is a name in the function's globals, `env`.
"""

from __future__ import annotations

from typing import Any

from ..schema import MISSING, Field, Struct, Type


def default_of(field: Field, t: Type) -> Any:
    """The value of a missing field: the default in its table, else Kafka's default."""
    if field.default is not MISSING:
        return list(field.default) if isinstance(field.default, list) else field.default
    if t.is_list:
        return []
    if t.struct is not None:
        return t.struct()
    assert t.kind is not None
    return t.kind.natural


def fresh_default(field: Field, t: Type) -> str | None:
    """How to create a default that must be a new object each time: "list", "struct" or "copy"."""
    if field.default is MISSING and t.is_list:
        return "list"
    if field.default is MISSING and t.struct is not None:
        return "struct"
    if isinstance(field.default, list):
        return "copy" if field.default else "list"
    return None


class Source:
    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.lines: list[str] = []
        self.env: dict[str, Any] = {}
        self.depth = 1
        self.codes: list[str] = []
        self.names: list[str] = []
        self.counter = 0

    def line(self, text: str) -> None:
        self.lines.append(" " * self.depth + text)

    def fresh(self, stem: str) -> str:
        """A local name that is not used yet."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def constant(self, value: Any) -> str:
        """A global name for this value."""
        name = self.fresh("_c")
        self.env[name] = value
        return name

    def fixed(self, code: str, name: str) -> None:
        """Add a fixed-width field, for one struct call with its neighbours."""
        self.codes.append(code)
        self.names.append(name)

    def function(self, head: str) -> Any:
        """Compile the function."""
        exec("\n".join([head, *self.lines]), self.env)
        return self.env["run"]

    def plain_fields(self, cls: type[Struct]) -> list[tuple[Field, Type]]:
        """The fields of this version that are not tagged, in order."""
        return [(f, t) for f, t in cls.fields() if f.is_in(self.version) and not self.tagged(f)]

    def tagged_fields(self, cls: type[Struct]) -> list[tuple[Field, Type]]:
        """The tagged fields of this version, by tag."""
        found = [(f, t) for f, t in cls.fields() if f.is_in(self.version) and self.tagged(f)]
        return sorted(found, key=lambda pair: pair[0].tag or 0)

    def tagged(self, field: Field) -> bool:
        """Whether the field is tagged in this version."""
        return self.flexible and field.is_tagged(self.version)

    def may_be_null(self, field: Field, t: Type) -> bool:
        """Whether null may be sent for the field in this version."""
        return field.may_be_null(t, self.version)

    def default(self, field: Field, t: Type, target: str) -> None:
        """Set a missing field to its default, a new object if it must be."""
        how = fresh_default(field, t)
        if how == "struct":
            assert t.struct is not None
            var = self.fresh("s")
            self.line(f"{target} = {var} = _new({self.constant(t.struct)})")
            for inner, inner_type in t.struct.fields():
                self.default(inner, inner_type, f"{var}.{inner.name}")
        elif how == "list":
            self.line(f"{target} = []")
        else:
            value = self.constant(default_of(field, t))
            self.line(f"{target} = {f'list({value})' if how == 'copy' else value}")
