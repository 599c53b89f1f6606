"""Segments with messages of magic 0 and 1, as whoever uses a broker of ours meets them."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.compression import Codec
from odradek.wire.legacy.as_batches import logged_batches, read_logged
from odradek.wire.legacy.message_sets import build_set
from odradek.wire.records import Record

from tests.requests.committed_offsets import commit
from tests.support.connection import Connection
from tests.support.old_segments import TOPICS, batch, loose, wrapped
from tests.support.placed_segments import RELEASES, create_topics, forget, place


def records_of(topic: str) -> list[Record]:
    return [
        record
        for data in TOPICS[topic].values()
        for at, _ in logged_batches(data)
        for record in read_logged(data, at)
    ]


@pytest.fixture(params=RELEASES)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_views_and_the_shell_show_what_is_in_them(
    tmp_path: Path, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    create_topics(tmp_path, version, {"mixed": {}})
    place(tmp_path, "mixed", TOPICS["mixed"])
    with Emulator(data_dir=tmp_path, version=RELEASES[version]) as kafka:
        found = kafka.topic("mixed").records()
        fields = ((r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in found)
        assert [Record(*each) for each in fields] == records_of("mixed")
        assert main(["records", kafka.bootstrap_servers, "mixed"]) == 0
    keys = [(record.key or b"").decode() for record in records_of("mixed")]
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [key for key in keys if not any(key in line for line in shown)] == []


def test_a_compaction_follows_the_release(tmp_path: Path, version: str) -> None:
    create_topics(tmp_path, version, {"keyed": {"cleanup.policy": "compact"}})
    place(tmp_path, "keyed", {0: loose(0, [0, 1]) + wrapped(1, [2, 3]), 4: batch(4, 1)})
    with Emulator(data_dir=tmp_path, version=RELEASES[version]) as kafka:
        assert kafka.compact() == 1
        assert [record.offset for record in kafka.topic("keyed").records()] == [0, 1, 2, 3, 4]
    data = b"".join(path.read_bytes() for path in sorted((tmp_path / "keyed-0").glob("*.log")))
    magics = [header.magic for _, header in logged_batches(data)]
    assert magics == ([0, 0, 1, 2] if version.startswith("3.") else [2, 2, 2, 2])


def test_groups_find_the_offsets_that_an_old_broker_wrote(tmp_path: Path, version: str) -> None:
    configs = {"offsets.topic.num.partitions": 1}
    release = RELEASES[version]
    with Emulator(configs, topics={"t": 1}, data_dir=tmp_path, version=release) as kafka:
        kafka.run(lambda cluster: cluster.groups.ensure_topic())
        with Connection(kafka.bootstrap_servers) as connection:
            assert commit(connection, 5) == 0
    (log,) = (tmp_path / "__consumer_offsets-0").glob("*.log")
    data = log.read_bytes()
    records = [record[:4] for at, _ in logged_batches(data) for record in read_logged(data, at)]
    log.write_bytes(build_set(records, 1, codec=Codec.GZIP))
    forget(tmp_path)
    with Emulator(configs, data_dir=tmp_path, version=release) as kafka:
        assert kafka.run(lambda cluster: list(cluster.log_dir.notices)) == []
        with Connection(kafka.bootstrap_servers) as connection:
            wanted = [OffsetFetchRequest.Group(group_id="g", topics=None)]
            answer = connection.ask(OffsetFetchRequest(groups=wanted), 8)
    assert answer.groups[0].topics[0].partitions[0].committed_offset == 5
