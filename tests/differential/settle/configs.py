"""Waiting for configs that were changed: a real broker follows its controller a moment later.

Settled is what both sides describe alike: of each resource that a request named, the values that
were set at run time. Topics follow the brokers' configs a moment later still: they are asked too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from odradek.wire import Request
from odradek.wire.api.describe_configs import DescribeConfigsRequest

from ..engine.versions import Asker

_STATIC, _DEFAULT = 4, 5
_TOPIC, _BROKER = 2, 4
_KINDS = frozenset({_TOPIC, _BROKER, 16, 32})


def settle_configs(
    askers: Sequence[Asker], request: Request, topics: Iterable[str], limit_s: float
) -> None:
    """Wait until both sides say the same of the resources of a request, and if it is about brokers
    of these topics, for `limit_s` at most."""
    named = {
        (resource.resource_type, resource.resource_name)
        for resource in request.resources  # type: ignore[attr-defined]
        if resource.resource_type in _KINDS
    }
    if any(kind == _BROKER for kind, _ in named):
        named |= {(_TOPIC, name) for name in topics}
    resources = sorted(named)
    deadline = time.monotonic() + limit_s
    while resources:
        views = [_view(asker, resources) for asker in askers]
        if views[0] == views[1] or time.monotonic() > deadline:
            return
        time.sleep(0.003)


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
                if config.config_source not in (_STATIC, _DEFAULT)
            ),
        )
        for result in asker.ask(request, 1).results
    ]
