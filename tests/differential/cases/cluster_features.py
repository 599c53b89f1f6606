"""Section I12: features, and which of them may go up and down."""

from __future__ import annotations

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

from ..ask import cluster as ask
from ..engine.steps import Ask, Steps
from . import case

FEATURES = Ask(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4)
UP, SAFE, UNSAFE = 1, 2, 3

# Features


@case("I12", each=UpdateFeaturesRequest)
def features_that_may_not_change() -> Steps:
    wrong = (
        *(("nonsense", level) for level in (-1, 0, 1)),
        ("", 1),
        *(("metadata.version", level) for level in (-1, 0, 6, 7, 22, 29, 31)),
        *(("group.version", level) for level in (-1, 2, 32767)),
        ("transaction.version", 3),
        ("kraft.version", 2),
        ("kraft.version", -1),
    )
    kinds = (UP, SAFE, UNSAFE, 0, 4, 9, -1)
    return [
        *(
            Ask(ask.features((name, level, kind), validate_only=dry))
            for name, level in wrong
            for kind, dry in ((UP, False), (SAFE, True), (UNSAFE, True), (9, False))
        ),
        *(Ask(ask.features(("group.version", 1, kind), validate_only=True)) for kind in kinds),
        Ask(ask.features(("share.version", 7, UP), ("zz", 1, UP), ("group.version", 7, UP))),
        Ask(ask.features(("group.version", 7, UP), ("share.version", 7, UP))),
        Ask(ask.features(("q1", 1, UP), ("q2", 1, UP), ("yy", 1, UP))),
        Ask(ask.features(("group.version", 1, UP), ("zz", 1, UP))),
        Ask(ask.features()),
        Ask(ask.features(("kraft.version", 0, UP))),
        FEATURES,
    ]


@case("I12")
def features_go_down_and_up_again() -> Steps:
    lower: Steps = []
    levels = (
        ("group.version", (0, 1)),
        ("transaction.version", (1, 0, 1, 2)),
        ("share.version", (0, 1)),
        ("streams.version", (0, 1)),
        ("eligible.leader.replicas.version", (0, 1)),
    )
    for name, path in levels:
        current = path[-1]
        for level in path:
            kind = UP if level > current else SAFE
            lower += [Ask(ask.features((name, level, UP + UNSAFE - kind), validate_only=True))]
            lower += [Ask(ask.features((name, level, kind)), 1), FEATURES]
            current = level
    return [
        *lower,
        Ask(ask.features(("group.version", 0, SAFE), ("group.version", 1, UP)), 1),
        FEATURES,
        Ask(ask.features(("group.version", 1, UP), ("group.version", 0, UNSAFE)), 1),
        FEATURES,
        Ask(ask.features(("group.version", 1, SAFE)), 1),
        Ask(ask.features(("group.version", 0, SAFE), timeout_ms=0)),
        Ask(ask.features(("group.version", 1, UP), timeout_ms=-1)),
        Ask(ask.features(("metadata.version", 30, SAFE), ("transaction.version", 2, UP))),
        FEATURES,
    ]
