"""Which handler serves which API: each registers itself with `handles`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ...wire import Request, Response
from ...wire.api.fetch import FetchRequest
from ...wire.api.produce import ProduceRequest
from ..base.call import Call, Sentinel
from ..base.turns import Slices

if TYPE_CHECKING:
    from ..cluster import Cluster

R = TypeVar("R", bound=Request)
H = TypeVar("H", bound="Handler")
Outcome: TypeAlias = Response | Sentinel | Slices[Response | Sentinel]
"""What a handler returns; a generator function's is carried out in slices (base/turns.py)."""
Handler: TypeAlias = Callable[["Cluster", Call, Any], Outcome]


_TELL_FOR_THEMSELVES = (ProduceRequest.api_key, FetchRequest.api_key)


class Served:
    """One API that is emulated; in which versions it is served the release says."""

    __slots__ = ("handler", "is_cached", "is_told", "request")

    def __init__(self, request: type[Request], handler: Handler, is_cached: bool) -> None:
        self.is_told = request.api_key not in _TELL_FOR_THEMSELVES
        """Whether what it is answered is told by control/telling.py."""
        self.request = request
        self.handler = handler
        self.is_cached = is_cached


SERVED: dict[int, Served] = {}


def handles(request: type[R], *, cached: bool = False) -> Callable[[H], H]:
    """Register a handler, for every version that the releases of Kafka have (base/release.py).

    `cached`: the answer follows from the bytes of the request and the catalogue alone, and may be
    given again (response_cache.py).
    """

    def register(handler: H) -> H:
        SERVED[request.api_key] = Served(request, handler, cached)
        return handler

    return register
