"""Requests that change configs: of each resource type, name, and what changes."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest

Pair = tuple[str, str | None]
Change = tuple[str, int, str | None]


def alter_request(
    *resources: tuple[int, str, Sequence[Pair]], validate_only: bool = False
) -> AlterConfigsRequest:
    """Each config's name and value."""
    made = AlterConfigsRequest.Resource
    return AlterConfigsRequest(
        resources=[
            made(
                resource_type=kind,
                resource_name=name,
                configs=[made.Config(name=key, value=value) for key, value in pairs],
            )
            for kind, name, pairs in resources
        ],
        validate_only=validate_only,
    )


def change_request(
    *resources: tuple[int, str, Sequence[Change]], validate_only: bool = False
) -> IncrementalAlterConfigsRequest:
    """Each config's name, operation and value."""
    made = IncrementalAlterConfigsRequest.Resource
    return IncrementalAlterConfigsRequest(
        resources=[
            made(
                resource_type=kind,
                resource_name=name,
                configs=[
                    made.Config(name=key, config_operation=operation, value=value)
                    for key, operation, value in changes
                ],
            )
            for kind, name, changes in resources
        ],
        validate_only=validate_only,
    )
