"""A journal of what clients do, as Wireshark's Kafka dissector reads it (tshark).

That of Wireshark 4.0 knows Kafka's versions up to about 2.5. Of later ones it shows what the header
of a request says, and of the answers often nothing: those have our own line as a comment.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from odradek import Emulator
from odradek.compat import Client, Unavailable, scenarios
from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.requests.produce import batch, produce_request
from tests.support.connection import Connection

SCENARIOS = (
    "produces_and_consumes",
    "keeps_transactions_apart",
    "manages_topics",
    "a_group_resumes_where_it_committed",
)
NOT_KNOWN = "Unsupported API version"
FIELDS = (
    *("frame.number", "tcp.stream", "kafka.api_key", "kafka.api_version"),
    *("kafka.correlation_id", "kafka.request_frame", "frame.comment", "_ws.col.Info"),
)
BROKEN = "tcp.analysis.flags and !tcp.analysis.window_full or tcp.checksum.status == 0"
# In versions that Wireshark 4.0 knows.
KNOWN: list[tuple[Request, int]] = [
    (ApiVersionsRequest(client_software_name="x", client_software_version="1"), 3),
    (MetadataRequest(topics=[MetadataRequest.Topic(name="t")]), 9),
    (produce_request(batch(b"x" * 200_000), acks=1), 8),
    (FetchRequest(max_wait_ms=0, min_bytes=0), 11),
    (ListOffsetsRequest(replica_id=-1, topics=[]), 5),
    (FindCoordinatorRequest(key="g", key_type=0), 3),
    (InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1), 3),
    (OffsetFetchRequest(group_id="g", topics=None), 7),
]


class Row(NamedTuple):
    """What tshark says of a packet that is Kafka's."""

    frame: str
    stream: str
    api_key: str
    version: str
    correlation_id: str
    request_frame: str
    comment: str
    info: str


@pytest.fixture(scope="session")
def tshark() -> str:
    found = shutil.which("tshark")
    if found is None:
        raise Unavailable("there is no tshark (Debian's package `tshark`)")
    return found


def rows(tshark: str, path: Path, wanted: str = "kafka") -> list[Row]:
    """The packets that a filter of Wireshark's finds."""
    fields = [each for name in FIELDS for each in ("-e", name)]
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    command = [tshark, "-r", str(path), *checks, "-Y", wanted, "-T", "fields", *fields]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [Row(*line.split("\t")) for line in done.stdout.splitlines()]


def test_names_versions_and_which_answer_is_whose(tshark: str, tmp_path: Path) -> None:
    with Emulator(topics={"t": 1}, journal=True) as kafka:
        with Connection(kafka.bootstrap_servers) as connection:
            for request, version in KNOWN:
                connection.ask(request, version)
        path = kafka.journal.save(tmp_path / "journal.pcapng")
    found = rows(tshark, path)
    asked, answers = found[::2], found[1::2]
    names = {"ListOffsets": "Offsets"}  # as Wireshark calls it
    for (request, version), question, answer in zip(KNOWN, asked, answers, strict=True):
        api = type(request).__name__.removesuffix("Request")
        assert question.info.startswith(f"Kafka {names.get(api, api)} v{version} Request")
        assert answer.info.startswith(f"Kafka {names.get(api, api)} v{version} Response")
        assert answer.request_frame == question.frame
        assert f" {api} v{version} " in answer.comment
    assert rows(tshark, path, BROKEN) == rows(tshark, path, "_ws.malformed") == []


@pytest.mark.client
def test_every_request_of_a_stock_client(client: Client, tshark: str, tmp_path: Path) -> None:
    with Emulator({"group.initial.rebalance.delay.ms": 0}, journal=True) as kafka:
        for name in SCENARIOS:
            scenarios.run(name, client, kafka.bootstrap_servers)
        path = kafka.journal.save(tmp_path / "journal.pcapng")
        kept = kafka.journal.all()
    found = rows(tshark, path)
    asked = [row for row in found if row.version]
    assert [row[2:5] for row in asked] == [
        (str(each.api_key), str(each.version), str(each.correlation_id)) for each in kept
    ]
    unknown = {(row.stream, row.correlation_id) for row in asked if NOT_KNOWN in row.info}
    of = {(row.stream, row.correlation_id): row for row in asked}
    answers = [row for row in found if not row.version]
    assert len(answers) == len(kept.of(outcome="answered"))
    for row in answers:
        key = row.stream, row.correlation_id
        assert key in unknown or row.request_frame == of[key].frame
    assert rows(tshark, path, BROKEN) == []


def test_other_ports_are_passed_to_tshark(tshark: str, tmp_path: Path) -> None:
    with Emulator(journal=True) as kafka:
        with Connection(kafka.bootstrap_servers) as connection:
            connection.ask(MetadataRequest(topics=None), 9)
        path = kafka.journal.save(tmp_path / "journal.pcapng", port=None)
        port = kafka.bootstrap_servers.rsplit(":", 1)[1]
    assert rows(tshark, path) == []
    command = [tshark, "-r", str(path), "-d", f"tcp.port=={port},kafka", "-Y", "kafka"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Kafka Metadata v9 Request" in done.stdout
    assert "Kafka Metadata v9 Response" in done.stdout


def test_a_loopback_captured_by_dumpcap_is_read_as_a_journal(tmp_path: Path) -> None:
    dumpcap = shutil.which("dumpcap")
    if dumpcap is None:
        raise Unavailable("there is no dumpcap (Debian's package `wireshark-common`)")
    from odradek.emulator.control.traffic.files import load

    with Emulator(topics={"t": 1}, journal=True) as kafka:
        port = kafka.bootstrap_servers.rsplit(":", 1)[1]
        path = tmp_path / "captured.pcapng"
        command = [dumpcap, "-q", "-i", "lo", "-f", f"tcp port {port}", "-w", str(path)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = process.stderr.readline()
        while said and not said.startswith("File:"):
            said = process.stderr.readline()
        if not said:
            raise Unavailable("dumpcap may not capture here")
        with Connection(kafka.bootstrap_servers) as connection:
            for request, version in KNOWN:
                connection.ask(request, version)
        kept = list(kafka.journal)
        _until_captured(path, kept[-1].response_frame or b"")
        process.terminate()
        process.communicate(timeout=10)
    read = load(path).exchanges
    assert [(each.request_frame, each.response_frame, each.outcome) for each in read] == [
        (each.request_frame, each.response_frame, each.outcome) for each in kept
    ]
    assert read[0].connection.client == kept[0].connection.client


def _until_captured(path: Path, last: bytes) -> None:
    end = time.monotonic() + 20
    while last not in path.read_bytes():
        assert time.monotonic() < end, "dumpcap has not written the last answer"
        time.sleep(0.05)
