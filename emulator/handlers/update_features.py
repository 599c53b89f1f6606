"""UpdateFeatures (57): raise or lower the levels of features, all of a request or none.

A feature that is named twice counts as it is named last. Only an upgrade is possible in v0,
whatever it allows. What may be changed how: metadata/feature_updates.py.

Not emulated: waiting (`timeout_ms`); brokers that support less than the controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from ..base.call import Call
from ..metadata.feature_updates import UPGRADE, FeatureUpdate, update_features, update_one_by_one
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(UpdateFeaturesRequest)
def update(cluster: Cluster, call: Call, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    if not cluster.release.has_kraft:
        return _with_zookeeper(request)
    updates = {
        each.feature: FeatureUpdate(
            each.max_version_level, each.upgrade_type if call.version > 0 else UPGRADE
        )
        for each in request.feature_updates
    }
    if cluster.release.updates_features_one_by_one:
        return _one_by_one(cluster, updates, request.validate_only)
    try:
        update_features(cluster, cluster.features, updates, validate_only=request.validate_only)
    except Refused as refused:
        return UpdateFeaturesResponse(
            error_code=refused.error, error_message=refused.message, results=[]
        )
    return UpdateFeaturesResponse(
        error_message=None,
        results=[
            UpdateFeaturesResponse.Result(feature=each.feature, error_message=Error.NONE.name)
            for each in request.feature_updates
        ],
    )


def _with_zookeeper(request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    """What a broker with ZooKeeper answers: there are no features."""
    from .users_old import feature_problem

    refusals = {
        each.feature: feature_problem(
            each.feature, each.max_version_level, allows_downgrade=each.allow_downgrade
        )
        for each in request.feature_updates
    }
    return UpdateFeaturesResponse(
        error_message=None,
        results=[
            UpdateFeaturesResponse.Result(
                feature=name, error_code=refused.error, error_message=refused.message
            )
            for name, refused in refusals.items()
        ],
    )


def _one_by_one(
    cluster: Cluster, updates: dict[str, FeatureUpdate], validate_only: bool
) -> UpdateFeaturesResponse:
    """What a broker up to 3.9 answers: a result for each feature, whatever becomes of others."""
    refusals = update_one_by_one(cluster, cluster.features, updates, validate_only=validate_only)
    return UpdateFeaturesResponse(
        error_message="",
        results=[
            UpdateFeaturesResponse.Result(
                feature=name,
                error_code=Error.NONE if refused is None else refused.error,
                error_message=None if refused is None else refused.message,
            )
            for name, refused in refusals.items()
        ],
    )
