"""Which handler serves which API: each registers itself with `handler`, and is imported when a
request of its API first comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ...wire import Request, Response
from ...wire.api import API_MODULES, api_keys
from ...wire.api.fetch import FetchRequest
from ...wire.api.produce import ProduceRequest
from ..base.call import Call, Sentinel
from ..base.turns import Slices

if TYPE_CHECKING:
    from ..cluster import Cluster

D = TypeVar("D")
R = TypeVar("R", bound=Request)
H = TypeVar("H", bound="Handler")
Outcome: TypeAlias = Response | Sentinel | Slices[Response | Sentinel]
"""What a handler returns; a generator function's is carried out in slices (base/turns.py)."""
Handler: TypeAlias = Callable[["Cluster", Call, Any], Outcome]


_TELL_FOR_THEMSELVES = (ProduceRequest.api_key, FetchRequest.api_key)


class Served:
    """One API that is emulated; in which versions it is served the release says."""

    __slots__ = ("handler", "is_cached", "is_logged", "request")

    def __init__(self, request: type[Request], handler: Handler, is_cached: bool) -> None:
        self.is_logged = request.api_key not in _TELL_FOR_THEMSELVES
        """Whether control/client_tracker.py logs its answers."""
        self.request = request
        self.handler = handler
        self.is_cached = is_cached


class Registry(Mapping[int, Served]):
    """Every API that is served, by its key. Its keys are known without importing a handler."""

    def __init__(self) -> None:
        self._imported: dict[int, Served] = {}

    def __getitem__(self, key: int) -> Served:
        served = self.get(key)
        if served is None:
            raise KeyError(key)
        return served

    def get(self, key: int, default: D | None = None) -> Served | D | None:  # type: ignore[override]
        served = self._imported.get(key)
        if served is None and key in API_MODULES:
            import_module(f".{API_MODULES[key]}", __package__)
            served = self._imported[key]
        return served or default

    def __setitem__(self, key: int, served: Served) -> None:
        self._imported[key] = served

    def __contains__(self, key: object) -> bool:
        return key in API_MODULES

    def __iter__(self) -> Iterator[int]:
        return iter(API_MODULES)

    def __len__(self) -> int:
        return len(API_MODULES)


SERVED = Registry()
_COMMON = api_keys(
    *("produce", "fetch", "list_offsets", "metadata", "offset_commit", "offset_fetch"),
    *("find_coordinator", "join_group", "heartbeat", "leave_group", "sync_group", "api_versions"),
    *("init_producer_id", "add_partitions_to_txn", "end_txn"),
)


def import_common() -> None:
    """Import what clients use every day while there are descriptors to read modules by: clients may
    take them all."""
    for key in _COMMON:
        SERVED.get(key)


def handler(request: type[R], *, cached: bool = False) -> Callable[[H], H]:
    """Register a handler, for every version that the releases of Kafka have (base/release.py).

    `cached`: the answer follows from the bytes of the request, the metadata and the listed brokers
    alone, and may be given again (response_cache.py).
    """

    def register(function: H) -> H:
        SERVED[request.api_key] = Served(request, function, cached)
        return function

    return register
