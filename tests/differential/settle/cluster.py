"""Waiting for features, quotas and credentials: a real broker follows its controller later.

Settled is what both sides describe alike, whatever order they list it in.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from ..engine.versions import Asker

MAY_CHANGE = frozenset({49, 51, 57})
"""AlterClientQuotas, AlterUserScramCredentials, UpdateFeatures."""


def settle_cluster(askers: Sequence[Asker], namespace: str, limit_s: float) -> None:
    """Wait until both sides say the same of the cluster, for `limit_s` at most.

    Of users only those count whose names begin with `namespace`: a real node forgets some when it
    starts (allowed/cluster.py).
    """
    deadline = time.monotonic() + limit_s
    while True:
        views = [_view(asker, namespace) for asker in askers]
        if views[0] == views[1] or time.monotonic() > deadline:
            return
        time.sleep(0.003)


def _view(asker: Asker, namespace: str) -> Any:
    client = ApiVersionsRequest(client_software_name="engine", client_software_version="1")
    features = asker.ask(client, 4).finalized_features
    quotas = asker.ask(DescribeClientQuotasRequest(components=[], strict=False), 1).entries
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
