"""The text of a Protobuf file as Confluent's registry lays it out, without comments; and the normal
form: names complete, numbers and options in order, what may be left out left out.

Source: `ProtobufSchemaUtils` of the registry 8.5, and its answers. Not as there: of numbers in
options how they were written (1.50e3), since the parser does not keep it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from proto_schema_parser import ast

from . import BadSchema
from .protobuf_names import SCALARS, Names, Scope, of_kind

Lines = list[str]
_TAG_MAX = 536_870_911
_NESTED = re.compile(r"(\([^)]*\)|[^.]+)\.(.+)")


def text_of_file(
    file: ast.File, names: Names | None = None, *, ignore_extensions: bool = False
) -> str:
    """Its text; with `names`, the normal form. `ignore_extensions`: without extensions, and options
    of one's own. Raises BadSchema for a type that is not there."""
    return "\n".join(_Layout(names, ignore_extensions).file(file)) + "\n"


def type_of(field: Any) -> str:
    if isinstance(field, ast.MapField):
        return f"map<{field.key_type}, {field.value_type}>"
    return str(field.type)


class _Layout:
    def __init__(self, names: Names | None, ignore_extensions: bool) -> None:
        self._names = names
        self._ignores = ignore_extensions
        self._scope: Scope = ()

    def file(self, file: ast.File) -> Iterator[str]:
        all_of = file.file_elements
        if file.syntax and (self._names is None or file.syntax == "proto3"):
            yield f'syntax = "{file.syntax}";'
        for package in of_kind(all_of, ast.Package):
            yield f"package {package.name};"
        yield from _after_a_gap(self._imports(of_kind(all_of, ast.Import)))
        yield from _after_a_gap(self._option_lines(of_kind(all_of, ast.Option)))
        yield from _after_a_gap(self._types(all_of))
        yield from _after_a_gap(self._extends(of_kind(all_of, ast.Extension)))
        services = of_kind(all_of, ast.Service)
        yield from _after_a_gap([line for each in services for line in self._service(each)])

    def _imports(self, imports: list[ast.Import]) -> Lines:
        plain = [each.name for each in imports if not each.public]
        public = [each.name for each in imports if each.public]
        if self._names is not None:
            plain, public = sorted(set(plain)), sorted(set(public))
        return [f'import "{each}";' for each in plain] + [f'import public "{e}";' for e in public]

    def _types(self, elements: Any) -> Lines:
        lines: Lines = []
        for kind, written in ((ast.Message, self._message), (ast.Enum, self._enum)):
            for each in of_kind(elements, kind):
                self._scope = (*self._scope, each.name)
                lines += written(each)
                self._scope = self._scope[:-1]
        return lines

    def _service(self, service: ast.Service) -> Iterator[str]:
        methods: Lines = []
        for method in of_kind(service.elements, ast.Method):
            asked, answered = (
                f"({'stream ' * each.stream}{self._complete(each.type)})"
                for each in (method.input_type, method.output_type)
            )
            options = self._option_lines(of_kind(method.elements, ast.Option))
            head = f"rpc {method.name} {asked} returns {answered}"
            body = [f"{head} {{", *_indented(options), "};"] if options else [f"{head};"]
            methods += body
        options = self._option_lines(of_kind(service.elements, ast.Option))
        yield from _braced(f"service {service.name}", _with_gaps([options, methods]))

    def _enum(self, enum: ast.Enum) -> Iterator[str]:
        lines = self._reserved(of_kind(enum.elements, ast.EnumReserved))
        lines += self._option_lines(of_kind(enum.elements, ast.Option))
        values = of_kind(enum.elements, ast.EnumValue)
        if self._names is not None:
            values.sort(key=lambda each: (each.number, each.name))
        for value in values:
            lines += f"{value.name} = {value.number}{self._options(value.options)};".split("\n")
        yield from _braced(f"enum {enum.name}", lines)

    def _message(self, message: ast.Message) -> Iterator[str]:
        all_of = message.elements
        parts = [
            self._reserved(of_kind(all_of, ast.Reserved)),
            self._option_lines(of_kind(all_of, ast.Option)),
            self._fields(of_kind(all_of, ast.Field, ast.MapField)),
            self._one_ofs(of_kind(all_of, ast.OneOf)),
            self._groups(of_kind(all_of, ast.Group)),
            self._extensions(of_kind(all_of, ast.ExtensionRange)),
            self._extends(of_kind(all_of, ast.Extension)),
            self._types(all_of),
        ]
        yield from _braced(f"message {message.name}", _with_gaps(parts))

    def _fields(self, fields: list[Any]) -> Lines:
        if self._names is not None:
            fields = sorted(fields, key=lambda each: int(each.number))
        return [line for each in fields for line in self._field(each)]

    def _field(self, field: Any) -> Lines:
        cardinality = getattr(field, "cardinality", None)
        label = f"{cardinality.value.lower()} " if cardinality else ""
        kind = type_of(field)
        if self._names is not None:
            kind = self._type(field)
        options = [each for each in field.options if each.name not in ("default", "json_name")]
        for name in ("default", "json_name"):
            options += [each for each in field.options if each.name == name]
        text = f"{label}{kind} {field.name} = {field.number}{self._options(options)};"
        return text.split("\n")

    def _type(self, field: Any) -> str:
        assert self._names is not None
        if isinstance(field, ast.MapField):
            value = str(field.value_type)
            found = None if value in SCALARS else self._names.resolve(value, self._scope)
            return f"map<{field.key_type}, {'.' + found if found else value}>"
        return str(field.type) if field.type in SCALARS else self._complete(field.type)

    def _one_ofs(self, one_ofs: list[ast.OneOf]) -> Lines:
        def first(one_of: ast.OneOf) -> int:
            return min(int(each.number) for each in of_kind(one_of.elements, ast.Field))

        if self._names is not None:
            one_ofs = [each for each in one_ofs if of_kind(each.elements, ast.Field)]
            one_ofs.sort(key=first)
        lines: Lines = []
        for one_of in one_ofs:
            fields = self._fields(of_kind(one_of.elements, ast.Field))
            parts = [
                self._option_lines(of_kind(one_of.elements, ast.Option)),
                fields,
                self._groups(of_kind(one_of.elements, ast.Group)),
            ]
            lines += _braced(f"oneof {one_of.name}", _with_gaps(parts))
        return lines

    def _groups(self, groups: list[ast.Group]) -> Lines:
        if self._names is not None:
            groups = sorted(groups, key=lambda each: int(each.number))
        lines: Lines = []
        for group in groups:
            label = f"{group.cardinality.value.lower()} " if group.cardinality else ""
            self._scope = (*self._scope, group.name)
            body = self._fields(of_kind(group.elements, ast.Field))
            self._scope = self._scope[:-1]
            lines += _braced(f"{label}group {group.name} = {group.number}", body)
        return lines

    def _extends(self, extends: list[ast.Extension]) -> Lines:
        merged: dict[str, list[Any]] = {}
        lines: Lines = []
        if self._ignores:
            return lines
        for each in extends:
            fields = of_kind(each.elements, ast.Field)
            if self._names is None:
                lines += _braced(f"extend {each.typeName}", self._fields(fields))
            else:
                merged.setdefault(self._complete(each.typeName), []).extend(fields)
        for name, fields in merged.items():
            lines += _braced(f"extend {name}", self._fields(fields))
        return lines

    def _reserved(self, reserved: list[Any]) -> Lines:
        each_of = [[*each.ranges, *(f'"{name}"' for name in each.names)] for each in reserved]
        if self._names is not None:
            each_of = [[one] for one in sorted((e for es in each_of for e in es), key=_by_start)]
        return [f"reserved {', '.join(map(self._range, each))};" for each in each_of]

    def _extensions(self, extensions: list[ast.ExtensionRange]) -> Lines:
        each_of = [(list(e.ranges), e.options) for e in extensions if not self._ignores]
        if self._names is not None:
            each_of = [([one], options) for ranges, options in each_of for one in ranges]
            each_of.sort(key=lambda each: _by_start(each[0][0])[0])
        lines: Lines = []
        for ranges, options in each_of:
            text = f"extensions {', '.join(map(self._range, ranges))}{self._options(options)};"
            lines += text.split("\n")
        return lines

    def _range(self, text: str) -> str:
        start, to, end = text.partition(" to ")
        if to and end.isdigit() and int(end) >= _TAG_MAX:
            end = "max"
        return start if self._names is not None and start == end else f"{start}{to}{end}"

    def _complete(self, name: str) -> str:
        if self._names is None:
            return str(name)
        found = self._names.resolve(name, self._scope)
        if found is None:
            raise BadSchema(f"Could not resolve type: {name}")
        return f".{found}"

    # Options

    def _option_lines(self, options: list[ast.Option]) -> Lines:
        return [
            line
            for each in self._in_order(options)
            for line in f"option {self._option(each)};".split("\n")
        ]

    def _options(self, options: list[ast.Option]) -> str:
        written = [self._option(each) for each in self._in_order(options)]
        if not written:
            return ""
        return f" [{written[0]}]" if len(written) == 1 else " " + _listed(written)

    def _in_order(self, options: list[ast.Option]) -> list[ast.Option]:
        if self._ignores:
            options = [e for e in options if not e.name.startswith("(") or _is_meta(e.name)]
        if self._names is None:
            return options
        complete = [self._as_map(each) for each in options]
        merged: dict[str, ast.Option] = {}
        others: list[ast.Option] = []
        for each in sorted(complete, key=lambda each: _bare(each.name)):
            is_single = self._names.is_repeated(_bare(each.name)) is False
            if not is_single:
                others.append(each)
            elif each.name in merged:
                _merge(merged[each.name], each)
            else:
                merged[each.name] = each
                others.append(each)
        return others

    def _as_map(self, option: ast.Option) -> ast.Option:
        """`(f).a.b = 1` as `(f) = {a: {b: 1}}`, its name complete."""
        assert self._names is not None
        if not option.name.startswith("("):
            return option
        name, rest = option.name, ""
        if found := _NESTED.fullmatch(option.name):
            name, rest = found[1], found[2]
        complete = self._names.extension(_bare(name), self._scope)
        if complete is None:
            return option
        value: Any = option.value
        for part in reversed(rest.split(".")) if rest else ():
            value = ast.MessageLiteral([ast.MessageLiteralField(part, value)])
        return ast.Option(f"({complete})", value)

    def _option(self, option: ast.Option) -> str:
        value = option.value
        if isinstance(value, ast.MessageLiteral):
            return f"{option.name} = " + self._literal(value)
        if isinstance(value, list):
            return f"{option.name} = " + _listed([self._value(each) for each in value])
        return f"{option.name} = {self._value(value)}"

    def _literal(self, literal: ast.MessageLiteral) -> str:
        fields = of_kind(literal.elements, ast.MessageLiteralField)
        pairs = [(self._key(each.name), each.value) for each in fields]
        if self._names is not None:
            pairs = [(key, each) for key, each in pairs if each != []]
            pairs.sort(key=lambda pair: str(pair[0]))
        lines = [f"{key}: {self._value(each)}" for key, each in pairs]
        return "{\n" + "".join(_ended(lines)) + "}"

    def _key(self, key: str) -> str:
        if self._names is not None and key.startswith("["):
            found = self._names.extension(key[1:-1], self._scope)
            return f"[{found}]" if found else key
        return key

    def _value(self, value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, ast.MessageLiteral):
            return self._literal(value)
        if isinstance(value, list):
            if self._names is not None and len(value) == 1:
                return self._value(value[0])
            return "[\n" + "".join(_ended([self._value(each) for each in value])) + "]"
        if isinstance(value, str):
            return f'"{value}"'
        if isinstance(value, float):
            return self._number(value)
        return str(getattr(value, "name", value))

    def _number(self, value: float) -> str:
        if self._names is None:
            return str(value)
        return f"{round(value, 3):.3f}".rstrip("0").rstrip(".")


