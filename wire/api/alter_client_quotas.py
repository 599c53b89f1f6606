"""AlterClientQuotas (49): set or remove quotas."""

from __future__ import annotations

from ..schema import Request, Response, Struct, f64, i16, i32


class AlterClientQuotasRequest(Request, api=49, versions="0-1", flexible="1+"):
    """Change quotas of these entities."""

    entries: list[Entry]
    validate_only: bool

    class Entry(Struct):
        entity: list[Entity]
        ops: list[Op]

        class Entity(Struct):
            entity_type: str
            entity_name: str | None

        class Op(Struct):
            key: str
            value: f64
            remove: bool


class AlterClientQuotasResponse(Response, api=49, versions="0-1", flexible="1+"):
    """Whether each entity was changed."""

    throttle_time_ms: i32 = 0
    entries: list[Entry]

    class Entry(Struct):
        error_code: i16 = 0
        error_message: str | None
        entity: list[Entity]

        class Entity(Struct):
            entity_type: str
            entity_name: str | None
