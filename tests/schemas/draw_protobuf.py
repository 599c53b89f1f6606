"""Protobuf files, drawn: two of the same names are often alike, and often not."""

from __future__ import annotations

from random import Random

SCALARS = ("int32", "int64", "uint32", "sint32", "bool", "string", "bytes", "double", "fixed32")
_KEYS = ("string", "int32", "bool")
_WRONG = (
    "message {", "", "syntax = \"proto3\";", "message A { int32 a = 1; int32 b = 1; }",
    "syntax = \"proto3\"; message A { Absent a = 1; }", "message A { optional int32 a = 0; }",
    "import \"absent.proto\"; message A {}", "message A {} message A {}", "not a schema",
)  # fmt: skip
REFERENCED = 'syntax = "proto3"; package other; message Ref { string id = 1; enum K { X = 0; } }'


def file(draw: Random, reference: str | None = None) -> str:
    """The text of a file; `reference` is what it imports."""
    if draw.random() < 0.05:
        return draw.choice(_WRONG)
    syntax = draw.choice(("proto3", "proto3", "proto2"))
    lines = [f'syntax = "{syntax}";']
    if draw.random() < 0.7:
        lines.append(f"package {draw.choice(('shop', 'shop', 'shop.v2'))};")
    if reference is not None:
        lines.append(f'import "{reference}";')
    times = draw.random() < 0.2
    if times:
        lines.append('import "google/protobuf/timestamp.proto";')
    if draw.random() < 0.2:
        lines.append('option java_package = "com.shop";')
    for name in draw.sample(("Order", "Line", "Buyer"), draw.randint(1, 3)):
        lines += message(draw, name, syntax, times=times, imports=reference is not None)
    if draw.random() < 0.3:
        lines += enum(draw, "Kind", "KIND_")
    if draw.random() < 0.1:
        lines += [
            "message Ask {}",
            "service Shop { rpc Get (Ask) returns (stream Ask); }",
        ]
    return "\n".join(lines) + ("\n" if draw.random() < 0.5 else "")


def message(
    draw: Random, name: str, syntax: str, *, times: bool, imports: bool, depth: int = 1
) -> list[str]:
    nested: list[str] = []
    types = list(SCALARS)
    if depth and draw.random() < 0.4:
        nested += message(draw, "Part", syntax, times=times, imports=imports, depth=0)
        types += ["Part"] * 3
    if draw.random() < 0.3:
        nested += enum(draw, "State", f"{name.upper()}_")
        types += ["State"] * 2
    types += ["google.protobuf.Timestamp"] * (2 * times) + ["other.Ref", "other.Ref.K"] * imports
    numbers = draw.sample(range(1, 9), draw.randint(0, 5))
    lines = [f"message {name} {{"]
    if draw.random() < 0.15:
        lines.append(f"reserved {draw.choice(('20 to 29', '20, 22', '30 to max'))};")
        lines.append('reserved "old";')
    one_of = draw.sample(numbers, 2) if len(numbers) > 2 and draw.random() < 0.4 else []
    lines += [
        field(draw, number, draw.choice(types), syntax)
        for number in numbers
        if number not in one_of
    ]
    if one_of:
        kinds = [draw.choice(types) for _ in one_of]
        inner = " ".join(f"{k} f{n} = {n};" for k, n in zip(kinds, one_of, strict=True))
        lines.append(f"oneof {draw.choice(('choice', 'pick'))} {{ {inner} }}")
    return [*lines, *nested, "}"]


def field(draw: Random, number: int, kind: str, syntax: str) -> str:
    if draw.random() < 0.1:
        return f"map<{draw.choice(_KEYS)}, {kind}> f{number} = {number};"
    labels = ("", "", "repeated ", "optional ") if syntax == "proto3" else (
        "optional ", "optional ", "repeated ", "required ")  # fmt: skip
    options = ""
    if draw.random() < 0.1:
        options = " [deprecated = true]" if draw.random() < 0.5 else f' [json_name = "g{number}"]'
    name = draw.choice(("f", "f", "f", "g"))
    return f"{draw.choice(labels)}{kind} {name}{number} = {number}{options};"


def enum(draw: Random, name: str, prefix: str) -> list[str]:
    """An enum whose first value is 0."""
    more = draw.sample(("A", "B", "C"), draw.randint(0, 3))
    values = [f"{prefix}{each} = {number};" for number, each in enumerate(more, 1)]
    return [f"enum {name} {{", f"{prefix}NONE = 0;", *values, "}"]
