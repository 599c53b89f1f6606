"""The response with which Kafka refuses all of a request: where its API and version carry an error.

It is refused as `getErrorResponse` of Kafka's own request classes has it: by the error of the whole
response where there is one, else by one of each thing that was asked for.
"""

from __future__ import annotations

from typing import Any

from ...wire import Error, Request, Response
from ...wire.api import response_class
from ...wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ...wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ...wire.api.describe_log_dirs import DescribeLogDirsRequest
from ...wire.api.elect_leaders import ElectLeadersRequest
from ...wire.api.fetch import FetchRequest
from ...wire.api.metadata import MetadataRequest
from ...wire.schema import ALWAYS
from .places import PASSED_OVER, Part, answered, asked, refusable

_WITHOUT_ENTRIES = frozenset({DescribeLogDirsRequest.api_key})
"""What is answered are other things than what was asked for."""
REPEATED = frozenset({"entity", "resource_type", "FetchResponse.session_id", "Marker.producer_id"})
"""Fields that say what an entry is about, besides those with a role; some by their struct."""
IN_AN_ERROR = {
    **dict.fromkeys(("base_offset", "high_watermark", "low_watermark", "committed_offset"), -1),
    **dict.fromkeys(("issue_timestamp_ms", "max_timestamp_ms"), -1),
    "CreateDelegationTokenResponse.expiry_timestamp_ms": -1,
    **dict.fromkeys(("FindCoordinatorResponse.node_id", "FindCoordinatorResponse.port"), -1),
    **dict.fromkeys(("Coordinator.node_id", "Coordinator.port"), -1),
    "InitProducerIdResponse.producer_epoch": -1,
    **dict.fromkeys(("principal_type", "token_requester_principal_type"), "User"),
    **dict.fromkeys(("principal_name", "token_requester_principal_name"), "ANONYMOUS"),
}
"""What fields are where there is an error, if it is not their default; some by their struct."""
_NULL = frozenset({"JoinGroupResponse.protocol_name", "DescribeClientQuotasResponse.entries"})
"""Fields that are null then, in versions where they may be."""
_BOTH_BEFORE = {
    FetchRequest.api_key: 13,
    MetadataRequest.api_key: ALWAYS[1],
    ElectLeadersRequest.api_key: ALWAYS[1],
    AlterPartitionReassignmentsRequest.api_key: ALWAYS[1],
}
"""Refused as a whole, these have both the error of the whole and those of what was asked for; not
from this version on."""


def levels(request: type[Request], version: int) -> list[int]:
    """Where a response of this API has errors: 0 is the whole of it, 1 each thing asked for, ..."""
    codes = refusable(response_class(request.api_key), version)
    if request.api_key in _WITHOUT_ENTRIES:
        codes = codes[:1]
    return [level for level, code in enumerate(codes) if code]


def whole(request: type[Request], version: int) -> frozenset[int]:
    """Where Kafka has the error that refuses all of a request; nowhere in versions without."""
    found = levels(request, version)
    is_both = version < _BOTH_BEFORE.get(request.api_key, 0)
    return frozenset(found[:2] if is_both and not found[0] else found[:1])


def refused(
    request: Request, version: int, where: frozenset[int], error: Error, message: str | None = None
) -> Any:
    """The response that refuses all of a request, by errors at these levels of it."""
    response = response_class(request.api_key)
    builder = _Builder(version, error, message, where)
    made = builder.struct(
        request, asked(type(request), version), answered(response, version), depth=0
    )
    if isinstance(made, ApiVersionsResponse) and error is Error.UNSUPPORTED_VERSION:
        key, last = ApiVersionsRequest.api_key, ApiVersionsRequest.last_version
        made.api_keys = [made.Api(api_key=key, min_version=0, max_version=last)]
    return made


def timed_out(request: Request, version: int) -> Response:
    """The response of a broker that has waited for somebody else for too long."""
    where = whole(type(request), version)
    response: Response = refused(request, version, where, Error.REQUEST_TIMED_OUT)
    return response


class _Builder:
    def __init__(
        self, version: int, error: Error, message: str | None, where: frozenset[int]
    ) -> None:
        self._version = version
        self._error = error
        self._message = message
        self._where = where

    def struct(self, item: Any, part: Part, answer: Part, depth: int) -> Any:
        """The answer to one thing that was asked."""
        made = without_error(item, part, answer, self._version, depth)
        if depth in self._where:
            setattr(made, answer.code, self._error)
            if self._message is not None and hasattr(made, "error_message"):
                made.error_message = self._message
        if answer.lists and depth < max(self._where):
            name, below = answer.lists[0]
            setattr(made, name, self._list(item, part, below, depth + 1))
        return made

    def _list(self, item: Any, part: Part, below: Part, depth: int) -> list[Any]:
        found = []
        for name, inner in part.lists:
            for each in getattr(item, name) or ():
                if name == PASSED_OVER:
                    found += self._list(each, inner, below, depth)
                else:
                    found.append(self.struct(each, inner, below, depth))
        return found


def without_error(item: Any, part: Part, answer: Part, version: int, depth: int) -> Any:
    """The answer to something that was asked, which fails, and does not say so yet; the response,
    at depth 0, repeats nothing."""
    assert answer.struct is not None
    made = answer.struct(**given_in_error(item, answer, version))
    asked_for = {role: getattr(item, name) for name, role in part.fields}
    if part.struct is None:
        asked_for = {part.role: item}
    for name, role in answer.fields if depth else ():
        if role in asked_for:
            setattr(made, name, asked_for[role])
    return made


def given_in_error(item: Any, answer: Part, version: int) -> dict[str, Any]:
    """Fields that repeat what was asked for, and those that are not known."""
    assert answer.struct is not None
    given: dict[str, Any] = {}
    for field, t in answer.struct.fields():
        for name in (field.name, f"{answer.struct.__name__}.{field.name}"):
            if name in IN_AN_ERROR:
                given[field.name] = IN_AN_ERROR[name]
            elif name in REPEATED:
                given[field.name] = getattr(item, field.name)
            elif name in _NULL and field.may_be_null(t, version):
                given[field.name] = None
    return given
