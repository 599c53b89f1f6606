"""AlterConfigs (33): replace all configs of a resource: what is not named has its default again.

For the rest like IncrementalAlterConfigs, but not for loggers. Where a resource is named twice a
real broker fails and never answers; here both entries are refused, as there.
metadata/config_changes.py has the rules. Not emulated: an alter config policy class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ...wire.api.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ..base.call import NO_REPLY, Call, Sentinel
from ..config.loggers import SET
from ..metadata.config_changes import Alteration, AskedBroker, Change, Wanted
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from .configs_old import OldAlteration

A = TypeVar("A")


@handler(AlterConfigsRequest)
def alter_configs(
    cluster: Cluster, call: Call, request: AlterConfigsRequest
) -> AlterConfigsResponse | Sentinel:
    release = cluster.release
    fails = release.forgets_other_resources and not release.reads_null_values
    if fails and _has_nulls(request):
        call.close()
        return NO_REPLY
    resources = [
        Wanted(
            resource.resource_type,
            resource.resource_name,
            [Change(each.name, SET, each.value) for each in resource.configs],
        )
        for resource in request.resources
    ]
    alteration = alteration_of(
        cluster, call.node_id, is_incremental=False, validate_only=request.validate_only
    )
    answers = carried_out(alteration, resources, AlterConfigsResponse.Resource)
    return AlterConfigsResponse(responses=answers)


def _has_nulls(request: AlterConfigsRequest) -> bool:
    return any(each.value is None for one in request.resources for each in one.configs)


def alteration_of(
    cluster: Cluster, node_id: int, *, is_incremental: bool, validate_only: bool
) -> Alteration | OldAlteration:
    if not cluster.release.has_kraft:
        from .configs_old import OldAlteration

        return OldAlteration(
            cluster, node_id, is_incremental=is_incremental, validate_only=validate_only
        )
    config = cluster.brokers[node_id].config
    return Alteration(
        *(cluster, cluster.metadata, cluster.features, cluster.topics),
        AskedBroker(node_id, config, cluster.loggers, cluster.security.check_stores),
        is_incremental=is_incremental,
        validate_only=validate_only,
    )


def carried_out(
    alteration: Alteration | OldAlteration, resources: Sequence[Wanted], answer: Callable[..., A]
) -> list[A]:
    """Alter resources; the answer to each."""
    return [
        answer(
            error_code=refused.error if refused else 0,
            error_message=refused.message if refused else None,
            resource_type=resource.kind,
            resource_name=resource.name,
        )
        for resource, refused in alteration.carry_out(resources)
    ]
