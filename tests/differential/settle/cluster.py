"""Features, quotas and credentials: settled when both brokers describe them alike, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from ..engine.asker import Asker
from .alike import until_alike


def settle(askers: Sequence[Asker], namespace: str, limit_s: float) -> None:
    """Wait until both brokers say the same of the cluster.

    Of users only those count whose names begin with `namespace`: a real node forgets some when it
    starts (FORGOTTEN in allowed/cluster.py).
    """
    until_alike(askers, lambda asker: _view(asker, namespace), limit_s)


def _view(asker: Asker, namespace: str) -> Any:
    client = ApiVersionsRequest(client_software_name="engine", client_software_version="1")
    features, quotas, users = [], [], []
    if asker.serves(ApiVersionsRequest):
        features = asker.ask(client, 4).finalized_features
    if asker.serves(DescribeClientQuotasRequest):
        quotas = asker.ask(DescribeClientQuotasRequest(components=[], strict=False), 1).entries
    if asker.serves(DescribeUserScramCredentialsRequest):
        users = asker.ask(DescribeUserScramCredentialsRequest(users=None), 0).results
    return (
        sorted((each.name, each.max_version_level) for each in features),
        sorted(
            (repr(entry.entity), sorted(repr(value) for value in entry.values)) for entry in quotas
        ),
        sorted(
            (each.user, sorted(map(repr, each.credential_infos)))
            for each in users
            if each.user.startswith(namespace)
        ),
    )
