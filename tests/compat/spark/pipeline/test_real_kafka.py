"""`odradek load` and `odradek export` with a real Kafka: over the wire, and its directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import RealKafka
from odradek.compat.commands import main
from odradek.compat.spark.pipeline import files as files_module
from odradek.compat.spark.pipeline.broker import producing
from odradek.compat.spark.pipeline.places import place
from odradek.compat.spark.segments.schema import RECORD_COLUMNS
from odradek.compat.spark.segments.wanted import Wanted

from tests.compat.spark.pipeline.support import Filled

pytestmark = [pytest.mark.real, pytest.mark.slow]
CONFIG = {"log.retention.ms": "-1"}


@pytest.fixture
def real(real_kafka: RealKafka) -> str:
    return real_kafka.bootstrap_servers


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def records(text: object, *but: str) -> list[dict[str, Any]]:
    wanted = Wanted(columns=tuple(name for name in RECORD_COLUMNS if name not in but))
    splits = place(str(text)).splits(wanted)
    return [row for each in splits for batch in each.read(wanted) for row in batch.to_pylist()]


def test_what_is_exported_is_loaded_into_a_real_kafka(
    real: str, filled: Filled, tmp_path: Path
) -> None:
    out = str(tmp_path / "out.jsonl")
    assert main(["export", filled.topic, out]) == 0
    assert main(["load", out, f"{real}/orders", "--create-topic", "3", "--codec", "lz4"]) == 0
    assert records(f"{real}/orders", "offset") == records(filled.path, "offset")
    assert main(["export", f"{real}/orders", str(tmp_path / "back.parquet")]) == 0
    assert records(tmp_path / "back.parquet", "offset") == records(filled.path, "offset")


def test_a_load_goes_on_after_what_a_real_kafka_has(
    real: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run loses an answer to its third batches, which the broker has written."""
    monkeypatch.setattr(files_module, "SPLIT_BYTES", 600)
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"n": number}) + "\n" for number in range(1000)))
    command = ["load", str(path), f"{real}/resumed", "--create-topic", "2"]
    whole = producing.produce
    calls: list[int] = []

    def produce(*given: Any, **named: Any) -> Any:
        found = whole(*given, **named)
        calls.append(1)
        if len(calls) % 3 == 0:
            raise OSError(104, "Connection reset by peer")
        return found

    monkeypatch.setattr(producing, "produce", produce)
    assert main(command) == 2
    runs = 1
    while main([*command, "--resume"]):
        runs += 1
        assert runs < 20
    assert runs > 2
    found = [json.loads(row["value"])["n"] for row in records(f"{real}/resumed")]
    assert sorted(found) == list(range(1000))


def test_a_real_kafka_tells_of_retention(
    real: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"value": "old", "timestamp": 1700000000000}\n')
    for topic, config, expected in (
        ("a", "retention.ms=-1", []),
        ("b", "retention.ms=1000", [1000]),
    ):
        create = ("--create-topic", "1", "--topic-config", config)
        assert main(["load", str(path), f"{real}/{topic}", *create, "--json"]) == 0
        out, err = capsys.readouterr()
        assert [each["retention_ms"] for each in json.loads(out)["warnings"]] == expected
        assert bool(err) == bool(expected)
    refused = ("--create-topic", "1", "--topic-config", "no.such=1")
    assert main(["load", str(path), f"{real}/c", *refused]) == 2
    assert "topic c cannot be created: INVALID_CONFIG" in capsys.readouterr().err
    assert main(["load", str(path), f"{real}/c", "--create-topic", "1"]) == 0


def test_a_real_kafka_opens_segments_that_were_loaded(tmp_path: Path, filled: Filled) -> None:
    out, data = str(tmp_path / "out.parquet"), tmp_path / "data"
    assert main(["export", filled.path, out]) == 0
    load = ["load", out, f"{data}/orders", "--create-topic", "3", "--codec", "snappy"]
    assert main(load) == 0
    assert main(load) == 0  # after the first
    with RealKafka(config=CONFIG, data_dir=data) as kafka:
        found = records(f"{kafka.bootstrap_servers}/orders", "offset")
    once = records(filled.path, "offset")
    for partition in range(3):
        mine = [row for row in once if row["partition"] == partition]
        assert [row for row in found if row["partition"] == partition] == mine + mine
