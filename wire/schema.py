"""How a message declares itself: a class whose fields are the table.

    class FetchRequest(Request, api=1, versions="4-18", flexible="12+"):
        max_wait_ms: i32
        topics: list[Topic]

        class Topic(Struct):
            topic: str = v("4-12", default="")
            topic_id: UUID = v("13+", default=NO_ID)

Rules:
- A field is an annotation; `v(...)` assigned to it says in which versions it exists, `tag(...)`
  that it is sent as a tagged field. A plain value assigned to it is its default.
- `X | None` may be null in every version of the field, unless `nullable="7+"` says since when.
- A field that a version does not have gets its default when that version is read. If none is given,
  the default is Kafka's: 0, False, "", b"", the zero id, an empty list, a struct of defaults
  (EMPTY).
- A list of structs names a class nested in the message (or one of its module).
- Versions from `flexible` on use compact lengths and have tagged fields in every struct.
Unknown tagged fields are skipped when read and not kept.

Annotations are resolved, and readers and writers compiled (codec/messages.py), when first used:
importing a hundred messages takes hardly any time. Source: the protocol guide; KIP-482 for flexible
versions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Self,
    TypeAlias,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

from .errors import WireError
from .primitives import NO_ID, Buffer

ALWAYS = (0, 32767)
NEVER = (1, 0)
MISSING: Any = object()
# For type checkers: the struct need not be given; it is then a new one of defaults.
EMPTY: Any = MISSING


class Kind(NamedTuple):
    """The type of a field: a fixed-width `code` of `struct`, or a named variable-length form."""

    name: str
    code: str = ""
    size: int = 0
    natural: Any = 0


i8: TypeAlias = Annotated[int, Kind("int8", "b", 1)]
i16: TypeAlias = Annotated[int, Kind("int16", "h", 2)]
i32: TypeAlias = Annotated[int, Kind("int32", "i", 4)]
i64: TypeAlias = Annotated[int, Kind("int64", "q", 8)]
u16: TypeAlias = Annotated[int, Kind("uint16", "H", 2)]
u32: TypeAlias = Annotated[int, Kind("uint32", "I", 4)]
f64: TypeAlias = Annotated[float, Kind("float64", "d", 8, 0.0)]
UUID: TypeAlias = Annotated[bytes, Kind("uuid", "16s", 16, NO_ID)]
Records: TypeAlias = Annotated[Buffer, Kind("records", natural=b"")]

STRING = Kind("string", natural="")
BYTES = Kind("bytes", natural=b"")
_PLAIN = {bool: Kind("bool", "?", 1, False), str: STRING, bytes: BYTES}


class Type(NamedTuple):
    """A resolved annotation: a kind, or a struct, or a list of either; perhaps nullable."""

    kind: Kind | None
    struct: type[Struct] | None
    is_list: bool
    nullable: bool


class Field:
    """One row of a message's table."""

    __slots__ = (
        "annotation",
        "default",
        "name",
        "nullable",
        "shared",
        "tag",
        "tag_versions",
        "versions",
    )

    def __init__(
        self,
        versions: tuple[int, int] = ALWAYS,
        default: Any = MISSING,
        nullable: tuple[int, int] | None = None,
        tag: int | None = None,
        tag_versions: tuple[int, int] = NEVER,
        shared: bool = False,
    ) -> None:
        self.name = ""
        self.annotation = ""
        self.versions = versions
        self.default = default
        self.nullable = nullable
        self.tag = tag
        self.tag_versions = tag_versions
        self.shared = shared

    def is_in(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def is_tagged(self, version: int) -> bool:
        return self.tag_versions[0] <= version <= self.tag_versions[1]

    def may_be_null(self, t: Type, version: int) -> bool:
        """Whether null may be sent for the field, which is of type `t`, in this version."""
        if self.nullable is not None:
            return self.nullable[0] <= version <= self.nullable[1]
        return t.nullable


def parse_versions(text: str) -> tuple[int, int]:
    """Turn "3-7", "12+" or "0" into first and last version."""
    if text.endswith("+"):
        return int(text[:-1]), ALWAYS[1]
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def v(
    versions: str = "0+",
    *,
    default: Any = MISSING,
    nullable: str | None = None,
    shared: bool = False,
) -> Any:
    """A field that exists in these versions only.

    `shared`: a list of structs that many structs of one message may have in common. The same list
    object is then encoded once in a message, and all of them refer to its bytes.
    """
    null = parse_versions(nullable) if nullable is not None else None
    return Field(parse_versions(versions), default, null, shared=shared)


def tag(
    number: int,
    versions: str,
    *,
    default: Any = MISSING,
    nullable: str | None = None,
    field_versions: str | None = None,
) -> Any:
    """A field that is tagged in these versions (and untagged in the rest of `field_versions`)."""
    null = parse_versions(nullable) if nullable is not None else None
    tagged = parse_versions(versions)
    return Field(
        parse_versions(field_versions) if field_versions else tagged, default, null, number, tagged
    )


@dataclass_transform(kw_only_default=True, field_specifiers=(v, tag))
class StructType(type):
    """Collects the annotated fields of a class, in order, and gives it slots for them."""

    _fields: tuple[Field, ...]
    _outer: StructType | None

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> StructType:
        fields = []
        for field_name, annotation in namespace.get("__annotations__", {}).items():
            if annotation.startswith("ClassVar"):
                continue
            given = namespace.pop(field_name, MISSING)
            field = given if isinstance(given, Field) else Field(default=given)
            field.name, field.annotation = field_name, annotation
            fields.append(field)
        namespace["__slots__"] = tuple(field.name for field in fields)
        namespace["_fields"] = tuple(fields)
        namespace["_types"] = namespace["_outer"] = None
        cls = super().__new__(mcs, name, bases, namespace, **options)
        for value in namespace.values():
            if isinstance(value, StructType):
                value._outer = cls
        return cls


class Struct(metaclass=StructType):
    """Named fields, compared and shown by value. Construct with keywords; others are defaults."""

    _types: ClassVar[dict[str, Type] | None]

    def __init__(self, **given: Any) -> None:
        # The first instance compiles a constructor for its class, which then replaces this one.
        codec.compile_init(type(self))
        self.__init__(**given)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in type(self)._fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={_show(getattr(self, f.name))}" for f in type(self)._fields)
        return f"{type(self).__name__}({shown})"

    @classmethod
    def fields(cls) -> Iterator[tuple[Field, Type]]:
        types = cls._types or resolve(cls)
        return ((field, types[field.name]) for field in cls._fields)


def _show(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>" if len(value) > 32 else repr(bytes(value))
    return repr(value)


class Message(Struct):
    """A struct with versions: a request, a response, a stored record."""

    __slots__ = ()
    first_version: ClassVar[int]
    last_version: ClassVar[int]
    first_flexible: ClassVar[int]

    def __init_subclass__(cls, versions: str = "", flexible: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if versions:
            cls.first_version, cls.last_version = parse_versions(versions)
            cls.first_flexible = parse_versions(flexible)[0] if flexible else ALWAYS[1] + 1

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        return version >= cls.first_flexible

    @classmethod
    def check_version(cls, version: int) -> None:
        """Raises WireError when the message has no such version."""
        if not cls.first_version <= version <= cls.last_version:
            raise WireError(
                f"{cls.__name__} has versions {cls.first_version}-{cls.last_version}, not {version}"
            )

    def parts(self, version: int) -> list[Buffer]:
        """Encode as a list of buffers; records are not copied.

        Raises WireError when a value does not fit its field.
        """
        return codec.write_parts(self, version)

    def encode(self, version: int) -> bytes:
        """Encode as one byte string. Raises WireError when a value does not fit its field."""
        return b"".join(codec.write_parts(self, version))

    @classmethod
    def decode(cls, buf: Buffer, version: int, pos: int = 0) -> Self:
        """Decode what begins at `pos`; bytes after it are ignored, as Kafka does.

        Records in it stay views of `buf`. Raises WireError for bytes that do not fit.
        """
        message: Self
        try:  # as codec.read_message does, with one call less
            message, _ = codec.reader(cls, version)(buf, pos)
        except codec.DAMAGE as error:
            message, _ = codec.read_again(cls, buf, version, pos, error)
        return message

    @classmethod
    def decode_from(cls, buf: Buffer, version: int, pos: int = 0) -> tuple[Self, int]:
        """Like decode, and also return the position after the message."""
        return codec.read_message(cls, buf, version, pos)


REQUESTS: dict[int, type[Request]] = {}
RESPONSES: dict[int, type[Response]] = {}


class Request(Message):
    """A request of a client. Registered by its API key.

    `unstable` versions: Kafka has a table of them but lets clients use them only if configured so.
    """

    __slots__ = ()
    api_key: ClassVar[int]
    unstable: ClassVar[tuple[int, int]]

    def __init_subclass__(cls, api: int = -1, unstable: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.api_key = api
        cls.unstable = parse_versions(unstable) if unstable else NEVER
        REQUESTS[api] = cls


class Response(Message):
    """An answer of the broker. Registered by its API key."""

    __slots__ = ()
    api_key: ClassVar[int]

    def __init_subclass__(cls, api: int = -1, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.api_key = api
        RESPONSES[api] = cls


def resolve(cls: type[Struct]) -> dict[str, Type]:
    """Turn the annotations of a struct, and of those in it, into types; kept on the class."""
    if cls._types is None:
        scope = {**vars(sys.modules[cls.__module__]), **_nested(cls)}
        cls._types = {f.name: _resolve_one(eval(f.annotation, scope)) for f in cls._fields}
    return cls._types


def _nested(cls: StructType | None) -> dict[str, StructType]:
    """The structs nested in a class and in those around it, the nearest first."""
    if cls is None:
        return {}
    inner = {name: value for name, value in vars(cls).items() if isinstance(value, StructType)}
    inner.pop("_outer", None)
    return {**_nested(cls._outer), **inner}


def _resolve_one(annotation: Any) -> Type:
    if get_origin(annotation) in (UnionType, Union):
        inner = next(arg for arg in get_args(annotation) if arg is not type(None))
        # The members of a union of buffers are what Records is made of.
        return _resolve_one(inner)._replace(nullable=True)
    if get_origin(annotation) is list:
        return _resolve_one(get_args(annotation)[0])._replace(is_list=True)
    if isinstance(annotation, StructType):
        assert issubclass(annotation, Struct)
        resolve(annotation)
        return Type(None, annotation, False, False)
    if get_origin(annotation) is Annotated:
        return Type(get_args(annotation)[1], None, False, False)
    return Type(_PLAIN[annotation], None, False, False)


# At the end, since the two modules import each other.
from .codec import messages as codec  # noqa: E402
