"""The Kafka protocol: bytes to messages and back. No IO, no clock, no asyncio.

    from odradek.wire import Error, WireError
    from odradek.wire.api.fetch import FetchRequest

    FetchRequest.decode(body, version=12)
    request.encode(version=12)

One module per API under `wire.api`, record batches in `wire.batch` and `wire.records`, the records
of internal topics under `wire.stored`. Importing this package imports none of them.
"""

from .errors import Error, Refused, WireError
from .primitives import NO_ID, Buffer, id_text, parse_id, random_id
from .schema import Message, Request, Response, Struct

__all__ = [
    "NO_ID",
    "Buffer",
    "Error",
    "Message",
    "Refused",
    "Request",
    "Response",
    "Struct",
    "WireError",
    "id_text",
    "parse_id",
    "random_id",
]
