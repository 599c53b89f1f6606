"""Requests that are not kept, as they or their answers have passwords, tokens or keys in them."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from ....wire import Request
from ....wire.api import api_keys
from ...config.broker_table import broker_definitions

SECRET_APIS = api_keys(
    "alter_user_scram_credentials",
    "create_delegation_token",
    "describe_delegation_token",
    "expire_delegation_token",
    "renew_delegation_token",
    "sasl_authenticate",
)
"""APIs of which nothing is kept."""
_SET_CONFIGS = api_keys("alter_configs", "incremental_alter_configs")


def has_secrets(request: Request) -> bool:
    """Whether it is of those APIs, or sets a config that is a password."""
    if request.api_key in SECRET_APIS:
        return True
    if request.api_key not in _SET_CONFIGS:
        return False
    resources = cast(Any, request).resources
    return any(each.name.endswith(_passwords()) for one in resources for each in one.configs)


@cache
def _passwords() -> tuple[str, ...]:
    """The configs that are passwords; with a listener's prefix they end so."""
    return tuple(name for name, row in broker_definitions().items() if row.is_sensitive)
