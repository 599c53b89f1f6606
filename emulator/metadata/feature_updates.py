"""The rules of UpdateFeatures: which changes of levels are allowed, and what they write.

Rules (Kafka's), for each feature of a request in the order of a HashMap, the first one that fails
failing them all:
- The kind of change is known, the level is not negative and within this release's range.
- A level rises only with an upgrade, and falls only with a safe or unsafe downgrade; the same level
  is always allowed.
- `metadata.version` falls only to a level with the same records, also with an unsafe downgrade.
- `kraft.version` never falls.
- With eligible leader replicas `min.insync.replicas` is set for all brokers together: for them it
  gets the value in force if there is none, for single ones it is removed.

Source: KIP-584, KIP-778, KIP-966, KIP-1155; Kafka 4.3.1's answers and log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...wire import Error, Refused
from ...wire.stored.cluster import FeatureLevelRecord, MetadataRecord
from ...wire.stored.control import KRaftVersion, KRaftVoters
from ..base.java_order import hash_map_order
from ..config.configs import ALL_BROKERS, BrokerConfig
from .config_changes import plan_broker_configs
from .features import ELIGIBLE_LEADERS, KRAFT_VERSION, METADATA_VERSION

if TYPE_CHECKING:
    from ..base.release import Release
    from ..environment import Environment
    from .features import Features

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
CONTROLLER_LISTENER = "CONTROLLER"

_MIN_INSYNC = "min.insync.replicas"
_FIRST_OF_KRAFT = 4
# Levels of metadata.version at which records changed: going below one would lose something.
_RECORDS_CHANGED_AT = (7, 8, 11, 13, 14, 15, 17, 23, 30)


class FeatureUpdate(NamedTuple):
    level: int
    kind: int
    """UPGRADE, SAFE_DOWNGRADE or UNSAFE_DOWNGRADE."""


def update_features(
    environment: Environment,
    features: Features,
    updates: Mapping[str, FeatureUpdate],
    *,
    validate_only: bool,
) -> None:
    """Change levels together. Raises Refused(INVALID_UPDATE_VERSION), changing nothing, or
    KAFKA_STORAGE_ERROR."""
    for name in hash_map_order(updates):
        problem = _problem(environment, features, name, updates[name])
        if problem is not None:
            sentence = (
                "The update failed for all features since the following feature had an error: "
            )
            raise Refused(Error.INVALID_UPDATE_VERSION, sentence + problem)
    if validate_only:
        return
    levels = {name: updates[name].level for name in hash_map_order(updates)}
    kraft_version = 0
    if environment.release.quorum_keeps_kraft_version:
        kraft_version = levels.pop(KRAFT_VERSION, 0)
    records: list[MetadataRecord] = []
    if levels.get(ELIGIBLE_LEADERS, 0) > features.level(ELIGIBLE_LEADERS):
        records += _share_min_insync(environment.config)
    records += [FeatureLevelRecord(name=name, feature_level=n) for name, n in levels.items()]
    features.log.append(records)
    if kraft_version > features.level(KRAFT_VERSION):
        _keep_voters_in_the_log(environment, features, kraft_version)


def update_one_by_one(
    environment: Environment,
    features: Features,
    updates: Mapping[str, FeatureUpdate],
    *,
    validate_only: bool,
) -> dict[str, Refused | None]:
    """Change each level that may be, as releases up to 3.9 do. Returns by name why one was not."""
    problems = {
        name: _problem(environment, features, name, updates[name])
        for name in hash_map_order(updates)
    }
    outcomes = {
        name: None if problem is None else Refused(Error.INVALID_UPDATE_VERSION, problem)
        for name, problem in problems.items()
    }
    good = {name: updates[name] for name, refused in outcomes.items() if refused is None}
    try:
        update_features(environment, features, good, validate_only=validate_only)
    except Refused as refused:
        outcomes |= dict.fromkeys(good, refused)
    return outcomes


def _problem(
    environment: Environment, features: Features, name: str, update: FeatureUpdate
) -> str | None:
    """Why a feature cannot be changed so; None if it can."""
    (level, kind), release = update, environment.release
    current = features.level(name)
    reason = None
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        reason = "The controller does not support the given upgrade type."
    elif level < 0:
        reason = "A feature version cannot be less than 0."
    elif (not_supported := _not_supported(environment, name, level)) is not None:
        reason = not_supported
    elif level < current and kind == UPGRADE:
        reason = (
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade."
        )
    elif level > current and kind != UPGRADE:
        reason = "Can't downgrade to a newer version."
    elif level < current and name == METADATA_VERSION:
        return _lossy_downgrade(release, current, level, kind)
    elif (
        level < current and name == KRAFT_VERSION and environment.release.quorum_keeps_kraft_version
    ):
        reason = "Can't downgrade the version of this feature."
    return (
        None if reason is None else f"Invalid update version {level} for feature {name}. {reason}"
    )


def _not_supported(environment: Environment, name: str, level: int) -> str | None:
    node_id, supported = environment.controller_id, environment.release.features
    if name not in supported:
        if level == 0 and environment.release.unknown_features_have_level_0:
            return None
        if level == 0 and name == "streams.version" and environment.release.has_streams_groups:
            return None  # 4.1 has it, and no level of it that is stable
        if level == 0:
            return f"Feature {name} not found."
        return f"Local controller {node_id} does not support this feature."
    first, last = supported[name]
    if not first <= level <= last:
        return f"Local controller {node_id} only supports versions {first}-{last}"
    return None


def _lossy_downgrade(release: Release, current: int, level: int, kind: int) -> str | None:
    if level < _FIRST_OF_KRAFT:
        return (
            f"Invalid metadata.version {level}. Unable to set a metadata.version less than 3.3-IV0"
        )
    if not any(level < changed <= current for changed in _RECORDS_CHANGED_AT):
        return None
    reason = "Unsafe metadata downgrade is not supported in this version."
    if kind == SAFE_DOWNGRADE:
        reason = (
            "Refusing to perform the requested downgrade because it might delete metadata "
            "information."
        )
    if release.names_both_levels_of_a_downgrade:
        return f"Unsupported metadata.version downgrade from {current} to {level}. {reason}"
    return f"Invalid metadata.version {level}. {reason}"


def _share_min_insync(config: BrokerConfig) -> list[MetadataRecord]:
    """Let `min.insync.replicas` be one value for all brokers, as eligible leader replicas want."""
    records: list[MetadataRecord] = []
    for_all = config.dynamic.get(ALL_BROKERS, {})
    if _MIN_INSYNC not in for_all:
        value = str(config.get(_MIN_INSYNC))
        records += plan_broker_configs(config, ALL_BROKERS, {**for_all, _MIN_INSYNC: value})
    for name, texts in config.dynamic.items():
        if name != ALL_BROKERS and _MIN_INSYNC in texts:
            left = {key: text for key, text in texts.items() if key != _MIN_INSYNC}
            records += plan_broker_configs(config, name, left)
    return records


def _keep_voters_in_the_log(environment: Environment, features: Features, version: int) -> None:
    """Write the voters of the quorum: this node alone."""
    node_id = environment.controller_id
    broker = environment.nodes[node_id]
    first, last = environment.release.features[KRAFT_VERSION]
    voter = KRaftVoters.Voter(
        voter_id=node_id,
        voter_directory_id=environment.log_dir.properties.directory_id or bytes(16),
        endpoints=[
            KRaftVoters.Voter.Endpoint(name=CONTROLLER_LISTENER, host=broker.host, port=broker.port)
        ],
        kraft_version_feature=KRaftVoters.Voter.KRaftVersionFeature(
            min_supported_version=first, max_supported_version=last
        ),
    )
    features.log.append_controls(
        [
            KRaftVersion(version=0, kraft_version=version),
            KRaftVoters(version=0, voters=[voter]),
        ]
    )
