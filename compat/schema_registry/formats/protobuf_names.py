"""Names of a Protobuf file: what it defines and imports, and what a name in it means.

As protoc does, a name is looked for in the message it stands in, then in those around it, then in
the package and those around that; one that begins with a dot is complete. Types of
`google/protobuf` and the like are known without a reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from proto_schema_parser import ast

from .protobuf_known import kind_of_known

Scope = tuple[str, ...]
"""The messages around, the outermost first."""
SCALARS = frozenset(
    {
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
    }
)


class Type(NamedTuple):
    package: str
    is_enum: bool
    element: Any = None
    """None where it is one that everybody knows."""
    is_own: bool = False
    """Whether the file itself defines it, and none that it refers to."""


def of_kind(elements: Any, *kinds: type) -> list[Any]:
    return [each for each in elements if isinstance(each, kinds)]


def package_of(file: ast.File) -> str:
    """Its package; "" for none."""
    return next((str(each.name) for each in of_kind(file.file_elements, ast.Package)), "")


class Names:
    def __init__(self, file: ast.File, others: Mapping[str, ast.File]) -> None:
        """`others`: those it refers to, and those that they refer to."""
        self.package = package_of(file)
        self._types: dict[str, Type] = {}
        self._extensions: dict[str, ast.Field] = {}
        for each in (*others.values(), file):
            package = package_of(each)
            self._collect(each.file_elements, package, package, is_own=each is file)

    def resolve(self, name: str, scope: Scope, package: str | None = None) -> str | None:
        """The complete name of the type that is meant, without a dot before it; None for none. It
        is looked for from a package on, by default the file's own."""
        return self._found(name, scope, self.type, package)

    def extension(self, name: str, scope: Scope) -> str | None:
        return self._found(name, scope, self._extensions.get)

    def is_repeated(self, extension: str) -> bool | None:
        """Of an extension by its complete name; None if it is not known."""
        found = self._extensions.get(extension.lstrip("."))
        return None if found is None else found.cardinality is ast.FieldCardinality.REPEATED

    def type(self, complete: str) -> Type | None:
        found = self._types.get(complete)
        if found is None and (kind := kind_of_known(complete)) is not None:
            return Type(complete.rpartition(".")[0], kind == "enum")
        return found

    def _found(
        self, name: str, scope: Scope, look: Callable[[str], Any], package: str | None = None
    ) -> str | None:
        if name.startswith("."):
            return name[1:] if look(name[1:]) is not None else None
        start = self.package if package is None else package
        around = [*filter(None, start.split(".")), *scope]
        for depth in range(len(around), -1, -1):
            complete = ".".join([*around[:depth], name])
            if look(complete) is not None:
                return complete
        return None

    def _collect(self, elements: Any, prefix: str, package: str, *, is_own: bool) -> None:
        for extended in of_kind(elements, ast.Extension):
            for field in of_kind(extended.elements, ast.Field):
                self._extensions[_joined(prefix, field.name)] = field
        for each in of_kind(elements, ast.Message, ast.Enum, ast.Group):
            complete = _joined(prefix, each.name)
            self._types[complete] = Type(package, isinstance(each, ast.Enum), each, is_own)
            if not isinstance(each, ast.Enum):
                self._collect(each.elements, complete, package, is_own=is_own)
        for one_of in of_kind(elements, ast.OneOf):
            groups = of_kind(one_of.elements, ast.Group)
            self._collect(groups, prefix, package, is_own=is_own)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