def _merge(existing: ast.Option, other: ast.Option) -> None:
    """An option, merged with a later one of the same name."""
    if not isinstance(existing.value, ast.MessageLiteral) or not isinstance(
        other.value, ast.MessageLiteral
    ):
        existing.value = other.value
        return
    there = {each.name: each for each in of_kind(existing.value.elements, ast.MessageLiteralField)}
    for each in of_kind(other.value.elements, ast.MessageLiteralField):
        if each.name not in there:
            existing.value.elements.append(each)
            continue
        found: list[Any] = []
        for value in (there[each.name].value, each.value):
            for one in value if isinstance(value, list) else [value]:
                if one not in found:
                    found.append(one)
        there[each.name].value = found


def _is_meta(name: str) -> bool:
    return name.startswith("(confluent.")


def _bare(name: str) -> str:
    return name.strip("()")


def _by_start(text: str) -> tuple[int, str]:
    start = text.partition(" to ")[0]
    return (int(start), text) if start.lstrip("-").isdigit() else (2**31 - 1, text)


def _listed(written: Lines) -> str:
    return "[\n" + "".join(_ended(written)) + "]"


def _ended(written: Lines) -> Lines:
    """Indented, with a comma after all but the last."""
    last = len(written) - 1
    return [
        "".join(f"  {line}\n" for line in (each + "," * (n != last)).split("\n"))
        for n, each in enumerate(written)
    ]


def _with_gaps(parts: list[Lines]) -> list[str | None]:
    """The parts, None between them."""
    lines: list[str | None] = []
    for part in filter(None, parts):
        lines += [None, *part] if lines else part
    return lines


def _braced(head: str, body: Sequence[str | None]) -> Lines:
    """Lines between braces are indented, gaps in it are not, unless it is within braces itself."""
    if not body:
        return [f"{head} {{}}"]
    return [f"{head} {{", *("" if line is None else f"  {line}" for line in body), "}"]


def _after_a_gap(lines: Lines) -> Lines:
    return ["", *lines] if lines else []


def _indented(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]
