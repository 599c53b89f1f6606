"""DescribeClientQuotas (48): find quotas of users, client ids and addresses."""

from __future__ import annotations

from ..schema import Request, Response, Struct, f64, i8, i16, i32


class DescribeClientQuotasRequest(Request, api=48, versions="0-1", flexible="1+"):
    """Ask for quotas of matching entities."""

    components: list[Component]
    strict: bool

    class Component(Struct):
        entity_type: str
        match_type: i8
        match: str | None


class DescribeClientQuotasResponse(Response, api=48, versions="0-1", flexible="1+"):
    """The quotas of each entity."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
    entries: list[Entry] | None

    class Entry(Struct):
        entity: list[Entity]
        values: list[Value]

        class Entity(Struct):
            entity_type: str
            entity_name: str | None

        class Value(Struct):
            key: str
            value: f64
