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
from ...wire.api.alter_configs import AlterConfigsRequest
from ...wire.api.describe_configs import DescribeConfigsRequest
from ...wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from ..config.loggers import SET
from ..division.division import ITEM, Refusal, Refuse
from ..division.entries import Entry
from ..handlers.alter_configs import alteration_of
from ..metadata.config_changes import LOGGER_RESOURCE, Change, Wanted
from ..security.authorizer.acl import CLUSTER_NAME, Kind, Operation
from .asking import ERRORS, MESSAGES, Authorization, PartlyDenied, Verdict
from .guard import authorize

_KINDS = {
    2: Kind.TOPIC,
    4: Kind.CLUSTER,
    8: Kind.CLUSTER,
    16: Kind.CLUSTER,
    32: Kind.GROUP,
}
"""By the type of a config's resource: topic, broker, logger, client metrics, group."""


@authorize(DescribeConfigsRequest)
def describe_configs(asking: Authorization, request: DescribeConfigsRequest) -> Verdict:
    if any(each.resource_type not in _KINDS for each in request.resources):
        return None  # the handler refuses all of it
    return asking.without(request, _lacking(asking, Operation.DESCRIBE_CONFIGS, _never))


def _never(resource: Any) -> bool:
    return False


@authorize(AlterConfigsRequest)
def alter_configs(asking: Authorization, request: AlterConfigsRequest) -> Verdict:
    alteration = alteration_of(
        asking.cluster, asking.call.node_id, is_incremental=False, validate_only=True
    )

    def is_bad(each: Any) -> bool:
        changes = [Change(config.name, SET, config.value) for config in each.configs]
        wanted = Wanted(each.resource_type, each.resource_name, changes)
        return alteration.is_refused_at_once(wanted)

    return _altered(asking, request, is_bad)


@authorize(IncrementalAlterConfigsRequest)
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

    return _altered(asking, request, is_bad)


def _altered(
    asking: Authorization, request: Any, is_bad: Callable[[Any], bool]
) -> PartlyDenied | None:
    times = Counter((each.resource_type, each.resource_name) for each in request.resources)

    has_kraft = asking.cluster.release.has_kraft  # else what is named twice is done once

    def is_refused_anyway(each: Any) -> bool:
        is_twice = times[each.resource_type, each.resource_name] > 1 and has_kraft
        return is_twice or is_bad(each)

    found = asking.without(request, _lacking(asking, Operation.ALTER_CONFIGS, is_refused_anyway))
    if found is None:
        return None

    def finish(own: Any) -> None:
        found.finish(own)
        if any(each.error_code == Error.UNKNOWN_SERVER_ERROR for each in own.responses):
            for each in own.responses:  # an operation that there is not fails all of them
                each.error_code, each.error_message = Error.UNKNOWN_SERVER_ERROR, None

    return PartlyDenied(found.request, finish)


def _lacking(
    asking: Authorization, operation: Operation, is_refused_anyway: Callable[[Any], bool]
) -> Refuse:
    """Refuses resources that the client may not do this to, with the error of what they belong to;
    not those that are refused for something else."""

    def refuse(entry: Entry) -> Refusal | None:
        each = entry[ITEM]
        kind = _KINDS.get(each.resource_type)
        if kind is None or is_refused_anyway(each):
            return None
        name = CLUSTER_NAME if kind is Kind.CLUSTER else each.resource_name
        if asking.may(operation, kind, name):
            return None
        is_silent = operation is Operation.ALTER_CONFIGS and each.resource_type == LOGGER_RESOURCE
        return Refusal(ERRORS[kind], None if is_silent else MESSAGES[kind])

    return refuse
