"""UpdateFeatures: up, down, and what is refused (semantics I12)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import ConfigError
from odradek.emulator.metadata.features import NEW_FEATURES
from odradek.emulator.metadata.image import BROKER_RESOURCE
from odradek.fixtures.kafka.emulator import Emulator
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse

from tests.support.cluster import Client, client_of, open_cluster
from tests.support.configs import set_configs
from tests.support.versions import first_and_last

UP, SAFE, UNSAFE = 1, 2, 3
FAILED = "The update failed for all features since the following feature had an error: "


def update(
    client: Client, *updates: tuple[str, int, int], version: int = 2, dry: bool = False
) -> UpdateFeaturesResponse:
    request = UpdateFeaturesRequest(
        feature_updates=[
            UpdateFeaturesRequest.FeatureUpdate(
                feature=name, max_version_level=level, upgrade_type=kind
            )
            for name, level, kind in updates
        ],
        validate_only=dry,
    )
    answer: UpdateFeaturesResponse = client.ask(request, version)
    return answer


def test_features_are_advertised_with_what_is_supported(client: Client) -> None:
    asked = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    answer = client.ask(asked, 4)
    assert {f.name: f.max_version_level for f in answer.finalized_features} == NEW_FEATURES
    assert {f.name: (f.min_version, f.max_version) for f in answer.supported_features} == {
        "eligible.leader.replicas.version": (0, 1),
        "group.version": (0, 1),
        "kraft.version": (0, 1),
        "metadata.version": (7, 30),
        "share.version": (0, 1),
        "streams.version": (0, 1),
        "transaction.version": (0, 2),
    }
    first = [f.name for f in client.ask(asked, 3).supported_features]
    assert first == ["metadata.version"]


def test_levels_go_down_and_up_and_survive_a_restart(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk)
    client = client_of(cluster)
    before = cluster.features.epoch
    answer = update(client, ("transaction.version", 1, SAFE), ("group.version", 0, UNSAFE))
    assert (answer.error_code, answer.error_message) == (0, None)
    assert cluster.features.epoch > before
    cluster.close()

    again = open_cluster(disk)
    assert again.features.level("transaction.version") == 1
    assert again.features.level("group.version") == 0
    assert "group.version" not in again.features.finalized
    update(client_of(again), ("group.version", 1, UP))
    assert again.features.level("group.version") == 1
    again.close()


def test_only_checking_changes_nothing(cluster: Cluster, client: Client) -> None:
    assert update(client, ("transaction.version", 0, SAFE), dry=True).error_code == 0
    assert cluster.features.level("transaction.version") == 2


def test_version_1_lists_what_was_done(client: Client) -> None:
    answer = update(client, ("group.version", 0, SAFE), ("group.version", 1, UP), version=1)
    assert [(r.feature, r.error_code, r.error_message) for r in answer.results] == [
        ("group.version", 0, "NONE"),
        ("group.version", 0, "NONE"),
    ]
    assert update(client, ("nonsense", 1, UP), version=1).results == []


@pytest.mark.parametrize(
    ("name", "level", "kind", "reason"),
    [
        ("group.version", 1, 0, "The controller does not support the given upgrade type."),
        ("group.version", -1, UP, "A feature version cannot be less than 0."),
        ("group.version", 2, UP, "Local controller 1 only supports versions 0-1"),
        ("nonsense", 1, UP, "Local controller 1 does not support this feature."),
        ("nonsense", 0, UP, "Feature nonsense not found."),
        ("kraft.version", 1, SAFE, "Can't downgrade to a newer version."),
        (
            "group.version",
            0,
            UP,
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade.",
        ),
    ],
)
def test_what_cannot_be(client: Client, name: str, level: int, kind: int, reason: str) -> None:
    answer = update(client, (name, level, kind))
    sentence = f"{FAILED}Invalid update version {level} for feature {name}. {reason}"
    assert (answer.error_code, answer.error_message) == (95, sentence)


def test_one_that_fails_fails_all(cluster: Cluster, client: Client) -> None:
    assert update(client, ("group.version", 0, SAFE), ("nonsense", 1, UP)).error_code == 95
    assert cluster.features.level("group.version") == 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (SAFE, "Refusing to perform the requested downgrade because it might delete metadata"),
        (UNSAFE, "Unsafe metadata downgrade is not supported in this version."),
    ],
)
def test_metadata_is_not_lost_by_a_downgrade(client: Client, kind: int, reason: str) -> None:
    answer = update(client, ("metadata.version", 29, kind))
    assert answer.error_code == 95
    assert f"{FAILED}Unsupported metadata.version downgrade from 30 to 29. {reason}" in str(
        answer.error_message
    )


def test_metadata_goes_down_where_records_are_the_same(tmp_path: Path) -> None:
    with Emulator(features={"metadata.version": 29}, data_dir=tmp_path) as kafka:
        cluster = kafka.cluster
        answer = kafka.run(
            lambda cluster: update(client_of(cluster), ("metadata.version", 24, SAFE))
        )
        assert answer.error_code == 0
        assert cluster.features.level("metadata.version") == 24


def test_the_voters_move_into_the_log_and_never_back(cluster: Cluster, client: Client) -> None:
    assert update(client, ("kraft.version", 1, UP)).error_code == 0
    assert cluster.features.level("kraft.version") == 1
    voters = cluster.metadata.image.voters
    assert voters is not None
    assert [voter.voter_id for voter in voters.voters] == [1]
    answer = update(client, ("kraft.version", 0, UNSAFE))
    assert str(answer.error_message).endswith("Can't downgrade the version of this feature.")


def test_eligible_leaders_want_one_least_number_in_sync_for_all(
    cluster: Cluster, client: Client
) -> None:
    name = "eligible.leader.replicas.version"
    update(client, (name, 0, SAFE))
    set_configs(cluster, BROKER_RESOURCE, "", {})
    set_configs(cluster, BROKER_RESOURCE, "1", {"min.insync.replicas": "1"})
    update(client, (name, 1, UP))
    assert cluster.metadata.image.configs == {(4, ""): {"min.insync.replicas": "1"}}


# At the start


def test_levels_are_given_at_the_start() -> None:
    with Emulator(features={"transaction.version": 1, "share.version": 0}) as kafka:
        found = kafka.run(lambda cluster: dict(cluster.features.finalized))
    expected = {**NEW_FEATURES, "transaction.version": 1}
    del expected["share.version"]
    assert found == expected


def test_an_older_metadata_version_brings_what_it_brought() -> None:
    with Emulator(features={"metadata.version": 24}) as kafka:
        found = kafka.run(lambda cluster: dict(cluster.features.finalized))
    assert found == {"metadata.version": 24, "group.version": 1, "transaction.version": 2}


def test_a_directory_takes_the_levels_of_a_later_start(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path):
        pass
    with Emulator(data_dir=tmp_path, features={"group.version": 0}) as kafka:
        assert kafka.run(lambda cluster: cluster.features.level("group.version")) == 0
    with Emulator(data_dir=tmp_path) as kafka:
        assert kafka.run(lambda cluster: cluster.features.level("group.version")) == 0


@pytest.mark.parametrize(
    "features",
    [
        {"nonsense": 1},
        {"group.version": 2},
        {"kraft.version": 1},
        {"metadata.version": 6},
        {"metadata.version": 22, "eligible.leader.replicas.version": 1},
    ],
    ids=str,
)
def test_levels_that_cannot_be_are_refused_at_once(features: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        Emulator(features=features)


@pytest.mark.parametrize("level", ["1", 1.0, None])
def test_a_level_that_is_no_integer_is_refused_by_name(level: Any) -> None:
    with pytest.raises(ConfigError, match=r"transaction.version has the levels 0-2, not"):
        Emulator(features={"transaction.version": level})


@pytest.mark.parametrize("version", first_and_last(UpdateFeaturesRequest))
def test_only_version_0_cannot_lower_a_feature_whatever_it_allows(
    client: Client, version: int
) -> None:
    """As a real broker answers."""
    lower = UpdateFeaturesRequest.FeatureUpdate(
        feature="transaction.version", max_version_level=1, upgrade_type=2, allow_downgrade=True
    )
    answer = client.ask(UpdateFeaturesRequest(feature_updates=[lower]), version)
    assert answer.error_code == (Error.INVALID_UPDATE_VERSION if version == 0 else Error.NONE)
    asked = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    finalized = client.ask(asked, 4).finalized_features
    levels = {each.name: each.max_version_level for each in finalized}
    assert levels["transaction.version"] == (2 if version == 0 else 1)
