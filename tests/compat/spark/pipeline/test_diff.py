"""`diff`: each kind of difference, by offset and by key, on both engines."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import confluent_kafka
import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.diff import arrow
from odradek.compat.spark.pipeline.diff.classify import KINDS

from tests.compat.spark.pipeline.compared import Row, diff, row, written
from tests.compat.spark.pipeline.support import Filled

Change = Callable[[list[Row]], object]


def swap(rows: list[Row], one: int, other: int) -> None:
    """The contents of two records change places."""
    for name in ("key", "value", "timestamp", "headers"):
        rows[one][name], rows[other][name] = rows[other][name], rows[one][name]


# What is done to B; what differs by offset, and by key.
CHANGES: list[tuple[str, Change, dict[str, int], dict[str, int]]] = [
    ("nothing", lambda b: None, {}, {}),
    ("one is missing", lambda b: b.pop(5), {"missing": 1}, {"missing": 1}),
    ("one is extra", lambda b: b.append(row(40)), {"extra": 1}, {"extra": 1}),
    ("a value", lambda b: b[3].update(value="x"), {"changed": 1}, {"changed": 1}),
    ("a null value", lambda b: b[3].update(value=None), {"changed": 1}, {"changed": 1}),
    ("an empty value for null", lambda b: b[0].update(value=""), {"changed": 1}, {"changed": 1}),
    ("a time", lambda b: b[3].update(timestamp=5), {"changed": 1}, {"changed": 1}),
    (
        "a header",
        lambda b: b[3].update(headers=[{"key": "h", "value": "1"}]),
        {"changed": 1},
        {"changed": 1},
    ),
    ("a key", lambda b: b[3].update(key="k9"), {"changed": 1}, {"missing": 1, "extra": 1}),
    ("two of a key swapped", lambda b: swap(b, 4, 8), {"reordered": 2}, {"reordered": 2}),
    ("two of other keys swapped", lambda b: swap(b, 4, 6), {"reordered": 2}, {}),
    ("written twice", lambda b: b.append(dict(b[7])), {"duplicated": 1}, {"duplicated": 1}),
    (
        "written twice at another offset",
        lambda b: b.append({**b[7], "offset": 41}),
        {"extra": 1},
        {"duplicated": 1},
    ),
    (
        "all at once",
        lambda b: [b.pop(11), b[3].update(value="x"), swap(b, 4, 8), b.append(row(50))],
        {"missing": 1, "extra": 1, "changed": 1, "reordered": 2},
        {"missing": 1, "changed": 1, "reordered": 2, "extra": 1},
    ),
]


@pytest.mark.parametrize("by", ["offset", "key"])
@pytest.mark.parametrize(
    ("change", "by_offset", "by_key"), [r[1:] for r in CHANGES], ids=[r[0] for r in CHANGES]
)
def test_each_kind_of_difference(
    change: Change,
    by_offset: dict[str, int],
    by_key: dict[str, int],
    by: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrow, "BUCKET_BYTES", 300)
    a, b = [row(n) for n in range(20)], [row(n) for n in range(20)]
    a[0]["value"] = b[0]["value"] = None
    change(b)
    one, other = written(tmp_path / "a.jsonl", a), written(tmp_path / "b.jsonl", b)
    status, found = diff(capsys, one, other, "--by", by)
    expected = by_offset if by == "offset" else by_key
    assert {kind: found[kind] for kind in KINDS if found[kind]} == expected
    assert (status, found["by"]) == (int(bool(expected)), by)
    assert found["records"] == {"a": 20, "b": len(b)}
    in_a = sum(expected.get(kind, 0) for kind in ("missing", "changed", "reordered"))
    assert found["same"] == 20 - in_a


def edited(rows: list[Row], chance: random.Random) -> list[Row]:
    """A copy with a few dozen differences of all kinds."""
    found = [dict(each) for each in rows]
    for _ in range(chance.randrange(1, 30)):
        at = chance.randrange(len(found))
        kind = chance.randrange(5)
        if kind == 0:
            del found[at]
        elif kind == 1:
            found[at]["value"] = chance.choice(["x", "y", None])
        elif kind == 2:
            found.insert(at, dict(found[at]))
        elif kind == 3:
            found[at]["offset"] += 1_000
        else:
            swap(found, at, chance.randrange(len(found)))
    return found


@pytest.mark.spark
@pytest.mark.parametrize("by", ["offset", "key"])
def test_both_engines_give_the_same(
    by: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrow, "BUCKET_BYTES", 20_000)
    chance = random.Random(by)
    a = [row(n, key=chance.choice(["a", "b", "c", None])) for n in range(300)]
    one = written(tmp_path / "a.jsonl", a)
    other = written(tmp_path / "b.jsonl", edited(a, chance))
    on_arrow = diff(capsys, one, other, "--by", by, "--engine", "arrow")
    on_spark = diff(capsys, one, other, "--by", by, "--engine", "spark")
    assert on_arrow == on_spark
    assert on_arrow[0] == 1
    assert sum(bool(on_arrow[1][kind]) for kind in KINDS) >= 3


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 6), marks=pytest.mark.long)])
def test_the_edits_are_counted_whatever_the_buckets(
    seeds: range,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in seeds:
        chance = random.Random(seed)
        a = [row(n, key=chance.choice(["a", "b", None])) for n in range(100)]
        b = edited(a, chance)
        one, other = written(tmp_path / "a.jsonl", a), written(tmp_path / "b.jsonl", b)
        for by in ("offset", "key"):
            found = []
            for size in (1 << 20, 500):
                monkeypatch.setattr(arrow, "BUCKET_BYTES", size)
                found.append(diff(capsys, one, other, "--by", by)[1])
            assert found[0] == found[1], (seed, by)
            of_b = ("extra", "changed", "reordered", "duplicated", "same")
            of_a = ("missing", "changed", "reordered", "same")
            assert sum(found[0][kind] for kind in of_b) >= len(b)
            assert len(a) >= sum(found[0][kind] for kind in of_a)


def test_a_sample_is_shown_field_by_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = [row(n) for n in range(6)], [row(n) for n in range(6)]
    b[3].update(value="other", headers=[{"key": "h", "value": "1"}])
    b.pop()
    one, other = written(tmp_path / "a.jsonl", a), written(tmp_path / "b.jsonl", b)
    assert main(["diff", str(one), str(other), "--by", "offset", "--ignore", "timestamp"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"A: {one}: 6 records",
        f"B: {other}: 5 records",
        "compared by offset: key, value, headers",
        "",
        "same                   4",
        "missing                1   in A, not in B",
        "extra                  0",
        "changed                1   another content",
        "reordered              0",
        "duplicated             0",
        "",
        "missing (A): a-1 offset 5",
        "    key       k1",
        "    value     v5",
        "    headers   null",
        "",
        "changed: a-1 offset 3",
        "    value     v3  ->  other",
        "    headers   null  ->  [h: 1]",
    ]


def test_files_without_offsets_are_compared_by_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[Row] = [{"key": "a", "value": str(n)} for n in range(4)]
    one = written(tmp_path / "a.jsonl", rows)
    other = written(tmp_path / "b.jsonl", [*rows[:2], {"key": "a", "value": "x"}, rows[3]])
    status, found = diff(capsys, one, other)
    assert (status, found["by"], found["changed"], found["same"]) == (1, "key", 1, 3)
    [sample] = found["samples"]["changed"]
    assert (sample["a"]["value"], sample["b"]["value"]) == ("2", "x")
    assert sample["fields"] == ["value"]
    status, found = diff(capsys, one, other, "--by", "offset")
    assert (status, "has no offsets: use --by key" in found) == (2, True)


def test_a_topic_is_compared_with_its_directory(
    filled: Filled, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = diff(capsys, filled.topic, filled.path)
    assert (status, found["by"]) == (0, "offset")
    assert found["same"] == found["records"]["a"] == found["records"]["b"] > 0


def test_a_topic_is_compared_with_another_one(capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator(topics={"a": 2, "b": 2, "c": 3}) as kafka:
        producer = confluent_kafka.Producer(kafka.client_config("confluent"))
        for name in "abc":
            for number in range(30):
                value = b"%d" % number if (name, number) != ("b", 7) else b"other"
                key = number % 5
                partition = key % (3 if name == "c" else 2)
                producer.produce(name, value, b"%d" % key, partition, timestamp=5)
        assert producer.flush(30) == 0
        address = kafka.bootstrap_servers
        status, found = diff(capsys, f"{address}/a", f"{address}/b")
        assert (status, found["by"], found["changed"], found["same"]) == (1, "offset", 1, 29)
        [sample] = found["samples"]["changed"]
        assert (sample["a"]["value"], sample["b"]["value"]) == ("7", "other")
        assert diff(capsys, f"{address}/a", f"{address}/c")[1]["by"] == "key"
        assert diff(capsys, f"{address}/a", f"{address}/c")[0] == 0
        assert diff(capsys, address, address)[1]["same"] == 90
