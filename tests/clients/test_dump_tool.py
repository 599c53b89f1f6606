"""Kafka's own dump tool, over a directory that a broker wrote for stock clients: no complaint."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from odradek.compat import CLIENTS, Client, NewRecord, Unavailable
from odradek.compat import client as client_named
from odradek.compat.clients import Codec
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION
from odradek.compat.real_kafka.dump_tool import DECODERS, DUMPED, batches, complaints, dump, files

from tests.clients.support.broker_process import Served

pytestmark = [pytest.mark.real, pytest.mark.slow]

RECORD = re.compile(r"headerKeys: \[\] (?:key: (\{.*\}) )?payload: (.*)$")
CODECS: tuple[Codec | None, ...] = (None, *get_args(Codec))
RECORDS = 150  # of each client and codec, in each of two ways
RANDOM = random.Random(1)


class Written:
    """A directory, and what was put into it."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.records = 0
        self.was_closed = False
        self.committed: dict[str, int] = {}  # by group, for partition 0 of `t`


@pytest.fixture(scope="module")
def _archives() -> None:
    jars(VERSION)


@pytest.fixture(scope="module", params=["stopped", "killed", "recovered"])
def written(
    request: pytest.FixtureRequest, _archives: None, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    """A directory after a clean stop; after a kill; after a kill, a start, and a clean stop."""
    written = Written(tmp_path_factory.mktemp("dump") / "data")
    with Served(written.data_dir) as served:
        fill(served.bootstrap_servers, written)
        if request.param == "stopped":
            served.restart()
            fill(served.bootstrap_servers, written)
            served.stop()
        else:
            served.kill()
        if request.param == "recovered":
            served.start()
            served.stop()
    written.was_closed = request.param != "killed"
    return written


def fill(bootstrap: str, written: Written) -> None:
    """Let every client write in every codec, idempotently and not, and commit for a group."""
    clients = list(installed())
    if "t" not in clients[0].list_topics(bootstrap):
        clients[0].create_topic(bootstrap, "t", 1, {"segment.bytes": "1048576"})
    for client in clients:
        for codec in CODECS:
            for idempotent in (False, True):
                sent = [NewRecord(RANDOM.randbytes(500), b"%d" % n) for n in range(RECORDS)]
                client.produce(bootstrap, "t", sent, compression=codec, idempotent=idempotent)
                written.records += RECORDS
        group = f"group of {client.name}"
        client.consume(bootstrap, "t", group=group, count=100 * (1 + len(client.name)))
        written.committed[group] = client.committed(bootstrap, group, "t")[0]


def installed() -> Iterator[Client]:
    missing: Unavailable | None = None
    for name in CLIENTS:
        try:
            yield client_named(name)
        except Unavailable as reason:
            missing = reason
    if missing is not None:
        pytest.skip(f"unavailable: {missing}")


def dumped(written: Written, topic: str, *options: str) -> str:
    """What the tool says of a topic's files, which must hold no complaint."""
    done = dump(files(written.data_dir, DUMPED, topic), *options, compacted=DECODERS)
    assert done.complaints == []
    return done.output


def records(output: str) -> list[dict[str, Any]]:
    """The decoded records of an internal topic; a payload that is gone is None."""
    found = []
    for line in output.splitlines():
        if line.startswith("| offset: "):
            key, payload = RECORD.findall(line)[0]
            found.append({"key": json.loads(key or "null"), "payload": json.loads(payload)})
    return found


def test_the_tool_has_no_complaint_about_any_file(written: Written) -> None:
    """Every way of looking at every file: records, indexes, snapshots, internal topics."""
    assert complaints(written.data_dir) == []


def test_every_batch_of_every_client_and_codec_is_valid(written: Written) -> None:
    logs = files(written.data_dir, (".log",), "t")
    assert len(logs) >= 3, "several segments"

    output = dumped(written, "t", "--deep-iteration")

    found = batches(output)
    assert {batch["isvalid"] for batch in found} == {"true"}
    assert {batch["compresscodec"] for batch in found} == {"none", "gzip", "snappy", "lz4", "zstd"}
    ends = [0, *(int(batch["lastOffset"]) + 1 for batch in found)]
    assert [int(batch["baseOffset"]) for batch in found] == ends[:-1]
    assert ends[-1] == written.records
    assert output.count("| offset: ") == written.records
    idempotent = [batch for batch in found if int(batch["producerId"]) >= 0]
    assert sum(int(batch["count"]) for batch in idempotent) == written.records // 2
    snapshots = files(written.data_dir, (".snapshot",), "t")
    assert snapshots
    producers = {batch["producerId"] for batch in idempotent}
    if written.was_closed:  # the newest is at the log end, and knows them all
        last = output[output.index(f"Dumping {snapshots[-1]}") :]
        assert set(re.findall(r"^producerId: (\d+)", last, re.M)) == producers


def test_groups_and_offsets_are_decoded(written: Written) -> None:
    found = records(dumped(written, "__consumer_offsets", "--offsets-decoder"))

    committed = {
        record["key"]["data"]["group"]: record["payload"]["data"]["offset"]
        for record in found
        if record["key"]["type"] == "1"
    }
    assert committed == written.committed
    groups = {record["key"]["data"]["group"] for record in found if record["key"]["type"] == "2"}
    assert groups == set(written.committed)


def test_the_metadata_log_is_decoded(written: Written) -> None:
    output = dumped(written, "__cluster_metadata", "--cluster-metadata-decoder")

    found = [record["payload"] for record in records(output)]
    topics = {each["data"]["topicId"]: each["data"]["name"] for each in of_type(found, "TOPIC")}
    assert sorted(topics.values()) == ["__consumer_offsets", "t"]
    partitions = [topics[each["data"]["topicId"]] for each in of_type(found, "PARTITION")]
    assert partitions.count("t") == 1
    configs = {(c["data"]["resourceName"], c["data"]["name"]) for c in of_type(found, "CONFIG")}
    assert ("t", "segment.bytes") in configs


def of_type(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record for record in found if record["type"] == f"{kind}_RECORD"]
