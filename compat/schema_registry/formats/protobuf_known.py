"""Protobuf files that a schema may import without a reference: Google's, and Confluent's own.

Those of google/protobuf come with the package protobuf, those of google/type with
googleapis-common-protos, if it is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

_GOOGLE = (
    "any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct",
    "timestamp", "type", "wrappers",
)  # fmt: skip
_GOOGLE_TYPES = (
    "calendar_period", "color", "date", "datetime", "dayofweek", "decimal", "expr", "fraction",
    "interval", "latlng", "money", "month", "phone_number", "postal_address", "quaternion",
    "timeofday",
)  # fmt: skip
_META = """syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
option java_package = "io.confluent.protobuf";
option java_outer_classname = "MetaProto";
message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
  repeated Rule rules = 4;
}
message Rule { string name = 1; string doc = 2; string expr = 3; string sql = 4; }
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
"""
_DECIMAL = """syntax = "proto3";
package confluent.type;
option java_package = "io.confluent.protobuf.type";
option java_multiple_files = true;
option java_outer_classname = "DecimalProto";
message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
"""
_VARIANT = """syntax = "proto3";
package confluent.type;
option java_package = "io.confluent.protobuf.type";
option java_multiple_files = true;
option java_outer_classname = "VariantProto";
message Variant { bytes metadata = 1; bytes value = 2; }
"""
_CONFLUENT = {
    "confluent/meta.proto": _META,
    "confluent/type/decimal.proto": _DECIMAL,
    "confluent/type/variant.proto": _VARIANT,
}
_PREFIXES = ("google.protobuf.", "google.type.", "confluent.")
FILES = frozenset(
    {
        *(f"google/protobuf/{each}.proto" for each in _GOOGLE),
        *(f"google/type/{each}.proto" for each in _GOOGLE_TYPES),
        *_CONFLUENT,
    }
)


@cache
def known_file(name: str) -> Any:
    """The FileDescriptorProto of one of `FILES`; None where its package is not installed."""
    if name in _CONFLUENT:
        from .protobuf_compiled import compiled_text

        return compiled_text(_CONFLUENT[name], name)
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    try:
        module = import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    except ModuleNotFoundError:
        return None
    found = FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(found)
    return found


def kind_of_known(complete: str) -> str | None:
    """Whether a name is a "message" or an "enum" of these files; None if it is none."""
    if not complete.startswith(_PREFIXES):
        return None
    return _kinds(complete.partition(".")[0]).get(complete)


@cache
def _kinds(first: str) -> dict[str, str]:
    files = (known_file(each) for each in sorted(FILES) if each.startswith(f"{first}/"))
    return {name: kind for file in files if file for name, kind in _kinds_in(file, file.package)}


def _kinds_in(container: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for enum in container.enum_type:
        yield f"{prefix}.{enum.name}", "enum"
    name = "message_type" if hasattr(container, "message_type") else "nested_type"
    for message in getattr(container, name):
        yield f"{prefix}.{message.name}", "message"
        yield from _kinds_in(message, f"{prefix}.{message.name}")
