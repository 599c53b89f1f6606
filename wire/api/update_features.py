"""UpdateFeatures (57): raise or lower the levels of features."""

from __future__ import annotations

from ..schema import Request, Response, Struct, i8, i16, i32, v


class UpdateFeaturesRequest(Request, api=57, versions="0-2", flexible="0+"):
    """Set these features to these levels."""

    timeout_ms: i32 = 60000
    feature_updates: list[FeatureUpdate]
    validate_only: bool = v("1+", default=False)

    class FeatureUpdate(Struct):
        feature: str
        max_version_level: i16
        allow_downgrade: bool = v("0", default=False)
        upgrade_type: i8 = v("1+", default=1)


class UpdateFeaturesResponse(Response, api=57, versions="0-2", flexible="0+"):
    """Whether they were set."""

    throttle_time_ms: i32 = 0
    error_code: i16 = 0
    error_message: str | None
    results: list[Result] = v("0-1", default=[])

    class Result(Struct):
        feature: str
        error_code: i16 = 0
        error_message: str | None
