"""A directory that the emulator wrote as one release is opened by a real broker of a later one."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.real_kafka import RealKafka
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest

from tests.differential.ask.records import list_offsets
from tests.differential.engine.asker import Asker

from .brokers import VERSIONS

pytestmark = [pytest.mark.real, pytest.mark.slow]
RECORDS = 3


@pytest.mark.parametrize(("older", "newer"), [("3.3", "3.6"), ("3.6", "4.0"), ("4.0", "4.2")])
def test_a_real_broker_goes_on_with_it(older: str, newer: str, tmp_path: Path) -> None:
    with Emulator(version=older, data_dir=tmp_path) as kafka:
        kafka.topics.create("t", 1)
        for number in range(RECORDS):
            kafka.topic("t").produce(f"{number}")
        levels = kafka.run(lambda cluster: dict(cluster.features.finalized))
    with RealKafka(VERSIONS[newer], data_dir=tmp_path) as real:
        host, _, port = real.bootstrap_servers.partition(":")
        asker = Asker((host, int(port)))
        who = ApiVersionsRequest(client_software_name="odradek", client_software_version="1")
        finalized = asker.ask(who, 3).finalized_features
        request = list_offsets(-1, name="t")
        assert isinstance(request, ListOffsetsRequest)
        listed = asker.ask(request, 5).topics[0].partitions[0]
        asker.close()
    assert (listed.error_code, listed.offset) == (0, RECORDS)
    assert {each.name: each.max_version_level for each in finalized} == levels
