"""What the APIs about configs need: topics and groups each their own right, the rest the cluster.

Loggers are the cluster's too. What is refused before a broker asks whether the client may change it
is left to the handler: resources and configs that are named twice, values that are null, brokers
that are not the one that was asked (semantics M13).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ...wire import Error
from ...wire.api.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ...wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ...wire.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..config.loggers import SET
from ..handlers.alter_configs import alteration_of
from ..metadata.config_changes import LOGGER_RESOURCE, Change, Wanted
from ..security.authorizer.acl import CLUSTER_NAME, Kind, Operation
from .asking import ERRORS, MESSAGES, Authorization, PartlyDenied, Verdict
from .guard import guards

_KINDS = {
    2: Kind.TOPIC,
    4: Kind.CLUSTER,
    8: Kind.CLUSTER,
    16: Kind.CLUSTER,
    32: Kind.GROUP,
}
"""By the type of a config's resource: topic, broker, logger, client metrics, group."""


@guards(DescribeConfigsRequest)
def describe_configs(asking: Authorization, request: DescribeConfigsRequest) -> Verdict:
    """What may not be seen comes last."""
    if any(each.resource_type not in _KINDS for each in request.resources):
        return None  # the handler refuses all of it
    resources = request.resources
    kept, answers = _judged(asking, resources, Operation.DESCRIBE_CONFIGS, lambda each: False)
    if not answers:
        return None
    made = [
        DescribeConfigsResponse.Result(
            error_code=ERRORS[kind],
            error_message=MESSAGES[kind],
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
            configs=[],
        )
        for resource, kind in answers
    ]
    narrowed = DescribeConfigsRequest(
        resources=kept,
        include_synonyms=request.include_synonyms,
        include_documentation=request.include_documentation,
    )

    def finish(own: Any) -> None:
        own.results += made

    return PartlyDenied(narrowed if kept else None, finish)


@guards(AlterConfigsRequest)
def alter_configs(asking: Authorization, request: AlterConfigsRequest) -> Verdict:
    alteration = alteration_of(
        asking.cluster, asking.call.node_id, is_incremental=False, validate_only=True
    )

    def is_bad(each: Any) -> bool:
        changes = [Change(config.name, SET, config.value) for config in each.configs]
        wanted = Wanted(each.resource_type, each.resource_name, changes)
        return alteration.is_refused_at_once(wanted)

    kept, answers = _judged(asking, request.resources, Operation.ALTER_CONFIGS, is_bad)
    if not answers:
        return None
    narrowed = AlterConfigsRequest(resources=kept, validate_only=request.validate_only)
    return _in_order(request, narrowed, answers, AlterConfigsResponse.Resource)


@guards(IncrementalAlterConfigsRequest)
def incremental_alter_configs(
    asking: Authorization, request: IncrementalAlterConfigsRequest
) -> Verdict:
    alteration = alteration_of(
        asking.cluster, asking.call.node_id, is_incremental=True, validate_only=True
    )

    def is_bad(each: Any) -> bool:
        changes = [Change(c.name, c.config_operation, c.value) for c in each.configs]
        wanted = Wanted(each.resource_type, each.resource_name, changes)
        return alteration.is_refused_at_once(wanted)

    kept, answers = _judged(asking, request.resources, Operation.ALTER_CONFIGS, is_bad)
    if not answers:
        return None
    narrowed = IncrementalAlterConfigsRequest(resources=kept, validate_only=request.validate_only)
    return _in_order(request, narrowed, answers, IncrementalAlterConfigsResponse.Resource)


def _judged(
    asking: Authorization, resources: list[Any], operation: Operation, is_bad: Callable[[Any], bool]
) -> tuple[list[Any], list[tuple[Any, Kind]]]:
    """Resources that go on, among them those that are refused for something else; and those that
    are refused, with what they belong to."""
    times = Counter((each.resource_type, each.resource_name) for each in resources)
    has_kraft = asking.cluster.release.has_kraft  # else what is named twice is done once
    kept: list[Any] = []
    refused: list[tuple[Any, Kind]] = []
    for each in resources:
        kind = _KINDS.get(each.resource_type)
        is_twice = times[each.resource_type, each.resource_name] > 1 and has_kraft
        if kind is None or (is_twice and operation is Operation.ALTER_CONFIGS) or is_bad(each):
            kept.append(each)
            continue
        name = CLUSTER_NAME if kind is Kind.CLUSTER else each.resource_name
        if asking.may(operation, kind, name):
            kept.append(each)
        else:
            refused.append((each, kind))
    return kept, refused


def _in_order(
    request: Any, narrowed: Any, answers: list[tuple[Any, Kind]], answer: Any
) -> PartlyDenied:
    """The answer has the resources in the order of the request."""
    refused = {id(each): _refused(answer, each, kind) for each, kind in answers}

    def finish(own: Any) -> None:
        if any(each.error_code == Error.UNKNOWN_SERVER_ERROR for each in own.responses):
            for each in refused.values():  # an operation that there is not fails all of them
                each.error_code, each.error_message = Error.UNKNOWN_SERVER_ERROR, None
        rest = iter(own.responses)
        own.responses = [refused.get(id(each)) or next(rest) for each in request.resources]

    return PartlyDenied(narrowed if narrowed.resources else None, finish)


def _refused(answer: Any, resource: Any, kind: Kind) -> Any:
    return answer(
        error_code=ERRORS[kind],
        error_message=None if resource.resource_type == LOGGER_RESOURCE else MESSAGES[kind],
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
