"""Configs: settled when both brokers describe those set at run time alike, for each resource."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from odradek.emulator.config.definition import Source
from odradek.wire import Request
from odradek.wire.api.describe_configs import DescribeConfigsRequest

from ..ask.configs import BROKER, GROUP, METRICS, TOPIC
from ..engine.asker import Asker
from .alike import until_alike

_SETTLING = (TOPIC, BROKER, METRICS, GROUP)
_NOT_SET_AT_RUN_TIME = (Source.STATIC_BROKER, Source.DEFAULT)


def settle(
    askers: Sequence[Asker], request: Request, topics: Iterable[str], limit_s: float
) -> None:
    """Wait until both brokers say the same of the resources of a request, and of these topics if
    it is about brokers."""
    if not askers[0].serves(DescribeConfigsRequest, 1):
        return  # such a broker changes topics alone, and at once
    named = {
        (resource.resource_type, resource.resource_name)
        for resource in request.resources  # type: ignore[attr-defined]
        if resource.resource_type in _SETTLING
    }
    if any(kind == BROKER for kind, _ in named):
        named |= {(TOPIC, name) for name in topics}
    if named:
        until_alike(askers, lambda asker: _view(asker, sorted(named)), limit_s)


def _view(asker: Asker, resources: Sequence[tuple[int, str]]) -> Any:
    asked = DescribeConfigsRequest.Resource
    request = DescribeConfigsRequest(
        resources=[
            asked(resource_type=kind, resource_name=name, configuration_keys=None)
            for kind, name in resources
        ],
        include_synonyms=False,
    )
    return [
        (
            result.resource_type,
            result.resource_name,
            result.error_code,
            sorted(
                (config.name, config.value)
                for config in result.configs
                if config.config_source not in _NOT_SET_AT_RUN_TIME
            ),
        )
        for result in asker.ask(request, 1).results
    ]
