"""A real Kafka starts on our snapshot and a log that begins above 0; its dump tool is content."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION, RealKafka
from odradek.compat.real_kafka.dump_tool import complaints
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest

from tests.support.connection import ask
from tests.support.kafka_log import errors_in

pytestmark = [pytest.mark.real, pytest.mark.slow]

HOME = "__cluster_metadata-0"
SMALL = {
    "internal.metadata.log.segment.bytes": "3000",
    "metadata.max.retention.bytes": "6000",
    "log.index.size.max.bytes": "102400",
}


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose metadata log has lost its beginning; with all kinds of state."""
    jars(VERSION)
    path = tmp_path_factory.mktemp("cut") / "data"
    with Emulator(SMALL, data_dir=path) as kafka:
        set_everything(kafka.bootstrap_servers)
        for number in range(8):
            kafka.create_topic(f"t{number}", partitions=10, configs={"retention.ms": "123456"})
            assert kafka.run(lambda cluster: cluster.metadata_upkeep.take_snapshot())
        kafka.run(lambda cluster: cluster.metadata_upkeep.delete_old())
        assert kafka.run(lambda cluster: cluster.metadata.start_offset) > 0
        kafka.create_topic("behind")
    return path


def set_everything(bootstrap: str) -> None:
    quota = AlterClientQuotasRequest.Entry
    ask(
        bootstrap,
        AlterClientQuotasRequest(
            entries=[
                quota(
                    entity=[quota.Entity(entity_type="user", entity_name="u")],
                    ops=[quota.Op(key="producer_byte_rate", value=5e8, remove=False)],
                )
            ],
            validate_only=False,
        ),
        1,
    )
    credential = AlterUserScramCredentialsRequest.Upsertion(
        name="u", mechanism=1, iterations=4096, salt=b"salt", salted_password=b"p" * 32
    )
    changes = AlterUserScramCredentialsRequest(deletions=[], upsertions=[credential])
    ask(bootstrap, changes, 0)
    lower = UpdateFeaturesRequest.FeatureUpdate(
        feature="transaction.version", max_version_level=1, upgrade_type=2
    )
    ask(bootstrap, UpdateFeaturesRequest(feature_updates=[lower], validate_only=False), 1)
    ask(bootstrap, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 3)


def shown(bootstrap: str) -> dict[str, Any]:
    """What a broker says of the cluster."""
    topics = ask(bootstrap, MetadataRequest(topics=None), 12).topics
    quotas = ask(bootstrap, DescribeClientQuotasRequest(components=[], strict=False), 1)
    users = ask(bootstrap, DescribeUserScramCredentialsRequest(users=None), 0)
    client = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    features = ask(bootstrap, client, 4).finalized_features
    configs = ask(
        bootstrap,
        DescribeConfigsRequest(
            resources=[
                DescribeConfigsRequest.Resource(
                    resource_type=2, resource_name="t3", configuration_keys=["retention.ms"]
                )
            ],
            include_synonyms=False,
        ),
        4,
    )
    return {
        "topics": sorted((t.name, t.topic_id, len(t.partitions)) for t in topics),
        "led": all(p.leader_id == 1 and not p.error_code for t in topics for p in t.partitions),
        "quotas": quotas.entries,
        "users": users.results,
        "features": {each.name: each.max_version_level for each in features},
        "configs": configs.results,
    }


def test_a_race_of_kafkas_own_is_distinguished_from_other_errors() -> None:
    race = (
        "[x] ERROR kafka.server.ControllerApis - Unexpected error handling request "
        "RequestHeader(apiKey=CONTROLLER_REGISTRATION, apiVersion=0)\n"
        "java.util.concurrent.CompletionException: "
        "org.apache.kafka.common.errors.NotControllerException: The active controller appears"
    )
    others = [race.replace("CONTROLLER_REG", "BROKER_REG"), race.replace("NotController", "Other")]
    assert errors_in(f"{race}\n[x] INFO well\n{race}") == []
    for other in others:
        assert errors_in(f"{race}\n{other}") == [other.splitlines()[0]]


def test_kafkas_dump_tool_is_content_with_log_and_snapshots(cut: Path) -> None:
    files = sorted(path.name for path in (cut / HOME).iterdir())
    assert [name for name in files if name.endswith(".checkpoint")]
    assert f"{0:020}.log" not in files
    assert complaints(cut) == []


def test_a_real_kafka_starts_on_it_and_we_again_after_it(cut: Path, tmp_path: Path) -> None:
    path = tmp_path / "data"
    shutil.copytree(cut, path)
    with Emulator(SMALL, data_dir=path) as ours:
        before = shown(ours.bootstrap_servers)
    assert len(before["topics"]) == 9
    assert before["led"]

    kafka = RealKafka(config={"log.index.size.max.bytes": "102400"}, data_dir=path)
    with kafka:
        assert shown(kafka.bootstrap_servers) == before
        kafka.stop()
        said = kafka.log
    assert errors_in(said) == []

    with Emulator(SMALL, data_dir=path) as ours:
        assert shown(ours.bootstrap_servers) == before
        fresh = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        assert ask(ours.bootstrap_servers, fresh, 3).producer_id >= 1000
