"""Requests that are not kept, as they or their answers have passwords, tokens or keys in them."""

from __future__ import annotations

from functools import cache
from typing import Any

from ....wire import Request
from ....wire.api.alter_configs import AlterConfigsRequest
from ....wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from ....wire.api.create_delegation_token import CreateDelegationTokenRequest
from ....wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from ....wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from ....wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from ....wire.api.renew_delegation_token import RenewDelegationTokenRequest
from ....wire.api.sasl_authenticate import SaslAuthenticateRequest
from ...config.broker_table import broker_definitions

SECRET_APIS = frozenset(
    each.api_key
    for each in (
        AlterUserScramCredentialsRequest,
        CreateDelegationTokenRequest,
        DescribeDelegationTokenRequest,
        ExpireDelegationTokenRequest,
        RenewDelegationTokenRequest,
        SaslAuthenticateRequest,
    )
)
"""APIs of which nothing is kept."""


def has_secrets(request: Request) -> bool:
    """Whether it is of those APIs, or sets a config that is a password."""
    if request.api_key in SECRET_APIS:
        return True
    if not isinstance(request, AlterConfigsRequest | IncrementalAlterConfigsRequest):
        return False
    resources: Any = request.resources
    return any(each.name.endswith(_passwords()) for one in resources for each in one.configs)


@cache
def _passwords() -> tuple[str, ...]:
    """The configs that are passwords; with a listener's prefix they end so."""
    return tuple(name for name, row in broker_definitions().items() if row.is_sensitive)
