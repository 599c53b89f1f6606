"""What the APIs about configs need: topics and groups each their own right, the rest the cluster.

Loggers are the cluster's too; a kind of resource that there is not is left to the handler, and so
is a resource that is named twice (semantics M13).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...wire.api.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ...wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ...wire.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..security.authorizer.terms import CLUSTER_NAME, Kind, Operation
from .asking import Asking, Narrowed, Verdict
from .guard import guards
from .needs import ERRORS, MESSAGES

_KINDS = {
    2: Kind.TOPIC,
    4: Kind.CLUSTER,
    8: Kind.CLUSTER,
    16: Kind.CLUSTER,
    32: Kind.GROUP,
}
"""By the type of a config's resource: topic, broker, logger, client metrics, group."""


@guards(DescribeConfigsRequest)
def describe_configs(asking: Asking, request: DescribeConfigsRequest) -> Verdict:
    """What may not be seen comes last."""
    kept, answers = _judged(asking, request.resources, Operation.DESCRIBE_CONFIGS)
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

    return Narrowed(narrowed if kept else None, finish)


@guards(AlterConfigsRequest)
def alter_configs(asking: Asking, request: AlterConfigsRequest) -> Verdict:
    kept, answers = _judged(asking, request.resources, Operation.ALTER_CONFIGS)
    if not answers:
        return None
    made = [_refused(AlterConfigsResponse.Resource, each, kind) for each, kind in answers]
    narrowed = AlterConfigsRequest(resources=kept, validate_only=request.validate_only)

    def finish(own: Any) -> None:
        own.responses += made

    return Narrowed(narrowed if kept else None, finish)


@guards(IncrementalAlterConfigsRequest)
def incremental_alter_configs(asking: Asking, request: IncrementalAlterConfigsRequest) -> Verdict:
    kept, answers = _judged(asking, request.resources, Operation.ALTER_CONFIGS)
    if not answers:
        return None
    response = IncrementalAlterConfigsResponse.Resource
    made = [_refused(response, each, kind) for each, kind in answers]
    narrowed = IncrementalAlterConfigsRequest(resources=kept, validate_only=request.validate_only)

    def finish(own: Any) -> None:
        own.responses += made

    return Narrowed(narrowed if kept else None, finish)


def _judged(
    asking: Asking, resources: list[Any], operation: Operation
) -> tuple[list[Any], list[tuple[Any, Kind]]]:
    """Resources that go on, and those that are refused."""
    times = Counter((each.resource_type, each.resource_name) for each in resources)
    kept: list[Any] = []
    refused: list[tuple[Any, Kind]] = []
    for each in resources:
        kind = _KINDS.get(each.resource_type)
        is_twice = times[each.resource_type, each.resource_name] > 1
        if kind is None or (is_twice and operation is Operation.ALTER_CONFIGS):
            kept.append(each)
            continue
        name = CLUSTER_NAME if kind is Kind.CLUSTER else each.resource_name
        if asking.may(operation, kind, name):
            kept.append(each)
        else:
            refused.append((each, kind))
    return kept, refused


def _refused(answer: Any, resource: Any, kind: Kind) -> Any:
    return answer(
        error_code=ERRORS[kind],
        error_message=MESSAGES[kind],
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
